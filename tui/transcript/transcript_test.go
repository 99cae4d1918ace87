package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine/event"
	"agentx/tui/markdown"
	"agentx/tui/theme"
	"agentx/tui/transcript"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func ink(lines []string) string {
	return strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), "")
}

// A window that changes while an answer comes loses nothing of it, and prints
// nothing of what stood there already twice, but for the line that is cut.
func TestResizeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := transcript.New(transcript.Config{}, new(theme.Plain()))
		at := time.Unix(0, 0)
		apply := func(d event.Data) { m = m.Apply(event.Event{At: at, Data: d}) }
		apply(event.MessageStart{MessageID: "a"})
		var said, printed []string
		n := 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				m = m.SetSize(rapid.IntRange(20, 120).Draw(t, "width"), 20)
			} else {
				n++
				word := fmt.Sprintf("w%03d", n)
				said = append(said, word)
				apply(event.TextDelta{Text: word + rapid.SampledFrom([]string{" ", " ", " ", "\n\n"}).Draw(t, "gap")})
			}
			var lines []string
			m, lines = m.Take()
			printed = append(printed, lines...)
		}
		apply(event.AssistantMessage{ID: "a", StopReason: event.EndTurn})
		m, rest := m.Take()
		got := ink(append(printed, rest...))
		for _, word := range said {
			if !strings.Contains(got, word) {
				t.Fatalf("%s is lost in\n%s", word, strings.Join(append(printed, rest...), "\n"))
			}
		}
	})
}

// What a store gives back looks like what was seen arriving (F118).
func TestReplayLooksLikeLive(t *testing.T) {
	text := "Some **text**.\n\n- with\n- items\n\n```go\nfunc main() {}\n```\n"
	live := transcript.New(transcript.Config{}, new(theme.Dark()))
	at := time.Unix(0, 0)
	for _, d := range []event.Data{
		event.UserMessage{ID: "u", Content: event.Say("q")}, event.MessageStart{MessageID: "a"},
		event.TextDelta{Text: text[:20]}, event.TextDelta{Text: text[20:]},
		event.AssistantMessage{ID: "a", Content: event.Parts{event.Text{Text: text}}, StopReason: event.EndTurn},
	} {
		live = live.Apply(event.Event{At: at, Data: d})
	}
	again := transcript.New(transcript.Config{}, new(theme.Dark())).Replay([]event.Event{
		{At: at, Data: event.UserMessage{ID: "u", Content: event.Say("q")}},
		{At: at, Data: event.AssistantMessage{ID: "a", Content: event.Parts{event.Text{Text: text}}, StopReason: event.EndTurn}},
	}, 0)
	_, a := live.Take()
	_, b := again.Take()
	if !slices.Equal(a, b) {
		t.Errorf("live\n%s\nfrom the store\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	if got, _ := again.Answer(1); got != text {
		t.Errorf("Answer(1) = %q, want %q", got, text)
	}
}

// What is wrong beside the conversation is said in it, by how bad it is.
func TestTroubleIsShown(t *testing.T) {
	m := transcript.New(transcript.Config{}, new(theme.Plain()))
	for _, d := range []event.SystemError{
		{Message: "this conversation is not being saved", Severity: "error", Details: "the disk is \x1b[31mfull"},
		{Message: "80 % of the budget is spent", Severity: "warning"},
		{Message: "about 200,000 tokens", Severity: "info"},
	} {
		m = m.Apply(event.Event{Data: d})
	}
	_, lines := m.Take()
	want := "✗ This conversation is not being saved: the disk is ␛[31mfull.|! 80 % of the budget is spent.|· About 200,000 tokens."
	var got []string
	for _, l := range lines {
		if l = strings.TrimSpace(ansi.Strip(l)); l != "" {
			got = append(got, l)
		}
	}
	if strings.Join(got, "|") != want {
		t.Errorf("shown %q, want %q", strings.Join(got, "|"), want)
	}
}

// A message that could not be saved is not called saved.
func TestNothingIsCalledSavedThatIsNot(t *testing.T) {
	for code, said := range map[event.ErrorCode]bool{event.CodeNetwork: true, event.CodeStore: false} {
		m := transcript.New(transcript.Config{Saved: true}, new(theme.Plain()))
		m = m.Apply(event.Event{Data: event.UserMessage{ID: "u", Content: event.Say("q")}})
		m = m.Apply(event.Event{Data: event.ErrorMessage{ID: "e", ParentID: "u", ErrorCode: code, Content: "it went wrong"}})
		_, lines := m.Take()
		if shown := ansi.Strip(strings.Join(lines, "\n")); strings.Contains(shown, "Your message is saved") != said || !strings.Contains(shown, "It went wrong.") {
			t.Errorf("%s is shown as\n%s", code, shown)
		}
	}
}

// A frame of a growing answer costs what is new; the baseline lays out the whole.
func BenchmarkFrame(b *testing.B) {
	const frames = 600
	piece := "Some **words** of an answer that goes on, with `code` in it. "
	delta := func(n int) string {
		if n%8 == 7 {
			return piece + "\n\n"
		}
		return piece
	}
	b.Run("growing", func(b *testing.B) {
		for b.Loop() {
			m := transcript.New(transcript.Config{}, new(theme.Dark()))
			m = m.Apply(event.Event{Data: event.MessageStart{MessageID: "a"}})
			for n := range frames {
				m = m.Apply(event.Event{Data: event.TextDelta{Text: delta(n)}})
				m, _ = m.Take()
				_ = m.Tail(30, 0)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*frames), "µs/frame")
	})
	b.Run("whole", func(b *testing.B) {
		const few = 60 // of the frames, evenly spread
		for b.Loop() {
			var all strings.Builder
			for n := range frames {
				all.WriteString(delta(n))
				if n%(frames/few) == 0 {
					_ = markdown.Render(all.String(), 78, theme.Dark())
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*few), "µs/frame")
	})
}

// However much is thought and however much tools say, what is kept to be
// unfolded has an end, and says what it lacks.
func TestFoldsHaveAnEnd(t *testing.T) {
	m := transcript.New(transcript.Config{}, new(theme.Plain()))
	at := time.Unix(0, 0)
	big := strings.Repeat("sixteen letters ", 1<<16) // 1 MB
	for i := range 200 {
		m = m.Apply(event.Event{At: at, Data: event.MessageStart{MessageID: "a"}})
		for range 2 {
			m = m.Apply(event.Event{At: at, Data: event.ThinkingDelta{Text: big[:len(big)/2]}})
		}
		id := fmt.Sprint(i)
		m = m.Apply(event.Event{At: at.Add(3 * time.Second), Data: event.ToolUseStart{ToolCallID: id, ToolName: "read"}})
		m = m.Apply(event.Event{At: at, Data: event.ToolResultMessage{ToolCallID: id, ToolResult: event.ToolReturn{Output: event.Output{Kind: event.OutputText, Text: big}}}})
		m, _ = m.Take()
	}
	held, n := 0, 0
	for f, ok := m.Fold(1); ok; f, ok = m.Fold(n + 1) {
		_, body := transcript.Whole(f)
		held += len(body)
		n++
	}
	if n < 10 || held > 5<<20 {
		t.Errorf("%d folds hold %d bytes", n, held)
	}
	f, _ := m.Fold(2)
	title, body := transcript.Whole(f)
	if title != "thought for 3 s · 1.0 MB" || !strings.HasSuffix(body, "\n… 786.4 kB more; /export writes all") {
		t.Errorf("title %q, end %q", title, body[len(body)-60:])
	}
	if got := ansi.Strip(m.Line(f)); got != "  thought for 3 s · 1.0 MB" {
		t.Errorf("on a line %q", got)
	}
}

// Thoughts are shown as their reader wants them, and can always be unfolded.
func TestThoughts(t *testing.T) {
	for how, want := range map[transcript.Thoughts]string{
		transcript.Folded: "  thought for 2 s\n\n● So.", transcript.Always: "  First\n\n  then ␛[2J.\n\n● So.", transcript.Never: "● So.",
	} {
		m := transcript.New(transcript.Config{Thoughts: how}, new(theme.Plain()))
		at := time.Unix(0, 0)
		for _, d := range []event.Data{
			event.MessageStart{MessageID: "a"}, event.ThinkingDelta{Text: "First\n\nth"}, event.ThinkingDelta{Text: "en \x1b[2J."},
			event.TextDelta{Text: "So."}, event.AssistantMessage{ID: "a", StopReason: event.EndTurn},
		} {
			if _, said := d.(event.TextDelta); said {
				at = at.Add(2 * time.Second)
			}
			m = m.Apply(event.Event{At: at, Data: d})
		}
		m, lines := m.Take()
		if got := ansi.Strip(strings.Join(lines, "\n")); got != want {
			t.Errorf("thoughts %d look like\n%s\nwant\n%s", how, got, want)
		}
		f, ok := m.Fold(1)
		if !ok || ansi.Strip(strings.Join(m.Unfolded(f), "\n")) != "  First\n\n  then ␛[2J." {
			t.Errorf("thoughts %d: unfolded %v", how, ok)
		}
	}
}
