package engine

import "catena/storage/fault"

// maxOffset keeps page numbers from overflowing; storage limits more.
const maxOffset = 1 << 30

// Offset is where the page of a number begins in a list, for the parameter currentPageIndex. Pages of a size below 1
// all begin at 0.
func Offset(index, size int) (int, error) {
	switch {
	case index < 0:
		return 0, fault.Invalid.Errorf("currentPageIndex: must be at least 0").In("currentPageIndex")
	case size <= 0:
		return 0, nil
	case index > maxOffset/size:
		return 0, fault.Invalid.Errorf("currentPageIndex: page %d begins after entry %d", index, maxOffset).In("currentPageIndex")
	}
	return index * size, nil
}
