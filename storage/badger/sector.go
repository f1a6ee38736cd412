package badger

// sector is what a disk writes as a whole: after a loss of power each sector of a write holds what was written or
// what was there before.
const sector = 512

// blankSectors counts the sectors of a file whose part that b takes, at a place in the file, is all zeros.
func blankSectors(b []byte, at int64) (n int) {
	for len(b) > 0 {
		size := min(sector-int(at%sector), len(b))
		if allZero(b[:size]) {
			n++
		}
		b, at = b[size:], at+int64(size)
	}
	return n
}
