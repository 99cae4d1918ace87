package config

import (
	"fmt"
	"strings"
)

// About is what is known about a model of p, and whether anybody lists it. A server on this machine has the windows of the price table,
// but not its prices.
func (c Config) About(p Provider, model string) (ModelInfo, bool) {
	info, ok := c.info(p, model)
	info.Provider, info.ID = p.Name, model
	return info, ok
}

// Doubt says in a line that the provider's models are listed and this one is not among them, with the names nearest to it. It is "" of a
// model that is known, and of a server whose models nobody has listed, unless the name looks like one of another provider's. It is no
// reason to refuse: new models appear every week.
func (c Choice) Doubt() string {
	switch {
	case c.Provider.open() && len(c.Near) > 0:
		return fmt.Sprintf("%s goes to %s as the name of a model; did you mean %s?", clip(c.Model), c.Provider.BaseURL, c.Near[0])
	case c.Known || !c.Provider.listed():
		return ""
	}
	hint := ""
	if len(c.Near) > 0 {
		hint = "; did you mean " + strings.Join(c.Near, " or ") + "?"
	}
	if len(c.Provider.Models) > 0 {
		return fmt.Sprintf("%s is not among the models of %s that the configuration lists%s", clip(c.Model), c.Provider.Name, hint)
	}
	return fmt.Sprintf("%s is not among the models of %s that were known on %s%s", clip(c.Model), c.Provider.Name, Prices{}.Date(), hint)
}
