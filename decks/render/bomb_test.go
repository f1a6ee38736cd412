package render

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"testing"
)

// chunk is a part of a PNG.
func chunk(kind string, data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// bomb is a PNG whose head says that it is small, and whose pixels unpack to so many bytes.
func bomb(t *testing.T, width, height uint32, colours byte, unpacked int64) []byte {
	t.Helper()
	var pixels bytes.Buffer
	z, err := zlib.NewWriterLevel(&pixels, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(z, zeros{}, unpacked); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	head = append(head, 8, colours, 0, 0, 0)
	return bytes.Join([][]byte{[]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", head), chunk("IDAT", pixels.Bytes()), chunk("IEND", nil)}, nil)
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestPixelBombs: pictures of slides that unpack to more than their heads say, or to less, take no memory to speak of
// and leave a file of the rest of the deck.
func TestPixelBombs(t *testing.T) {
	for name, data := range map[string][]byte{
		"one pixel of 100 MB":      bomb(t, 1, 1, 6, 100<<20),
		"a grey one of 100 MB":     bomb(t, 1, 1, 4, 100<<20),
		"too few pixels":           bomb(t, 1000, 1000, 6, 10),
		"no pixels":                bomb(t, 1000, 1000, 4, 0),
		"more pixels than allowed": bomb(t, 6400, 6400, 6, 10),
		"pixels without end":       bomb(t, 1<<31-1, 1<<31-1, 6, 10),
	} {
		html := fmt.Sprintf(`<section><p>text</p><img src="data:image/png;base64,%s"></section>`, base64.StdEncoding.EncodeToString(data))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := Embedded{}.PDF(t.Context(), &Deck{HTML: html}, Options{})
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; err != nil || len(out) == 0 || taken > 32<<20 {
			t.Errorf("%s: a file of %d bytes, %d bytes of memory, %v", name, len(out), taken, err)
		}
	}
}
