package guide

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"agentx/engine"
	"agentx/engine/event"
)

// A talk is a conversation as the guide sees it.
type talk struct {
	lexicon  lexicon
	id       string   // of the message that is being answered
	question string   // what it says
	before   string   // what was asked before it
	spoken   bool     // the guide has answered something before
	last     string   // the guide's last answer
	shown    []string // sections that it cited
	messages int      // of the guide, in this answer
	found    *finding // what the search has just brought
}

// hear reads the conversation in a request.
func hear(req engine.Request, l lexicon) talk {
	t := talk{lexicon: l}
	for m := range req.Messages() {
		t.found = nil
		switch m := m.(type) {
		case event.UserMessage:
			if t.about() {
				t.before = t.question
			}
			t.id, t.question, t.messages = m.ID, clip(spoken(m.Content)), 0
		case event.AssistantMessage:
			t.messages++
			if text := m.Content.Text(); text != "" {
				t.spoken, t.last = true, text
				t.shown = append(t.shown, cited(text)...)
			}
		case event.ToolResultMessage:
			t.found = findingOf(m)
		}
	}
	return t
}

// spoken is what the user said beside what was piped in or attached.
func spoken(c event.Content) string {
	for _, part := range c {
		text, ok := part.(event.Text)
		if !ok || strings.HasPrefix(text.Text, "<file ") {
			continue
		}
		said, _, _ := strings.Cut(text.Text, "\n\n<stdin>\n")
		return said
	}
	return ""
}

// about reports whether the question names something to follow up.
func (t talk) about() bool { return t.question != "" && len(t.content()) > 0 }

func (t talk) content() []string {
	return t.lexicon.content(t.lexicon.read(t.question))
}

// messageID is derived from the question's, so that a replay is the same.
func (t talk) messageID() string {
	id := "guide_" + t.id
	if t.messages > 0 {
		id += "_" + strconv.Itoa(t.messages+1)
	}
	return id
}

// findingOf is what a search brought; a search that failed found nothing.
func findingOf(m event.ToolResultMessage) *finding {
	var f finding
	if m.ToolResult.Name != toolName {
		return nil
	}
	if err := json.Unmarshal([]byte(m.ToolResult.Output.String()), &f); err != nil {
		return &finding{}
	}
	return &f
}

// query is what to look for: a question that leans on the one before brings it
// along, and one for more leaves out what has been shown.
func (t talk) query() query {
	content := t.content()
	switch {
	case len(content) == 0 && t.wantsMore() && t.before != "":
		return query{Query: t.before, Skip: unique(t.shown)}
	case t.agrees() && strings.Contains(t.last, offer):
		return query{Query: "set up a model"}
	case t.before != "" && len(content) <= 3 && t.leans():
		q := query{Query: t.question, Context: t.before}
		if len(content) > 0 {
			q.Skip = t.shown[max(0, len(t.shown)-1):]
		}
		return q
	}
	return query{Query: t.question}
}

// normal is the question in lower case, without punctuation.
func (t talk) normal() string { return strings.Join(words(t.question), " ") }

// leans reports whether the question points back: "and how do I delete it?"
func (t talk) leans() bool {
	all := words(t.question)
	if len(all) > 0 && slices.Contains([]string{"and", "but", "so", "then", "or", "also"}, all[0]) {
		return true
	}
	for _, w := range all {
		if slices.Contains([]string{"it", "that", "them", "they", "those", "these", "one", "there", "too", "instead"}, w) {
			return true
		}
	}
	return strings.HasPrefix(t.normal(), "what about") || strings.HasPrefix(t.normal(), "how about")
}

func (t talk) wantsMore() bool {
	return regexp.MustCompile(`\b(more|else|go on|explain)\b`).MatchString(t.normal())
}

func (t talk) agrees() bool {
	return regexp.MustCompile(`^(yes|yeah|yep|sure|ok|okay|please|do it|how|go ahead|yes please|please do|sounds good|alright)( please| do| how| then)?$`).MatchString(t.normal())
}

// smallTalk answers what needs no manual.
func (t talk) smallTalk() (string, bool) {
	switch said := t.normal(); {
	case said == "":
		return "I am listening. " + suggestions, true
	case matches(said, `(hi|hello|hey|hallo|hiya|moin|servus|good (morning|afternoon|evening|day)|greetings|yo|(nice|pleased|glad) to meet you)( there| guide| agentx| all)?`):
		return "Hello! I am the guide of agentx. I am not a language model: I search the built-in manual and show you what fits.\n\n" + suggestions, true
	case matches(said, `(ok |okay |great |perfect )?(thanks|thank you|thx|ty|cheers|many thanks|danke|merci)( a lot| very much| so much| guide| you)?( .{0,20})?`):
		return "You are welcome. Ask on whenever you like.", true
	case matches(said, `how are you( doing| today)?|how do you do|what's up|whats up`):
		return "A manual is always well, thank you. " + suggestions, true
	case matches(said, `(bye|goodbye|good bye|see you|cu|ciao|good night)( .{0,12})?`):
		return "Goodbye! `/quit` or **Ctrl+D** leaves the chat; `agentx -c` brings you back to it.", true
	case matches(said, `test|testing|ping|1 2 3|test 1 2 3|is this on|are you there|anybody there|hello world`):
		return "I am here, and everything between us works. " + suggestions, true
	case matches(said, `(ok|okay|great|nice|cool|perfect|good|awesome|excellent|got it|i see|understood|wow|lol|super|right|fine|no|nope|no thanks|nothing)`) && !t.expectsYes():
		return "Good. Ask on whenever you like.", true
	case t.isTask():
		return t.cannot(), true
	case t.agrees() && !t.expectsYes():
		return "With pleasure, but I have lost the thread. " + suggestions, true
	}
	return "", false
}

// isTask reports whether the question is work for a language model, and none
// about this program.
func (t talk) isTask() bool {
	said := t.normal()
	return !strings.Contains(said, "agentx") &&
		(regexp.MustCompile(`^(please )?(can you |could you |would you |i want you to )?(please )?(write|compose|draft|translate|summari[sz]e|refactor|proofread|rewrite|generate|implement|calculate|compute|solve|debug|review|tell me a|(fix|improve|correct|explain|describe) (my|this|the following)) .`).MatchString(said) ||
			regexp.MustCompile(`^what (time|day|date|year) is `).MatchString(said) ||
			regexp.MustCompile(`^(?i:what is|what's|how much is)?[\d\s.,()*/+^=?-]+$`).MatchString(strings.TrimSpace(t.question)))
}

func (t talk) expectsYes() bool { return t.agrees() && strings.Contains(t.last, offer) }

func matches(s, pattern string) bool {
	return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(s)
}

// foreign reports whether a question is written in another script than the
// manual.
func foreign(s string) bool {
	letters, others := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			letters++
			if r >= 0x250 {
				others++
			}
		}
	}
	return others*3 > letters || foreignWords(s) >= 2
}

// foreignWords counts common words of the nearer languages.
func foreignWords(s string) int {
	const common = " der die das und ist wie ich ein eine nicht kann wo mein meine fort bitte est le la les une un je comment où que qui pour pas el los las cómo como qué para puedo dónde il che non sono per het een ik hoe de en es esto ça marche "
	n := 0
	for _, w := range words(clip(s)) {
		if strings.Contains(common, " "+w+" ") {
			n++
		}
	}
	return n
}
