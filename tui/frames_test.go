package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"
	"agentx/tui/screen"
	"agentx/tui/storytest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the frames that are shown as those that should be")

// A story is a file: what the user does, what the model sends, and the frames
// that follow. Above the line is what went into the terminal's scrollback
// (F118).
func TestFrames(t *testing.T) {
	files, err := filepath.Glob("../testdata/frames/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { tell(t, file, text) })
		})
	}
}

func tell(t *testing.T, file string, text []byte) {
	sections := script.ParseArchive(text)
	intro, _, _ := bytes.Cut(text, []byte("-- "))
	said, keys := "", ""
	want := map[string]string{}
	for _, s := range sections {
		switch s.Name {
		case "model":
			said = string(s.Data)
		case "user":
			keys = string(s.Data)
		default:
			want[s.Name] = string(s.Data)
		}
	}
	w := &desk{feed: NewFeed(), answers: answers(t, said)}
	u := newUser(t, w)
	var got []script.File
	for n, line := range strings.Split(strings.TrimSpace(keys), "\n") {
		if name, ok := strings.CutPrefix(line, "frame "); ok {
			got = append(got, script.File{Name: name, Data: []byte(u.picture())})
			if !*update {
				if diff := cmp.Diff(want[name], u.picture()); diff != "" {
					t.Errorf("%s, line %d: frame %q (-want +got):\n%s", file, n+1, name, diff)
				}
			}
			continue
		}
		u.does(line)
	}
	u.leave()
	if *update {
		out := append([]script.File{{Name: "model", Data: []byte(said)}, {Name: "user", Data: []byte(keys)}}, got...)
		if err := os.WriteFile(file, append(intro, script.FormatArchive(out)...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// answers reads what the model sends: a line "wait type data" for each event,
// a blank line between answers. The type "fails" ends one with an error.
func answers(t *testing.T, text string) script.Turns {
	var turns script.Turns
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		d := script.Driver{Speed: 1}
		for _, line := range strings.Split(block, "\n") {
			wait, rest, _ := strings.Cut(line, " ")
			name, data, _ := strings.Cut(rest, " ")
			after, err := time.ParseDuration(wait)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if after > 0 {
				after += time.Microsecond // not at the instant of a key
			}
			if name == "fails" {
				d.Steps = append(d.Steps, script.Step{After: after, Err: &engine.Fault{Code: event.CodeOverloaded, Message: data, Retryable: true}})
				continue
			}
			e, err := event.UnmarshalData(name, []byte(data))
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			d.Steps = append(d.Steps, script.Step{After: after, Event: e.(event.Stream)})
		}
		turns = append(turns, d)
	}
	return turns
}

// A desk is a backend that keeps everything in memory.
type desk struct {
	feed    *Feed
	answers script.Turns
	log     []event.Event // of the open session, from its beginning
	broken  error         // what Send fails with before anything is kept
	deleted []event.SessionID
	images  []Image
	copied  string
	clipped int      // how often an image was taken from the clipboard
	key     string   // of the far provider
	told    []string // beside the picture

	mu     sync.Mutex
	here   event.SessionID
	talks  map[event.SessionID]*talk
	made   int
	drafts map[event.SessionID]Draft
	closed []event.SessionID
	tags   []string
}

// A talk is a branch of a session on the desk.
type talk struct {
	id, trunk event.SessionID
	title     string
	events    []event.Event
	stop      context.CancelCauseFunc
}

// talk is that of a session, which begins where there is none. The lock is held.
func (d *desk) talk(id event.SessionID) *talk {
	if d.talks == nil {
		d.talks = map[event.SessionID]*talk{}
	}
	t := d.talks[id]
	if t == nil {
		t = &talk{id: id, trunk: id}
		d.talks[id] = t
	}
	return t
}

// events are what was said in the session on the screen.
func (d *desk) events() []event.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clip(d.talk(d.here).events)
}

// draft is the only one there is.
func (d *desk) draft() Draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drafts[d.here]
}

func (d *desk) Send(ctx context.Context, in event.SessionID, c event.Content, files []string) error {
	for _, path := range files {
		c = append(c, event.File{MediaType: "text/plain", Filename: path})
	}
	if d.broken != nil {
		return d.broken
	}
	ctx, stop := context.WithCancelCause(ctx)
	d.mu.Lock()
	t := d.talk(in)
	t.stop = stop
	var history []event.Message
	for _, e := range t.events {
		if m, ok := e.Data.(event.Message); ok {
			history = append(history, m)
		}
	}
	d.made++
	id := fmt.Sprint("u", d.made)
	d.mu.Unlock()
	keep := engine.PresenterFunc(func(_ context.Context, _ event.AgentID, e event.Event) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		switch e.Data.(type) {
		case event.Message:
			t.events = append(t.events, e)
			delete(d.drafts, in)
		case event.TurnResponse:
			t.events = append(t.events, e)
		}
		return nil
	})
	e := engine.Engine{Driver: d.answers, Now: time.Now, Presenters: []engine.Presenter{keep, d.feed}, Price: price}
	return e.Receive(ctx, engine.Request{Agent: agentOf(in), History: history, Message: event.UserMessage{ID: id, Content: c}})
}

func agentOf(id event.SessionID) event.AgentID { return event.AgentID("agent of " + id) }

// shown is a talk as the screen is told of it.
func (d *desk) shown(t *talk) Opened {
	d.here = t.id
	return Opened{Session: Session{ID: t.id, Title: t.title}, Agent: agentOf(t.id), Model: small, Saved: true, Events: slices.Clip(t.events), Draft: d.drafts[t.id]}
}

func (d *desk) begin() *talk {
	d.made++
	return d.talk(event.SessionID(fmt.Sprint("t", d.made)))
}

// branch begins another way of a session, with the first so many events.
func (d *desk) branch(of *talk, events int) Opened {
	t := d.begin()
	t.title, t.trunk, t.events = of.title, of.trunk, slices.Clone(of.events[:events])
	return d.shown(t)
}

func (d *desk) Asked(_ context.Context, n int, id string) (Asked, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found Asked
	for _, t := range d.ways() {
		if t.id != d.here && id == "" {
			continue
		}
		for i, e := range slices.Backward(t.events) {
			u, ok := t.events[i].Data.(event.UserMessage)
			if !ok {
				continue
			}
			if n--; found.ID == "" && (id == u.ID || id == "" && n == 0) {
				found = Asked{u.ID, e.Data.(event.UserMessage).Content}
			}
		}
	}
	if found.ID == "" {
		return found, errors.New("there is no such message of yours")
	}
	return found, nil
}

// ways are the branches of the session on the screen.
func (d *desk) ways() []*talk {
	var all []*talk
	for i := 0; i <= d.made; i++ {
		for _, id := range []event.SessionID{"", "s1", event.SessionID(fmt.Sprint("t", i))} {
			if t := d.talks[id]; t != nil && t.trunk == d.talk(d.here).trunk && !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

func (d *desk) Branch(_ context.Context, before string) (Opened, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.ways() {
		for i, e := range t.events {
			if u, ok := e.Data.(event.UserMessage); ok && u.ID == before {
				return d.branch(t, i), nil
			}
		}
	}
	return Opened{}, errors.New("there is no such message")
}

func (d *desk) grown() *engine.Node {
	var all []engine.Branch
	for _, t := range d.ways() {
		b := engine.Branch{Session: engine.Session{ID: t.id}}
		for _, e := range t.events {
			if u, ok := e.Data.(event.UserMessage); ok {
				b.Asked = append(b.Asked, engine.AskedOf(u, e.At))
			}
		}
		all = append(all, b)
	}
	return engine.Grow(all)
}

func (d *desk) Tree(context.Context) ([]Twig, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var twigs []Twig
	for _, r := range d.grown().Rows(d.here) {
		twigs = append(twigs, Twig{ID: r.ID, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local), Lead: r.Lead, Text: r.Text, Ends: len(r.Ends), On: r.On, Here: r.Here})
	}
	return twigs, nil
}

func (d *desk) Climb(_ context.Context, message string) (Opened, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.grown().Rows(d.here) {
		if r.ID == message && len(r.Ends) > 0 {
			return d.shown(d.talk(r.Ends[0])), nil
		}
	}
	for _, t := range d.ways() {
		for i, e := range t.events {
			if u, ok := e.Data.(event.UserMessage); !ok || u.ID != message {
				continue
			}
			end := i + 1
			for end < len(t.events) {
				if _, next := t.events[end].Data.(event.UserMessage); next {
					break
				}
				end++
			}
			return d.branch(t, end), nil
		}
	}
	return Opened{}, errors.New("there is no such message")
}

func (d *desk) Close(_ context.Context, id event.SessionID) error {
	d.closed = append(d.closed, id)
	return nil
}

func (d *desk) Tag(_ context.Context, _ event.SessionID, tags []string) ([]string, error) {
	for _, t := range tags {
		if t, off := strings.CutPrefix(t, "-"); off {
			d.tags = slices.DeleteFunc(d.tags, func(has string) bool { return has == t })
		} else {
			d.tags = append(d.tags, t)
		}
	}
	return slices.Clone(d.tags), nil
}

func price(_ string, u event.Usage) (event.USD, bool) {
	return engine.Price{Input: 3e6, Output: 15e6, CacheRead: 3e5}.Cost(u)
}

func (d *desk) Interrupt(in event.SessionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, t := range d.talks {
		if t.stop != nil && (in == "" || in == id) {
			t.stop(engine.Interrupt(event.ByUser))
		}
	}
}

func (d *desk) Sessions(_ context.Context, query string) ([]Session, error) {
	var out []Session
	for i, title := range []string{"Keys and models", "A plan for the garden", ""} {
		if strings.Contains(strings.ToLower(title), query) {
			out = append(out, Session{ID: event.SessionID(fmt.Sprint("s", i)), Title: title, Messages: 4 * (i + 1),
				Updated: time.Date(2026, 3, i+1, 12, 0, 0, 0, time.Local)})
			if query != "" {
				out[len(out)-1].Snippets = []string{"the last thing that was said"}
			}
		}
	}
	return out, nil
}

func (d *desk) Glance(context.Context, event.SessionID) ([]string, error) {
	return []string{"› Where do the beans go?", "Beside the corn."}, nil
}

func (d *desk) Open(_ context.Context, id event.SessionID) (Opened, error) {
	d.mu.Lock()
	if t := d.talks[id]; t != nil {
		defer d.mu.Unlock()
		return d.shown(t), nil
	}
	d.mu.Unlock()
	d.copyTo(id)
	return Opened{Session: Session{ID: id, Title: "A plan for the garden"}, Model: small, Saved: true, Events: d.events(), Earlier: 7}, nil
}
func (d *desk) New(context.Context) (Opened, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shown(d.begin()), nil
}
func (d *desk) Fork(context.Context) (Opened, error) {
	d.copyTo("copy")
	return Opened{Session: Session{ID: "copy", Title: "A copy"}, Model: small, Saved: true, Events: d.events()}, nil
}

// copyTo begins a session with all that was said in the one on the screen.
func (d *desk) copyTo(id event.SessionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	events := slices.Clone(d.talk(d.here).events)
	d.here = id
	d.talk(id).events = events
}
func (d *desk) Compact(_ context.Context, focus string) (Opened, string, error) {
	d.copyTo("short") // the screen need not know that the model does not
	return Opened{Session: Session{ID: "short"}, Model: small, Saved: true, Notice: "The whole of it stays."}, "Sum up: " + focus, nil
}
func (d *desk) Snapshot(_ context.Context, name string) (Image, error) {
	if len(d.events()) == 0 {
		return Image{}, errors.New("nothing has been said yet")
	}
	d.images = append(d.images, Image{
		ID: event.ImageID(fmt.Sprint("img_", len(d.images)+1)), Name: name, Model: "test/small", Messages: spokenIn(d.events()),
		Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local),
	})
	return d.images[len(d.images)-1], nil
}

func spokenIn(events []event.Event) int {
	n := 0
	for _, e := range events {
		if _, ok := e.Data.(event.Message); ok {
			n++
		}
	}
	return n
}

func (d *desk) Images(context.Context) ([]Image, error) { return d.images, nil }
func (d *desk) Begin(context.Context, event.ImageID) (Opened, error) {
	d.copyTo("begun")
	return Opened{Session: Session{ID: "begun", Title: "Begun"}, Model: small, Saved: true, Events: d.events()}, nil
}
func (d *desk) DeleteImage(_ context.Context, id event.ImageID) error {
	d.images = slices.DeleteFunc(d.images, func(i Image) bool { return i.ID == id })
	return nil
}
func (d *desk) Rename(context.Context, event.SessionID, string) error {
	return nil
}
func (d *desk) Delete(_ context.Context, id event.SessionID) error {
	d.deleted = append(d.deleted, id)
	return nil
}
func (d *desk) Page(_ context.Context, _ event.SessionID, first int64, n int) ([]event.Event, error) {
	return d.log[first-1 : min(first-1+int64(n), int64(len(d.log)))], nil
}
func (d *desk) Find(_ context.Context, _ event.SessionID, query string, first, next int64, last bool) (int64, error) {
	var found int64
	for seq := first; seq < next && (last || found == 0); seq++ {
		b, _ := event.MarshalData(d.log[seq-1].Data)
		said := strings.ToLower(string(b))
		if !slices.ContainsFunc(strings.Fields(strings.ToLower(query)), func(w string) bool { return !strings.Contains(said, w) }) {
			found = seq
		}
	}
	return found, nil
}
func (d *desk) Export(context.Context, string) (string, error) {
	return "", errors.New("the disk is full")
}
func (d *desk) Models(context.Context) ([]Choice, error) {
	return []Choice{small, {Name: "test/large", Detail: "slow and good", Window: 1_000_000}}, nil
}
func (d *desk) Providers(context.Context) ([]Provider, error) {
	return []Provider{{Name: "near", Many: true}, {Name: "far", Locked: d.key == ""}}, nil
}
func (d *desk) SetKey(_ context.Context, _, key string) (string, error) {
	d.key = key
	return "a drawer", nil
}
func (d *desk) Offers(_ context.Context, provider string) ([]Choice, error) {
	time.Sleep(time.Second)
	switch {
	case provider == "near":
		return nil, errors.New("near does not answer")
	case d.key == "sk-slip":
		return nil, fmt.Errorf("far: %w", ErrKey)
	}
	return []Choice{{Name: provider + "/star", Detail: d.key}}, nil
}
func (d *desk) SetModel(_ context.Context, name string) (Choice, error) {
	return Choice{Name: name, Window: 1_000_000}, nil
}
func (d *desk) SetSystem(context.Context, string) error { return nil }
func (d *desk) SaveDraft(_ context.Context, in event.SessionID, draft Draft) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drafts == nil {
		d.drafts = map[event.SessionID]Draft{}
	}
	d.drafts[in] = draft
	return nil
}
func (d *desk) AddPrompt(context.Context, string) error { return nil }

// The folder of a story holds a few files; some cannot be attached.

var folder = []File{
	{Path: "main.go", Name: "main.go", Kind: "text", Size: 2100},
	{Path: "docs/plan of beds.pdf", Name: "docs/plan of beds.pdf", Kind: "PDF", Size: 81_000},
	{Path: "/tmp/Bild 1.png", Name: "Bild 1.png", Kind: "PNG", Size: 1_300_000},
	{Path: "film.mkv", Name: "film.mkv", Kind: "", Size: 4 << 30},
}

func (d *desk) Complete(_ context.Context, part string) ([]Entry, error) {
	var out []Entry
	for _, f := range folder[:2] {
		if strings.Contains(f.Path, part) {
			out = append(out, Entry{f.Path, f.Kind})
		}
	}
	return out, nil
}

func (d *desk) Attach(_ context.Context, path string) (File, error) {
	i := slices.IndexFunc(folder, func(f File) bool { return f.Path == path })
	switch {
	case i < 0:
		return File{}, fmt.Errorf("%s: %w", path, ErrNoFile)
	case folder[i].Kind == "":
		return File{}, errors.New("film.mkv is larger than the 10 MB that a file may have")
	}
	return folder[i], nil
}

func (d *desk) Dropped(ctx context.Context, text string) (File, bool) {
	f, err := d.Attach(ctx, strings.ReplaceAll(text, `\ `, " "))
	return f, err == nil && f.Kind != "text"
}

// Clipped has a picture the first time.
func (d *desk) Clipped(context.Context) (File, error) {
	if d.clipped++; d.clipped > 1 {
		return File{}, errors.New("there is no image in the clipboard")
	}
	return File{Path: "/dev/null/clipboard-120000.png", Name: "clipboard-120000.png", Kind: "PNG", Size: 70_000}, nil
}

func (d *desk) Folder() string { return "/home/me/garden" }

// Run counts to what the command says; a second for each number.
func (d *desk) Run(ctx context.Context, command string) (Ran, error) {
	began, r := time.Now(), Ran{}
	var n int
	_, _ = fmt.Sscanf(command, "count %d", &n)
	for i := range n {
		select {
		case <-time.After(time.Second):
			r.Output, r.Lines = r.Output+fmt.Sprintln(i+1), i+1
		case <-ctx.Done():
			r.Code, r.How, r.Took = -1, "stopped", time.Since(began)
			return r, nil
		}
	}
	r.Took = time.Since(began)
	return r, nil
}

var small = Choice{Name: "test/small", Detail: "quick", Window: 8000}

// The terminal of a story has a clipboard and an editor that adds a line.

func (d *desk) copy(text string) error           { d.copied = text; return nil }
func (d *desk) tell(_ screen.Sign, seq string)   { d.told = append(d.told, seq) }
func (d *desk) ask()                             {}
func (d *desk) synchronised()                    {}
func (d *desk) clusters(bool)                    {}
func (d *desk) repaint()                         {}
func (d *desk) suspend()                         {}
func (d *desk) edit(text string) (string, error) { return text + "\nfrom the editor", nil }
func (d *desk) hold() func()                     { return func() {} }

// A user sits before a model and does what a story says. Both live in a
// synctest bubble: a second takes no time, and settled means settled.
type user struct {
	t     *testing.T
	desk  *desk
	model Model
	msgs  chan tea.Msg
	stop  context.CancelFunc
	above []string
	quit  bool
}

func newUser(t *testing.T, w *desk) *user {
	ctx, stop := context.WithCancel(t.Context())
	u := &user{t: t, desk: w, msgs: make(chan tea.Msg, 1000), stop: stop}
	time.Sleep(time.Microsecond) // keys and answers never come at the instant of a look
	u.model = newModel(ctx, Options{CompactAt: 90, NoMarks: true, Feed: w.feed, Theme: "dark", Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor"}}, w)
	u.run(u.model.Init())
	u.send(tea.WindowSizeMsg{Width: 60, Height: 16})
	return u
}

func (u *user) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() { // ends with its command
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				u.run(c)
			}
		default:
			u.msgs <- msg
		}
	}()
}

func (u *user) send(msg tea.Msg) {
	u.take(msg)
	for {
		synctest.Wait()
		select {
		case msg := <-u.msgs:
			u.take(msg)
		default:
			return
		}
	}
}

func (u *user) take(msg tea.Msg) {
	if _, ok := msg.(tea.QuitMsg); ok {
		u.quit = true
		return
	}
	next, cmd := u.model.Update(msg)
	u.model = next.(Model)
	u.run(cmd)
}

// wait lets time pass, and with it everything that happens.
func (u *user) wait(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(time.Until(end), 10*time.Millisecond))
		u.send(nil)
	}
}

// picture is the scrollback, a line, and the live part.
func (u *user) picture() string {
	m, f := u.model.frame()
	u.model, u.above = m, append(u.above, f.Above...)
	var b strings.Builder
	for _, l := range u.above {
		b.WriteString(strings.TrimRight(ansi.Strip(l), " ") + "\n")
	}
	b.WriteString(strings.Repeat("─", m.width) + "\n")
	for y, l := range f.Lines {
		l = ansi.Strip(l)
		if f.Cursor != nil && f.Cursor.Y == y {
			l = fmt.Sprintf("%-*s", f.Cursor.X+1, l)
			l = ansi.Cut(l, 0, f.Cursor.X) + "▏" + ansi.Cut(l, f.Cursor.X, 1000)
		}
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	if u.quit {
		b.WriteString("and leaves\n")
	}
	return b.String()
}

func (u *user) does(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "":
	case "starts": // the world is there
		u.desk.mu.Lock()
		o := u.desk.shown(u.desk.talk(""))
		u.desk.mu.Unlock()
		u.opens(o)
	case "resumes":
		u.opens(u.before())
	case "types":
		for _, r := range rest {
			u.send(tea.KeyPressMsg{Code: r, Text: string(r)})
			u.wait(50 * time.Millisecond)
		}
	case "presses":
		for _, k := range strings.Fields(rest) {
			u.send(storytest.Key(k))
			u.wait(50 * time.Millisecond)
		}
	case "wheels": // up or down
		b := map[string]tea.MouseButton{"up": tea.MouseWheelUp, "down": tea.MouseWheelDown}[rest]
		u.send(tea.MouseWheelMsg{Button: b})
	case "clicks": // on a row
		var y int
		_, _ = fmt.Sscan(rest, &y)
		u.send(tea.MouseClickMsg{Button: tea.MouseLeft, Y: y})
	case "resumes-long": // a session of so many messages
		var n int
		_, _ = fmt.Sscan(rest, &n)
		u.opens(u.long(n))
	case "pastes":
		u.send(tea.PasteMsg{Content: strings.ReplaceAll(rest, `\n`, "\n")})
	case "waits":
		d, err := time.ParseDuration(rest)
		if err != nil {
			u.t.Fatal(err)
		}
		u.wait(d)
	case "resizes":
		var w, h int
		_, _ = fmt.Sscan(rest, &w, &h)
		u.send(tea.WindowSizeMsg{Width: w, Height: h})
	case "kept": // what of the unsent a crash would leave
		if got := fmt.Sprintf("%q %q", u.desk.draft().Folded(), folded(u.desk.draft().Queued)); got != rest {
			u.t.Errorf("kept is %s, want %s", got, rest)
		}
	case "pasted": // elsewhere, what the clipboard has
		if got := fmt.Sprintf("%q", u.desk.copied); got != rest {
			u.t.Errorf("the clipboard has %s, want %s", got, rest)
		}
	case "breaks":
		u.desk.broken = errors.New(rest)
	case "mends":
		u.desk.broken = nil
	default:
		u.t.Fatalf("a user does not know how to %q", line)
	}
}

func folded(all []Message) []string {
	out := []string{}
	for _, d := range all {
		out = append(out, d.Folded())
	}
	return out
}

func (u *user) opens(o Opened) {
	u.send(result{func(m Model) (Model, tea.Cmd) {
		m.backend = u.desk
		return m.opened(o)
	}})
}

// before is a session that was left.
func (u *user) before() Opened {
	at := time.Now()
	say := func(d event.Data) event.Event { return event.Event{At: at, Data: d} }
	return Opened{
		Session: Session{ID: "s1", Title: "A plan for the garden"}, Model: small, Saved: true, Earlier: 7,
		Events: []event.Event{
			say(event.UserMessage{ID: "u1", Content: event.Say("What grows in shade?")}),
			say(event.ToolCallMessage{ID: "t1", ParentID: "a1", ToolCall: event.ToolCall{ID: "c1", Name: "search", Input: json.RawMessage(`{"q":"shade"}`)}}),
			say(event.AssistantMessage{ID: "a1", Content: event.Parts{event.Thinking{Text: "hm"}, event.Text{Text: "I look."}, event.ToolCall{ID: "c1", Name: "search", Input: json.RawMessage(`{"q":"shade"}`)}}, StopReason: event.ToolUse}),
			say(event.ToolResultMessage{ID: "t2", ToolCallID: "c1", ToolResult: event.ToolReturn{ID: "c1", Name: "search", Output: event.Output{Text: "Hosta\nFern"}}}),
			say(event.AssistantMessage{ID: "a2", Content: event.Parts{event.Text{Text: "**Hosta** and fe"}}, StopReason: event.StopInterrupted, Incomplete: true}),
		},
		Draft: Draft{Message: Message{Text: "and in the sun?"}, Queued: []Message{{Text: "what about roses"}}}, Prompts: []string{"What grows in shade?"},
		Notice: "The last run ended in the middle of an answer; what came of it is kept.",
	}
}

// long is the end of a session of many messages.
func (u *user) long(n int) Opened {
	for i := range n {
		d := event.Data(event.UserMessage{ID: fmt.Sprint("u", i), Content: event.Say(fmt.Sprintf("Question %d?", i/2+1))})
		if i%2 == 1 {
			d = event.AssistantMessage{ID: fmt.Sprint("a", i), Content: event.Parts{event.Text{Text: fmt.Sprintf("Answer *%d* of many.", i/2+1)}}, StopReason: event.EndTurn}
		}
		u.desk.log = append(u.desk.log, event.Event{At: time.Now(), Data: d})
	}
	first := max(n-20, 0)
	return Opened{Session: Session{ID: "s1", Title: "Long"}, Model: small, Saved: true, Events: u.desk.log[first:], First: int64(first) + 1, Earlier: first}
}

func (u *user) leave() {
	u.desk.Interrupt("")
	u.stop()
	u.desk.feed.Close()
	u.wait(time.Second)
	time.Sleep(10 * time.Minute) // the lexers' clock stops by itself when it is not used
}

// ever is how long a test waits for anything at all: a machine may be slow, and
// only what never comes is wrong.
const ever = 2 * time.Minute
