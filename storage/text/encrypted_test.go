package text

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"unicode/utf16"
)

// compoundFile is a compound file with a directory in its first sector, of one stream in the second.
func compoundFile(stream string, content ...byte) []byte {
	out := make([]byte, 3*512)
	copy(out, compoundMark)
	binary.LittleEndian.PutUint16(out[30:], 9)
	for i, name := range []string{"Root Entry", stream} {
		entry := out[512+i*directoryEntry:]
		for j, unit := range utf16.Encode([]rune(name)) {
			binary.LittleEndian.PutUint16(entry[2*j:], unit)
		}
		binary.LittleEndian.PutUint32(entry[116:], 1)
	}
	copy(out[1024:], content)
	return out
}

// TestEncrypted knows documents with a password from those without.
func TestEncrypted(t *testing.T) {
	archive := func(manifest string) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("META-INF/manifest.xml")
		check(t, err)
		_, err = io.WriteString(w, manifest)
		check(t, err)
		check(t, z.Close())
		return b.Bytes()
	}
	for _, c := range []struct {
		name string
		file []byte
		want bool
	}{
		{"docx", compoundFile("EncryptedPackage"), true},
		{"ppt", compoundFile("EncryptedSummary"), true},
		{"doc", compoundFile("WordDocument", 0xec, 0xa5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), true},
		{"doc without", compoundFile("WordDocument", 0xec, 0xa5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2), false},
		{"xls", compoundFile("Workbook", 9, 8, 2, 0, 0, 6, 0x2f, 0, 2, 0, 0, 0), true},
		{"xls without", compoundFile("Workbook", 9, 8, 2, 0, 0, 6, 0x42, 0, 2, 0, 0x2f, 0), false},
		{"odt", archive(`<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>`), true},
		{"odt without", archive(`<manifest:file-entry/>`), false},
		{"cut", compoundFile("EncryptedPackage")[:600], false},
		{"short", compoundMark, false},
		{"empty", nil, false},
	} {
		if got := Encrypted(bytes.NewReader(c.file), int64(len(c.file))); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func FuzzEncrypted(f *testing.F) {
	f.Add(compoundFile("Workbook", 9, 8))
	f.Add(compoundFile("EncryptedPackage"))
	f.Fuzz(func(_ *testing.T, data []byte) { Encrypted(bytes.NewReader(data), int64(len(data))) })
}
