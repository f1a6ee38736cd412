package text

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"unicode/utf16"
)

// Encrypted reports whether an office document can only be read with a password. It looks at few bytes, and what it does not
// know is not encrypted.
func Encrypted(f io.ReadSeeker, size int64) bool {
	at := readerAt(f)
	head := make([]byte, 512)
	if _, err := at.ReadAt(head, 0); err == nil && bytes.HasPrefix(head, compoundMark) {
		return encryptedCompound(at, head)
	}
	z, err := Archive(f, size)
	if err != nil {
		return false
	}
	manifest, err := z.Open("META-INF/manifest.xml")
	if err != nil {
		return false
	}
	defer func() { _ = manifest.Close() }() // of a file that is read
	text, err := io.ReadAll(io.LimitReader(manifest, maxRead))
	return err == nil && bytes.Contains(text, []byte("encryption-data"))
}

// compoundMark begins a compound file: Office formats before 2007, and later ones with a password, which are a stream within one.
var compoundMark = []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")

// Parts of a compound file: entries of the directory have 128 bytes, of which the first 32 are looked at.
const (
	directoryEntry = 128
	directoryLooks = 32 * directoryEntry
)

// encryptedCompound looks for the streams that only encrypted documents have, and for the marks of encryption in those that
// Word and Excel write.
func encryptedCompound(at io.ReaderAt, head []byte) bool {
	shift := binary.LittleEndian.Uint16(head[30:])
	if shift != 9 && shift != 12 {
		return false
	}
	sector := func(number uint32, of []byte) []byte {
		n, _ := at.ReadAt(of, (int64(number)+1)<<shift)
		return of[:n]
	}
	entries := sector(binary.LittleEndian.Uint32(head[48:]), make([]byte, directoryLooks))
	for ; len(entries) >= directoryEntry; entries = entries[directoryEntry:] {
		start := binary.LittleEndian.Uint32(entries[116:])
		switch name(entries[:directoryEntry]) {
		case "EncryptedPackage", "EncryptedSummary":
			return true
		case "WordDocument":
			if b := sector(start, make([]byte, 12)); len(b) == 12 && b[11]&1 != 0 {
				return true
			}
		case "Workbook", "Book":
			if filePass(sector(start, make([]byte, 512))) {
				return true
			}
		}
	}
	return false
}

// name is the name of an entry of a directory.
func name(entry []byte) string {
	units := make([]uint16, 0, 32)
	for i := 0; i < 64 && (entry[i] != 0 || entry[i+1] != 0); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(entry[i:]))
	}
	return strings.TrimSpace(string(utf16.Decode(units)))
}

// filePass reports whether one of the first records of a workbook says that the others are encrypted.
func filePass(records []byte) bool {
	const pass = 0x2f
	for len(records) >= 4 {
		if binary.LittleEndian.Uint16(records) == pass {
			return true
		}
		records = records[min(len(records), 4+int(binary.LittleEndian.Uint16(records[2:]))):]
	}
	return false
}
