package query

import (
	"fmt"
	"strings"

	"catena/storage/fault"
)

func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// nearest returns the candidate closest to s, or "" if none is close.
func nearest(s string, candidates []string) string {
	best, least := "", min(len(s)/2, 3)+1
	for _, c := range candidates {
		if abs(len(c)-len(s)) < least {
			if d := distance(s, c); d < least {
				best, least = c, d
			}
		}
	}
	return best
}

// distance counts the characters to insert, remove or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func abs(n int) int { return max(n, -n) }

// at marks an error of Check or Bind with a place, if there is one.
func (p Pos) at(format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if p.Line == 0 {
		return fault.Invalid.Errorf("query: %s", msg)
	}
	return fault.Invalid.Errorf("query: line %d, column %d: %s", p.Line, p.Column, msg).At(p.Line, p.Column)
}
