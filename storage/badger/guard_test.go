package badger

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"catena/storage/disk"
)

// TestManifestRewrite tells a manifest Badger wrote again from a damaged one.
func TestManifestRewrite(t *testing.T) {
	set := func(b []byte, changes string) []byte {
		b = binary.BigEndian.AppendUint32(b, uint32(len(changes)))
		b = binary.BigEndian.AppendUint32(b, crc32.Checksum([]byte(changes), castagnoli))
		return append(b, changes...)
	}
	magic := []byte("Bdgr\x00\x00\x00\x08")
	first := set(set(magic[:8:8], ""), "one")
	grown := set(first[:len(first):len(first)], "two")
	anew := set(magic[:8:8], "one and two")
	for _, tt := range []struct {
		name     string
		now      []byte
		ok, anew bool
	}{
		{"same", first, true, false},
		{"grown", grown, true, false},
		{"grown, torn", grown[:len(grown)-1], true, false},
		{"anew", anew, true, true},
		{"anew, torn", anew[:len(anew)-1], false, true},
		{"cut", first[:len(first)-1], false, false},
		{"cut between sets", first[:16], false, false},
		{"nothing but magic", first[:8], false, false},
		{"empty", nil, false, false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), tt.now, 0o600); err != nil {
			t.Fatal(err)
		}
		known := describeBytes(first)
		if err := checkManifest(disk.OS, dir, known); (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := rewritten(disk.OS, dir, known); got != tt.anew {
			t.Errorf("%s: rewritten %v", tt.name, got)
		}
		if d, err := describe(disk.OS, dir); err != nil || d.Size > int64(len(tt.now)) {
			t.Errorf("%s: %+v, %v", tt.name, d, err)
		}
	}
}
