package fault

import (
	"iter"
	"strings"
)

// Nearest returns the candidate most like a word that was probably misspelt, for messages
// that suggest it; "" if none is like it. Case does not count. Of equals the first in the
// alphabet is returned.
func Nearest(word string, candidates iter.Seq[string]) string {
	folded := strings.ToLower(word)
	best, least := "", min(max(2, len(word)/3), len(word)-1)+1
	for c := range candidates {
		n := changes(folded, strings.ToLower(c), least+1)
		if n < least || n == least && best != "" && c < best {
			best, least = c, n
		}
	}
	return best
}

// Perhaps returns what is put behind the message about a word that names nothing: ", perhaps" and the
// candidate Nearest finds, "" if there is none.
func Perhaps(word string, candidates iter.Seq[string]) string {
	if near := Nearest(word, candidates); near != "" {
		return ", perhaps " + near
	}
	return ""
}

// changes counts the bytes to insert, remove or replace between two words, at most bound.
func changes(a, b string, bound int) int {
	if len(a)-len(b) >= bound || len(b)-len(a) >= bound {
		return bound
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
			least = min(least, cost)
		}
		if least >= bound {
			return bound
		}
	}
	return min(row[len(b)], bound)
}
