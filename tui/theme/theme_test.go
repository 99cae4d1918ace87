package theme

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

// What is read needs 4.5:1 against its ground (WCAG AA), what is only seen 3:1, lines and grounds need not be read.
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		theme  Theme
		ground string
	}{{Dark(), "#1e1e1e"}, {Dark(), "#000000"}, {Light(), "#ffffff"}, {Light(), "#f7f5ef"}} {
		v := reflect.ValueOf(c.theme)
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			style, ok := v.Field(i).Interface().(lipgloss.Style)
			if !ok || name == "Border" {
				continue
			}
			least := 4.5
			if name == "Faint" || name == "Hint" {
				least = 2.5
			}
			if _, none := style.GetForeground().(lipgloss.NoColor); none {
				continue
			}
			r, g, b, _ := style.GetForeground().RGBA()
			if got := contrast(luminance(r, g, b), hex(c.ground)); got < least {
				t.Errorf("%s %s on %s: contrast %.1f, want %.1f", c.theme.Name, name, c.ground, got, least)
			}
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

func TestNamed(t *testing.T) {
	for _, name := range []string{"dark", "light", "plain"} {
		if th, ok := Named(name); !ok || th.Name != name {
			t.Errorf("Named(%q) is %q, %v", name, th.Name, ok)
		}
	}
	if _, ok := Named("solarized"); ok {
		t.Error("Named finds a theme that is not there")
	}
}
