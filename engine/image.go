package engine

import (
	"agentx/engine/event"
)

// An Image is a frozen copy of a conversation, from which any number of
// sessions can be begun. It never changes. Its id follows from what it holds,
// so freezing the same conversation twice gives the same image.
type Image struct {
	ID          event.ImageID     `json:"imageId"`
	Name        string            `json:"name,omitempty"` // for people; no two images share one
	Description string            `json:"description,omitempty"`
	Container   event.ContainerID `json:"containerId,omitempty"` // in which it was taken
	Agent       event.AgentID     `json:"agentId,omitempty"`     // of which it was taken
	Session     event.SessionID   `json:"sessionId,omitempty"`   // of which it was taken; may be gone
	Parent      event.ImageID     `json:"parentImageId,omitempty"`
	Created     event.Millis      `json:"createdAt"`

	System string   `json:"systemPrompt,omitempty"`
	Model  string   `json:"model,omitempty"`
	Tools  []string `json:"tools,omitempty"` // by name

	Length   int           `json:"messageCount"`       // of messages that Messages holds, or would
	Messages []event.Event `json:"messages,omitempty"` // of the message layer, oldest first; left out of lists
	Sandbox  []File        `json:"sandbox,omitempty"`  // what is other in the work directory; left out of lists
}

// A File is a change in a work directory.
type File struct {
	Path string `json:"path"`           // with slashes, inside the directory
	Mode uint32 `json:"mode,omitempty"` // permission bits
	Data []byte `json:"data,omitempty"`
	Gone bool   `json:"gone,omitempty"` // it was deleted
}
