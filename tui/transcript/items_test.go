package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine/event"
	"agentx/tui/theme"
	"agentx/tui/transcript"

	"github.com/charmbracelet/x/ansi"

	"pgregory.net/rapid"
)

// drawTalk is what an agent might say, whole messages of it as a log has them
// or as they come.
func drawTalk(t *rapid.T, live bool) []event.Data {
	var out []event.Data
	n := 0
	word := func() string {
		n++
		return fmt.Sprintf("w%03d", n) + rapid.SampledFrom([]string{" ", " **bold** ", "\n\n", "\n- ", " `code` ", "\n```go\nfunc main() {}\n```\n"}).Draw(t, "gap")
	}
	for m := range rapid.IntRange(1, 8).Draw(t, "messages") {
		id := fmt.Sprint("m", m)
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0, 1, 2:
			out = append(out, event.UserMessage{ID: id, Content: event.Say(word() + word())})
		case 3:
			if live { // no log has it
				out = append(out, event.SystemError{Message: word(), Severity: "warning"})
			}
		case 4:
			out = append(out, event.ErrorMessage{ID: id, Content: word(), ErrorCode: event.CodeServer})
		default:
			out = append(out, drawAnswer(t, id, live, word)...)
		}
	}
	return out
}

func drawAnswer(t *rapid.T, id string, live bool, word func() string) []event.Data {
	var out, results []event.Data
	var parts event.Parts
	if live {
		out = append(out, event.MessageStart{MessageID: id})
	}
	for p := range rapid.IntRange(0, 4).Draw(t, "parts") {
		call := event.ToolCall{ID: fmt.Sprint(id, "c", p), Name: "tool", Input: []byte(`{"a":"` + strings.TrimSpace(word()[:4]) + `"}`)}
		switch rapid.IntRange(0, 2).Draw(t, "part") {
		case 0:
			a, b := word(), word()
			parts = append(parts, event.Thinking{Text: a + b})
			if live {
				out = append(out, event.ThinkingDelta{Text: a}, event.ThinkingDelta{Text: b})
			}
		case 1:
			a, b := word(), word()
			parts = append(parts, event.Text{Text: a + b})
			if live {
				out = append(out, event.TextDelta{Text: a}, event.TextDelta{Text: b})
			}
		default:
			parts = append(parts, call)
			if live {
				out = append(out, event.ToolUseStart{ToolCallID: call.ID, ToolName: call.Name})
			}
			out = append(out, event.ToolCallMessage{ToolCall: call})
			results = append(results, event.ToolResultMessage{ToolCallID: call.ID, ToolResult: event.ToolReturn{ID: call.ID, Name: "tool", Output: event.Output{Text: word()}}})
		}
	}
	if live && rapid.IntRange(0, 4).Draw(t, "trouble") == 0 {
		at := rapid.IntRange(1, len(out)).Draw(t, "at")
		out = slices.Insert(out, at, event.Data(event.SystemError{Message: word()}))
	}
	out = append(out, event.AssistantMessage{ID: id, Content: parts, StopReason: event.EndTurn})
	return append(out, results...)
}

func stamped(talk []event.Data) []event.Event {
	out := make([]event.Event, len(talk))
	for i, d := range talk {
		out[i] = event.Event{At: time.Unix(int64(i), 0), Data: d}
	}
	return out
}

// rows are all of the items, one below the other.
func rows(l *transcript.Items) []string {
	var out []string
	for i := range l.Len() {
		out = append(out, l.Rows(i)...)
	}
	for len(out) > 0 && out[0] == "" {
		out = out[1:]
	}
	return out
}

func same(t *rapid.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Message by message a conversation looks as it does where it is printed, when
// it was seen arriving as when it is laid out long after.
func TestItemsLookLikeWhatIsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := transcript.New(transcript.Config{Keep: true}, new(theme.Plain()))
		if rapid.Bool().Draw(t, "watched") {
			m.Items().Show()
		}
		for _, e := range stamped(drawTalk(t, true)) {
			m = m.Apply(e)
		}
		m = m.Notice(transcript.Info, "That was all.").End()
		m, printed := m.Take()
		m.Items().Show()
		same(t, "laid out anew", rows(m.Items()), printed)
	})
}

// While it arrives, an item is what is printed of it and what is not finished.
func TestTheLastItemGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := transcript.New(transcript.Config{Keep: true}, new(theme.Plain()))
		m.Items().Show()
		var printed []string
		for _, e := range stamped(drawTalk(t, true)) {
			m = m.Apply(e)
			var lines []string
			m, lines = m.Take()
			printed = append(printed, lines...)
			want := append(slices.Clip(printed), m.Tail(1000, 0)...)
			same(t, "the items", rows(m.Items()), want)
		}
	})
}

// However a log comes, page by page, from the end or from the middle, in the end
// it looks as if it had been read at once.
func TestPagesMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := stamped(drawTalk(t, false))
		whole := transcript.New(transcript.Config{Keep: true}, new(theme.Plain())).Replay(log, 0)
		whole.Items().Show()
		from := rapid.IntRange(0, len(log)).Draw(t, "from")
		m := transcript.New(transcript.Config{Keep: true, First: int64(from) + 1}, new(theme.Plain())).Replay(log[from:], 1)
		m.Items().Show()
		l := m.Items()
		for range 10 * len(log) {
			gaps := missing(l)
			if len(gaps) == 0 {
				break
			}
			g := gaps[rapid.IntRange(0, len(gaps)-1).Draw(t, "gap")]
			first := rapid.Int64Range(g[0], g[1]-1).Draw(t, "first")
			last := rapid.Int64Range(first, g[1]-1).Draw(t, "last")
			l.Fill(first, log[first-1:last])
			if rapid.Bool().Draw(t, "looks") {
				rows(l)
			}
		}
		same(t, "the pages", rows(l), rows(whole.Items()))
	})
}

func missing(l *transcript.Items) [][2]int64 {
	var out [][2]int64
	for i := range l.Len() {
		if first, next, ok := l.Missing(i); ok {
			out = append(out, [2]int64{first, next})
		}
	}
	return out
}

// What is folded in a message is laid out whole where somebody asks for that, and
// folded again as it was.
func TestFold(t *testing.T) {
	m := transcript.New(transcript.Config{Keep: true}, new(theme.Plain()))
	for _, e := range stamped([]event.Data{
		event.UserMessage{ID: "u", Content: event.Say("q")},
		event.AssistantMessage{ID: "a", StopReason: event.EndTurn, Content: event.Parts{
			event.Thinking{Text: "First\nthen"}, event.ToolCall{ID: "c", Name: "tool", Input: []byte(`{"a":"x"}`)}, event.Text{Text: "So."},
		}},
		event.ToolResultMessage{ToolCallID: "c", ToolResult: event.ToolReturn{ID: "c", Output: event.Output{Text: "one\ntwo"}}},
	}) {
		m = m.Apply(e)
	}
	m = m.End()
	m.Items().Show()
	before := rows(m.Items())
	i := m.Items().Len() - 1
	m.Items().Fold(i)
	whole := ansi.Strip(strings.Join(rows(m.Items()), "\n"))
	for _, part := range []string{"  thought\n  First\n  then\n", "tool", "  \"a\": \"x\"", "  result\n  one\n  two"} {
		if !strings.Contains(whole, part) {
			t.Errorf("%q is not in\n%s", part, whole)
		}
	}
	m.Items().Fold(i)
	if again := rows(m.Items()); !slices.Equal(again, before) {
		t.Errorf("folded again\n%s\nwant\n%s", strings.Join(again, "\n"), strings.Join(before, "\n"))
	}
}
