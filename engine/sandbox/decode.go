package sandbox

import (
	"encoding/json"
	"fmt"

	"agentx/engine/event"
)

// Decode reads the data of an event of this package, which the vocabulary of
// the conversation keeps as unknown. What is of another type stays unknown.
func Decode(u event.Unknown) (event.Data, error) {
	decode := decoder(u.Name)
	if decode == nil {
		return u, nil
	}
	data, err := decode(u.Raw)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %s: %w", u.Name, err)
	}
	return data, nil
}

func decoder(name string) func([]byte) (event.Data, error) {
	switch name {
	case "file_read_result":
		return decode[FileReadResult]
	case "file_written":
		return decode[FileWritten]
	case "file_deleted":
		return decode[FileDeleted]
	case "directory_list_result":
		return decode[DirectoryListResult]
	case "workdir_error":
		return decode[WorkdirError]

	case "mcp_server_connected":
		return decode[MCPServerConnected]
	case "mcp_server_disconnected":
		return decode[MCPServerDisconnected]
	case "tool_executed":
		return decode[ToolExecuted]
	case "tool_execution_error":
		return decode[ToolExecutionError]
	case "resource_read_result":
		return decode[ResourceReadResult]
	}
	return nil
}

func decode[D event.Data](b []byte) (event.Data, error) {
	var d D
	if len(b) == 0 {
		return d, nil
	}
	err := json.Unmarshal(b, &d)
	return d, err
}
