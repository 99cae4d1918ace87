package sandbox

// What happens in a work directory. Paths have slashes and are inside it; what
// a terminal would obey in them is made visible.
type (
	// FileReadResult says that a file was read. What was in it goes to who
	// asked, and not to everybody who listens.
	FileReadResult struct {
		Path string `json:"path"`
		Size int64  `json:"size"` // bytes
	}
	// FileWritten says that a file is there, with what was written, and that it
	// lasts.
	FileWritten struct {
		Path    string `json:"path"`
		Size    int64  `json:"size"`              // bytes
		Created bool   `json:"created,omitempty"` // it was not there before
	}
	// FileDeleted says that a file, or an empty directory, is gone.
	FileDeleted struct {
		Path string `json:"path"`
	}
	// DirectoryListResult says what is in a directory, by name.
	DirectoryListResult struct {
		Path    string  `json:"path"` // "." is the work directory itself
		Entries []Entry `json:"entries"`
	}
	// WorkdirError says that something was asked of the work directory and not
	// done.
	WorkdirError struct {
		Operation Operation `json:"operation"`
		Path      string    `json:"path"` // as it was asked for; "." where it is about all of it
		Code      Code      `json:"code"`
		Message   string    `json:"message"` // for people
	}
)

// What happens with MCP servers.
type (
	// MCPServerConnected says that a server is ready, and what it offers.
	MCPServerConnected struct {
		ServerName    string `json:"serverName"`
		Version       string `json:"version"`
		ToolCount     int    `json:"toolCount"`
		ResourceCount int    `json:"resourceCount"`
	}
	// MCPServerDisconnected says that a server is gone.
	MCPServerDisconnected struct {
		ServerName string `json:"serverName"`
		Reason     string `json:"reason,omitempty"` // empty where it was wished
	}
	// ToolExecuted says that a tool has done its work.
	ToolExecuted struct {
		ToolID     string `json:"toolId"`
		ToolName   string `json:"toolName"`
		ServerName string `json:"serverName"` // empty for a tool that is built in
		DurationMs int64  `json:"durationMs"`
	}
	// ToolExecutionError says that a tool could not do its work.
	ToolExecutionError struct {
		ToolID     string `json:"toolId"`
		ToolName   string `json:"toolName"`
		ServerName string `json:"serverName"`
		DurationMs int64  `json:"durationMs"`
		Code       Code   `json:"code,omitempty"`
		Message    string `json:"message"`
	}
	// ResourceReadResult says that a resource of a server was read.
	ResourceReadResult struct {
		ServerName string `json:"serverName"`
		URI        string `json:"uri"`
		MimeType   string `json:"mimeType,omitempty"`
		Size       int64  `json:"size"` // bytes
	}
)

// Operation is what was asked of a work directory.
type Operation string

const (
	OpRead    Operation = "read"
	OpWrite   Operation = "write"
	OpDelete  Operation = "delete"
	OpList    Operation = "list"
	OpStat    Operation = "stat"
	OpMark    Operation = "mark"
	OpChanges Operation = "changes"
	OpApply   Operation = "apply"
)

// An Entry is something in a work directory.
type Entry struct {
	Name string `json:"name"` // without the directory it is in
	Kind Kind   `json:"type"`
	Size int64  `json:"size,omitempty"` // bytes, of a file
}

// Kind says what an entry is.
type Kind string

const (
	IsFile      Kind = "file"
	IsDirectory Kind = "directory"
	IsLink      Kind = "link"
	IsOther     Kind = "other" // a pipe, a socket, a device: nothing that is read or written here
)

func (FileReadResult) Type() string        { return "file_read_result" }
func (FileWritten) Type() string           { return "file_written" }
func (FileDeleted) Type() string           { return "file_deleted" }
func (DirectoryListResult) Type() string   { return "directory_list_result" }
func (WorkdirError) Type() string          { return "workdir_error" }
func (MCPServerConnected) Type() string    { return "mcp_server_connected" }
func (MCPServerDisconnected) Type() string { return "mcp_server_disconnected" }
func (ToolExecuted) Type() string          { return "tool_executed" }
func (ToolExecutionError) Type() string    { return "tool_execution_error" }
func (ResourceReadResult) Type() string    { return "resource_read_result" }

// What servers do is not the work directory's.
func (MCPServerConnected) Category() string    { return "mcp" }
func (MCPServerDisconnected) Category() string { return "mcp" }
func (ToolExecuted) Category() string          { return "mcp" }
func (ToolExecutionError) Category() string    { return "mcp" }
func (ResourceReadResult) Category() string    { return "mcp" }
