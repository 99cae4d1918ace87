package guide

import (
	"regexp"
	"strings"
)

const suggestions = "Ask me, for example:\n\n- How do I set up a model?\n- How do I resume a session?\n- Which keys are there?\n- How do I use it in a script?"

// offer is in every answer that proposes to set up a model; a yes to it is
// understood.
const offer = "three steps"

const notAModel = "*I am the built-in guide, not a language model: I search the manual. A real model is set up in " + offer + "; ask me how.*"

// cite begins the line that says where an answer stands.
const cite = "— manual: "

// answer writes down what was found.
func (t talk) answer(f finding) string {
	if len(f.Sections) == 0 {
		return t.nothing()
	}
	var b strings.Builder
	best := f.Sections[0]
	b.WriteString(best.Text)
	b.WriteString("\n\n" + cite + best.Section)
	if more := f.Sections[1:]; len(more) > 0 {
		b.WriteString("\n\nRelated: ")
		for i, h := range more {
			if i > 0 {
				b.WriteString(" · ")
			}
			b.WriteString(h.Section)
		}
	}
	if !t.spoken && !strings.HasPrefix(best.Section, "About the guide") && !strings.HasSuffix(best.Section, "Setting up a model") {
		b.WriteString("\n\n" + notAModel)
	}
	return b.String()
}

// nothing is the answer where the manual has none: what this is, and how to get
// what was wanted.
func (t talk) nothing() string {
	switch {
	case t.wantsMore() && len(t.content()) == 0:
		return "The manual has no more about that. " + suggestions
	case foreign(t.question):
		return "I am sorry: the manual is in English, and I am a search in it, not a language model.\n\n" + setup
	case t.spoken:
		return "I found nothing about that in the manual, and that is all I know: I am not a language model.\n\n" + setup + "\n\nIf it is about agentx, other words may help. " + suggestions
	}
	return "I cannot answer that. I am the built-in guide of agentx, not a language model: I only search the manual, and found nothing that fits.\n\n" + setup + "\n\n" + suggestions
}

// cannot is the answer to a task for a language model.
func (t talk) cannot() string {
	return "That needs a language model, and I am none: I am the built-in guide and only search the manual of agentx.\n\n" + setup
}

const setup = `A model that can answer is set up in ` + offer + `:

1. Get a key from a provider: Anthropic, OpenAI, Google, OpenRouter and others.
2. Give it to agentx: in the chat, ` + "`/model`" + ` takes it; in a shell, ` + "`agentx key set anthropic`" + ` (or whichever it is).
3. Choose one of that provider's models from the list; it answers from the next message on.

Without a key: a model on your own machine, ` + "`agentx -m ollama/NAME`" + `.`

// cited are the sections that an answer names as its source.
func cited(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^`+cite+`(.+)$`).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}
