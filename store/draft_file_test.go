package store

import (
	"bytes"
	"testing"

	"agentx/engine/event"
)

// Files of a draft are kept once, as they were, until the draft lets go of them
// or its session is deleted.
func TestFilesOfADraft(t *testing.T) {
	db, ctx := fresh(t), t.Context()
	begin(t, db, "s")
	asked := 0
	data := func(path string) ([]byte, bool) {
		asked++
		return []byte("of " + path), path != "unknown"
	}
	kept := func(id event.SessionID, path, want string) {
		t.Helper()
		got, ok, err := db.DraftFile(ctx, id, path)
		if err != nil || string(got) != want || ok != (want != "") {
			t.Errorf("%s of %q is %q, %v, %v; want %q", path, id, got, ok, err, want)
		}
	}
	keep := func(id event.SessionID, paths ...string) {
		t.Helper()
		if err := db.KeepFiles(ctx, id, paths, data); err != nil {
			t.Fatal(err)
		}
	}
	keep("s", "a", "b", "unknown")
	keep("t", "a")
	kept("s", "a", "of a")
	kept("s", "b", "of b")
	kept("s", "unknown", "")
	asked = 0
	keep("s", "a", "b")
	if asked != 0 {
		t.Errorf("what is kept was asked for again %d times", asked)
	}
	keep("s", "b", "c")
	kept("s", "a", "")
	kept("s", "c", "of c")
	kept("t", "a", "of a")
	keep("s")
	kept("s", "b", "")
	kept("t", "a", "of a")

	big := bytes.Repeat([]byte{0, 255, '\n'}, 1<<20)
	err := db.KeepFiles(ctx, "s", []string{"big", "empty"}, func(path string) ([]byte, bool) {
		return map[string][]byte{"big": big}[path], true
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok, err := db.DraftFile(ctx, "s", "big"); !bytes.Equal(got, big) || !ok || err != nil {
		t.Errorf("a big file came back as %d bytes, %v, %v", len(got), ok, err)
	}
	if got, ok, err := db.DraftFile(ctx, "s", "empty"); len(got) != 0 || !ok || err != nil {
		t.Errorf("an empty file came back as %q, %v, %v", got, ok, err)
	}
	if err := db.Delete(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := db.DraftFile(ctx, "s", "big"); ok || err != nil {
		t.Errorf("the session is deleted and the file is kept: %v", err)
	}
}
