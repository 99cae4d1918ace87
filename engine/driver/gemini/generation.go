package gemini

import (
	"strconv"
	"strings"
)

// A generation of models: what they accept changes with it. The zero value is
// that of a model which is none of Google's Gemini, or is not known.
type generation struct{ major, minor int }

// generationOf reads gemini-2.5-flash as 2.5, google/gemini-4-argon as 4, and
// the newest, gemini-pro-latest, as 3.
func generationOf(model string) generation {
	_, name, ok := strings.Cut(model, "gemini-")
	if !ok {
		return generation{}
	}
	number, _, _ := strings.Cut(name, "-")
	major, minor, _ := strings.Cut(number, ".")
	g := generation{}
	g.major, _ = strconv.Atoi(major) // else it is 0
	g.minor, _ = strconv.Atoi(minor)
	if g.major <= 0 || g.minor < 0 {
		g = generation{}
		if strings.HasSuffix(name, "-latest") {
			g.major = 3
		}
	}
	return g
}

func (g generation) atLeast(major, minor int) bool {
	return g.major > major || g.major == major && g.minor >= minor
}

// thinks reports whether a model can be told to think. Those that draw and
// speak cannot.
func thinks(model string) bool {
	for _, word := range []string{"image", "tts", "audio", "embedding", "computer-use"} {
		if strings.Contains(model, word) {
			return false
		}
	}
	return generationOf(model).atLeast(2, 5)
}

// sameMaker reports whether the signatures of model had are worth something to
// model asked: those of another generation are refused.
func sameMaker(had, asked string) bool {
	old, now := generationOf(had), generationOf(asked)
	return had == asked || now.major > 0 && old.major == now.major || strings.HasSuffix(asked, "-latest") && old.atLeast(3, 0)
}

type thinking struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int   `json:"thinkingBudget,omitempty"` // tokens, up to generation 2.5
	Level   string `json:"thinkingLevel,omitempty"`  // from generation 3 on
}

// think says how much is thought before an answer, as far as somebody wants to.
// What is thought anyway is shown: that changes no answer and costs nothing.
func think(model, effort string) *thinking {
	switch g := generationOf(model); {
	case !thinks(model):
		return nil
	case effort == "":
		return &thinking{Include: true}
	case g.atLeast(3, 0):
		return &thinking{Include: effort != "none", Level: level(model, effort)}
	default:
		return &thinking{Include: effort != "none", Budget: budget(model, effort)}
	}
}

// level is the effort by the name that a model has for it. None can be told not
// to think at all.
func level(model, effort string) string {
	if effort != "none" {
		return effort
	}
	if g := generationOf(model); strings.Contains(model, "flash") && !strings.HasSuffix(model, "-latest") && !g.atLeast(3, 8) {
		return "minimal"
	}
	return "low"
}

// budget is the effort in tokens, or nil where nobody knows.
func budget(model, effort string) *int {
	n, ok := map[string]int{"none": 0, "low": 1024, "medium": 8192, "high": 24576}[effort]
	if effort == "none" && strings.Contains(model, "pro") {
		n = leastThought
	}
	if !ok {
		return nil
	}
	return &n
}

const leastThought = 128 // tokens, of a model that cannot do without
