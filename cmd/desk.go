package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
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
	talk     *talk                     // on the screen
	open     map[event.SessionID]place // talks that have an agent
	attached event.Content             // goes with the next message
	filed    event.SessionID           // whose draft is known to have no files
	left     []event.SessionID         // in which an answer was broken off when the chat was left, but for the one on the screen

	held    held
	browser browser
}

// A place is a talk that is open, and how to show no more of what is said in it.
type place struct {
	*talk
	unfollow func()
}

var _ tui.Backend = (*desk)(nil)

// shownEvents is how much of a resumed session the screen is given: more than a
// screenful, and no more for a long session than for a short one.
const shownEvents = 64

// enter opens the session that the flags mean.
func (d *desk) enter(ctx context.Context) (tui.Opened, error) {
	opened, err := d.turnTo(ctx, d.options)
	opened.Hello = d.hello(opened)
	return opened, err
}

// turnTo opens a session and puts it on the screen. The one before is left,
// unless an answer is arriving in it.
func (d *desk) turnTo(ctx context.Context, o options) (tui.Opened, error) {
	next, err := d.world.open(ctx, o)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	d.sit(next)
	return d.show(ctx, next)
}

// sit gives a talk its place; what is said in it is shown from now on.
func (d *desk) sit(t *talk) {
	unwatch := t.client.Follow(t.agent, &t.unkept)
	unfeed := t.client.Follow(t.agent, d.feed)
	unfollow := func() { unfeed(); unwatch() }
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[event.SessionID]place{}
	}
	d.open[t.session] = place{t, unfollow}
}

// show puts a talk on the screen.
func (d *desk) show(ctx context.Context, t *talk) (tui.Opened, error) {
	d.mu.Lock()
	last := d.talk
	d.talk = t
	d.mu.Unlock()
	if last != nil && last != t && !last.busy() {
		d.leave(ctx, last.session)
	}
	opened, err := d.opened(ctx, t)
	return opened, d.say(err)
}

// leave ends what is open of a session.
func (d *desk) leave(ctx context.Context, id event.SessionID) {
	d.mu.Lock()
	p, ok := d.open[id]
	delete(d.open, id)
	d.mu.Unlock()
	if ok {
		p.unfollow()
		p.leave(ctx)
	}
}

// at is the talk of a session, opened anew where it was left.
func (d *desk) at(ctx context.Context, id event.SessionID) (*talk, error) {
	d.mu.Lock()
	p, ok := d.open[id]
	t := d.talk
	d.mu.Unlock()
	switch {
	case ok:
		return p.talk, nil
	case id == "":
		return t, nil
	}
	t, err := d.world.open(ctx, options{at: id, noSave: d.world.shelf.forgets(id)})
	if err != nil {
		return nil, err
	}
	d.sit(t)
	return t, nil
}

// brokenOff are the sessions, beside that on the screen, in which an answer was
// arriving when the chat was left.
func (d *desk) brokenOff() []event.SessionID {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.left)
}

// hello tells a newcomer who it is that answers, and how that can be changed.
// Whoever came with a question, or for a session, has no use for it.
func (d *desk) hello(o tui.Opened) string {
	if o.Model.Name != "guide/guide" || len(o.Events) > 0 || d.options.pick || d.options.prompt != "" || d.options.model != "" {
		return ""
	}
	return "No model is set up, so the built-in guide answers. Ask it, or type /model."
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
	o := tui.Opened{Session: tui.Session{ID: t.session}, Agent: t.agent, Model: d.choice(t.choice()), System: t.prompt(), Saved: t.kept}
	if !t.kept {
		events, err := t.events(ctx)
		o.Events = events
		return o, err
	}
	db := d.world.db
	s, err := db.Session(ctx, t.session)
	if err != nil {
		return o, err
	}
	o.Session = session(s)
	if o.Events, o.First, err = db.Page(ctx, t.session, 0, shownEvents); err != nil {
		return o, err
	}
	o.Earlier, o.Spent = earlier(s, o.Events)
	if s.Interrupted && s.Messages > 0 && !t.busy() {
		o.Notice = "The last answer was broken off; what had come of it is above. /retry asks again."
		if nothingCame(o.Events) {
			o.Notice = "The last answer was broken off before anything came of it. /retry asks again."
		}
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

// nothingCame reports whether the last message of a person is the last message.
func nothingCame(events []event.Event) bool {
	for _, e := range slices.Backward(events) {
		switch e.Data.(type) {
		case event.AssistantMessage:
			return false
		case event.UserMessage:
			return true
		}
	}
	return false
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
	return tui.Session{ID: s.ID, Title: s.Title, Updated: s.Updated, Messages: s.Messages, Branches: s.Branches, Tags: strings.Fields(s.Tags)}
}

// Send answers a message.
func (d *desk) Send(ctx context.Context, in event.SessionID, content event.Content, files []string) error {
	t, err := d.at(ctx, in)
	if err != nil {
		return d.say(err)
	}
	more, err := d.files(ctx, t, files)
	if err != nil {
		return d.say(err)
	}
	content = append(content[:len(content):len(content)], more...)
	d.mu.Lock()
	content, d.attached = append(content[:len(content):len(content)], d.attached...), nil
	d.mu.Unlock()
	defer t.running()()
	return d.say(t.client.Receive(ctx, t.agent, content))
}

// Interrupt stops the answer that is arriving in a session, or in all.
func (d *desk) Interrupt(in event.SessionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, p := range d.open {
		if in != "" && id != in {
			continue
		}
		if in == "" && p.talk != d.talk && p.busy() && !slices.Contains(d.left, id) {
			d.left = append(d.left, id)
		}
		go func() { // ends when the timeline has carried it, which may wait for whoever calls this to draw
			_ = p.client.Interrupt(context.Background(), p.agent, event.ByUser)
		}()
	}
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

// Asked is a message of the user, by its id or as the nth from the end.
func (d *desk) Asked(ctx context.Context, n int, id string) (tui.Asked, error) {
	t := d.current()
	session := t.session
	if id != "" {
		b, _, err := d.holder(ctx, t, id)
		if err != nil {
			return tui.Asked{}, d.say(err)
		}
		session = b
	}
	a, err := lookUp(ctx, t.client, session, n, id)
	return a, d.say(err)
}

// lookUp looks for a message from the end, page by page.
func lookUp(ctx context.Context, c runtime.Client, session event.SessionID, n int, id string) (tui.Asked, error) {
	for before := int64(0); ; {
		page, first, err := c.Messages(ctx, session, before, 200)
		if err != nil {
			return tui.Asked{}, err
		}
		for _, e := range slices.Backward(page) {
			m, ok := e.Data.(event.UserMessage)
			if !ok {
				continue
			}
			n--
			if m.ID == id || id == "" && n == 0 {
				return tui.Asked{ID: m.ID, Content: m.Content}, nil
			}
		}
		if first <= 1 || len(page) == 0 {
			return tui.Asked{}, errors.New("there is no such message of yours")
		}
		before = first
	}
}

// holder is a branch on which a message was asked, the open one where it can be,
// and the message that was asked next there, if one was.
func (d *desk) holder(ctx context.Context, t *talk, message string) (branch event.SessionID, next string, err error) {
	all, err := t.client.Branches(ctx, t.session)
	if err != nil {
		return "", "", err
	}
	slices.SortStableFunc(all, func(a, b engine.Branch) int { return first(b, t.session) - first(a, t.session) })
	for _, b := range all {
		for i, a := range b.Asked {
			if a.ID != message {
				continue
			}
			if i+1 < len(b.Asked) {
				next = b.Asked[i+1].ID
			}
			return b.Session.ID, next, nil
		}
	}
	return "", "", errors.New("there is no such message in this session")
}

func first(b engine.Branch, id event.SessionID) int {
	if b.Session.ID == id {
		return 1
	}
	return 0
}

// Branch turns to another way of the open session, as it was before a message.
func (d *desk) Branch(ctx context.Context, before string) (tui.Opened, error) {
	t := d.current()
	to, err := t.client.Branch(ctx, t.session, before)
	if errors.Is(err, engine.ErrNotFound) { // it was asked on another branch; to find out which is to read them all
		var from event.SessionID
		if from, _, err = d.holder(ctx, t, before); err == nil {
			to, err = t.client.Branch(ctx, from, before)
		}
	}
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	return d.goTo(ctx, t, to)
}

// goTo turns to another branch, with the model and the system prompt of this.
func (d *desk) goTo(ctx context.Context, t *talk, to event.SessionID) (tui.Opened, error) {
	return d.turnTo(ctx, options{at: to, noSave: !t.kept, model: t.choice().Name(), system: t.prompt()})
}

// Tree is drawn for the open branch.
func (d *desk) Tree(ctx context.Context) ([]tui.Twig, error) {
	t := d.current()
	all, err := t.client.Branches(ctx, t.session)
	if err != nil {
		return nil, d.say(err)
	}
	var twigs []tui.Twig
	for _, r := range engine.Grow(all).Rows(t.session) {
		twigs = append(twigs, tui.Twig{ID: r.ID, At: r.At.Time(), Lead: r.Lead, Text: r.Text, Ends: len(r.Ends), On: r.On, Here: r.Here})
	}
	return twigs, nil
}

// Climb goes on behind a message: on a branch that ends there, or on a new one.
func (d *desk) Climb(ctx context.Context, message string) (tui.Opened, error) {
	t := d.current()
	all, err := t.client.Branches(ctx, t.session)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	for _, r := range engine.Grow(all).Rows(t.session) {
		switch {
		case r.ID != message:
		case slices.Contains(r.Ends, t.session):
			o, err := d.opened(ctx, t)
			return o, d.say(err)
		case len(r.Ends) > 0:
			return d.goTo(ctx, t, r.Ends[0])
		}
	}
	from, next, err := d.holder(ctx, t, message)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	to, err := t.client.Branch(ctx, from, next)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	return d.goTo(ctx, t, to)
}

// Close lets others have a session that is not on the screen any more.
func (d *desk) Close(ctx context.Context, id event.SessionID) error {
	d.mu.Lock()
	p, ok := d.open[id]
	if ok = ok && p.talk != d.talk; ok {
		delete(d.open, id) // from here on whoever turns to it opens it anew
	}
	d.mu.Unlock()
	if ok {
		p.unfollow()
		p.leave(ctx)
	}
	return nil
}

// Tag gives a session tags, and takes those away that have a minus before them.
func (d *desk) Tag(ctx context.Context, id event.SessionID, tags []string) ([]string, error) {
	if d.world.shelf.forgets(id) {
		return nil, errors.New("this conversation is not kept, and has no tags")
	}
	db, err := d.world.store(ctx)
	if err != nil {
		return nil, d.say(err)
	}
	var add, remove []string
	for _, t := range tags {
		if t, off := strings.CutPrefix(t, "-"); off {
			remove = append(remove, t)
		} else {
			add = append(add, strings.TrimPrefix(t, "+"))
		}
	}
	has, err := db.Tag(ctx, id, add, remove)
	return has, d.say(err)
}

// Sessions lists what fits the query.
func (d *desk) Sessions(ctx context.Context, query string) ([]tui.Session, error) {
	db, err := d.world.store(ctx)
	if err != nil {
		return nil, d.say(err)
	}
	tag, words := tagIn(query)
	if words == "" {
		all, err := db.Sessions(ctx, store.Filter{Limit: 200, Tag: tag})
		var list []tui.Session
		for _, s := range all {
			one := session(s)
			if tag != "" {
				one.Snippets = []string{"#" + strings.Join(one.Tags, " #")}
			}
			list = append(list, one)
		}
		return list, d.say(err)
	}
	hits, err := db.Search(ctx, words, 200)
	hits = slices.DeleteFunc(hits, func(h store.Hit) bool { return tag != "" && !slices.Contains(strings.Fields(h.Session.Tags), tag) })
	return found(hits), d.say(err)
}

// tagIn is the tag that a query asks for, as tag:work, and its other words.
func tagIn(query string) (tag, words string) {
	var rest []string
	for _, w := range strings.Fields(query) {
		if t, ok := strings.CutPrefix(strings.ToLower(w), "tag:"); ok {
			tag = strings.TrimPrefix(t, "#")
		} else {
			rest = append(rest, w)
		}
	}
	return tag, strings.Join(rest, " ")
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

// Open turns to a session that is kept, or open.
func (d *desk) Open(ctx context.Context, id event.SessionID) (tui.Opened, error) {
	t, err := d.at(ctx, id)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	opened, err := d.show(ctx, t)
	if d.seated(t) {
		return opened, err
	}
	if t, err = d.at(ctx, id); err != nil { // it was just being closed
		return tui.Opened{}, d.say(err)
	}
	return d.show(ctx, t)
}

// seated reports whether a talk has its agent still.
func (d *desk) seated(t *talk) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[t.session].talk == t
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
	return d.goTo(ctx, t, to)
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
	return pictured(im), d.say(frozen(err))
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

// Page returns a part of a session.
func (d *desk) Page(ctx context.Context, in event.SessionID, first int64, n int) ([]event.Event, error) {
	t, err := d.at(ctx, in)
	if err != nil {
		return nil, d.say(err)
	}
	var events []event.Event
	from := int64(1)
	if t.kept {
		events, from, err = d.world.db.Page(ctx, in, first+int64(n), n)
	} else {
		events, err = t.events(ctx)
	}
	events = events[min(max(first-from, 0), int64(len(events))):]
	return events[:min(n, len(events))], d.say(err)
}

// Find finds words in a part of a session.
func (d *desk) Find(ctx context.Context, in event.SessionID, query string, first, next int64, last bool) (int64, error) {
	if d.world.shelf.forgets(in) {
		t, err := d.at(ctx, in)
		if err != nil {
			return 0, d.say(err)
		}
		events, err := t.events(ctx)
		return sought(events, query, first, next, last), d.say(err)
	}
	db, err := d.world.store(ctx)
	if err != nil {
		return 0, d.say(err)
	}
	seq, err := db.Seek(ctx, in, query, first, next, last)
	return seq, d.say(err)
}

// sought counts the first event, or the last, from first on and before next in
// which all words of a query are said; 0 where there is none.
func sought(events []event.Event, query string, first, next int64, last bool) int64 {
	words := strings.Fields(strings.ToLower(query))
	var found int64
	for seq := max(first, 1); seq < min(next, int64(len(events))+1); seq++ {
		says := strings.ToLower(saying(events[seq-1].Data))
		if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(says, w) }) {
			continue
		}
		if found = seq; !last {
			break
		}
	}
	return found
}

// saying is what an event says to a reader.
func saying(d event.Data) string {
	switch d := d.(type) {
	case event.UserMessage:
		return d.Content.Text()
	case event.AssistantMessage:
		return d.Content.Thinking() + " " + d.Content.Text()
	case event.ToolResultMessage:
		return d.ToolResult.Output.String()
	}
	return ""
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
	err = toNewFile(path, func(out io.Writer) error { return exportMarkdown(out, s, t.unkept.with(events)) })
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
func (d *desk) SaveDraft(ctx context.Context, in event.SessionID, draft tui.Draft) error {
	t := d.current()
	if t == nil || in == "" || d.world.shelf.forgets(in) {
		return nil
	}
	var text []byte
	if !draft.Empty() {
		text, _ = json.Marshal(draft) // strings and numbers always can be
	}
	return d.say(errors.Join(d.keepFiles(ctx, in, draft), d.world.db.SetDraft(ctx, in, string(text)))) // whoever finds the draft finds its files
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
