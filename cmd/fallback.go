package cmd

import (
	"strings"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/event"
)

// fallback finds the model that answers where the first cannot; none where no
// name is given.
func (w *world) fallback(c config.Config, model string) (*config.Choice, error) {
	if model == "" {
		return nil, nil
	}
	choice, err := choose(c, model)
	return &choice, err
}

// eitherPrice prices the answers of two models. What neither of them can have
// given has no known price.
func eitherPrice(c config.Config, choice config.Choice, other *config.Choice) engine.Pricer {
	first := pricer(c, choice)
	if other == nil {
		return first
	}
	second := pricer(c, *other)
	return func(model string, u event.Usage) (event.USD, bool) {
		mine, theirs := whose(model, choice, *other)
		switch {
		case mine:
			return first(model, u)
		case theirs:
			return second(model, u)
		}
		return 0, false
	}
}

// whose tells from what a model calls itself whether it is the first choice or
// the second; it may be neither.
func whose(model string, choice, other config.Choice) (mine, theirs bool) {
	mine, theirs = strings.HasPrefix(model, choice.Model), strings.HasPrefix(model, other.Model)
	if mine && theirs { // the name of one begins with that of the other
		mine = len(choice.Model) > len(other.Model)
	}
	return mine, theirs && !mine
}

// answerer is the model that answered, as provider/model, by what it calls
// itself: what follows -m to ask it again.
func (t *talk) answerer(model string) string {
	choice := t.choice()
	if model == "" {
		return choice.Name()
	}
	if t.other != nil {
		if _, theirs := whose(model, choice, *t.other); theirs {
			choice = *t.other
		}
	}
	return choice.Provider.Name + "/" + model
}
