package theme

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

// grounds are those that terminals usually have.
func grounds(dark bool) map[string]string {
	if dark {
		return map[string]string{
			"black": "#000000", "VS Code": "#1e1e1e", "GNOME": "#242424", "Tokyo Night": "#1a1b26", "Catppuccin": "#1e1e2e", "Gruvbox": "#282828",
			"One": "#282c34", "Dracula": "#282a36", "Solarized": "#002b36", "Ubuntu": "#300a24", "Nord": "#2e3440",
		}
	}
	return map[string]string{
		"white": "#ffffff", "paper": "#f7f5ef", "GitHub": "#f6f8fa", "One": "#fafafa", "Catppuccin": "#eff1f5", "Solarized": "#fdf6e3",
		"Gruvbox": "#fbf1c7", "Tango": "#eeeeec",
	}
}

// What is read needs 4.5:1 against its ground (WCAG AA), in every theme and on
// every usual ground. What is hardly there needs 3, and lines around boxes need
// not be read.
func TestContrast(t *testing.T) {
	for _, f := range Families() {
		for _, theme := range []Theme{f.On(true, false), f.On(false, false)} {
			for where, ground := range grounds(theme.Name == "dark") {
				v := reflect.ValueOf(theme)
				for i := range v.NumField() {
					if style, ok := v.Field(i).Interface().(lipgloss.Style); ok {
						if got, want := read(style, ground), least(v.Type().Field(i).Name); got < want {
							t.Errorf("%s %s %s on %s: contrast %.2f, want %v", f.Name, theme.Name, v.Type().Field(i).Name, where, got, want)
						}
					}
				}
				for name, colour := range inks(reflect.ValueOf(theme.Markdown)) {
					if got := contrast(hex(colour), hex(ground)); got < 4.5 && !strings.Contains(name, "HorizontalRule") {
						t.Errorf("%s %s markdown's %s on %s: contrast %.2f, want 4.5", f.Name, theme.Name, name, where, got)
					}
				}
			}
			for name, style := range map[string]lipgloss.Style{"what stands behind": theme.Muted, "what was found": theme.Match} {
				if got := read(style.Inherit(theme.Selection), ""); got < 4.5 {
					t.Errorf("%s %s: %s on the chosen line: contrast %.2f, want 4.5", f.Name, theme.Name, name, got)
				}
			}
		}
	}
}

// least is the contrast that a style needs.
func least(name string) float64 {
	switch name {
	case "Border":
		return 0
	case "Faint", "Hint":
		return 3
	}
	return 4.5
}

// read is the contrast of a style to the ground that it has, or else stands on.
func read(style lipgloss.Style, ground string) float64 {
	if _, none := style.GetForeground().(lipgloss.NoColor); none {
		return 21
	}
	on := hex(ground)
	if _, none := style.GetBackground().(lipgloss.NoColor); !none {
		r, g, b, _ := style.GetBackground().RGBA()
		on = luminance(r, g, b)
	}
	r, g, b, _ := style.GetForeground().RGBA()
	return contrast(luminance(r, g, b), on)
}

// inks are the colours that are named anywhere in v, by where.
func inks(v reflect.Value) map[string]string {
	all := map[string]string{}
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem(), path)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		case reflect.String:
			if strings.HasSuffix(path, "Color") && v.String() != "" {
				all[path] = v.String()
			}
		}
	}
	walk(v, "")
	return all
}

// Whoever says a role's colour sees it, and only where it is said; of sixteen
// colours only a number of them can be meant.
func TestFamilyWith(t *testing.T) {
	f := usual().With("mine", map[string]string{"accent": "#123456", "error": "5"}, map[string]string{"muted": "200"})
	for _, c := range []struct {
		name      string
		got, want lipgloss.Style
	}{
		{"accent in the dark", f.On(true, false).Accent, lipgloss.NewStyle().Foreground(lipgloss.Color("#123456"))},
		{"accent in the light", f.On(false, false).Accent, Light().Accent},
		{"accent of sixteen", f.On(true, true).Accent, Dark16().Accent},
		{"error of many", f.On(true, false).Error, lipgloss.NewStyle().Foreground(lipgloss.Color("5"))},
		{"error of sixteen", f.On(true, true).Error, lipgloss.NewStyle().Foreground(lipgloss.Color("5"))},
		{"muted in the light", f.On(false, false).Muted, lipgloss.NewStyle().Foreground(lipgloss.Color("200"))},
		{"muted of sixteen", f.On(false, true).Muted, Light16().Muted},
	} {
		if got, want := c.got.Render("x"), c.want.Render("x"); got != want {
			t.Errorf("%s is %q, want %q", c.name, got, want)
		}
	}
	for _, bad := range []string{"", "#12345", "#1234567", "#gggggg", "256", "-1", "+1", "007", "red", "#+12345", "\x1b[31m"} {
		if IsColour(bad) {
			t.Errorf("%q is taken for a colour", bad)
		}
	}
}

// Of sixteen colours each terminal has its own: what is told apart by them must
// be other numbers, and the chosen line has to stand out without any.
func TestSixteenColours(t *testing.T) {
	for _, th := range []Theme{Dark16(), Light16()} {
		for name, style := range map[string]lipgloss.Style{"code": th.Code, "success": th.Success, "warning": th.Warning, "thinking": th.Thinking} {
			if style.GetForeground() == th.Error.GetForeground() {
				t.Errorf("%s %s looks like an error", th.Name, name)
			}
		}
		_, letters := th.Selection.GetForeground().(lipgloss.NoColor)
		_, ground := th.Selection.GetBackground().(lipgloss.NoColor)
		if !letters || !ground || !th.Selection.GetReverse() {
			t.Errorf("%s: the chosen line is %v on %v, want it reversed", th.Name, th.Selection.GetForeground(), th.Selection.GetBackground())
		}
	}
}

func hex(c string) float64 {
	r, g, b, _ := lipgloss.Color(c).RGBA()
	return luminance(r, g, b)
}

func luminance(r, g, b uint32) float64 {
	lin := func(c uint32) float64 {
		v := float64(c) / 0xffff
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

func TestPlainHasNoColours(t *testing.T) {
	v := reflect.ValueOf(Plain())
	for i := range v.NumField() {
		style, ok := v.Field(i).Interface().(lipgloss.Style)
		if !ok {
			continue
		}
		if out := style.Render("x"); strings.Contains(out, "[3") && !strings.Contains(out, "\x1b[3m") || strings.Contains(out, ";38") || strings.Contains(out, ";48") {
			t.Errorf("plain %s draws %q", v.Type().Field(i).Name, out)
		}
	}
	if c := colours(reflect.ValueOf(Plain().Markdown)); c != 0 {
		t.Errorf("plain markdown names %d colours", c)
	}
	if colours(reflect.ValueOf(Dark().Markdown)) == 0 {
		t.Error("dark markdown names no colours")
	}
}

// colours counts the colours that are named anywhere in v.
func colours(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n = colours(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); strings.HasSuffix(v.Type().Field(i).Name, "Color") && f.Kind() == reflect.Pointer {
				if !f.IsNil() {
					n++
				}
			} else {
				n += colours(f)
			}
		}
	}
	return n
}

// The selection, what is wrong and what was found must be seen without colours too.
func TestPlainTellsApart(t *testing.T) {
	p := Plain()
	for name, s := range map[string]lipgloss.Style{"Selection": p.Selection, "Match": p.Match, "UserText": p.UserText, "Strong": p.Strong} {
		if s.Render("x") == "x" {
			t.Errorf("plain %s looks like text", name)
		}
	}
}
