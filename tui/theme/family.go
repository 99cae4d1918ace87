package theme

import (
	"strconv"
	"strings"
)

// A Family is a theme for every ground and for terminals of many colours and of
// sixteen.
type Family struct {
	Name                         string
	dark, light, dark16, light16 palette
}

// On is the family's theme for letters on a dark or a light ground, in sixteen
// colours or in many.
func (f Family) On(dark, sixteen bool) Theme {
	switch {
	case dark && sixteen:
		return paint("dark", f.dark16)
	case dark:
		return paint("dark", f.dark)
	case sixteen:
		return paint("light", f.light16)
	}
	return paint("light", f.light)
}

// Families are the built-in ones, the usual one first.
func Families() []Family {
	return []Family{
		usual(),
		usual().named("dusk", palette{
			muted: "#a69cbc", faint: "#9187a7", line: "#453d55", ground: "#342c45",
			accent: "#c7a0f0", user: "#f09ab8", heading: "#d9b8ff",
			green: "#9fd0a0", yellow: "#edc98a", red: "#f08a92", orange: "#f0ab88", purple: "#b9a0ff", cyan: "#8cc8e0", pink: "#f0a0d0",
		}, palette{
			muted: "#615676", faint: "#70658a", line: "#d5cde0", ground: "#ebe4f5",
			accent: "#7a3fb5", user: "#b02a66", heading: "#5f2f99",
			green: "#2f7040", yellow: "#835c00", red: "#b02a3a", orange: "#a04a1a", purple: "#6a45c0", cyan: "#1f6c8c", pink: "#a82c7c",
		}),
		usual().named("ember", palette{
			muted: "#b0a093", faint: "#998a7e", line: "#4a3f38", ground: "#3a2e26",
			accent: "#f0a870", user: "#f0887a", heading: "#f5c090",
			green: "#a8c888", yellow: "#efc774", red: "#f4877c", orange: "#eaa070", purple: "#d2a8d8", cyan: "#92c4c0", pink: "#eaa0a8",
		}, palette{
			muted: "#6b5c51", faint: "#786a5e", line: "#dcd2c8", ground: "#f2e6da",
			accent: "#a84a10", user: "#a8322a", heading: "#8a3c0c",
			green: "#4a6e24", yellow: "#845c00", red: "#b02a20", orange: "#a04c10", purple: "#7e4390", cyan: "#236c6c", pink: "#a03858",
		}),
		usual().named("moss", palette{
			muted: "#9caa96", faint: "#869180", line: "#3d4639", ground: "#2c3628",
			accent: "#a8cc7c", user: "#e0c080", heading: "#bcd898",
			green: "#98cc90", yellow: "#e0c47a", red: "#e58f80", orange: "#dca678", purple: "#c0a8d8", cyan: "#86c8b4", pink: "#dca6b4",
		}, palette{
			muted: "#566250", faint: "#646f5d", line: "#d0d6c8", ground: "#e4ead9",
			accent: "#4a6e1c", user: "#8a5a10", heading: "#3d5e18",
			green: "#2f7030", yellow: "#7d6000", red: "#a83a26", orange: "#99511a", purple: "#70509c", cyan: "#1c6e5e", pink: "#9a3d5c",
		}),
	}
}

// usual is the family of who has chosen none. Of sixteen colours it has its own:
// those nearest to the true ones would not do. Code would be as red as a failure,
// the chosen line blue on blue.
func usual() Family {
	return Family{
		Name: "auto",
		dark: palette{
			muted: "#9aa0ad", faint: "#878d9a", line: "#3a3f4a", ground: "#2a2e38",
			accent: "#8fb4f5", user: "#c3a6f0", heading: "#a9c4f5",
			green: "#9bc78c", yellow: "#e0bf7d", red: "#ec8a86", orange: "#e0a578", purple: "#c3a6f0", cyan: "#86c9c4", pink: "#e3a1c4",
		},
		light: palette{
			muted: "#5c626e", faint: "#676d79", line: "#cdd1d8", ground: "#e6e9f0",
			accent: "#2b5fc0", user: "#7440b8", heading: "#254f9e",
			green: "#2f7330", yellow: "#855f00", red: "#b3312d", orange: "#a14e12", purple: "#7440b8", cyan: "#12706e", pink: "#a3306f",
		},
		dark16: palette{
			muted: "7", faint: "8", line: "8",
			accent: "12", user: "13", heading: "12",
			green: "10", yellow: "11", red: "9", orange: "11", purple: "13", cyan: "14", pink: "13",
		},
		light16: palette{
			muted: "8", faint: "8", line: "7",
			accent: "4", user: "5", heading: "4",
			green: "2", yellow: "3", red: "1", orange: "5", purple: "5", cyan: "6", pink: "5",
		},
	}
}

func (f Family) named(name string, dark, light palette) Family {
	f.Name, f.dark, f.light = name, dark, light
	return f
}

// A role is what a colour is for, and where a palette has it.
type role struct {
	name string
	at   func(*palette) *string
}

func roles() []role {
	return []role{
		{"muted", func(p *palette) *string { return &p.muted }},      // hints, times, counts
		{"faint", func(p *palette) *string { return &p.faint }},      // placeholders
		{"border", func(p *palette) *string { return &p.line }},      // lines around boxes
		{"selection", func(p *palette) *string { return &p.ground }}, // the ground of the chosen line
		{"accent", func(p *palette) *string { return &p.accent }},    // answers, keys, links
		{"user", func(p *palette) *string { return &p.user }},        // the mark of who asks
		{"heading", func(p *palette) *string { return &p.heading }},
		{"success", func(p *palette) *string { return &p.green }}, // and strings in code
		{"warning", func(p *palette) *string { return &p.yellow }},
		{"error", func(p *palette) *string { return &p.red }},
		{"code", func(p *palette) *string { return &p.orange }},    // and numbers in it
		{"keyword", func(p *palette) *string { return &p.purple }}, // of code
		{"type", func(p *palette) *string { return &p.cyan }},      // in code, and the names of tools
		{"special", func(p *palette) *string { return &p.pink }},
	}
}

// Roles are the names of what a theme gives a colour to.
func Roles() []string {
	var names []string
	for _, r := range roles() {
		names = append(names, r.name)
	}
	return names
}

// With is the family under another name, with other colours for some roles. On
// sixteen colours only those of them count that are numbers below sixteen.
func (f Family) With(name string, dark, light map[string]string) Family {
	f.Name = name
	for _, r := range roles() {
		for _, c := range []struct {
			say           map[string]string
			many, sixteen *palette
		}{{dark, &f.dark, &f.dark16}, {light, &f.light, &f.light16}} {
			colour, ok := c.say[r.name]
			if !ok {
				continue
			}
			*r.at(c.many) = colour
			if n, err := strconv.Atoi(colour); err == nil && n < 16 {
				*r.at(c.sixteen) = colour
			}
		}
	}
	return f
}

// IsColour says whether s names a colour: #rrggbb, or a number from 0 to 255 among
// the terminal's own.
func IsColour(s string) bool {
	if digits, ok := strings.CutPrefix(s, "#"); ok {
		_, err := strconv.ParseUint(digits, 16, 32)
		return err == nil && len(digits) == 6
	}
	n, err := strconv.ParseUint(s, 10, 8)
	return err == nil && strconv.FormatUint(n, 10) == s
}
