package mealy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"agentx/engine/mealy"
)

// Each sink takes what it has chosen: one everything, one what is even, and the
// one whose wish nothing fulfils is never troubled. None sees a choice that
// another has made (F64).
func TestSinksThatChoose(t *testing.T) {
	taken := map[string][]string{}
	into := func(name string) mealy.Sink[int] {
		return mealy.SinkFunc[int](func(_ context.Context, id string, outs []int) error {
			taken[name] = append(taken[name], fmt.Sprint(id, outs))
			_ = append(outs, 99)
			return nil
		})
	}
	m := mealy.Machine[int, int]{
		Process: halve, Store: &mealy.MemoryStore[int]{},
		Sinks: []mealy.Sink[int]{
			mealy.Only(func(n int) bool { return n%2 == 0 }, into("even")),
			mealy.Only(func(n int) bool { return n < 0 }, into("negative")),
			into("all"),
		},
	}
	for _, in := range []struct {
		id string
		n  int
	}{{"a", 12}, {"b", 1}} {
		if _, err := m.Input(t.Context(), in.id, in.n); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"even": "a[12 6]", "negative": "", "all": "a[12 6 3 1] b[1]"} {
		if got := strings.Join(taken[name], " "); got != want {
			t.Errorf("%s took %q, want %q", name, got, want)
		}
	}
}
