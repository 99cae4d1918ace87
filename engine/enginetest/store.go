package enginetest

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"agentx/engine/mealy"
)

// TestStore puts a store of states through what every store promises. Open
// makes an empty one; a and b are two states that differ.
func TestStore[S any](t *testing.T, open func() mealy.Store[S], a, b S) {
	ctx := context.Background()
	expect := func(t *testing.T, s mealy.Store[S], id string, want *S) {
		t.Helper()
		got, ok, err := s.Get(ctx, id)
		has, hasErr := s.Has(ctx, id)
		if err != nil || hasErr != nil {
			t.Fatalf("Get(%q), Has(%q): %v, %v", id, id, err, hasErr)
		}
		if ok != (want != nil) || has != ok {
			t.Fatalf("%q is there: Get says %v, Has says %v, want %v", id, ok, has, want != nil)
		}
		if ok && !reflect.DeepEqual(got, *want) {
			t.Errorf("Get(%q) = %+v, want %+v", id, got, *want)
		}
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("what was never set is not there", func(t *testing.T) {
		expect(t, open(), "x", nil)
	})
	t.Run("the last state counts, for its id alone", func(t *testing.T) {
		s := open()
		must(t, s.Set(ctx, "x", a))
		must(t, s.Set(ctx, "y", b))
		expect(t, s, "x", &a)
		must(t, s.Set(ctx, "x", b))
		expect(t, s, "x", &b)
		expect(t, s, "y", &b)
	})
	t.Run("a zero state is a state", func(t *testing.T) {
		s := open()
		var zero S
		must(t, s.Set(ctx, "x", zero))
		expect(t, s, "x", &zero)
	})
	t.Run("what was deleted is gone, and may be deleted again", func(t *testing.T) {
		s := open()
		must(t, s.Set(ctx, "x", a))
		must(t, s.Set(ctx, "y", b))
		must(t, s.Delete(ctx, "x"))
		must(t, s.Delete(ctx, "x"))
		expect(t, s, "x", nil)
		expect(t, s, "y", &b)
		must(t, s.Set(ctx, "x", b))
		expect(t, s, "x", &b)
	})
	t.Run("ids are any text", func(t *testing.T) {
		s := open()
		ids := []string{"", " ", "a/b", "../a", "A", "a", "a'b\"c", "漢字", "a\x00b", "a%b_c"}
		for i, id := range ids {
			must(t, s.Set(ctx, id, []S{a, b}[i%2]))
		}
		for i, id := range ids {
			expect(t, s, id, &[]S{a, b}[i%2])
		}
	})
	t.Run("many at once", func(t *testing.T) {
		s := open()
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() { // ends with its rounds
				id := fmt.Sprint("id", i%4)
				for range 20 {
					if err := s.Set(ctx, id, a); err != nil {
						t.Errorf("Set: %v", err)
					}
					if _, _, err := s.Get(ctx, id); err != nil {
						t.Errorf("Get: %v", err)
					}
				}
			})
		}
		all.Wait()
		for i := range 4 {
			expect(t, s, fmt.Sprint("id", i), &a)
		}
	})
}
