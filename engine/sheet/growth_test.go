package sheet

import (
	"io"
	"testing"

	"catena/storage/growth"
)

// FuzzGrowth looks for cells that take more time to write than in proportion to their length.
func FuzzGrowth(f *testing.F) {
	for _, s := range []string{"a", " ", "=", "\"", "\r\n", ",", "＝", "\u200b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, fragment string) {
		growth.Linear(t, growth.Repeated{Fragment: fragment}, 64<<10, func(s string) {
			w := NewWriter(io.Discard, true)
			_ = w.Write([]string{s})
			_ = w.Flush()
		})
	})
}
