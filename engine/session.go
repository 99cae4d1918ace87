package engine

import (
	"encoding/json"
	"errors"
	"time"

	"agentx/engine/event"
)

// What a caller may ask about the error of whoever keeps sessions and images.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("exists already")
	ErrInUse    = errors.New("in use")
)

// A Session is a conversation that is kept, as a list shows it. It has a life
// of its own: agents come, answer in it, and go.
type Session struct {
	ID       event.SessionID
	Title    string // the beginning of the first message, until it is named
	Model    string // with which it goes on
	Dir      string // folder in which it was begun
	System   string // system prompt with which it goes on; left out of lists
	ParentID event.SessionID
	Trunk    event.SessionID // the session of which it is a branch, or its own id
	Tags     string          // words in order, a space between them; those of all its branches
	Image    event.ImageID   // from which it was begun; empty for most

	Created, Updated time.Time

	Messages    int         // of the user and of the assistant
	Usage       event.Usage // over all its turns
	Cost        *event.USD  // nil where a turn used tokens of unknown price
	Open        bool        // a turn is running, or its writer has just died
	Interrupted bool        // the last turn was broken off
	Branches    int         // in which something was said, itself included; 0 where nothing was
}

// A SessionFilter chooses sessions. The zero value chooses all. Of the branches
// of a session, that one stands for all in which something was said last.
type SessionFilter struct {
	Query  string    // words that the title or a message has
	Dir    string    // folder in which it was begun
	Tag    string    // a word among its tags
	Before time.Time // in which nothing was said since
	Limit  int       // how many at most; 0 is 1,000
}

// sessionJSON is a session on the wire, with times in milliseconds.
type sessionJSON struct {
	ID          event.SessionID `json:"sessionId"`
	Title       string          `json:"title"`
	Model       string          `json:"model,omitempty"`
	Dir         string          `json:"dir,omitempty"`
	System      string          `json:"systemPrompt,omitempty"`
	ParentID    event.SessionID `json:"parentSessionId,omitempty"`
	Trunk       event.SessionID `json:"trunkSessionId,omitempty"`
	Tags        string          `json:"tags,omitempty"`
	Image       event.ImageID   `json:"imageId,omitempty"`
	Created     event.Millis    `json:"createdAt"`
	Updated     event.Millis    `json:"updatedAt"`
	Messages    int             `json:"messageCount"`
	Usage       event.Usage     `json:"usage"`
	Cost        *event.USD      `json:"costUsd"`
	Open        bool            `json:"open,omitempty"`
	Interrupted bool            `json:"interrupted,omitempty"`
	Branches    int             `json:"branches,omitempty"`
}

// MarshalJSON writes the names that the commands use.
func (s Session) MarshalJSON() ([]byte, error) {
	return event.Marshal(sessionJSON{s.ID, s.Title, s.Model, s.Dir, s.System, s.ParentID, s.Trunk, s.Tags, s.Image,
		event.MillisOf(s.Created), event.MillisOf(s.Updated), s.Messages, s.Usage, s.Cost, s.Open, s.Interrupted, s.Branches})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Session) UnmarshalJSON(b []byte) error {
	var w sessionJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*s = Session{w.ID, w.Title, w.Model, w.Dir, w.System, w.ParentID, w.Trunk, w.Tags, w.Image,
		w.Created.Time(), w.Updated.Time(), w.Messages, w.Usage, w.Cost, w.Open, w.Interrupted, w.Branches}
	return nil
}
