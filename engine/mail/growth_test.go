package mail

import (
	"testing"

	"catena/storage/growth"
)

// FuzzGrowth looks for addresses of mail that take more time to read than in proportion to their length.
func FuzzGrowth(f *testing.F) {
	f.Add("", "a", "@example.org")
	f.Add("a@", "a.", "org")
	f.Add("a ", "(", "<a@example.org>")
	f.Add("", "=?utf-8?q?a?= ", "<a@example.org>")
	f.Add("\"", "\\\"", "\" <a@example.org>")
	f.Add("", "<", "")
	f.Add("a: ", "a@example.org,", ";")
	f.Fuzz(func(t *testing.T, before, fragment, after string) {
		if len(before)+len(after) > 200 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 64<<10, func(s string) { _, _ = Address(s) })
	})
}
