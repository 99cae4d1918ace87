//go:build unix

package cmd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agentx/engine/event"
	"agentx/tui"

	"pgregory.net/rapid"
)

// A listener is a model that remembers the user's part of what it was last sent.
type listener struct {
	mu    sync.Mutex
	heard []string
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Role    string
			Content any
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = nil
	for _, m := range req.Messages {
		l.heard = append(l.heard, m.Role+" "+fmt.Sprint(m.Content))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"re %d\"}}]}\n\n", len(l.heard))
	fmt.Fprint(w, "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// A wander is a chat that goes anywhere, and a plain model of it: what was asked on
// each branch, which sessions these are branches of, and where it is.
type wander struct {
	*rapid.T
	d     *desk
	model *listener
	made  int
	ways  map[event.SessionID][]string // texts asked, in order
	trunk map[event.SessionID]event.SessionID
	here  event.SessionID
}

func (w *wander) arrive(o tui.Opened, err error) {
	if err != nil {
		w.Fatal(err)
	}
	w.here = o.Session.ID
}

// say sends a message; what the model then hears is the way to it and no more.
func (w *wander) say(t *rapid.T) {
	w.made++
	w.send(fmt.Sprint("q", w.made))
}

func (w *wander) send(text string) {
	if err := w.d.Send(w.Context(), w.here, event.Say(text), nil); err != nil {
		w.Fatal(err)
	}
	w.ways[w.here] = append(slices.Clone(w.ways[w.here]), text)
	var want []string
	for i, q := range w.ways[w.here] {
		want = append(want, "user "+q, fmt.Sprint("assistant re ", 2*i+1))
	}
	w.model.mu.Lock()
	defer w.model.mu.Unlock()
	if want = want[:len(want)-1]; !slices.Equal(w.model.heard, want) {
		w.Fatalf("the model heard %q, want %q", w.model.heard, want)
	}
}

// asked draws a message of any branch of the session, with its way.
func (w *wander) asked(t *rapid.T) (tui.Twig, bool) {
	twigs, err := w.d.Tree(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if len(twigs) == 0 {
		return tui.Twig{}, false
	}
	return rapid.SampledFrom(twigs).Draw(t, "message"), true
}

// way is how a message was come to, on a branch that has it.
func (w *wander) way(text string) []string {
	for id, way := range w.ways {
		if i := slices.Index(way, text); i >= 0 && w.trunk[id] == w.trunk[w.here] {
			return way[:i]
		}
	}
	w.Fatalf("nobody asked %q", text)
	return nil
}

func (w *wander) branch(before string, way []string) {
	from := w.trunk[w.here]
	w.arrive(w.d.Branch(w.Context(), before))
	w.ways[w.here], w.trunk[w.here] = slices.Clone(way), from
}

func (w *wander) edit(t *rapid.T) {
	if m, ok := w.asked(t); ok {
		w.branch(m.ID, w.way(m.Text))
		w.say(t)
	}
}

func (w *wander) undo(t *rapid.T) {
	last, err := w.d.Asked(w.Context(), 1, "")
	if (err == nil) != (len(w.ways[w.here]) > 0) {
		w.Fatalf("Asked(1) = %v, %v on the way %q", last, err, w.ways[w.here])
	}
	if err == nil {
		way := w.ways[w.here]
		w.branch(last.ID, way[:len(way)-1])
	}
}

func (w *wander) retry(t *rapid.T) {
	if way := w.ways[w.here]; len(way) > 0 {
		w.undo(t)
		w.made++
		w.send(fmt.Sprint(way[len(way)-1], "'", w.made)) // each text is one message
	}
}

func (w *wander) fork(*rapid.T) {
	way := w.ways[w.here]
	w.arrive(w.d.Fork(w.Context()))
	w.ways[w.here], w.trunk[w.here] = way, w.here
}

func (w *wander) begin(*rapid.T) {
	w.arrive(w.d.New(w.Context()))
	w.ways[w.here], w.trunk[w.here] = nil, w.here
}

func (w *wander) turn(t *rapid.T) {
	var ids []event.SessionID
	for id := range w.ways {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	w.arrive(w.d.Open(w.Context(), rapid.SampledFrom(ids).Draw(t, "session")))
}

func (w *wander) climb(t *rapid.T) {
	m, ok := w.asked(t)
	if !ok {
		return
	}
	way, from := append(slices.Clone(w.way(m.Text)), m.Text), w.trunk[w.here]
	w.arrive(w.d.Climb(w.Context(), m.ID))
	if was, known := w.ways[w.here]; known && !slices.Equal(was, way) {
		w.Fatalf("behind %q it has come to the way %q", m.Text, was)
	}
	w.ways[w.here], w.trunk[w.here] = way, from
}

// compare looks whether all is there: every branch, with all that was asked on
// it, and each message in the tree of its session once.
func (w *wander) compare(*rapid.T) {
	tree := map[string]bool{}
	for id, way := range w.ways {
		events, err := w.d.world.db.Events(w.Context(), id)
		if err != nil {
			w.Fatal(err)
		}
		var asked []string
		for _, e := range events {
			if m, ok := e.Data.(event.UserMessage); ok {
				asked = append(asked, m.Content.Text())
			}
		}
		if !slices.Equal(asked, way) {
			w.Fatalf("on branch %s was asked %q, want %q", id, asked, way)
		}
		if w.trunk[id] == w.trunk[w.here] {
			for _, text := range way {
				tree[text] = true
			}
		}
	}
	twigs, err := w.d.Tree(w.Context())
	if err != nil || len(twigs) != len(tree) {
		w.Fatalf("the tree has %d messages, %v; want %d", len(twigs), err, len(tree))
	}
	var on []string
	for _, t := range twigs {
		if !tree[t.Text] {
			w.Fatalf("the tree has %q", t.Text)
		}
		if t.On {
			on = append(on, t.Text)
		}
	}
	if !slices.Equal(on, w.ways[w.here]) {
		w.Fatalf("the way here is drawn as %q, want %q", on, w.ways[w.here])
	}
}

// Whatever is edited, undone, asked again, copied and turned to, in whatever
// order: nothing is lost, every branch can be reached, and the model is sent the
// way from the beginning to where one is.
func TestAnyWayThroughTheBranches(t *testing.T) {
	model := &listener{}
	server := httptest.NewServer(model)
	defer server.Close()
	trials := 0
	rapid.Check(t, func(rt *rapid.T) {
		if trials++; trials > 12 { // every message is an fsync
			return
		}
		home, err := os.MkdirTemp("", "agentx-walk-")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(home)
		file := fmt.Sprintf("[providers.mine]\nbase_url = %q\nmodels = [\"m\"]\n", server.URL+"/v1")
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(file), 0o600); err != nil {
			rt.Fatal(err)
		}
		d := newDesk(t, home, options{model: "mine/m", noSave: false}, func(string) string { return "" })
		defer d.world.close()
		first := d.current().session
		w := &wander{T: rt, d: d, model: model, ways: map[event.SessionID][]string{first: nil}, trunk: map[event.SessionID]event.SessionID{first: first}, here: first}
		rt.Repeat(map[string]func(*rapid.T){
			"": w.compare, "say": w.say, "edit": w.edit, "undo": w.undo, "retry": w.retry,
			"fork": w.fork, "new": w.begin, "open": w.turn, "climb": w.climb,
		})
	})
}

// A program that is killed between an edited message and its answer has lost
// neither branch, nor what had come of either.
func TestChatKilledOnABranch(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 24, nil, "-m", "openai/echo", "the first")
	w.sees("You said: the first")
	w.ready()
	w.says("/model openai/drip")
	w.sees("answers from the next message on")
	w.says("/edit")
	w.sees("Enter begins a branch")
	w.says(" revised")
	w.reads("drop3 ")
	h.until("the text on the disk", func() bool { return strings.Contains(h.live(), "drop20 ") })
	w.signal(syscall.SIGKILL)
	w.ends(-int(syscall.SIGKILL))

	out, errs, code := h.run("session", "tree")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); code != 0 || len(lines) != 2 ||
		!strings.Contains(lines[0], "the first") || !strings.Contains(lines[1], "● the first revised") {
		t.Errorf("the tree is\n%s%s", out, errs)
	}
	if out, _, _ := h.run("session", "search", "drop3"); !strings.Contains(out, "drop3") {
		t.Errorf("what came on the branch is not kept:\n%s", out)
	}
	if out, _, _ := h.run("session", "list", "--json"); !strings.Contains(out, `"branches":2`) || strings.Count(out, `"id"`) != 1 {
		t.Errorf("the list is %s", out)
	}
	w = h.open(80, 24, nil, "-c")
	w.sees("the first revised", "drop3")
	w.says("/tree")
	w.sees("you are here")
	w.types(up + enter)
	w.sees("You said: the first")
	w.leaves()
}

// Two chats are open and both answer. Each is shown whole when one turns to it;
// leaving interrupts both, says so, and keeps what had come.
func TestSeveralChats(t *testing.T) {
	h := newHouse(t)
	w := h.open(100, 30, nil, "-m", "openai/drip", "the weather")
	w.reads("Thinking about the weather, drop1 ")
	w.says("/new")
	w.sees("A new session.", "2 chats, 1 answering")
	w.says("the beans")
	w.reads("Thinking about the beans, drop1 ")
	w.sees("2 chats, 2 answering")
	w.types("half a thought")
	w.sees("half a thought")
	w.types("\x1b1")
	w.sees("the weather", "2 chats, 2 answering")
	w.misses("half a thought")
	w.types("\x1b2")
	w.sees("half a thought", "the beans")
	w.types(ctrlU)
	w.misses("half a thought")
	w.says("/quit")
	w.sees("to go on: agentx -r ", "an answer was arriving in another chat")
	w.ends(0)
	out, _, _ := h.run("session", "list", "--json")
	if strings.Count(out, `"interrupted":true`) != 2 {
		t.Errorf("after leaving the list is %s", out)
	}
}

// What has ended where nobody looks is anybody's again: a script goes on with it,
// and whoever turns back sees that, too.
func TestAnsweredElsewhereIsFree(t *testing.T) {
	h := newHouse(t)
	w := h.open(100, 30, nil, "-m", "openai/slow", "-n", "first", "count")
	w.sees("word20.")
	w.says("/new")
	w.sees("2 chats, 1 answering")
	h.gate <- struct{}{}
	w.sees("2 chats, 1 answered")
	h.until("the session is free", func() bool {
		_, _, code := h.run("-r", "first", "-m", "openai/echo", "-p", "from elsewhere")
		return code == 0
	})
	w.types("\x1b1")
	w.sees("You said: from elsewhere")
	w.says("and here")
	w.sees("You said: and here")
	w.leaves()
}
