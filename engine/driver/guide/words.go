package guide

import (
	"strings"
	"unicode"
)

// words splits a text into lower-case words. Flags (-p, --no-save), slash words
// (/new) and keys (ctrl+g) stay whole.
func words(text string) []string {
	var all []string
	for _, field := range strings.FieldsFunc(strings.ToLower(text), separates) {
		if strings.IndexFunc(field, joins) < 0 {
			all = append(all, field) // as nearly all are
			continue
		}
		all = append(all, split(field)...)
	}
	return all
}

// separates reports whether r never belongs to a word.
func separates(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !joins(r)
}

// joins reports whether r stands in or about words.
func joins(r rune) bool {
	switch r {
	case '-', '/', '+', '\'', '’', '$', '.', '_':
		return true
	}
	return false
}

func split(field string) []string {
	field = strings.Trim(strings.ReplaceAll(field, "’", "'"), "'._+")
	field = strings.TrimSuffix(field, "'s")
	if verb, ok := strings.CutSuffix(field, "n't"); ok && verb != "" {
		return []string{verb, "not"}
	}
	switch {
	case field == "" || strings.Trim(field, "-/+$._") == "":
		return nil
	case strings.HasPrefix(field, "-"):
		return []string{field}
	case strings.HasPrefix(field, "/") && strings.Count(field, "/") == 1:
		return []string{field}
	case chord(field):
		return []string{strings.ReplaceAll(field, "-", "+")}
	}
	return strings.FieldsFunc(field, func(r rune) bool { return strings.ContainsRune("-/+$_", r) })
}

// chord reports whether a word is a key with others held down: ctrl+r, ctrl-r.
func chord(field string) bool {
	for _, held := range []string{"ctrl", "alt", "shift"} {
		if rest, ok := strings.CutPrefix(field, held); ok && len(rest) > 1 && (rest[0] == '+' || rest[0] == '-') {
			return true
		}
	}
	return false
}

// stem takes endings off a word, roughly: what people write and what the manual
// says need only meet.
func stem(w string) string {
	if len(w) < 4 || !isASCII(w) || strings.HasPrefix(w, "-") || strings.HasPrefix(w, "/") {
		return w
	}
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	for _, ending := range []string{"ing", "ed"} {
		if root, ok := strings.CutSuffix(w, ending); ok && len(root) >= 3 && strings.ContainsAny(root, "aeiouy") {
			w = single(root)
			break
		}
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// single makes "stop" of the "stopp" in "stopping".
func single(root string) string {
	n := len(root)
	if n > 3 && root[n-1] == root[n-2] && !strings.ContainsRune("aeiousl", rune(root[n-1])) {
		return root[:n-1]
	}
	return root
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// stopWords say nothing about what is asked.
const stopWords = ` a about actually agentx all also am an and any are as at be been being but by can could do does doing don't
for from get getting give go goes had has have having hello hey hi how i i'd i'm i've if in into is isn't it its just know let
like make may me more my need not now of on one ones or our out please really say see should so some something tell than that
the their them then there these they thing this those to too try u up us use used user using very want was way we well were what what's
when which who why will said says yesterday today told ask asked difference between different happen happens happened work works working put anywhere kind there's there any somehow support supports supported made ca wo cannot others other with without would write you your yours explain describe possible able did here ok okay `

// pairs are two words that mean one.
const pairs = `
set up=setup, log in=login, sign in=login, log out=logout, sign out=logout, new line=newline, line break=newline,
back up=backup, api key=key, api keys=key, one shot=oneshot, slash word=slash, slash words=slash, slash command=slash,
slash commands=slash, base url=baseurl, start over=restart, start again=restart, left off=resume, come back=resume, go back=resume, go on=resume,
command line=commandline, exit code=exitcode, exit codes=exitcode, return code=exitcode, exit status=exitcode,
rate limit=ratelimit, end point=endpoint, get out=quit, cut off=incomplete, system prompt=systemprompt, look up=find, shift enter=shift+enter, alt enter=alt+enter, ctrl enter=ctrl+enter,
mcp server=mcp, mcp servers=mcp`

// kin are words that mean the same here; the first stands for all.
const kin = `
quit exit leave close terminate goodbye
resume continue reopen
delete remove erase rm wipe discard trash
session conversation chat dialog dialogue thread
stop cancel interrupt abort halt
config configuration configure settings setting preference preferences
cost price pricing money expensive pay paying charge bill fee cheap cheaper dollar spend paid payment
find search locate lookup
rename retitle
title name
setup install
model llm ai
color colour
save store keep persist kept saved stored
shortcut hotkey keybinding keyboard binding
privacy private confidential
update upgrade
error problem failure trouble issue bug fault broken fail
network internet online connection
reply answer response
previous earlier prior old last
folder directory dir
fork branch duplicate
script automate batch automation
machine computer laptop pc
image picture photo screenshot
key apikey
login account
shell bash zsh fish
summarize summarise
new fresh
restart reset
version release
clipboard paste
local offline
send submit
theme dark light
attach upload
credential secret`
