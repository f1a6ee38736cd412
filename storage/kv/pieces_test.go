package kv

import (
	"errors"
	"slices"
	"testing"
)

// TestPieces: pieces grow up to a bound, the last one is what is left, and an error comes behind what was read before it.
func TestPieces(t *testing.T) {
	broken := errors.New("broken")
	rows := func(n int, end error) func(yield func(Row, error) bool) {
		return func(yield func(Row, error) bool) {
			for range n {
				if !yield(Row{}, nil) {
					return
				}
			}
			if end != nil {
				yield(Row{}, end)
			}
		}
	}
	for _, c := range []struct {
		n    int
		end  error
		want []int
	}{{0, nil, nil}, {1, nil, []int{1}}, {2, nil, []int{2}}, {20, nil, []int{2, 4, 5, 5, 4}}, {3, broken, []int{2, 1}}, {2, broken, []int{2}}} {
		var got []int
		var err error
		for piece, failed := range Pieces(rows(c.n, c.end), 2, 5) {
			if err = failed; err == nil {
				got = append(got, len(piece))
			}
		}
		if !slices.Equal(got, c.want) || !errors.Is(err, c.end) {
			t.Errorf("%d rows: %v (%v)", c.n, got, err)
		}
	}
}
