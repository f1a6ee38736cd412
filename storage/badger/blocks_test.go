package badger

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"catena/storage/disk"
)

// TestBlocks writes pieces of many sizes one after another: the file holds them without a gap, and
// zeros up to the end of its last block.
func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		path := filepath.Join(t.TempDir(), "blocks")
		f, err := disk.OS.OpenFile(path, os.O_RDWR|os.O_CREATE|disk.Direct, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		w := blocks{file: f}
		var want []byte
		for range 40 {
			sizes := []int{1 + r.IntN(200), 1 + r.IntN(3*block), block, block - len(want)%block}
			piece := make([]byte, sizes[r.IntN(len(sizes))])
			for i := range piece {
				piece[i] = byte(1 + r.IntN(255))
			}
			if err := w.write(piece); err != nil {
				t.Fatal(err)
			}
			want = append(want, piece...)
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if w.at != int64(len(want)) || len(got) != int(wholeBlocks(w.at)) || !bytes.Equal(got[:len(want)], want) || !allZero(got[len(want):]) {
				t.Fatalf("%d bytes, %d in the file, %d written", w.at, len(got), len(want))
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
