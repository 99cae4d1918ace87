package transcript

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui/text"
)

// maxPrompt is how many rows of a message are shown; a longer one is kept whole
// all the same.
const maxPrompt = 50

// user shows what the user said.
func (m Model) user(d event.UserMessage) Model {
	m.message, m.any, m.came = message{}, true, false
	m.prompts = remembered(m.prompts, spoken(d.Content))
	rows := text.Wrap(expand(text.Clean(spoken(d.Content))), m.measure())
	if over := len(rows) - maxPrompt; over > 0 {
		rows = append(rows[:maxPrompt:maxPrompt], fmt.Sprintf("… %s", plural(over, "more line")))
	}
	lines := make([]string, 0, len(rows)+1)
	for i, row := range rows {
		lead := margin
		if i == 0 {
			lead = m.look.user + " "
		}
		lines = append(lines, lead+m.look.theme.UserText.Render(text.Isolate(row)))
	}
	for _, part := range d.Content {
		if name := attached(part); name != "" {
			lines = append(lines, margin+m.look.muted(text.Truncate("["+name+"]", m.inner())))
		}
	}
	m = m.close().apart().mark(m.config.Marks.Prompt).print(lines...).mark(m.config.Marks.Answer)
	m.open = true
	return m
}

// spoken is what the user wrote: the texts that are no files and no output.
func spoken(c event.Content) string {
	var said event.Content
	for _, part := range c {
		if attached(part) == "" {
			said = append(said, part)
		}
	}
	return said.Text()
}

// enclosed is what a text is called that stands for a file, or for what a
// command has printed; empty for one that was said.
func enclosed(s string) string {
	for kind, mark := range map[string]string{"file: ": "<file name=", "output: ": "<shell command="} {
		rest, ok := strings.CutPrefix(s, mark)
		if !ok || !strings.HasSuffix(s, "</"+mark[1:strings.IndexByte(mark, ' ')]+">") {
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			continue
		}
		name, _ := strconv.Unquote(quoted) // it is a quoted one
		return kind + text.Line(first(name))
	}
	return ""
}

func attached(p event.Part) string {
	switch p := p.(type) {
	case event.Text:
		return enclosed(p.Text)
	case event.Image:
		return "image: " + text.Line(first(p.Name, p.URL, p.MediaType))
	case event.File:
		return "file: " + text.Line(first(p.Filename, p.MediaType))
	}
	return ""
}

func first(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return "without a name"
}

// assistant ends a message that was seen arriving, and shows one that was not.
func (m Model) assistant(at time.Time, d event.AssistantMessage) Model {
	if m.message.streamed && (m.message.id == d.ID || m.message.id == "") {
		m = m.endThought(at).endText()
	} else {
		m = m.whole(d)
	}
	silent := m.message.mused && !m.message.said && d.StopReason == event.EndTurn && !d.Incomplete
	shown := len(m.out)
	m = m.asides(d.Content)
	silent = silent && len(m.out) == shown
	m.answers = remembered(m.answers, d.Content.Text())
	m.message, m.came = message{}, m.came || len(d.Content) > 0
	if silent {
		return m.silent()
	}
	return m.ending(d)
}

// silent says that a thought was all there is.
func (m Model) silent() Model {
	how := "/unfold"
	if m.config.Unfold != "" {
		how = m.config.Unfold
	}
	var lines []string
	for _, line := range text.Wrap("The model thought, and said nothing; "+how+" shows it", m.measure()) {
		lines = append(lines, margin+m.look.muted(line))
	}
	return m.flushCalls(true).block(lines...)
}

// whole shows a message from a store.
func (m Model) whole(d event.AssistantMessage) Model {
	m = m.settle()
	for _, part := range d.Content {
		switch p := part.(type) {
		case event.Thinking:
			m = m.think(time.Time{}, p.Text)
		case event.Text:
			m = m.say(time.Time{}, p.Text).endText()
		case event.ToolCall:
			m = m.endThought(time.Time{}).replayed(p)
		}
	}
	return m.endThought(time.Time{}).endText()
}

// ending says how a message ended, where that is not how messages should.
func (m Model) ending(d event.AssistantMessage) Model {
	says := ""
	switch d.StopReason {
	case event.StopInterrupted:
		says = "stopped"
	case event.MaxTokens:
		says = "stopped: the answer reached its limit of tokens"
	case event.Refusal:
		says = "stopped: the model refused to go on"
	case event.ContentFilter:
		says = "stopped: the provider's filter"
	case event.StopError:
		says = "incomplete: the answer broke off here"
	default:
		if d.Incomplete {
			says = "incomplete"
		}
	}
	if says == "" {
		return m
	}
	return m.flushCalls(true).block(margin + m.look.theme.Warning.Render(m.look.stop+" "+says))
}

// ended says that a turn was stopped before anything of an answer came. Of any
// other its messages tell.
func (m Model) ended(d event.TurnResponse) Model {
	if !unanswered(d) {
		return m
	}
	return m.block(margin + m.look.theme.Warning.Render(m.look.stop+" stopped"))
}

func unanswered(d event.TurnResponse) bool {
	return d.Messages == 0 && d.StopReason == event.StopInterrupted
}

// failed shows an error: what happened, what is kept, what to do.
func (m Model) failed(d event.ErrorMessage) Model {
	kept := ""
	switch {
	case d.ErrorCode == event.CodeStore: // it says itself what is not
	case m.config.Saved && m.came:
		kept = "Your message is saved, and so is what came of the answer."
	case m.config.Saved:
		kept = "Your message is saved."
	}
	return m.notice(Failure, append([]string{text.Sentence(d.Content), kept}, advice(d.ErrorCode)...)...)
}

// trouble shows what is wrong beside the conversation.
func (m Model) trouble(d event.SystemError) Model {
	kind := Failure
	switch d.Severity {
	case "warning":
		kind = Warning
	case "info":
		kind = Info
	}
	says := d.Message
	if d.Details != "" {
		says += ": " + d.Details
	}
	return m.notice(kind, text.Sentence(says))
}

// advice is what a person can do about a failure.
func advice(code event.ErrorCode) []string {
	if code == event.CodeAuthentication {
		return keySteps()
	}
	return []string{remedy(code)}
}

// keySteps are the way to a key that counts.
func keySteps() []string {
	return []string{
		"1. Get a key on the provider's web site.",
		"2. /model, then the provider: it takes the key, or says where the one in use is from.",
		"3. /retry asks again.",
	}
}

func remedy(code event.ErrorCode) string {
	switch code {
	case event.CodePermission:
		return "This key may not use the model: choose another with /model."
	case event.CodeRateLimit, event.CodeOverloaded, event.CodeServer:
		return "Wait a little, then /retry."
	case event.CodeQuota:
		return "Top up the account, or choose another model with /model."
	case event.CodeNotFound:
		return "Choose a model that exists with /model."
	case event.CodeContextOverflow:
		return "/compact goes on with a summary; or choose a model that reads more with /model."
	case event.CodeNetwork:
		return "Is the server running, and the network there? Then /retry."
	case event.CodeTimeout, event.CodeIncomplete, event.CodeProtocol:
		return "/retry asks again."
	case event.CodeConfiguration:
		return "See `agentx config show --origin`."
	case event.CodeStore:
		return "/export writes the conversation elsewhere."
	case event.CodeBudget:
		return "Nothing was sent. `agentx stats` says what was spent; [budget] in config.toml sets the limits."
	case event.CodeInvalidRequest, event.CodeTooLarge, event.CodeContentFilter:
		return "Change the message and send it again."
	}
	return "/retry asks again."
}

// A Kind of notice.
type Kind int

const (
	Info Kind = iota
	Warning
	Failure
)

// Notice shows something that is not part of the conversation. Sentences that
// are empty are left out.
func (m Model) Notice(k Kind, sentences ...string) Model {
	m.keep(func(l *Items) { l.Add(event.Event{Data: note{k, sentences}}) })
	return m.notice(k, sentences...)
}

func (m Model) notice(k Kind, sentences ...string) Model {
	mark, style := m.look.info, m.look.theme.Muted
	switch k {
	case Warning:
		mark, style = m.look.warn, m.look.theme.Warning
	case Failure:
		mark, style = m.look.bad, m.look.theme.Error
	}
	var lines []string
	for _, s := range sentences {
		if s == "" {
			continue
		}
		for _, row := range text.Wrap(expand(text.Clean(s)), m.measure()) {
			switch {
			case len(lines) == 0:
				lines = append(lines, style.Render(mark+" "+row))
			case k == Failure && s == sentences[0]:
				lines = append(lines, margin+style.Render(row))
			default:
				lines = append(lines, margin+m.look.muted(row))
			}
		}
	}
	return m.block(lines...)
}

func expand(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

// Heading shows where a session begins.
func (m Model) Heading(title string) Model {
	m.keep(func(l *Items) { l.Add(event.Event{Data: heading{title}}) })
	return m.heading(title)
}

func (m Model) heading(title string) Model {
	return m.block(margin + m.look.theme.Strong.Render(text.Truncate(text.Line(title), m.inner())))
}

// Inherit takes over what another transcript has finished and not given away.
func (m Model) Inherit(from Model) Model {
	from = from.Hurry().settle()
	m.out, m.spaced = from.out, from.spaced
	if m.items != nil && !from.any {
		m.items.inherit(from.items)
	}
	return m
}
