package config

import (
	_ "embed"
	"iter"
	"math"
	"strconv"
	"strings"
)

//go:generate go run ./generate

//go:embed prices.txt
var priceTable string // sorted lines; searched as text, never parsed as a whole

// Price is what tokens cost. The zero value is an unknown price, which is not a price of zero.
type Price struct {
	Picodollars int64 // per token; 1 USD per million tokens is 1,000,000
	Known       bool
}

// PerMillion is the price in USD per million tokens, 0 where it is unknown.
func (p Price) PerMillion() float64 { return float64(p.Picodollars) / 1e6 }

// Tier is a model's prices for requests whose input is longer than Above tokens.
type Tier struct {
	Above                                int
	Input, Output, CacheRead, CacheWrite Price
	CacheWrite1h                         Price // of what shall stay in the cache for an hour
}

// ModelInfo is what is known about a model.
type ModelInfo struct {
	Provider, ID, Name                   string
	Input, Output, CacheRead, CacheWrite Price // CacheRead and CacheWrite unknown: they cost what Input costs
	CacheWrite1h                         Price // of what shall stay in the cache for an hour
	Context, MaxOutput                   int   // tokens; 0 is unknown
	Reasoning, Images                    bool
	Tiers                                []Tier // by rising Above
}

// Override replaces what the table says about a model; nil leaves it. Prices are in USD per million tokens.
type Override struct {
	Input, Output, CacheRead, CacheWrite, CacheWrite1h *float64
	Context, MaxOutput                                 *int
}

// Prices is the table of models: the embedded one and the user's overrides over it. The zero value is the embedded table alone.
type Prices struct {
	overrides map[string]Override // by "provider/model" or "model"
}

// Prices is the table with the [models] tables of the user laid over it.
func (c Config) Prices() Prices { return Prices{c.Models} }

// Source names where the table comes from, with version and licence.
func (Prices) Source() string {
	return header("source") + " " + header("version") + " (" + header("licence") + ")"
}

// Date is the day of the table's prices, as 2006-01-02.
func (Prices) Date() string { return header("date") }

// header is the value of a comment line at the table's start.
func header(name string) string {
	_, rest, _ := strings.Cut(priceTable[:body()], "# "+name+": ")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// body is where the comment lines end.
func body() int {
	at := 0
	for strings.HasPrefix(priceTable[at:], "#") {
		at += strings.IndexByte(priceTable[at:], '\n') + 1
	}
	return at
}

// Lookup finds what is known about a provider's model. A name with a date finds the one without, and a name without finds the latest
// dated one. It takes a binary search over the text, so nothing is decoded before it is asked for.
func (p Prices) Lookup(provider, model string) (ModelInfo, bool) {
	line, ok := find(provider, model)
	info := ModelInfo{Provider: provider, ID: model, Name: model}
	if ok {
		info = parseModel(line)
	}
	return p.overridden(info, ok, model)
}

// overridden is info with the user's overrides by its id and by the names that it was asked for.
func (p Prices) overridden(info ModelInfo, ok bool, names ...string) (ModelInfo, bool) {
	for _, name := range append(names, info.ID) {
		for _, name := range []string{name, info.Provider + "/" + name} {
			if o, found := p.overrides[name]; found {
				info, ok = o.over(info), true
			}
		}
	}
	return info, ok
}

// All yields every model of the table by provider and id, with overrides.
func (p Prices) All() iter.Seq[ModelInfo] {
	return func(yield func(ModelInfo) bool) {
		for line := range strings.Lines(priceTable[body():]) {
			info, _ := p.overridden(parseModel(strings.TrimSuffix(line, "\n")), true)
			if !yield(info) {
				return
			}
		}
	}
}

// find is the line of a model, by its exact name first.
func find(provider, model string) (string, bool) {
	if strings.ContainsAny(provider+model, "\t\n") {
		return "", false
	}
	if line, ok := exactly(provider, model); ok {
		return line, true
	}
	if name, ok := undated(model); ok {
		if line, ok := exactly(provider, name); ok {
			return line, true
		}
		model = name
	}
	return latest(provider, model)
}

func exactly(provider, model string) (string, bool) {
	line := lineAt(search(provider + "\t" + model + "\t"))
	return line, strings.HasPrefix(line, provider+"\t"+model+"\t")
}

// latest is the line of the model's last dated version.
func latest(provider, model string) (found string, ok bool) {
	prefix := provider + "\t" + model + "-"
	for at := search(prefix); at < len(priceTable); {
		line := lineAt(at)
		if !strings.HasPrefix(line, prefix) {
			break
		}
		id, _, _ := strings.Cut(line[len(provider)+1:], "\t")
		if name, dated := undated(id); dated && name == model {
			found, ok = line, true // dates of one form sort by time
		}
		at += len(line) + 1
	}
	return found, ok
}

// undated is a name without the date at its end, as in -20250929, @20250929 or -2025-09-29.
func undated(model string) (string, bool) {
	for _, form := range []string{"-00000000", "@00000000", "-0000-00-00"} {
		if n := len(model) - len(form); n > 0 && digitsAs(model[n:], form) && model[n+1:n+3] == "20" {
			return model[:n], true
		}
	}
	return model, false
}

func digitsAs(text, form string) bool {
	for i := range len(form) {
		digit := '0' <= text[i] && text[i] <= '9'
		if (form[i] == '0') != digit || !digit && form[i] != text[i] {
			return false
		}
	}
	return true
}

// search is the offset of the first line that is not less than want.
func search(want string) int {
	low, high := body(), len(priceTable) // both at the start of a line
	for low < high {
		middle := low + (high-low)/2
		start := low + strings.LastIndexByte(priceTable[low:middle], '\n') + 1
		line := lineAt(start)
		if line < want {
			low = start + len(line) + 1
		} else {
			high = start
		}
	}
	return low
}

func lineAt(at int) string {
	line, _, _ := strings.Cut(priceTable[min(at, len(priceTable)):], "\n")
	return line
}

// parseModel reads one line of the table, which the generator wrote and a test reads through.
func parseModel(line string) ModelInfo {
	f := strings.Split(line, "\t")
	m := ModelInfo{Provider: f[0], ID: f[1], Name: f[2], Input: parsePrice(f[3]), Output: parsePrice(f[4]), CacheRead: parsePrice(f[5]), CacheWrite: parsePrice(f[6])}
	m.Context, _ = strconv.Atoi(f[7])
	m.MaxOutput, _ = strconv.Atoi(f[8])
	m.Reasoning, m.Images = strings.Contains(f[9], "r"), strings.Contains(f[9], "i")
	for _, tier := range f[10:] {
		t := strings.Split(tier, ":")
		above, _ := strconv.Atoi(t[0])
		in := parsePrice(t[1])
		m.Tiers = append(m.Tiers, Tier{above, in, parsePrice(t[2]), parsePrice(t[3]), parsePrice(t[4]), forAnHour(m.Provider, in)})
	}
	m.CacheWrite1h = forAnHour(m.Provider, m.Input)
	return m
}

// forAnHour is the price of writing to a cache for an hour, which the table does not have. Anthropic alone offers that, for twice the
// input on every model: platform.claude.com/docs/en/build-with-claude/prompt-caching, "Pricing".
func forAnHour(provider string, input Price) Price {
	if provider != "anthropic" || !input.Known {
		return Price{}
	}
	return Price{2 * input.Picodollars, true}
}

// parsePrice reads a decimal of at most six places exactly, as picodollars.
func parsePrice(text string) Price {
	if text == "-" {
		return Price{}
	}
	whole, places, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(places + "000000")[:6], 10, 64)
	return Price{n, err == nil}
}

// over is info with the values that o has.
func (o Override) over(info ModelInfo) ModelInfo {
	for _, p := range []struct {
		to   *Price
		from *float64
	}{{&info.Input, o.Input}, {&info.Output, o.Output}, {&info.CacheRead, o.CacheRead}, {&info.CacheWrite, o.CacheWrite}, {&info.CacheWrite1h, o.CacheWrite1h}} {
		if p.from != nil {
			*p.to = Price{int64(math.Round(*p.from * 1e6)), true}
			info.Tiers = nil // the user's price is the price, however long the prompt
		}
	}
	if o.Context != nil {
		info.Context = *o.Context
	}
	if o.MaxOutput != nil {
		info.MaxOutput = *o.MaxOutput
	}
	return info
}
