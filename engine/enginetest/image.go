package enginetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// A Gallery is a library that keeps images too.
type Gallery interface {
	Library
	Freeze(ctx context.Context, from event.SessionID, im engine.Image) (engine.Image, error)
	Images(ctx context.Context) ([]engine.Image, error)
	Image(ctx context.Context, ref string) (engine.Image, error)
	Thaw(ctx context.Context, id event.ImageID, to engine.Session) error
	DeleteImage(ctx context.Context, id event.ImageID) error
}

// TestImages puts a gallery through what everybody promises who keeps images.
// Open makes an empty one.
func TestImages(t *testing.T, open func() Gallery) {
	for name, story := range map[string]func(*testing.T, wall){
		"an image is what was said and what was around it":  wholeImage,
		"the same is frozen once":                           frozenOnce,
		"an id follows from what an image holds":            idFollows,
		"a turn that runs is left out":                      runningLeftOut,
		"a session of nothing is frozen":                    nothingFrozen,
		"many sessions are begun from one image":            thawedTwice,
		"a session that was begun from an image is forked":  thawedForked,
		"an image has one name":                             oneName,
		"an image is meant by id, beginning or name":        meantBy,
		"images are listed, the newest first":               newestFirst,
		"an image outlives its session, and stays as it is": outlives,
		"an image that is deleted is gone":                  deletedGone,
		"what cannot be an image is refused":                refused,
	} {
		t.Run(name, func(t *testing.T) {
			g := open()
			story(t, wall{shelf{g, t}, g})
		})
	}
}

// A wall is a gallery in a test.
type wall struct {
	shelf
	g Gallery
}

func (w wall) freeze(from event.SessionID, im engine.Image) engine.Image {
	w.t.Helper()
	im, err := w.g.Freeze(w.t.Context(), from, im)
	w.must(err)
	return im
}

func (w wall) thaw(id event.ImageID, to event.SessionID) {
	w.t.Helper()
	w.must(w.g.Thaw(w.t.Context(), id, engine.Session{ID: to, Created: day}))
}

func (w wall) image(ref event.ImageID) engine.Image {
	w.t.Helper()
	im, err := w.g.Image(w.t.Context(), string(ref))
	w.must(err)
	return im
}

func (w wall) list() []engine.Image {
	w.t.Helper()
	all, err := w.g.Images(w.t.Context())
	w.must(err)
	return all
}

// full is an image that says all that can be said of one.
func full() engine.Image {
	return engine.Image{
		Name: "before lunch", Description: "all of it", Container: "c", Agent: "a", Created: 1_700_000_100_000,
		System: "Be kind.\nBe brief.", Model: "m/9", Tools: []string{"read", "write"},
		Sandbox: []engine.File{
			{Path: "src/main.go", Mode: 0o644, Data: []byte("package main\x00")},
			{Path: "bin/run", Mode: 0o755, Data: []byte{0xff}},
			{Path: "empty"},
			{Path: "old.txt", Gone: true},
		},
	}
}

func wholeImage(t *testing.T, w wall) {
	w.begin("s")
	said := layers(append(w.talk("s", 1, "hello", "hi"), w.talk("s", 2, "more", "and more")...), event.MessageLayer)
	got := w.freeze("s", full())
	if len(got.Messages) > 0 || len(got.Sandbox) > 0 {
		t.Errorf("Freeze() returns %d messages and %d files", len(got.Messages), len(got.Sandbox))
	}
	want := full()
	want.ID, want.Session, want.Length, want.Sandbox = got.ID, "s", len(said), nil
	if !strings.HasPrefix(string(got.ID), "img_") || len(got.ID) < 20 || !reflect.DeepEqual(got, want) {
		t.Errorf("Freeze() = %+v, want %+v", got, want)
	}
	if all := w.list(); len(all) != 1 || !reflect.DeepEqual(all[0], want) {
		t.Errorf("Images() = %+v, want %+v", all, want)
	}
	whole := w.image(got.ID)
	if w.text(whole.Messages) != w.text(said) {
		t.Errorf("Messages are\n%s\nwant\n%s", w.text(whole.Messages), w.text(said))
	}
	files := full().Sandbox
	slices.SortFunc(files, func(a, b engine.File) int { return strings.Compare(a.Path, b.Path) })
	if fmt.Sprint(whole.Sandbox) != fmt.Sprint(files) {
		t.Errorf("Sandbox is %v, want %v", whole.Sandbox, files)
	}
	whole.Messages, whole.Sandbox = nil, nil
	if !reflect.DeepEqual(whole, want) {
		t.Errorf("Image() = %+v, want %+v", whole, want)
	}
	before := time.Now().Add(-time.Minute)
	if now := w.freeze("s", engine.Image{}); now.Model != "m/1" || now.Created.Time().Before(before) {
		t.Errorf("frozen without a model and a time it has %q and %s", now.Model, now.Created.Time())
	}
}

func frozenOnce(t *testing.T, w wall) {
	w.begin("s")
	w.talk("s", 1, "hello", "hi")
	first := w.freeze("s", engine.Image{System: "Be kind.", Created: 1000, Description: "the first"})
	again := w.freeze("s", engine.Image{System: "Be kind.", Created: 2000, Description: "the second", Agent: "b"})
	if !reflect.DeepEqual(first, again) || len(w.list()) != 1 {
		t.Errorf("frozen again it is %+v of %d, want %+v of one", again, len(w.list()), first)
	}
	w.must(w.ForkBefore(t.Context(), "s", "twin", ""))
	if twin := w.freeze("twin", engine.Image{System: "Be kind."}); !reflect.DeepEqual(first, twin) {
		t.Errorf("the same said elsewhere is %+v, want %+v", twin, first)
	}
}

func idFollows(t *testing.T, w wall) {
	w.begin("s")
	w.talk("s", 1, "hello", "hi")
	seen := map[event.ImageID]string{}
	other := func(what string, im engine.Image) {
		t.Helper()
		id := w.freeze("s", im).ID
		if same, ok := seen[id]; ok {
			t.Errorf("%s and %s have one id", what, same)
		}
		seen[id] = what
	}
	file := func(path, data string) engine.File { return engine.File{Path: path, Data: []byte(data)} }
	other("nothing beside it", engine.Image{})
	other("a prompt", engine.Image{System: "x"})
	other("a model", engine.Image{Model: "x"})
	other("a tool", engine.Image{Tools: []string{"x"}})
	other("two tools", engine.Image{Tools: []string{"x", "y"}})
	other("one tool of both names", engine.Image{Tools: []string{"xy"}})
	other("a file", engine.Image{Sandbox: []engine.File{file("x", "y")}})
	other("a file of another content", engine.Image{Sandbox: []engine.File{file("x", "z")}})
	other("a file of another mode", engine.Image{Sandbox: []engine.File{{Path: "x", Data: []byte("y"), Mode: 0o600}}})
	other("a file that is gone", engine.Image{Sandbox: []engine.File{{Path: "x", Gone: true}}})
	other("a file that is empty", engine.Image{Sandbox: []engine.File{file("x", "")}})
	other("two files", engine.Image{Sandbox: []engine.File{file("x", "y"), file("z", "y")}})
	two := w.freeze("s", engine.Image{Sandbox: []engine.File{file("z", "y"), file("x", "y")}})
	if seen[two.ID] != "two files" {
		t.Error("the order of files counts")
	}
	w.talk("s", 2, "more", "and more")
	other("more that was said", engine.Image{})
}

func runningLeftOut(t *testing.T, w wall) {
	w.begin("s")
	w.talk("s", 1, "hello", "hi")
	done := w.freeze("s", engine.Image{})
	w.present("s", 2, event.UserMessage{ID: "u2", Content: event.Say("go")}, event.MessageStart{MessageID: "m"},
		event.ToolUseStart{ToolCallID: "c", ToolName: "look"}, event.ToolUseStop{}, event.MessageStop{StopReason: event.ToolUse})
	if running := w.freeze("s", engine.Image{}); running.ID != done.ID {
		t.Errorf("a turn that runs is in the image: %+v", running)
	}
	w.begin("r")
	w.present("r", 1,
		event.UserMessage{ID: "u1", Content: event.Say("one")}, event.MessageStart{MessageID: "m1"}, event.TextDelta{Text: "fir"},
		event.UserMessage{ID: "u2", Content: event.Say("no: two")}, event.MessageStart{MessageID: "m2"}, event.TextDelta{Text: "sec"})
	said := w.image(w.freeze("r", engine.Image{}).ID).Messages
	if text := w.text(said); len(said) != 2 || strings.Contains(text, "two") {
		t.Errorf("of a turn that was replaced is kept\n%s", text)
	}
	w.present("r", 2, event.UserMessage{ID: "u3", Content: event.Say("three")}, event.MessageStart{MessageID: "m3"}, event.TextDelta{Text: "x"},
		event.Interrupted{Reason: event.ByUser})
	if over := w.freeze("r", engine.Image{}); over.Length < 4 {
		t.Errorf("of a turn that was interrupted is kept %+v", over)
	}
}

func nothingFrozen(t *testing.T, w wall) {
	w.begin("s")
	im := w.freeze("s", engine.Image{System: "Be kind.", Name: "blank"})
	if whole := w.image(im.ID); whole.Length != 0 || len(whole.Messages) != 0 || whole.System != "Be kind." {
		t.Errorf("Image() = %+v", whole)
	}
	w.thaw(im.ID, "new")
	if w.log("new") != "" || w.session("new").Image != im.ID {
		t.Errorf("from nothing began %+v: %s", w.session("new"), w.log("new"))
	}
	w.talk("new", 1, "hello", "hi")
	w.must(w.g.DeleteImage(t.Context(), im.ID))
	_, err := w.g.Freeze(t.Context(), "x", engine.Image{})
	w.want("Freeze(no session)", err, engine.ErrNotFound)
	w.want("Thaw(no image)", w.g.Thaw(t.Context(), im.ID, engine.Session{ID: "y"}), engine.ErrNotFound)
	_, err = w.Session(t.Context(), "y")
	w.want("what was not thawed", err, engine.ErrNotFound)
}

func thawedTwice(t *testing.T, w wall) {
	ctx := t.Context()
	w.begin("s")
	said := layers(append(w.talk("s", 1, "hello apple", "hi"), w.talk("s", 2, "more", "and more")...), event.MessageLayer)
	im := w.freeze("s", engine.Image{Model: "m/9"})
	w.must(w.g.Thaw(ctx, im.ID, engine.Session{ID: "a", Title: "Mine", Dir: "/a", Created: day, Model: "no", ParentID: "no"}))
	w.thaw(im.ID, "b")
	got := w.session("a")
	if got.Title != "Mine" || got.Dir != "/a" || got.Model != "m/9" || got.ParentID != "" || got.Image != im.ID || !got.Created.Equal(day) {
		t.Errorf("Session(a) = %+v", got)
	}
	if got.Messages != 6 || got.Usage != (event.Usage{}) || got.Cost == nil || *got.Cost != 0 || got.Open || got.Interrupted {
		t.Errorf("Session(a) = %+v: nothing was used in it", got)
	}
	if title := w.session("b").Title; title != "hello apple" {
		t.Errorf("without a title it has %q", title)
	}
	if w.log("a") != w.text(said) || w.log("b") != w.text(said) {
		t.Errorf("a begins with\n%s\nb with\n%s\nwant\n%s", w.log("a"), w.log("b"), w.text(said))
	}
	if page, first, err := w.Page(ctx, "a", 0, 3); err != nil || first != int64(len(said))-2 || w.text(page) != w.text(said[len(said)-3:]) {
		t.Errorf("Page() is at %d, %v\n%s", first, err, w.text(page))
	}
	if ids := w.ids(engine.SessionFilter{Query: "apple"}); len(strings.Fields(ids)) != 3 {
		t.Errorf("what was said is found in %q", ids)
	}
	if same := w.freeze("a", engine.Image{}); same.ID != im.ID {
		t.Errorf("frozen as it began it is %s, want %s", same.ID, im.ID)
	}
	w.talk("a", 3, "only here", "so it is")
	if got := w.session("a"); got.Messages != 9 || got.Usage.OutputTokens != 5 || *got.Cost != 5 {
		t.Errorf("gone on, Session(a) = %+v", got)
	}
	if w.log("b") != w.text(said) {
		t.Error("what was said in one is in the other")
	}
	if next := w.freeze("a", engine.Image{}); next.Parent != im.ID || next.Session != "a" || next.Length <= im.Length {
		t.Errorf("frozen again it is %+v, want a child of %s", next, im.ID)
	}
	w.want("Thaw onto another", w.g.Thaw(ctx, im.ID, engine.Session{ID: "a"}), engine.ErrExists)
	if err := w.g.Thaw(ctx, im.ID, engine.Session{}); err == nil {
		t.Error("a session without an id is thawed")
	}
}

func thawedForked(t *testing.T, w wall) {
	ctx := t.Context()
	w.begin("s")
	w.talk("s", 1, "one", "first")
	w.talk("s", 2, "two", "second")
	im := w.freeze("s", engine.Image{})
	w.thaw(im.ID, "t")
	w.talk("t", 3, "three", "third")
	w.must(w.ForkBefore(ctx, "t", "inside", "u2"), w.ForkBefore(ctx, "t", "edge", "u3"), w.ForkBefore(ctx, "t", "all", ""))
	for id, messages := range map[event.SessionID]int{"inside": 3, "edge": 6, "all": 9} {
		if got := w.session(id); got.Open || got.Interrupted || got.Messages != messages || got.Image != im.ID || got.ParentID != "t" {
			t.Errorf("Session(%s) = %+v", id, got)
		}
		if log := w.log(id); !strings.HasPrefix(w.log("t"), log) {
			t.Errorf("%s says what its parent does not:\n%s", id, log)
		}
	}
	if edge := w.freeze("edge", engine.Image{}); edge.ID != im.ID {
		t.Errorf("forked where the image ends it is %s, want %s", edge.ID, im.ID)
	}
	if all := w.freeze("all", engine.Image{}); all.ID != w.freeze("t", engine.Image{}).ID || all.Parent != im.ID {
		t.Errorf("the fork is frozen as %+v", all)
	}
}

func oneName(t *testing.T, w wall) {
	ctx := t.Context()
	w.begin("s")
	w.talk("s", 1, "hello", "hi")
	first := w.freeze("s", engine.Image{Created: 1000})
	named := w.freeze("s", engine.Image{Name: "lunch"})
	if named.ID != first.ID || named.Name != "lunch" || named.Created != first.Created {
		t.Errorf("named later it is %+v, want %+v with a name", named, first)
	}
	if same := w.freeze("s", engine.Image{Name: "lunch"}); !reflect.DeepEqual(same, named) {
		t.Errorf("by the same name it is %+v", same)
	}
	if none := w.freeze("s", engine.Image{}); none.Name != "lunch" {
		t.Errorf("without one it is %+v", none)
	}
	_, err := w.g.Freeze(ctx, "s", engine.Image{Name: "dinner"})
	w.want("a second name", err, engine.ErrExists)
	if err != nil && !strings.Contains(err.Error(), "lunch") {
		t.Errorf("%v does not say by which name it exists", err)
	}
	w.talk("s", 2, "more", "and more")
	_, err = w.g.Freeze(ctx, "s", engine.Image{Name: "lunch"})
	w.want("another's name", err, engine.ErrExists)
	if err != nil && !strings.Contains(err.Error(), string(first.ID)) {
		t.Errorf("%v does not say which image has it", err)
	}
	later := w.freeze("s", engine.Image{})
	_, err = w.g.Freeze(ctx, "s", engine.Image{Name: "lunch"})
	w.want("another's name, later", err, engine.ErrExists)
	if all := w.list(); len(all) != 2 || w.image(later.ID).Name != "" {
		t.Errorf("after what failed there are %+v", all)
	}
}

func meantBy(t *testing.T, w wall) {
	ctx := t.Context()
	w.begin("s")
	a := w.freeze("s", engine.Image{Name: "Lunch, mine"})
	b := w.freeze("s", engine.Image{System: "x"})
	for ref, want := range map[string]event.ImageID{
		string(a.ID): a.ID, string(b.ID): b.ID, "Lunch, mine": a.ID,
		string(a.ID[:len(a.ID)-1]): a.ID, strings.ToUpper(string(b.ID[:20])): b.ID,
	} {
		if im, err := w.g.Image(ctx, ref); err != nil || im.ID != want {
			t.Errorf("Image(%q) = %s, %v; want %s", ref, im.ID, err, want)
		}
	}
	_, err := w.g.Image(ctx, "img_")
	several, ok := errors.AsType[*engine.AmbiguousImageError](err)
	if !ok || len(several.Candidates) != 2 || !strings.Contains(err.Error(), string(a.ID)) || !strings.Contains(err.Error(), string(b.ID)) {
		t.Errorf("Image(img_) = %v, want both", err)
	}
	for _, ref := range []string{"", "img_u", "%", "_", "lunch", "Lunch", "Lunch, mine ", string(a.ID) + "0", strings.Repeat("x", 1<<20), "\x00", "' OR 1=1 --"} {
		_, err := w.g.Image(ctx, ref)
		w.want(fmt.Sprintf("Image(%.20q)", ref), err, engine.ErrNotFound)
	}
}

func newestFirst(t *testing.T, w wall) {
	w.begin("s")
	var want []event.ImageID
	for i, created := range []event.Millis{2000, 3000, 1000, 3000} {
		want = append(want, w.freeze("s", engine.Image{Created: created, System: fmt.Sprint(i)}).ID)
	}
	want = []event.ImageID{want[3], want[1], want[0], want[2]}
	var got []event.ImageID
	for _, im := range w.list() {
		got = append(got, im.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("Images() are %v, want %v", got, want)
	}
}

func outlives(t *testing.T, w wall) {
	w.begin("s")
	w.talk("s", 1, "hello", "hi")
	mine := full()
	im := w.freeze("s", mine)
	was := w.image(im.ID)
	mine.Sandbox[0].Data[0], mine.Tools[0] = '!', "rm"
	im.Tools[0] = "rm"
	read := w.image(im.ID)
	read.Sandbox[0].Data, read.Sandbox[1].Path, read.Tools[0] = nil, "x", "rm"
	read.Messages[0] = event.Event{}
	w.talk("s", 2, "more", "and more")
	w.must(w.Delete(t.Context(), "s"))
	now := w.image(im.ID)
	if w.text(now.Messages) != w.text(was.Messages) || !reflect.DeepEqual(now.Sandbox, was.Sandbox) || !slices.Equal(now.Tools, []string{"read", "write"}) {
		t.Errorf("the image has become %+v", now)
	}
	w.thaw(im.ID, "s")
	if w.log("s") != w.text(was.Messages) {
		t.Errorf("thawed it is\n%s", w.log("s"))
	}
}

func deletedGone(t *testing.T, w wall) {
	ctx := t.Context()
	w.begin("s")
	w.talk("s", 1, "hello", "hi")
	a := w.freeze("s", engine.Image{Name: "lunch", Created: 1000, System: "Be kind."})
	w.talk("s", 2, "more", "and more")
	b := w.freeze("s", engine.Image{Created: 2000, System: "Be kind."})
	whole := w.text(w.image(b.ID).Messages)
	w.thaw(a.ID, "t")
	w.must(w.g.DeleteImage(ctx, a.ID))
	_, err := w.g.Image(ctx, "lunch")
	w.want("Image(deleted)", err, engine.ErrNotFound)
	w.want("DeleteImage(again)", w.g.DeleteImage(ctx, a.ID), engine.ErrNotFound)
	w.want("DeleteImage(by its beginning)", w.g.DeleteImage(ctx, b.ID[:10]), engine.ErrNotFound)
	if left := w.image(b.ID); w.text(left.Messages) != whole || left.System != "Be kind." {
		t.Errorf("what is left is\n%s", w.text(left.Messages))
	}
	if got := w.session("t"); got.Image != a.ID || got.Messages != 3 {
		t.Errorf("what was begun from it is %+v", got)
	}
	again := w.freeze("t", engine.Image{Name: "lunch", Created: 3000, System: "Be kind."})
	if again.ID != a.ID || again.Created != 3000 {
		t.Errorf("frozen again it is %+v, want another %s", again, a.ID)
	}
}

func refused(t *testing.T, w wall) {
	w.begin("s")
	w.talk("s", 1, "hello", "hi")
	file := func(path string) engine.Image { return engine.Image{Sandbox: []engine.File{{Path: path}}} }
	for what, im := range map[string]engine.Image{
		"a name of two lines":         {Name: "a\nb"},
		"a name with an escape":       {Name: "\x1b[31mred"},
		"a name of spaces":            {Name: " "},
		"a name without end":          {Name: strings.Repeat("x", 10_000)},
		"a name that looks like one":  {Name: "IMG_0"},
		"a name that is no text":      {Name: "\xff"},
		"a file without a path":       file(""),
		"a file that is the folder":   file("."),
		"a file beside the folder":    file("../x"),
		"a file of the system":        file("/etc/passwd"),
		"a file by a crooked way":     file("a/../b"),
		"a file with a NUL":           file("a\x00b"),
		"a file twice":                {Sandbox: []engine.File{{Path: "a"}, {Path: "a", Gone: true}}},
		"a file that is more":         {Sandbox: []engine.File{{Path: "a", Mode: 1 << 31}}},
		"a file that is gone and not": {Sandbox: []engine.File{{Path: "a", Gone: true, Data: []byte("x")}}},
	} {
		if got, err := w.g.Freeze(t.Context(), "s", im); err == nil {
			t.Errorf("%s is frozen as %s", what, got.ID)
		}
	}
	if all := w.list(); len(all) != 0 {
		t.Errorf("Images() = %+v", all)
	}
}
