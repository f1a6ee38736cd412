package text

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
)

// Decode returns the text in bytes as UTF-8, without the mark of their order. A mark counts first, then whether they are UTF-8
// already or UTF-16, since many clients declare a wrong encoding, and then the one that is declared or that HTML of its
// type names. What cannot be decoded becomes U+FFFD.
func Decode(data []byte, declared, mime string) string {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	order, wide := wideOrder(data)
	if !wide {
		if utf8.Valid(data) {
			return string(data)
		}
		if cut := whole(data); utf8.Valid(cut) && len(cut) > utf8.RuneCount(cut) {
			return string(cut)
		}
	}
	decoder := unicode.UTF16(order, unicode.UseBOM).NewDecoder()
	if !wide {
		if declared == "" {
			_, declared, _ = charset.DetermineEncoding(data, mime)
		}
		enc, _ := charset.Lookup(declared)
		if enc == nil {
			return strings.ToValidUTF8(string(data), "\uFFFD")
		}
		decoder = enc.NewDecoder()
	}
	if decoded, err := decoder.Bytes(data); err == nil {
		data = decoded
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\uFFFD")
}

// wideOrder reports whether bytes are UTF-16, and in which order: they have a mark, or their upper halves are mostly zero, as
// in texts of all scripts with spaces and line ends.
func wideOrder(data []byte) (unicode.Endianness, bool) {
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}) && !bytes.HasPrefix(data, []byte{0xFF, 0xFE, 0, 0}):
		return unicode.LittleEndian, true
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return unicode.BigEndian, true
	}
	const looked = 4 << 10 // bytes
	var zeros [2]int
	part := data[:min(len(data), looked)]
	for i, c := range part {
		if c == 0 {
			zeros[i&1]++
		}
	}
	switch pairs := len(part) / 2; {
	case pairs < 2: // too little to tell
	case zeros[0] > pairs/2 && zeros[1] == 0:
		return unicode.BigEndian, true
	case zeros[1] > pairs/2 && zeros[0] == 0:
		return unicode.LittleEndian, true
	}
	return unicode.LittleEndian, false
}

// whole leaves out a character at the end that is cut, as it is where only the beginning of a file was read. Without other
// characters of several bytes in front of it, it is one of an older encoding.
func whole(data []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if tail := data[len(data)-n:]; utf8.RuneStart(tail[0]) {
			if tail[0] >= utf8.RuneSelf && !utf8.FullRune(tail) {
				return data[:len(data)-n]
			}
			break
		}
	}
	return data
}
