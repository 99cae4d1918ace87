package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentx/engine/event"
	"agentx/tui/composer"
)

// Backend is what the screen asks of the world. Every method but Interrupt may
// take its time: none is called on the goroutine that draws. Several may run at
// once. Errors are shown to the user as they are.
type Backend interface {
	Agent
	Library
	Grove
	Album
	Settings
	Desk
	Cabinet
	Shell
}

// An Agent answers, in any number of sessions at once.
type Agent interface {
	// Send answers a message in a session and returns when its turn is over. The
	// files, by their paths, go with it. Its events come through the [Feed], the
	// message itself as the first; where that never comes, nothing was sent. In a
	// session only one Send runs at a time.
	Send(ctx context.Context, in event.SessionID, content event.Content, files []string) error
	// Interrupt stops the answer that is arriving in a session, for the user, and
	// returns at once. It does nothing where none is. Of no session it stops all.
	Interrupt(in event.SessionID)
}

// A Grove keeps the branches of the open session: ways that it went, of which
// none is ever lost.
type Grove interface {
	// Asked is the message of the user of that id, on whatever branch, or where it
	// is empty the nth from the end of the open one: 1 is the last.
	Asked(ctx context.Context, n int, id string) (Asked, error)
	// Branch turns to a new branch, which holds what was said before a message of
	// the user on any branch.
	Branch(ctx context.Context, before string) (Opened, error)
	// Tree is drawn for the open branch.
	Tree(ctx context.Context) ([]Twig, error)
	// Climb turns to the branch that ends with a message of the user and its
	// answer, or to a new one where that is not the end of any.
	Climb(ctx context.Context, message string) (Opened, error)
}

// Asked is a message of the user.
type Asked struct {
	ID      string
	Content event.Content
}

// A Twig is a message of the user in a tree, a line of its picture.
type Twig struct {
	ID   string
	At   time.Time
	Lead string // what stands before it: "│  ├─ "
	Text string // its beginning, in one line
	Ends int    // branches that end here
	On   bool   // it is on the way to the open branch
	Here bool   // that ends here
}

// A Library keeps conversations. Turning to another leaves the open one as it
// is: an answer that arrives there goes on arriving.
type Library interface {
	// Sessions lists what fits the query, in titles and in what was said, the
	// newest first; all where it is empty.
	Sessions(ctx context.Context, query string) ([]Session, error)
	// Glance returns a few lines of what was said last.
	Glance(ctx context.Context, id event.SessionID) ([]string, error)
	Open(ctx context.Context, id event.SessionID) (Opened, error)
	New(ctx context.Context) (Opened, error)
	// Fork turns to a copy of the open session, which stays as it is.
	Fork(ctx context.Context) (Opened, error)
	// Compact turns to a new session that knows the open one until its first
	// answer, and returns what to ask it for: a summary to go on with.
	Compact(ctx context.Context, focus string) (Opened, string, error)
	Rename(ctx context.Context, id event.SessionID, title string) error
	Delete(ctx context.Context, id event.SessionID) error
	// Close lets others have a session that is not on the screen any more.
	Close(ctx context.Context, id event.SessionID) error
	// Tag gives a session tags, or takes those away that have a minus before them,
	// and returns all that it has.
	Tag(ctx context.Context, id event.SessionID, tags []string) ([]string, error)
	// Page returns n events of a session from the one that first counts on, oldest
	// first; the first event of a session is 1.
	Page(ctx context.Context, in event.SessionID, first int64, n int) ([]event.Event, error)
	// Find returns what counts the last message of a session that has all words of
	// a query, or the first, among those from first on before the one that next
	// counts; 0 where there is none.
	Find(ctx context.Context, in event.SessionID, query string, first, next int64, last bool) (int64, error)
	// Export writes the open session to a file, an empty path to one of the
	// backend's choice, and returns where that is.
	Export(ctx context.Context, path string) (string, error)
}

// An Album keeps frozen conversations.
type Album interface {
	// Snapshot freezes what has been said in the open session; the name may be empty.
	Snapshot(ctx context.Context, name string) (Image, error)
	// Images are all, the newest first.
	Images(ctx context.Context) ([]Image, error)
	// Begin turns to a new session that begins with what an image holds.
	Begin(ctx context.Context, id event.ImageID) (Opened, error)
	DeleteImage(ctx context.Context, id event.ImageID) error
}

// Settings of the open session.
type Settings interface {
	// Models are those that could answer now.
	Models(ctx context.Context) ([]Choice, error)
	// Providers are those that lack a key, or that can be asked for their models.
	Providers(ctx context.Context) ([]Provider, error)
	// SetKey keeps the key of a provider and returns where.
	SetKey(ctx context.Context, provider, key string) (string, error)
	// Offers asks the server of a provider for its models. The error is ErrKey
	// where it accepts not the key that was given to us.
	Offers(ctx context.Context, provider string) ([]Choice, error)
	// SetModel chooses by name or alias.
	SetModel(ctx context.Context, name string) (Choice, error)
	SetSystem(ctx context.Context, prompt string) error
}

// A Desk keeps what is being written.
type Desk interface {
	// SaveDraft keeps what was written in a session and not sent. It replaces the
	// draft before.
	SaveDraft(ctx context.Context, in event.SessionID, d Draft) error
	// AddPrompt adds to the history of prompts, over all sessions.
	AddPrompt(ctx context.Context, text string) error
}

// A Cabinet finds files, and reads those that go with a message. Paths are
// relative to where the program was started.
type Cabinet interface {
	// Complete lists what fits the beginning of a path, the best first. It takes
	// a moment at most, however much there is.
	Complete(ctx context.Context, part string) ([]Entry, error)
	// Attach reads a file that is to go with a message. It is read again when the
	// message is sent; what was read now goes only where the file is gone by then.
	// What is no file at all is [ErrNoFile] or [ErrFolder].
	Attach(ctx context.Context, path string) (File, error)
	// Dropped attaches the image or PDF that was dropped on the terminal, if that
	// is what text says: one path and nothing else, as terminals write it.
	Dropped(ctx context.Context, text string) (File, bool)
	// Clipped attaches the image in the clipboard.
	Clipped(ctx context.Context) (File, error)
}

// ErrNoFile is what cannot be attached because there is no such file.
var ErrNoFile = errors.New("there is no such file")

// ErrFolder is what cannot be attached because it is a folder.
var ErrFolder = errors.New("a folder cannot go with a message")

// An Entry is a file, or a folder with a slash behind its name, to choose.
type Entry struct {
	Name   string
	Detail string
}

// A File can go with a message.
type File struct {
	Path string
	Name string // for people
	Kind string // "text", "PNG", …
	Size int64  // bytes
}

// A Shell runs commands for the user.
type Shell interface {
	// Folder is where commands are run.
	Folder() string
	// Run runs a command and returns when it has ended, or when ctx ends it with
	// all that it has started. An error is one of not being able to run anything.
	Run(ctx context.Context, command string) (Ran, error)
}

// Ran is a command that has ended.
type Ran struct {
	Output string // of both streams, fit to be shown; a long one lacks its middle
	Lines  int    // of the whole output
	Code   int    // its exit code; -1 where a signal ended it
	How    string // what ended it, where it did not end by itself
	Took   time.Duration
}

// A Session is a conversation in a list.
type Session struct {
	ID       event.SessionID
	Title    string
	Updated  time.Time
	Messages int
	Branches int
	Tags     []string
	Snippets []string // where the query was found
}

// An Image is a frozen conversation in a list.
type Image struct {
	ID          event.ImageID
	Name        string // may be empty
	Description string
	Model       string
	Messages    int
	Created     time.Time
}

// A Choice is a model that one can choose.
type Choice struct {
	Name   string // provider/model
	Detail string // what to know about it: its alias, its price
	Window int64  // tokens it can read; 0 where nobody knows
	Notice string // what to know before it is asked; empty for most
}

// A Provider has models.
type Provider struct {
	Name   string
	Locked bool // it needs a key first
	Many   bool // its name alone means none of its models
}

// Opened is a session that is open, with all that is shown of it.
type Opened struct {
	Session Session
	Agent   event.AgentID // who answers in it; its events come through the feed
	Model   Choice
	System  string // the system prompt
	Saved   bool   // it is kept

	Events  []event.Event // what was said, oldest first; a screenful is enough
	Earlier int           // messages that Events leaves out
	First   int64         // what counts the first of Events in the session, from 1; 0 is 1
	Spent   Spent         // by turns that Events leaves out

	Draft   Draft
	Files   []File   // that go with the first message
	Prompts []string // the history of prompts, oldest first
	Hello   string   // what a newcomer should know
	Notice  string   // what the user should know, such as how the last run ended

	skipped []event.Event // that the screen is not shown, but which count
}

// Spent is what turns took.
type Spent struct {
	Usage    event.Usage
	Cost     event.USD
	Turns    int
	Unpriced int // turns among them whose price is unknown
}

// A Draft is what was written and not sent.
type Draft struct {
	Message
	Queued []Message // that waited for an answer to end
	Aside  []Message `json:",omitempty"` // that were put aside, the latest last
	Edits  string    `json:",omitempty"` // id of the message that this is to stand for, on a new branch
}

// Empty says whether there is nothing in it.
func (d Draft) Empty() bool { return d.Message.Empty() && len(d.Queued) == 0 && len(d.Aside) == 0 }

// texts are those of all its messages, oldest first.
func (d Draft) texts() []string {
	var all []string
	for _, m := range slices.Concat(d.Aside, d.Queued, []Message{d.Message}) {
		if !m.Empty() {
			all = append(all, m.Text)
		}
	}
	return all
}

// A Message is a text and what of it is shown as chips.
type Message = composer.Draft
