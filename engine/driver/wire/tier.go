package wire

import "agentx/engine/event"

// usual are the words of providers for the service that has the listed price.
func usual(tier string) bool {
	switch tier {
	case "", "auto", "default", "standard", "standard_only", "on_demand", "unspecified", "traffic_type_unspecified":
		return true
	}
	return false
}

// Served is a usage with the tier of service in which the answer says that it
// was given, where that is not the usual one: batch, flex, priority, …
func Served(u event.Usage, tier string) event.Usage {
	if u != (event.Usage{}) && !usual(tier) {
		u.Tier = clip(tier)
	}
	return u
}

// clip is the beginning of a word that nobody has bounded.
func clip(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	return Visible(s)
}
