package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// readable is a formula of TeX in the letters that there are for it, its rows
// parted by newlines. Whatever it says that we have no letters for, it is false:
// half a formula is worse than its source.
func readable(src string) (string, bool) {
	p := tex{rest: src}
	out := p.run(0)
	if p.lost || strings.TrimSpace(out) == "" {
		return "", false
	}
	var rows []string
	for row := range strings.SplitSeq(out, "\n") {
		if row = spaced(row); row != "" {
			rows = append(rows, row)
		}
	}
	return strings.Join(rows, "\n"), true
}

// wide is the room that \quad asks for.
const wide = "\u2003"

// spaced has one space where there were some, and three where there was to be room.
func spaced(s string) string {
	var parts []string
	for part := range strings.SplitSeq(s, wide) {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "   ")
}

// tex is what is left of a formula.
type tex struct {
	rest  string
	depth int
	lost  bool // something in it has no letters
}

// run reads up to the bracket that ends it, or up to the end.
func (p *tex) run(end byte) string {
	if p.depth++; p.depth > maxDepth {
		p.lost = true
	}
	defer func() { p.depth-- }()
	var out []byte
	for p.rest != "" && !p.lost {
		c := p.rest[0]
		if c == end {
			p.rest = p.rest[1:]
			return string(out)
		}
		if c == '^' || c == '_' {
			p.rest = p.rest[1:]
			for n := len(out); n > 0 && out[n-1] == ' '; n = len(out) {
				out = out[:n-1]
			}
			out = append(out, script(c, p.argument())...)
			continue
		}
		out = append(out, p.next()...)
	}
	p.lost = p.lost || end != 0
	return string(out)
}

// next reads a letter, a group or a command.
func (p *tex) next() string {
	r, n := utf8.DecodeRuneInString(p.rest)
	if r == '\\' {
		return p.command()
	}
	p.rest = p.rest[n:]
	switch r {
	case '{':
		return p.run('}')
	case '}', '%', '#', '$':
		p.lost = true
	case '&', '~', '\n', '\t':
		return " "
	case '\'':
		return "′"
	}
	return string(r)
}

// argument is what belongs to a command.
func (p *tex) argument() string {
	if p.rest = strings.TrimLeft(p.rest, " \n"); p.rest == "" {
		p.lost = true
		return ""
	}
	return strings.TrimSpace(p.next())
}

// option is what stands in square brackets behind a command.
func (p *tex) option() string {
	if !strings.HasPrefix(p.rest, "[") {
		return ""
	}
	p.rest = p.rest[1:]
	return p.run(']')
}

// command reads what begins with a backslash.
func (p *tex) command() string {
	p.rest = p.rest[1:]
	n := 0
	for n < len(p.rest) && letter(p.rest[n]) {
		n++
	}
	if n == 0 {
		return p.sign()
	}
	name := p.rest[:n]
	p.rest = p.rest[n:]
	if s, ok := lookUp(symbols, name); ok {
		return s
	}
	if s, ok := lookUp(relations, name); ok {
		return " " + s + " "
	}
	if strings.Contains(functions, " "+name+" ") {
		if p.rest != "" && (letterOrDigit(p.rest[0]) || p.rest[0] == '\\') {
			return name + " "
		}
		return name
	}
	return p.named(name)
}

// sign reads a command that is no word.
func (p *tex) sign() string {
	if p.rest == "" {
		p.lost = true
		return ""
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	switch c {
	case ',', ':', ';', ' ', '>':
		return " "
	case '!':
		return ""
	case '|':
		return "‖"
	case '{', '}', '%', '$', '#', '_', '&':
		return string(c)
	case '\\':
		p.option()
		return "\n"
	}
	p.lost = true
	return ""
}

// named is what a command with arguments says.
func (p *tex) named(name string) string {
	switch name {
	case "frac", "dfrac", "tfrac", "cfrac":
		over := grouped(p.argument(), " ")
		over += "/" + grouped(p.argument(), " /")
		if p.multiplied() {
			return "(" + over + ")" // else what follows would be below the line
		}
		return over
	case "sqrt":
		return root(p.option(), p.argument())
	case "text", "textrm", "textbf", "textit", "mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathcal", "boldsymbol", "bm", "operatorname", "mbox":
		if strings.HasPrefix(p.rest, "{") {
			return p.next() // with the room that it has around it
		}
		return p.argument()
	case "mathbb":
		return p.letters(doubled, p.argument())
	case "boxed":
		return "[" + p.argument() + "]"
	case "tag":
		return wide + "(" + p.argument() + ")"
	case "pmod":
		return " (mod " + p.argument() + ")"
	case "quad", "qquad":
		return wide
	case "left", "right":
		p.rest = strings.TrimPrefix(p.rest, ".")
		return ""
	case "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "displaystyle", "textstyle", "limits", "nolimits", "nonumber", "notag":
		return ""
	case "begin", "end":
		if env := p.argument(); !strings.Contains(rows, " "+strings.TrimSuffix(env, "*")+" ") {
			p.lost = true
		}
		return " "
	}
	if mark, ok := lookUp(accents, name); ok {
		if s := p.argument(); utf8.RuneCountInString(s) == 1 {
			return s + mark
		}
	}
	p.lost = true
	return ""
}

// multiplied reports whether a factor follows.
func (p *tex) multiplied() bool {
	rest := strings.TrimLeft(p.rest, " {")
	if name, ok := strings.CutPrefix(rest, "\\"); ok {
		name = name[:len(name)-len(strings.TrimLeftFunc(name, unicode.IsLetter))]
		_, symbol := lookUp(symbols, name)
		return symbol || name == "frac" || name == "sqrt" || strings.Contains(functions, " "+name+" ")
	}
	return rest != "" && (letterOrDigit(rest[0]) || rest[0] == '(')
}

// letters is s in other letters.
func (p *tex) letters(table, s string) string {
	out, ok := swapped(table, s)
	p.lost = p.lost || !ok
	return out
}

// root is a root of s.
func root(degree, s string) string {
	sign := "√"
	switch degree {
	case "", "2":
	case "3":
		sign = "∛"
	case "4":
		sign = "∜"
	default:
		sign = strings.TrimPrefix(script('^', degree), "^") + sign
	}
	if strings.Trim(s, "0123456789") != "" && utf8.RuneCountInString(s) > 1 {
		return sign + "(" + s + ")"
	}
	return sign + s
}

// grouped has brackets around what would not be read as one, for what is in it.
func grouped(s, apart string) string {
	if strings.ContainsAny(s, apart+"+-=*·×±") && !strings.HasPrefix(s, "√(") {
		return "(" + s + ")"
	}
	return s
}

// script is s above or below the line: in small letters, where there are such.
func script(kind byte, s string) string {
	table := raised
	if kind == '_' {
		table = lowered
	}
	if small, ok := swapped(table, strings.ReplaceAll(s, " ", "")); ok {
		return small
	}
	if utf8.RuneCountInString(s) == 1 || kind == '_' && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) < 0 {
		return string(kind) + s
	}
	return string(kind) + "(" + s + ")"
}

// swapped is s in the letters that follow its own in a table, if all are there.
func swapped(table, s string) (string, bool) {
	var b strings.Builder
	for _, r := range s {
		_, to, ok := strings.Cut(table, " "+string(r))
		if !ok {
			return "", false
		}
		to, _, _ = strings.Cut(to, " ")
		b.WriteString(to)
	}
	return b.String(), s != ""
}

// lookUp is the word that follows a name in a table.
func lookUp(table, name string) (string, bool) {
	_, rest, ok := strings.Cut(table, " "+name+" ")
	if !ok {
		return "", false
	}
	word, _, _ := strings.Cut(rest, " ")
	return word, true
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

const (
	// raised and lowered pair letters with those above and below the line.
	raised = " 0⁰ 1¹ 2² 3³ 4⁴ 5⁵ 6⁶ 7⁷ 8⁸ 9⁹ +⁺ -⁻ =⁼ (⁽ )⁾ aᵃ bᵇ cᶜ dᵈ eᵉ fᶠ gᵍ hʰ iⁱ jʲ kᵏ lˡ mᵐ nⁿ oᵒ pᵖ rʳ sˢ tᵗ uᵘ vᵛ wʷ xˣ yʸ zᶻ" +
		" Tᵀ ′′ ** ∘° βᵝ γᵞ δᵟ θᶿ φᵠ χᵡ "
	lowered = " 0₀ 1₁ 2₂ 3₃ 4₄ 5₅ 6₆ 7₇ 8₈ 9₉ +₊ -₋ =₌ (₍ )₎ aₐ eₑ hₕ iᵢ jⱼ kₖ lₗ mₘ nₙ oₒ pₚ rᵣ sₛ tₜ uᵤ vᵥ xₓ βᵦ γᵧ ρᵨ φᵩ χᵪ "
	doubled = " A𝔸 B𝔹 Cℂ D𝔻 E𝔼 F𝔽 G𝔾 Hℍ I𝕀 J𝕁 K𝕂 L𝕃 M𝕄 Nℕ O𝕆 Pℙ Qℚ Rℝ S𝕊 T𝕋 U𝕌 V𝕍 W𝕎 X𝕏 Y𝕐 Zℤ 1𝟙 "

	accents = " hat \u0302 widehat \u0302 bar \u0304 overline \u0305 tilde \u0303 vec \u20d7 dot \u0307 ddot \u0308 "

	// rows are the environments that are nothing but rows.
	rows = " align aligned alignat gather gathered equation split multline eqnarray "

	functions = " sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp lim limsup liminf max min sup inf arg det dim ker deg gcd Pr hom mod bmod "

	symbols = " alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π" +
		" rho ρ sigma σ varsigma ς tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω" +
		" infty ∞ partial ∂ nabla ∇ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬ top ⊤ bot ⊥" +
		" sum ∑ prod ∏ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ prime ′ circ ∘ degree ° dots … ldots … cdots ⋯ vdots ⋮ ddots ⋱" +
		" langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lbrace { rbrace } lvert | rvert | vert | Vert ‖ lVert ‖ rVert ‖ backslash \\ angle ∠ triangle △ square □ blacksquare ■ checkmark ✓ dagger † "

	relations = " le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ equiv ≡ approx ≈ sim ∼ simeq ≃ cong ≅ propto ∝ ll ≪ gg ≫ in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆" +
		" supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ times × cdot · div ÷ pm ± mp ∓ ast * star ⋆ oplus ⊕ otimes ⊗ odot ⊙ wedge ∧ land ∧ vee ∨ lor ∨ mid | parallel ∥ perp ⊥" +
		" to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⟹ impliedby ⟸ iff ⟺ mapsto ↦ longrightarrow ⟶ uparrow ↑ downarrow ↓" +
		" models ⊨ vdash ⊢ therefore ∴ because ∵ colon : coloneqq ≔ lt < gt > "
)
