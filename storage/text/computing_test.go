//go:build !race

package text

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"catena/storage/fault"
)

// TestOfficeBombs reads archives that unpack to a thousand times their size, or that have more parts than anybody writes
// (reliability.md T15): only a little of them is looked at.
func TestOfficeBombs(t *testing.T) {
	for _, c := range []struct {
		name    string
		archive []byte
		some    int // that part of it is read, and what finding the list takes
		refused bool
	}{
		{"tags", pack(t, 200, slide, strings.Repeat("<a/>", maxRead/4)), 20, false},
		{"comments", pack(t, 200, slide, "<!--"+strings.Repeat(" ", maxRead)), 20, false},
		{"300,000 parts", pack(t, 300_000, strconv.Itoa, ""), 10, true},
	} {
		in := &counted{ReaderAt: bytes.NewReader(c.archive)}
		_, err := readOffice(struct {
			io.ReadSeeker
			io.ReaderAt
		}{bytes.NewReader(c.archive), in}, int64(len(c.archive)))
		if c.refused != fault.Is(err, fault.Limit) || !c.refused && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if most := int64(len(c.archive)/c.some) + 128<<10; in.bytes > most {
			t.Errorf("%s: %d bytes of %d read, at most %d expected", c.name, in.bytes, len(c.archive), most)
		}
	}
}
