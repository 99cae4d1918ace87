package config

import (
	"slices"
	"strings"
	"testing"
)

// A budget is said in a file, a variable or with a flag; a folder that one has
// merely entered cannot raise it.
func TestBudgets(t *testing.T) {
	m := newMachine(t, "AGENTX_BUDGET_DAY=7.5", "AGENTX_BUDGET_UNPRICED=allow").user("max_budget_usd = 3\n[budget]\nsession = 1\nday = 5.0\nmonth = 0\nlarge = 10\n")
	m.write(m.project+"/"+ProjectFile, "max_budget_usd = 1000\n[budget]\nday = 1000\n")
	s := m.source()
	s.Flags = map[string]string{"max_budget_usd": "0.25"}
	c, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	b := c.Budget
	if *b.Run != 0.25 || *b.Session != 1 || *b.Day != 7.5 || *b.Month != 0 || b.Unpriced != "allow" || b.Large != 10 {
		t.Errorf("Budget = %+v", b)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "a project may not set max_budget_usd, budget") {
		t.Errorf("Warnings = %q", c.Warnings)
	}
	for key, want := range map[string]string{
		"max_budget_usd": "0.25 flag --max-budget-usd", "budget.day": "7.5 environment AGENTX_BUDGET_DAY", "budget.session": "1 user " + m.paths().ConfigFile() + ":3:1",
	} {
		if got, ok := c.Get(key); !ok || got.Value+" "+got.Origin.String() != want {
			t.Errorf("Get(%s) = %s %s, want %s", key, got.Value, got.Origin, want)
		}
	}
	if b := newMachine(t).load().Budget; b.Run != nil || b.Session != nil || b.Day != nil || b.Month != nil || b.Unpriced != "refuse" || b.Large != 100_000 {
		t.Errorf("nobody has set %+v", b)
	}
}

func TestBudgetsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"[budget]\nday = -1":                "-1 is not between",
		"[budget]\nday = nan":               "is not between",
		"[budget]\nday = \"much\"":          "want a number",
		"[budget]\nunpriced = \"perhaps\"":  "refuse, allow",
		"budget = 5":                        "want a table",
		"\"budget.day\" = 5":                "unknown key",
		"[budget]\nweek = 5":                "unknown key",
		"[profiles.p]\nbudget = {day = 1}":  "plain settings only",
		"[profiles.p]\n\"budget.day\" = 12": "unknown key",
	} {
		m := newMachine(t).user(text)
		c, err := Load(m.source())
		said := strings.Join(slices.Clone(c.Warnings), "\n")
		if err != nil {
			said += err.Error()
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", text, said, want)
		}
	}
}
