package chains

import (
	"testing"

	"catena/storage/growth"
)

// FuzzGrowth looks for chains that take more time to read than in proportion to their length.
func FuzzGrowth(f *testing.F) {
	steps := "name: a\nsteps:\n"
	for _, s := range []string{"- Document.Fetch\n", "- Document.Fetch: {value: a}\n", "- ", "[", "{a: ", "? ", "# a\n", "\n", "&a ", "- &a b\n", "- *a\n", "'", "\"\\x41", "!!a ", "|\n"} {
		f.Add(steps, s, "")
	}
	f.Add("name: a\nparams:\n", "- {name: a, type: string}\n", "")
	f.Add("name: \"", "\\\n", "\"")
	f.Fuzz(func(t *testing.T, before, fragment, after string) {
		if len(before)+len(after) > 200 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 16<<10, func(s string) { _, _ = Parse("a.yaml", []byte(s)) })
	})
}
