package text

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"
)

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
		{"docx", compoundFile(entry{"EncryptedPackage", nil}), true},
		{"ppt", compoundFile(entry{"EncryptedSummary", nil}), true},
		{"doc", compoundFile(entry{"WordDocument", []byte{0xec, 0xa5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}), true},
		{"doc without", compoundFile(entry{"WordDocument", []byte{0xec, 0xa5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}}), false},
		{"xls", compoundFile(entry{"Workbook", []byte{9, 8, 2, 0, 0, 6, 0x2f, 0, 2, 0, 0, 0}}), true},
		{"xls without", compoundFile(entry{"Workbook", []byte{9, 8, 2, 0, 0, 6, 0x42, 0, 2, 0, 0x2f, 0}}), false},
		{"odt", archive(`<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>`), true},
		{"odt without", archive(`<manifest:file-entry/>`), false},
		{"far", compoundFile(append(fillers(20), entry{"Workbook", []byte{9, 8, 2, 0, 0, 6, 0x2f, 0, 2, 0, 0, 0}})...), true},
		{"cut", compoundFile(entry{"EncryptedPackage", nil})[:600], false},
		{"short", compoundMark, false},
		{"empty", nil, false},
	} {
		if got := Encrypted(bytes.NewReader(c.file), int64(len(c.file))); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func FuzzEncrypted(f *testing.F) {
	f.Add(compoundFile(entry{"Workbook", []byte{9, 8}}))
	f.Add(compoundFile(entry{"EncryptedPackage", nil}))
	f.Fuzz(func(_ *testing.T, data []byte) { Encrypted(bytes.NewReader(data), int64(len(data))) })
}
