package row

import "strings"

// Ordered opens the ordered rows of a transaction to a package that lays out keys of its own, in
// the space that storage's table of keys has for it.
type Ordered struct{}

// maxText bounds the text of an index row, in bytes.
const maxText = 200

// Text is the part of a text by which rows of indexes find it: in lower case, its beginning.
func Text(s string) string {
	s = strings.ToLower(s)
	return s[:min(len(s), maxText)]
}
