package config

import (
	"slices"
	"strings"
)

// Nearest are up to three of names that word may have been meant for, the likeliest first.
func Nearest(word string, names []string) []string {
	type scored struct {
		name  string
		score int
	}
	word = strings.ToLower(word[:min(len(word), 100)])
	allowed := max(1, len(word)/3)
	var close []scored
	for _, name := range names {
		lower := strings.ToLower(name)
		score := distance(word, lower)
		if len(word) >= 3 && strings.Contains(lower, word) {
			score = min(score, 1)
		}
		if score <= allowed && name != "" {
			close = append(close, scored{name, score})
		}
	}
	slices.SortStableFunc(close, func(a, b scored) int { return a.score - b.score })
	var found []string
	for _, s := range close {
		if !slices.Contains(found, s.name) && len(found) < 3 {
			found = append(found, s.name)
		}
	}
	return found
}

// distance counts the letters to insert, drop, replace or swap with their neighbour.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := range len(a) {
		before, last, row := rows[0], rows[1], rows[2]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		rows = [3][]int{last, row, before}
	}
	return rows[1][len(b)]
}

// meant is a hint at the names nearest to word, or "".
func meant(word string, names []string) string {
	found := Nearest(word, names)
	if len(found) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(found, " or ") + "?)"
}
