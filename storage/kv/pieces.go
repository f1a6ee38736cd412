package kv

import "iter"

// Pieces divides rows into pieces: the first has so many rows, and each one after it twice as many, up to most. A piece is gone with the
// call. What was read before an error comes before it.
func Pieces(rows iter.Seq2[Row, error], first, most int) iter.Seq2[[]Row, error] {
	return func(yield func([]Row, error) bool) {
		var piece []Row
		for row, err := range rows {
			if err != nil {
				if len(piece) == 0 || yield(piece, nil) {
					yield(nil, err)
				}
				return
			}
			if piece = append(piece, row); len(piece) < first {
				continue
			}
			if !yield(piece, nil) {
				return
			}
			piece, first = piece[:0], min(2*first, most)
		}
		if len(piece) > 0 {
			yield(piece, nil)
		}
	}
}
