package metadata

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"catena/storage/blob"
)

// BenchmarkJPEG reads the metadata of a picture of 5 MB, beside reading the 64 KiB in which they are.
func BenchmarkJPEG(b *testing.B) {
	t := &testing.T{}
	data := photo(t, segment(markAPP1, exif(binary.LittleEndian, "II")))
	rest := make([]byte, 5<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rest {
		rest[i] = byte(r.Uint32()) &^ 0x80 // no marks
	}
	data = append(data[:len(data)-2], rest...)
	path := filepath.Join(b.TempDir(), "a.jpg")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	store, err := blob.Open(filepath.Join(b.TempDir(), "blobs"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	photo := blob.FromBytes("a.jpg", "image/jpeg", data)
	if err := store.Keep(b.Context(), photo); err != nil {
		b.Fatal(err)
	}
	kept := store.Load(*photo)
	b.Run("metadata", func(b *testing.B) {
		for b.Loop() {
			if out, err := Read(b.Context(), Tools{}, kept); err != nil || out["exif:Make"] == nil {
				b.Fatal(out, err)
			}
		}
	})
	b.Run("head", func(b *testing.B) {
		head := make([]byte, 64<<10)
		for b.Loop() {
			r, err := kept.Open()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(r, head); err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
}
