package fault

import (
	"iter"
	"strings"
)

// Nearest returns the candidate most like a word that was probably misspelt, for messages
// that suggest it; "" if none is like it. Case does not count. Of equals the first in the
// alphabet is returned.
func Nearest(word string, candidates iter.Seq[string]) string {
	return NearestWithin(len(word), word, candidates)
}

// NearestWithin is Nearest with at most so many changes, for words that need not be those of the candidates.
func NearestWithin(most int, word string, candidates iter.Seq[string]) string {
	folded := strings.ToLower(word)
	best, least := "", min(max(1, len(word)/4), len(word)-1, most)+1
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
func Perhaps(word string, candidates iter.Seq[string]) string { return PerhapsIn("", word, candidates) }

// PerhapsIn is Perhaps for words that stand behind a path ("Fn."), which is said again with the candidate.
func PerhapsIn(path, word string, candidates iter.Seq[string]) string {
	if near := Nearest(word, candidates); near != "" {
		return ", perhaps " + path + near
	}
	return ""
}

// Missing is the error of a name that nothing of a kind ("document type") has: its subject alone, as the wire
// asks, or with the name that was probably meant.
func Missing(kind, name string, known iter.Seq[string]) *Error {
	near := Perhaps(name, known)
	if near != "" {
		near = ": does not exist" + near
	}
	return NotFound.Errorf("%s %s%s", kind, name, near)
}

// changes counts the bytes to insert, remove or replace, and those to swap with the next, between two words, at
// most bound.
func changes(a, b string, bound int) int {
	if len(a)-len(b) >= bound || len(b)-len(a) >= bound {
		return bound
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		least := next[0]
		for j := range len(b) {
			cost := min(row[j], row[j+1], next[j]) + 1
			if a[i] == b[j] {
				cost = row[j]
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cost = min(cost, before[j-1]+1)
			}
			next[j+1] = cost
			least = min(least, cost)
		}
		if least > bound { // a swap may fix one
			return bound
		}
		before, row, next = row, next, before
	}
	return min(row[len(b)], bound)
}
