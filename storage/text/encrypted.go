package text

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Encrypted reports whether an office document can only be read with a password. It looks at few bytes, and what it does not
// know is not encrypted.
func Encrypted(f io.ReadSeeker, size int64) bool {
	mark := make([]byte, len(compoundMark))
	if _, err := readerAt(f).ReadAt(mark, 0); err == nil && bytes.Equal(mark, compoundMark) {
		return encryptedCompound(f)
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

// encryptedCompound looks for the streams that only encrypted documents have, and for the marks of encryption in those that
// Word and Excel write.
func encryptedCompound(f io.ReadSeeker) bool {
	c, err := openCompound(f)
	if err != nil {
		return false
	}
	for _, stream := range c.File {
		switch stream.Name {
		case "EncryptedPackage", "EncryptedSummary":
			return true
		case "WordDocument":
			if b := beginning(stream, 12); len(b) == 12 && b[11]&1 != 0 {
				return true
			}
		case "Workbook", "Book":
			if filePass(beginning(stream, 512)) {
				return true
			}
		}
	}
	return false
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
