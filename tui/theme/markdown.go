package theme

import "charm.land/glamour/v2/ansi"

// markdown is the palette as glamour reads it. Headings have weight and colour but no ground and no number signs; code stands two
// cells in and has no frame, so that what is copied is what was written.
func markdown(p palette) ansi.StyleConfig {
	var (
		yes   = new(true)
		text  = func(c string) ansi.StylePrimitive { return ansi.StylePrimitive{Color: named(c)} }
		block = func(s ansi.StylePrimitive) ansi.StyleBlock { return ansi.StyleBlock{StylePrimitive: s} }
		head  = func(c string) ansi.StyleBlock { return block(ansi.StylePrimitive{Color: named(c), Bold: yes}) }
	)
	c := ansi.StyleConfig{
		BlockQuote: ansi.StyleBlock{
			StylePrimitive: ansi.StylePrimitive{Color: named(p.muted), Italic: yes},
			Indent:         new(uint(1)),
			IndentToken:    new("│ "),
		},
		List: ansi.StyleList{LevelIndent: 2},

		H1: head(p.accent),
		H2: head(p.heading),
		H3: head(""),
		H4: block(ansi.StylePrimitive{Color: named(p.heading), Italic: yes}),
		H5: block(ansi.StylePrimitive{Italic: yes}),
		H6: block(ansi.StylePrimitive{Color: named(p.muted), Italic: yes}),

		Emph:           ansi.StylePrimitive{Italic: yes},
		Strong:         ansi.StylePrimitive{Bold: yes},
		Strikethrough:  ansi.StylePrimitive{CrossedOut: yes, Color: named(p.muted)},
		HorizontalRule: ansi.StylePrimitive{Color: named(p.line), Format: "\n────────\n"},

		Item:        ansi.StylePrimitive{Color: named(p.accent), BlockPrefix: "• "},
		Enumeration: ansi.StylePrimitive{Color: named(p.accent), BlockPrefix: ". "},
		Task: ansi.StyleTask{
			StylePrimitive: text(p.accent),
			Ticked:         "[✓] ",
			Unticked:       "[ ] ",
		},

		Link:      ansi.StylePrimitive{Color: named(p.muted), BlockPrefix: "(", BlockSuffix: ")"},
		LinkText:  ansi.StylePrimitive{Color: named(p.accent), Underline: yes},
		Image:     text(p.muted),
		ImageText: text(p.muted),

		Code:      block(text(p.orange)),
		CodeBlock: ansi.StyleCodeBlock{StyleBlock: ansi.StyleBlock{Margin: new(uint(2))}, Chroma: chroma(p)},

		Table: ansi.StyleTable{
			StyleBlock:      block(text("")),
			CenterSeparator: new("┼"),
			ColumnSeparator: new("│"),
			RowSeparator:    new("─"),
		},

		HTMLBlock: block(text(p.muted)),
		HTMLSpan:  block(text(p.muted)),
	}
	if p.plain() {
		c.Code.Prefix, c.Code.Suffix = "`", "`"
		c.H1.Underline = yes
	}
	return c
}

// chroma is the palette for code: few colours, comments stepping back, names as they are.
func chroma(p palette) *ansi.Chroma {
	text := func(c string) ansi.StylePrimitive { return ansi.StylePrimitive{Color: named(c)} }
	return &ansi.Chroma{
		Comment:             ansi.StylePrimitive{Color: named(p.muted), Italic: new(true)},
		CommentPreproc:      text(p.pink),
		Keyword:             text(p.purple),
		KeywordReserved:     text(p.purple),
		KeywordNamespace:    text(p.purple),
		KeywordType:         text(p.cyan),
		Operator:            text(""),
		NameBuiltin:         text(p.cyan),
		NameTag:             text(p.accent),
		NameAttribute:       text(p.cyan),
		NameClass:           text(p.yellow),
		NameConstant:        text(p.orange),
		NameDecorator:       text(p.pink),
		NameException:       text(p.yellow),
		NameFunction:        text(p.accent),
		LiteralNumber:       text(p.orange),
		LiteralDate:         text(p.orange),
		LiteralString:       text(p.green),
		LiteralStringEscape: text(p.cyan),
		GenericDeleted:      text(p.red),
		GenericInserted:     text(p.green),
		GenericEmph:         ansi.StylePrimitive{Italic: new(true)},
		GenericStrong:       ansi.StylePrimitive{Bold: new(true)},
		GenericSubheading:   text(p.cyan),
	}
}

// named returns c for glamour, for which no colour is nil.
func named(c string) *string {
	if c == "" {
		return nil
	}
	return &c
}
