package engine

import (
	"errors"
	"math"
	"testing"

	"catena/storage/fault"
)

func TestOffset(t *testing.T) {
	tests := []struct{ index, size, want int }{
		{0, 0, 0},
		{0, 1, 0},
		{1, 0, 0},
		{math.MaxInt, 0, 0},
		{math.MaxInt, -1, 0},
		{3, 50, 150},
		{0, math.MaxInt, 0},
		{1, maxOffset, maxOffset},
		{2, maxOffset, -1},
		{1, maxOffset + 1, -1},
		{maxOffset, 1, maxOffset},
		{maxOffset + 1, 1, -1},
		{1 << 62, 4, -1}, // overflows to 0
		{math.MaxInt, 1000, -1},
		{-1, 50, -1},
	}
	for _, test := range tests {
		got, err := Offset(test.index, test.size)
		if e := (*fault.Error)(nil); errors.As(err, &e) && (e.Kind != fault.Invalid || e.Field != "currentPageIndex") {
			t.Errorf("page %d of %d: %v", test.index, test.size, err)
		}
		if err == nil && got != test.want || (err != nil) != (test.want < 0) {
			t.Errorf("page %d of %d: got %d, %v, want %d", test.index, test.size, got, err, test.want)
		}
	}
}
