package cmd

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"agentx/config"
	"agentx/engine/event"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// options are what the flags of a chat or a one-shot prompt say.
type options struct {
	print  bool
	prompt string // what stands behind the flags

	model, system string
	maxTokens     int
	temperature   string
	effort        string
	maxTurns      int
	budget        string // in USD
	dry           bool   // show what would be sent
	fallback      string
	schema        string // JSON, or a file of it
	timeout       time.Duration

	last      bool            // -c
	resume    string          // -r: an id, a prefix or a title
	at        event.SessionID // that is open in this program
	image     string          // from which the session begins: an id, a prefix or a name
	recall    event.SessionID // that the session is to begin with a summary of
	pick      bool            // -r without one
	fork      bool
	sessionID string
	title     string
	noSave    bool
	spoken    bool // lines to be read one after the other

	fullScreen bool

	files  []string
	format string
	trace  string

	said func(flag string) bool // that it was given; nil: none was
}

// filled is the value of a flag that names something: an empty one is a mistake
// of the script that gives it, and not the same as no flag.
type filled string

func (f *filled) String() string { return string(*f) }
func (f *filled) Type() string   { return "name" }

func (f *filled) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("it is empty")
	}
	*f = filled(s)
	return nil
}

// pickValue stands for a -r without a value.
const pickValue = "?"

func (o *options) register(f *pflag.FlagSet) {
	f.SortFlags = false
	f.BoolVarP(&o.print, "print", "p", false, "print one answer and exit")
	f.StringVarP(&o.model, "model", "m", "", "`MODEL` to ask: provider/model or an alias")
	f.StringVarP(&o.system, "system", "s", "", "system prompt: `TEXT` or @file")
	f.BoolVarP(&o.last, "continue", "c", false, "go on with the last session of this folder")
	f.VarP((*filled)(&o.resume), "resume", "r", "resume the session of this `ID` or title; without one, pick it")
	f.Lookup("resume").NoOptDefVal = pickValue
	f.BoolVar(&o.fork, "fork-session", false, "resume into a copy; the original stays as it is")
	f.Var((*filled)(&o.sessionID), "session-id", "`ID` of the session that begins")
	f.StringVarP(&o.title, "name", "n", "", "`TITLE` of the session")
	f.BoolVar(&o.noSave, "no-save", false, "keep nothing of this conversation")
	f.BoolVar(&o.spoken, "screen-reader", false, "chat in plain lines: nothing is drawn, lists are numbered")
	f.BoolVar(&o.fullScreen, "fullscreen", false, "chat on the whole screen; /full goes back")
	f.StringArrayVarP(&o.files, "file", "f", nil, "attach `FILE`, or what lies at a URL: text, image or PDF (repeatable)")
	f.StringVarP(&o.format, "output-format", "o", "text", "one answer as `FORMAT`: text, json or stream-json")
	f.IntVar(&o.maxTokens, "max-tokens", 0, "limit of the answer in `TOKENS`; 0 for the provider's own")
	f.StringVar(&o.temperature, "temperature", "", "sampling temperature: a `NUMBER` from 0 to 2")
	f.StringVar(&o.effort, "effort", "", "how hard to think: `LEVEL` none, low, medium or high")
	f.IntVar(&o.maxTurns, "max-turns", 0, "at most `N` messages of the model in an answer with tools; 0 for the usual number")
	f.StringVar(&o.budget, "max-budget-usd", "", "send nothing more when this run has cost so many `DOLLARS`")
	f.Var((*filled)(&o.fallback), "fallback-model", "`MODEL` to ask where the first cannot answer")
	f.Var((*filled)(&o.schema), "json-schema", "one answer that follows this JSON schema: `JSON` or a file")
	f.BoolVar(&o.dry, "dry-run", false, "print the request as it would be sent, without secrets, and send nothing")
	f.Var((*filled)(&o.trace), "trace", "record what goes through the engine in this new `FILE`, for `agentx replay`")
	f.DurationVar(&o.timeout, "timeout", 0, "give up on an answer after this `DURATION`, such as 90s; 0 for never")
}

// finish checks what the flags say together.
func (o *options) finish(c *cobra.Command, args []string) error {
	o.prompt = strings.Join(args, " ")
	o.said = c.Flags().Changed
	o.pick = o.resume == pickValue
	if o.pick {
		o.resume = ""
	}
	if c.Flags().Changed("output-format") || o.schema != "" {
		o.print = true
	}
	switch {
	case o.format != "text" && o.format != "json" && o.format != "stream-json":
		return usage("--output-format is text, json or stream-json, not %q", o.format)
	case o.last && (o.resume != "" || o.pick):
		return usage("-c goes on with the last session and -r with a chosen one: give one of them")
	case o.fork && !o.last && o.resume == "" && !o.pick:
		return usage("--fork-session copies a session that is resumed: give -c or -r with it")
	case o.sessionID != "" && (o.last || o.resume != "" || o.pick) && !o.fork:
		return usage("--session-id names a session that begins: to resume one use -r %s", o.sessionID)
	case o.sessionID != "" && !typeable(o.sessionID):
		return usage("--session-id is 1 to 64 letters, digits, dots, dashes or underlines, and begins with a letter or digit; not %q", o.sessionID)
	case o.noSave && (o.last || o.resume != "" || o.pick):
		return usage("--no-save keeps nothing and -c or -r add to what is kept: give one of them, or --fork-session without --no-save")
	case o.maxTokens < 0:
		return usage("--max-tokens is a number of tokens, not %d", o.maxTokens)
	case o.maxTurns < 0:
		return usage("--max-turns is a number of messages, not %d", o.maxTurns)
	case o.timeout < 0:
		return usage("--timeout is a duration such as 90s, not %v", o.timeout)
	}
	if o.temperature != "" {
		if t, err := strconv.ParseFloat(o.temperature, 64); err != nil || math.IsNaN(t) || t < 0 || t > 2 {
			return usage("--temperature is a number from 0 to 2, not %q", o.temperature)
		}
	}
	return o.mistyped(c, args)
}

// mistyped guesses that a single word close to the name of a command was meant
// as one, rather than send it to a model.
func (o *options) mistyped(c *cobra.Command, args []string) error {
	if o.print || len(args) == 0 || len(args) > 3 || strings.ContainsAny(args[0], " ?!.,") {
		return nil
	}
	if c.Flags().Lookup(args[0]) != nil && len(args) == 1 && c.Flags().NFlag() == 0 {
		return usage("there is no command %q; did you mean `agentx --%s`? To ask a model: agentx -p %s", args[0], args[0], strconv.Quote(o.prompt))
	}
	c.SuggestionsMinimumDistance = 2
	near := c.SuggestionsFor(args[0])
	if len(near) == 0 || len(args[0]) < 3 {
		return nil
	}
	return usage("there is no command %q; did you mean `agentx %s`? To ask a model: agentx -p %s", args[0], near[0], strconv.Quote(o.prompt))
}

// gave reports whether the flag of that name stood there, whatever its value.
func (o *options) gave(flag string) bool { return o.said != nil && o.said(flag) }

// settings are the options that are settings too, as the configuration takes
// them.
func (o *options) settings() map[string]string {
	s := map[string]string{}
	put := func(key, value string) {
		if value != "" {
			s[key] = value
		}
	}
	put("model", o.model)
	put("temperature", o.temperature)
	put("effort", o.effort)
	put("max_budget_usd", o.budget)
	if o.system != "" || o.gave("system") {
		s["system"] = o.system // an empty one takes away what the configuration has
	}
	if o.spoken {
		put("screen_reader", "true")
	}
	if o.fullScreen {
		put("fullscreen", "true")
	}
	if o.maxTurns > 0 || o.gave("max-turns") {
		put("max_turns", strconv.Itoa(o.maxTurns))
	}
	if o.maxTokens > 0 || o.gave("max-tokens") {
		put("max_tokens", strconv.Itoa(o.maxTokens))
	}
	return s
}

// flagError turns what the flag library says into one line with a way out.
func flagError(c *cobra.Command, err error) error {
	s := err.Error()
	if name, ok := strings.CutPrefix(s, "unknown flag: --"); ok {
		if near := nearestFlag(c, name); near != "" {
			return usage("there is no flag --%s; did you mean --%s?", name, near)
		}
		return usage("there is no flag --%s; `%s --help` lists them", name, c.CommandPath())
	}
	if none, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return usage("there is no flag -%s; `%s --help` lists them", none.GetSpecifiedName(), c.CommandPath())
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if wrong.GetValue() == "" {
			return usage("--%s was given nothing; is a variable of the script empty?", wrong.GetFlag().Name)
		}
		return usage("--%s is %s, not %q", wrong.GetFlag().Name, takes(wrong.GetFlag()), wrong.GetValue())
	}
	return usage("%s", s)
}

// takes is what can be given to a flag, in words.
func takes(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int", "int64":
		return "a whole number"
	case "duration":
		return "a duration such as 90s"
	}
	return "a " + f.Value.Type()
}

// nearestFlag is the flag that a typo may have meant.
func nearestFlag(c *cobra.Command, typed string) string {
	var names []string
	add := func(f *pflag.Flag) { names = append(names, f.Name) }
	c.Flags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	if near := config.Nearest(typed, names); len(near) > 0 {
		return near[0]
	}
	return ""
}

// typeable reports whether an id can be typed, and told from a flag.
func typeable(id string) bool {
	const first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return len(id) <= 64 && id != "" && strings.Contains(first, id[:1]) && strings.Trim(id, first+".-_") == ""
}
