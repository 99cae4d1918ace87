package guide_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"agentx/engine"
	"agentx/engine/driver/guide"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

// chat is a conversation with the guide through the engine, as everybody has it.
type chat struct {
	t       testing.TB
	guide   engine.Driver
	history []event.Message
	turns   int
}

// ask returns the guide's answer.
func (c *chat) ask(question string) string {
	c.t.Helper()
	answer := ""
	c.turns++
	req := engine.Request{History: c.history, Message: event.UserMessage{ID: fmt.Sprint("u", c.turns), Content: event.Say(question)}}
	for e, err := range (engine.Engine{Driver: c.guide}).Events(context.Background(), req) {
		if err != nil {
			c.t.Fatalf("%q: %v", question, err)
		}
		if m, ok := e.Data.(event.Message); ok {
			c.history = append(c.history, m)
		}
		if m, ok := e.Data.(event.AssistantMessage); ok {
			answer = m.Content.Text()
		}
	}
	return answer
}

// source is the section that an answer cites.
func source(answer string) string {
	_, cited, _ := strings.Cut(answer, "— manual: ")
	name, _, _ := strings.Cut(cited, "\n")
	return name
}

func TestNewcomersFindTheirSection(t *testing.T) {
	d := guide.New(0)
	for question, want := range map[string]string{
		"How do I resume a session?":                    "Sessions › Resuming",
		"how do I continue my last chat from yesterday": "Sessions › Resuming",
		"what's the difference between -c and -r":       "Sessions › Resuming",
		"hwo do i resmue a sesion":                      "Sessions › Resuming",
		"how do i quit":                                 "Chatting › Leaving",
		"how do I exit this thing?":                     "Chatting › Leaving",
		"how do I add my api key":                       "Keys and models › Adding a key",
		"Where do I put my OpenAI key?":                 "Keys and models › Adding a key",
		"how can I use claude?":                         "Keys and models › Setting up a model",
		"how do i set up a model":                       "Keys and models › Setting up a model",
		"how do I use gpt-5":                            "Keys and models › Setting up a model",
		"which model am I talking to?":                  "Keys and models › Choosing a model",
		"can I use ollama?":                             "Keys and models › Local models",
		"who are you?":                                  "About the guide › What the guide is",
		"Are you a language model?":                     "About the guide › What the guide is",
		"what can you do?":                              "About the guide › What you can ask",
		"how to get rid of you":                         "About the guide › Leaving the guide",
		"What is this?":                                 "Getting started › What agentx is",
		"is there a gui":                                "Getting started › What agentx is",
		"can it run commands on my machine":             "Getting started › What a model can reach",
		"how do i make a new line":                      "Chatting › Sending and new lines",
		"how do I write a multi line message":           "Chatting › Sending and new lines",
		"vim keybindings":                               "Chatting › The keys of vi",
		"can I use my Claude subscription":              "Costs › A subscription",
		"does my chatgpt plus plan work":                "Costs › A subscription",
		"switch back to the previous model":             "Keys and models › Choosing a model",
		"how do I change the configuration":             "Files and configuration › The configuration file",
		"how do I stop it":                              "Chatting › Stopping an answer",
		"keyboard shortcuts":                            "Chatting › Keyboard",
		"Which keys are there?":                         "Chatting › Keyboard",
		"How do I set up a model?":                      "Keys and models › Setting up a model",
		"How do I use it in a script?":                  "One-shot and scripts › One answer",
		"Where are my files?":                           "Files and configuration › Where things are",
		"What does it cost?":                            "Costs › What it costs",
		"What leaves this machine?":                     "Privacy › What leaves this machine",
		"what slash commands are there?":                "Chatting › Slash words",
		"how do I write longer prompts in vim":          "Chatting › Writing in your editor",
		"ctrl-g":                                        "Chatting › Writing in your editor",
		"how do I edit my last message":                 "Chatting › Changing an earlier message",
		"how do I attach an image?":                     "Chatting › Attaching files",
		"how do I change the system prompt":             "Chatting › System prompt",
		"dark mode":                                     "Chatting › Colours and themes",
		"how to search old conversations":               "Sessions › Finding a session",
		"how do I rename a conversation":                "Sessions › Naming a session",
		"how do I delete all my conversations":          "Sessions › Deleting a session",
		"do you remember what I said yesterday?":        "Sessions › What a session is",
		"what does --no-save do":                        "Sessions › Not saving",
		"how do I start over":                           "Sessions › A new session",
		"how do I use it in a script":                   "One-shot and scripts › One answer",
		"what does exit code 6 mean?":                   "One-shot and scripts › Exit codes",
		"how do i get json output":                      "One-shot and scripts › Output formats",
		"can I pipe a file into it?":                    "One-shot and scripts › Pipes and files",
		"where is the config file":                      "Files and configuration › Where things are",
		"how much does it cost":                         "Costs › What it costs",
		"how many tokens have I used":                   "Costs › Tokens and cost in the chat",
		"does it send my data anywhere?":                "Privacy › What leaves this machine",
		"I get a 401 error":                             "Troubleshooting › The key is refused",
		"it says rate limit exceeded":                   "Troubleshooting › Too many requests",
		"why is the answer cut off":                     "Troubleshooting › The answer broke off",
		"what happens when my laptop dies":              "Troubleshooting › The answer broke off",
	} {
		c := chat{t: t, guide: d}
		if got := source(c.ask(question)); got != want {
			t.Errorf("%q is answered from %q, want %q", question, got, want)
		}
	}
}

func TestFollowUpsLeanOnWhatWasAskedBefore(t *testing.T) {
	d := guide.New(0)
	for _, talk := range [][][2]string{{
		{"How do I resume a session?", "Sessions › Resuming"},
		{"and how do I delete it?", "Sessions › Deleting a session"},
		{"how do I add a key?", "Keys and models › Adding a key"},
		{"where are they stored?", "Keys and models › Where keys are kept"},
		{"thanks!", ""},
		{"what is the capital of France?", ""},
		{"yes please", "Keys and models › Setting up a model"},
	}, {
		{"How do I search?", "Sessions › Finding a session"},
		{"how do I rename it?", "Sessions › Naming a session"},
		{"and export?", "Sessions › Exporting"},
		{"can I delete it too?", "Sessions › Deleting a session"},
		{"all of them?", "Sessions › Deleting a session"},
	}, {
		{"how do I use it in scripts?", "One-shot and scripts › One answer"},
		{"what about json?", "One-shot and scripts › Output formats"},
		{"and exit codes?", "One-shot and scripts › Exit codes"},
		{"what if it times out?", "One-shot and scripts › Time limit"},
	}, {
		{"can you write code?", ""},
		{"yes", "Keys and models › Setting up a model"},
		{"where do I get a key?", "Keys and models › Adding a key"},
		{"is it expensive?", "Costs › What it costs"},
		{"what about ollama?", "Keys and models › Local models"},
	}} {
		c := chat{t: t, guide: d}
		for _, step := range talk {
			if got := source(c.ask(step[0])); got != step[1] {
				t.Errorf("%q is answered from %q, want %q", step[0], got, step[1])
			}
		}
	}
	c := chat{t: t, guide: d}
	c.ask("what does it cost")
	if again := source(c.ask("tell me more")); again == "" || again == "Costs › What it costs" {
		t.Errorf("more about costs is answered from %q", again)
	}
}

func TestTheGuideSaysPlainlyWhatItIsNot(t *testing.T) {
	d := guide.New(0)
	for _, task := range []string{
		"what is the capital of France?", "write a haiku about the sea", "explain recursion in Go", "2+2", "fix my code",
		"Wie setze ich eine Sitzung fort?", "会话如何恢复?", "asdf qwer",
	} {
		c := chat{t: t, guide: d}
		answer := c.ask(task)
		if source(answer) != "" || !strings.Contains(answer, "language model") || !strings.Contains(answer, "agentx key set") {
			t.Errorf("%q is answered with %q", task, answer)
		}
	}
	for _, word := range []string{"hello", "thanks", "bye", "", "  ", "ok", "ping", "🙂"} {
		c := chat{t: t, guide: d}
		if answer := c.ask(word + " "); answer == "" || source(answer) != "" {
			t.Errorf("%q is answered with %q", word, answer)
		}
	}
	c := chat{t: t, guide: d}
	if first := c.ask("how do I quit"); !strings.Contains(first, "not a language model") {
		t.Errorf("the first answer does not say what the guide is: %q", first)
	}
	if second := c.ask("which keys are there"); strings.Contains(second, "not a language model") {
		t.Errorf("the second answer says it again: %q", second)
	}
}

// The search is a tool call like any other: planned, called, answered, and
// followed by the message that uses it.
func TestTheSearchIsSeen(t *testing.T) {
	d := guide.New(0)
	c := chat{t: t, guide: d}
	c.ask("How do I resume a session?")
	var kinds []string
	for _, m := range c.history {
		kinds = append(kinds, m.Type())
	}
	want := "user_message tool_call_message assistant_message tool_result_message assistant_message"
	if got := strings.Join(kinds, " "); got != want {
		t.Fatalf("messages = %s, want %s", got, want)
	}
	call := c.history[1].(event.ToolCallMessage).ToolCall
	if call.Name != "search_manual" || string(call.Input) != `{"query":"How do I resume a session?"}` {
		t.Errorf("call = %s %s", call.Name, call.Input)
	}
	var found struct {
		Sections []struct{ Section, Text string }
	}
	if err := json.Unmarshal(c.history[3].(event.ToolResultMessage).ToolResult.Output.JSON, &found); err != nil || found.Sections[0].Section != "Sessions › Resuming" {
		t.Errorf("result = %+v, %v", found, err)
	}
	if a, b := c.history[2].(event.AssistantMessage).ID, c.history[4].(event.AssistantMessage).ID; a != "guide_u1" || b != "guide_u1_2" {
		t.Errorf("message ids = %q, %q", a, b)
	}
}

func TestPaceIsATypist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		pieces, text := 0, 0
		req := engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say("how do I resume a session")}}
		for e, err := range guide.New(10*time.Millisecond).Receive(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := e.(event.TextDelta); ok {
				pieces, text = pieces+1, text+utf8.RuneCountInString(d.Text)
			}
		}
		took := time.Since(began)
		if perSecond := float64(text) / took.Seconds(); perSecond < 200 || perSecond > 800 || text/pieces > 8 {
			t.Errorf("%d characters in %d pieces took %v: %.0f a second", text, pieces, took, perSecond)
		}
	})
}

func TestEscStopsTheTypistAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		began, pieces := time.Now(), 0
		var last error
		req := engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say("how do I resume a session")}}
		for e, err := range guide.New(time.Hour).Receive(ctx, req) {
			last = err
			if _, ok := e.(event.TextDelta); ok {
				pieces++
			}
			cancel(engine.Interrupt(event.ByUser))
		}
		if pieces > 1 || time.Since(began) > 0 || last == nil {
			t.Errorf("%d pieces and %v after Esc, ended with %v", pieces, time.Since(began), last)
		}
	})
}

// Whatever is asked, the guide answers in UTF-8, quickly, and always the same.
func TestAnyQuestionIsAnswered(t *testing.T) {
	d := guide.New(0)
	rapid.Check(t, func(t *rapid.T) {
		questions := rapid.SliceOfN(rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`(how|what|and|where|tell|yes|more)( [a-z/+-]{1,12}){0,8}\??`),
		), 1, 4).Draw(t, "questions")
		run := func() []event.Message {
			var h []event.Message
			for i, q := range questions {
				req := engine.Request{History: h, Message: event.UserMessage{ID: fmt.Sprint(i), Content: event.Say(q)}}
				for e, err := range (engine.Engine{Driver: d}).Events(context.Background(), req) {
					if err != nil {
						t.Fatalf("%q: %v", q, err)
					}
					if m, ok := e.Data.(event.Message); ok {
						h = append(h, m)
					}
				}
			}
			return h
		}
		first, second := run(), run()
		if a, b := fmt.Sprintf("%+v", first), fmt.Sprintf("%+v", second); a != b {
			t.Fatalf("asked twice:\n%s\n%s", a, b)
		}
		last := first[len(first)-1].(event.AssistantMessage)
		if text := last.Content.Text(); text == "" || !utf8.ValidString(text) {
			t.Fatalf("answer = %q", text)
		}
	})
}

// The manual is read at the first question.
func BenchmarkFirstAnswer(b *testing.B) {
	req := engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say("how do I resume a session?")}}
	for b.Loop() {
		for _, err := range guide.New(0).Receive(context.Background(), req) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A megabyte that somebody pipes in costs no more than a page.
func BenchmarkAnswer(b *testing.B) {
	for name, question := range map[string]string{
		"short":    "how do I resume a session?",
		"megabyte": strings.Repeat("lorem ipsum dolor resume ", 40_000),
	} {
		b.Run(name, func(b *testing.B) {
			d := guide.New(0)
			for b.Loop() {
				req := engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say(question)}}
				for _, err := range d.Receive(context.Background(), req) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
