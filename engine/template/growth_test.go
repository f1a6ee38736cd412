package template

import (
	"strings"
	"testing"
	"time"

	"catena/storage/growth"
)

// FuzzGrowth looks for templates that take more time to read than in proportion to their length.
func FuzzGrowth(f *testing.F) {
	for _, s := range []string{"${a}", "<#if a>", "<#if a></#if>", "<#-- a -->", "a?b ", "'${a}'", "<@m a=1/>", "<#assign a=1>\n", "<#list a as b>", "${'${a}${a}'}", "<#sep>", "{a:b},", "a+", "a.b[1]", "\n"} {
		f.Add("", s, "")
	}
	f.Add("${\"", "${a}", "\"}")
	f.Add("<#macro m", " a=1", "></#macro>")
	f.Add("", "@{a}", "")
	f.Add("", "@foreach{a : b}@end{}", "")
	f.Add("", "@", "")
	f.Fuzz(func(t *testing.T, before, fragment, after string) {
		if len(before)+len(after) > 200 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 16<<10, func(s string) { _, _ = Parse("ftl", "t", s, DefaultLimits) })
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 4<<10, func(s string) { _, _ = Parse("mvel", "t", s, DefaultLimits) })
	})
}

// TestLargest checks that sources of the largest size are read within a second.
func TestLargest(t *testing.T) {
	for _, fragment := range []string{"a", "${a}", "<#if a>", "<#if a></#if>", "a?b ", "'${a}'", "<@m a=1/>", "a+", "(", "[", "{a:", "a.b[1]", "@{a}", "@foreach{a : b}", "@if{a}b@end{}", "@", "@code{", "\"", "\n"} {
		source := strings.Repeat(fragment, DefaultLimits.Source/len(fragment))
		for _, language := range []string{"ftl", "mvel"} {
			for _, s := range []string{source, "${" + source[:len(source)-3] + "}", "@{" + source[:len(source)-3] + "}"} {
				if took := growth.Measure(func() { _, _ = Parse(language, "t", s, DefaultLimits) }); took > time.Second {
					t.Errorf("%s: %.10q repeated takes %s", language, s, took)
				}
			}
		}
	}
}
