package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/store"
	"agentx/tui"
	"agentx/tui/text"
)

// A desk is the world as the chat sees it: it implements [tui.Backend].
type desk struct {
	world   *world
	options options
	feed    *tui.Feed

	mu       sync.Mutex
	talk     *talk
	unfollow func()          // stops showing what it says
	attached event.Content   // goes with the next message
	filed    event.SessionID // whose draft is known to have no files

	held    held
	browser browser
}

var _ tui.Backend = (*desk)(nil)

// shownEvents is how much of a resumed session the screen is given: more than a
// screenful, and no more for a long session than for a short one.
const shownEvents = 300

// enter opens the session that the flags mean.
func (d *desk) enter(ctx context.Context) (tui.Opened, error) {
	opened, err := d.turnTo(ctx, d.options)
	opened.Hello = d.hello(opened)
	return opened, err
}

// turnTo opens a session and leaves the one before.
func (d *desk) turnTo(ctx context.Context, o options) (tui.Opened, error) {
	next, err := d.world.open(ctx, o)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	d.mu.Lock()
	last, unfollow := d.talk, d.unfollow
	d.talk, d.unfollow = next, next.client.Follow(next.agent, d.feed)
	d.mu.Unlock()
	if last != nil {
		unfollow()
		last.leave(ctx)
	}
	opened, err := d.opened(ctx, next)
	return opened, d.say(err)
}

// hello tells a newcomer who it is that answers, and how that can be changed.
// Whoever came with a question, or for a session, has no use for it.
func (d *desk) hello(o tui.Opened) string {
	if o.Model.Name != "guide/guide" || len(o.Events) > 0 || d.options.pick || d.options.prompt != "" || d.options.model != "" {
		return ""
	}
	return "No model is set up yet, so the built-in guide answers. /model sets one up, or ask it how."
}

func (d *desk) current() *talk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.talk
}

// say makes of an error what a person is shown, and keeps its exit code.
func (d *desk) say(err error) error {
	if err == nil {
		return nil
	}
	return &exit{code: codeOf(err), err: errors.New(d.world.words(err))}
}

// opened is what the screen shows of a session.
func (d *desk) opened(ctx context.Context, t *talk) (tui.Opened, error) {
	o := tui.Opened{Session: tui.Session{ID: t.session}, Model: d.choice(t.choice()), System: t.prompt(), Saved: t.kept}
	if !t.kept {
		return o, nil
	}
	db := d.world.db
	s, err := db.Session(ctx, t.session)
	if err != nil {
		return o, err
	}
	o.Session = session(s)
	if o.Events, _, err = db.Tail(ctx, t.session, shownEvents); err != nil {
		return o, err
	}
	o.Earlier, o.Spent = earlier(s, o.Events)
	if s.Interrupted && s.Messages > 0 {
		o.Notice = "The last answer was broken off; what had come is above. /retry asks again."
	}
	if o.Notice == "" {
		o.Notice = t.choice().Doubt()
	}
	if o.Draft, err = d.draft(ctx, t.session); err != nil {
		return o, err
	}
	o.Prompts, err = db.Prompts(ctx, 1000)
	return o, err
}

// earlier counts what a session holds and events leave out.
func earlier(s store.Session, events []event.Event) (messages int, spent tui.Spent) {
	messages = s.Messages
	spent.Usage = s.Usage
	if s.Cost != nil {
		spent.Cost = *s.Cost
	}
	for _, e := range events {
		switch m := e.Data.(type) {
		case event.UserMessage, event.AssistantMessage:
			messages--
		case event.TurnResponse:
			spent.Usage = spent.Usage.Sub(m.Usage)
			if m.CostUSD != nil {
				spent.Cost -= *m.CostUSD
			}
		}
	}
	if messages <= 0 {
		return 0, tui.Spent{}
	}
	if s.Cost == nil {
		spent.Cost, spent.Unpriced = 0, 1
	}
	spent.Cost = max(spent.Cost, 0)
	return messages, spent
}

func session(s store.Session) tui.Session {
	return tui.Session{ID: s.ID, Title: s.Title, Updated: s.Updated, Messages: s.Messages}
}

// Send answers a message.
func (d *desk) Send(ctx context.Context, content event.Content, files []string) error {
	more, err := d.files(ctx, files)
	if err != nil {
		return d.say(err)
	}
	content = append(content[:len(content):len(content)], more...)
	d.mu.Lock()
	content, d.attached = append(content[:len(content):len(content)], d.attached...), nil
	d.mu.Unlock()
	t := d.current()
	return d.say(t.client.Receive(ctx, t.agent, content))
}

// Interrupt stops the answer that is arriving.
func (d *desk) Interrupt() {
	if t := d.current(); t != nil { // none where the session could not be opened
		go func() { // ends when the timeline has carried it, which may wait for whoever calls this to draw
			_ = t.client.Interrupt(context.Background(), t.agent, event.ByUser)
		}()
	}
}

// Retry answers the last message once more. What was answered before stays, in
// the session that it was said in; this one becomes a copy of what was said
// before the message.
func (d *desk) Retry(ctx context.Context) error {
	t := d.current()
	last, err := d.lastQuestion(ctx, t)
	if err != nil {
		return d.say(err)
	}
	if !t.kept {
		return d.Send(ctx, last.Content, nil)
	}
	if err := d.branch(ctx, t, last.ID); err != nil {
		return d.say(err)
	}
	return d.Send(ctx, last.Content, nil)
}

func (d *desk) lastQuestion(ctx context.Context, t *talk) (event.UserMessage, error) {
	events, err := t.events(ctx)
	if err != nil {
		return event.UserMessage{}, err
	}
	for i := len(events) - 1; i >= 0; i-- {
		if m, ok := events[i].Data.(event.UserMessage); ok {
			return m, nil
		}
	}
	return event.UserMessage{}, errors.New("there is no message to answer yet")
}

// branch turns to a copy of t as it was before a message.
func (d *desk) branch(ctx context.Context, t *talk, message string) error {
	to, err := t.client.Fork(ctx, t.session, message)
	if err != nil {
		return err
	}
	_, err = d.turnTo(ctx, options{resume: string(to), model: t.choice().Name(), system: t.prompt()})
	return err
}

// Sessions lists what fits the query.
func (d *desk) Sessions(ctx context.Context, query string) ([]tui.Session, error) {
	db, err := d.world.store(ctx)
	if err != nil {
		return nil, d.say(err)
	}
	if strings.TrimSpace(query) == "" {
		all, err := db.Sessions(ctx, store.Filter{Limit: 200})
		var list []tui.Session
		for _, s := range all {
			list = append(list, session(s))
		}
		return list, d.say(err)
	}
	hits, err := db.Search(ctx, query, 200)
	return found(hits), d.say(err)
}

// found are the sessions of hits, each once, with where the words were said.
func found(hits []store.Hit) []tui.Session {
	var list []tui.Session
	at := map[event.SessionID]int{}
	for _, h := range hits {
		i, known := at[h.Session.ID]
		if !known {
			i = len(list)
			at[h.Session.ID] = i
			list = append(list, session(h.Session))
		}
		if h.Seq > 0 && len(list[i].Snippets) < 3 {
			list[i].Snippets = append(list[i].Snippets, h.Snippet)
		}
	}
	return list
}

// Glance shows the last question and how its answer begins.
func (d *desk) Glance(ctx context.Context, id event.SessionID) ([]string, error) {
	db, err := d.world.store(ctx)
	if err != nil {
		return nil, d.say(err)
	}
	events, _, err := db.Tail(ctx, id, 20)
	if err != nil {
		return nil, d.say(err)
	}
	var lines []string
	for _, e := range events {
		switch m := e.Data.(type) {
		case event.UserMessage:
			lines = []string{"› " + strings.Join(strings.Fields(text.Truncate(m.Content.Text(), 500)), " ")}
		case event.AssistantMessage:
			lines = append(lines, beginning(m.Content.Text(), 5)...)
		}
	}
	return lines, nil
}

// beginning is the first n lines of s that are not blank.
func beginning(s string, n int) []string {
	var lines []string
	for line := range strings.Lines(s) {
		if len(lines) == n {
			break
		}
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
	}
	return lines
}

// Open turns to a session that is kept.
func (d *desk) Open(ctx context.Context, id event.SessionID) (tui.Opened, error) {
	if t := d.current(); t != nil && t.session == id {
		o, err := d.opened(ctx, t)
		return o, d.say(err)
	}
	return d.turnTo(ctx, options{resume: string(id)})
}

// New turns to a new session, with the model that is being talked to.
func (d *desk) New(ctx context.Context) (tui.Opened, error) {
	o := options{noSave: d.options.noSave, system: d.options.system}
	if t := d.current(); t != nil {
		o.model = t.choice().Name()
	}
	return d.turnTo(ctx, o)
}

// Fork turns to a copy of the open session.
func (d *desk) Fork(ctx context.Context) (tui.Opened, error) {
	t := d.current()
	if !t.kept {
		return tui.Opened{}, errors.New("this conversation is not kept, so there is nothing to fork")
	}
	to, err := t.client.Fork(ctx, t.session, "")
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	return d.turnTo(ctx, options{resume: string(to), model: t.choice().Name(), system: t.prompt()})
}

// Compact turns to a session that is to begin with a summary of the open one.
func (d *desk) Compact(ctx context.Context, focus string) (tui.Opened, string, error) {
	t := d.current()
	last, err := d.lastQuestion(ctx, t)
	if err != nil || len(last.Content) == 0 {
		return tui.Opened{}, "", d.say(errors.Join(err, errors.New("there is nothing to sum up yet")))
	}
	o := options{recall: t.session, noSave: !t.kept, model: t.choice().Name(), system: t.prompt(), title: d.titleOf(ctx, t)}
	opened, err := d.turnTo(ctx, o)
	opened.Notice = "What follows knows a summary of the conversation above. The whole of it stays in session " + shortID(t.session) + "; /sessions goes back to it."
	return opened, summaryPrompt(focus), err
}

// titleOf is what the open session is called; empty where nobody can say.
func (d *desk) titleOf(ctx context.Context, t *talk) string {
	s, err := t.client.Session(ctx, string(t.session))
	if err != nil {
		return ""
	}
	return s.Title
}

// summaryPrompt asks for a summary that a conversation can go on with.
func summaryPrompt(focus string) string {
	ask := "Summarise our conversation so far, so that we can go on with your summary alone. " +
		"Keep what was asked, what was decided and why, facts, names, numbers, file names and code that still matter, and what is open. " +
		"Leave out greetings and detours. Write the summary only."
	if focus = strings.TrimSpace(focus); focus != "" {
		ask += " Pay most attention to: " + focus
	}
	return ask
}

// Snapshot freezes what has been said in the open session.
func (d *desk) Snapshot(ctx context.Context, name string) (tui.Image, error) {
	t := d.current()
	im, err := t.client.Snapshot(ctx, runtime.ImageSnapshotRequest{AgentID: t.agent, Name: name})
	return pictured(im), d.say(frozen(err, name))
}

// Images are all, the newest first.
func (d *desk) Images(ctx context.Context) ([]tui.Image, error) {
	all, err := d.current().client.Images(ctx)
	var list []tui.Image
	for _, im := range all {
		list = append(list, pictured(im))
	}
	return list, d.say(err)
}

func pictured(im engine.Image) tui.Image {
	return tui.Image{ID: im.ID, Name: im.Name, Description: im.Description, Model: im.Model, Messages: im.Length, Created: im.Created.Time()}
}

// Begin turns to a session that begins with what an image holds.
func (d *desk) Begin(ctx context.Context, id event.ImageID) (tui.Opened, error) {
	return d.turnTo(ctx, options{image: string(id)})
}

// DeleteImage deletes an image for good.
func (d *desk) DeleteImage(ctx context.Context, id event.ImageID) error {
	_, err := d.current().client.DeleteImage(ctx, string(id))
	return d.say(err)
}

// Rename gives a session another title.
func (d *desk) Rename(ctx context.Context, id event.SessionID, title string) error {
	if t := d.current(); t != nil && t.session == id && !t.kept {
		return errors.New("this conversation is not kept, and has no title")
	}
	c, err := d.world.client(ctx)
	if err != nil {
		return d.say(err)
	}
	return d.say(c.Rename(ctx, id, title))
}

// Delete deletes a session for good.
func (d *desk) Delete(ctx context.Context, id event.SessionID) error {
	if t := d.current(); t != nil && t.session == id {
		return errors.New("this session is open; turn to another one first")
	}
	c, err := d.world.client(ctx)
	if err != nil {
		return d.say(err)
	}
	return d.say(c.DeleteSession(ctx, id))
}

// Export writes the open session as markdown into a new file.
func (d *desk) Export(ctx context.Context, path string) (string, error) {
	t := d.current()
	events, err := t.events(ctx)
	if err != nil {
		return "", d.say(err)
	}
	s, err := t.client.Session(ctx, string(t.session))
	if err != nil {
		return "", d.say(err)
	}
	if path == "" {
		path = "agentx-" + slug(s.Title) + shortID(s.ID) + ".md"
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.world.dir, path)
	}
	err = toNewFile(path, func(out io.Writer) error { return exportMarkdown(out, s, events) })
	return path, d.say(err)
}

// slug makes the beginning of a file name of a title.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case b.Len() >= 40:
			return b.String() + "-"
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return strings.TrimSuffix(b.String(), "-") + "-"
}

// SetSystem changes the system prompt from the next message on.
func (d *desk) SetSystem(ctx context.Context, prompt string) error {
	prompt, err := readSystem(prompt)
	if err != nil {
		return d.say(err)
	}
	t := d.current()
	if err := t.configure(ctx, runtime.AgentConfigureRequest{System: &prompt}); err != nil {
		return d.say(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.system = prompt
	return nil
}

// SaveDraft keeps what was written and not sent.
func (d *desk) SaveDraft(ctx context.Context, draft tui.Draft) error {
	t := d.current()
	if t == nil || !t.kept {
		return nil
	}
	var text []byte
	if !draft.Empty() {
		text, _ = json.Marshal(draft) // strings and numbers always can be
	}
	return d.say(errors.Join(d.world.db.SetDraft(ctx, t.session, string(text)), d.keepFiles(ctx, t, draft)))
}

func (d *desk) draft(ctx context.Context, id event.SessionID) (tui.Draft, error) {
	var draft tui.Draft
	text, err := d.world.db.Draft(ctx, id)
	if err != nil || text == "" {
		return draft, err
	}
	if json.Unmarshal([]byte(text), &draft) == nil {
		return draft, nil
	}
	var old struct { // before there were chips
		Text   string
		Queued []string
	}
	if json.Unmarshal([]byte(text), &old) != nil {
		return tui.Draft{Message: tui.Message{Text: text}}, nil
	}
	draft = tui.Draft{Message: tui.Message{Text: old.Text}}
	for _, s := range old.Queued {
		draft.Queued = append(draft.Queued, tui.Message{Text: s})
	}
	return draft, nil
}

// AddPrompt adds to the history of prompts.
func (d *desk) AddPrompt(ctx context.Context, text string) error {
	if t := d.current(); t == nil || !t.kept {
		return nil
	}
	return d.say(d.world.db.AddPrompt(ctx, text))
}
