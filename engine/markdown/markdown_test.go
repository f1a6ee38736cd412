package markdown

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"catena/storage/fault"
	"catena/storage/growth"
)

var options = []goldmark.Option{goldmark.WithExtensions(extension.GFM, extension.DefinitionList)}

// TestSame checks that real Markdown is converted as the library does it.
func TestSame(t *testing.T) {
	var long strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&long, "| row %d | *a* **b** `c` | [link %[1]d](https://example.org/%[1]d) | a\\|b |\n", i)
	}
	list := strings.Repeat("* one *two* [three](four) `five` <br> www.example.org\n  - six\n", 2000)
	for name, source := range map[string]string{
		"table":       "# Title\n\n| a | b | c | d |\n|---|:-:|--:|---|\n" + long.String(),
		"list":        list,
		"definitions": "[a]\n\n" + strings.Repeat("[a]: b 'c'\n", 2000),
		"blocks":      "> quoted\n>> twice\n\n1. a\n2. b\n\nterm\n: meaning\n\n```go\n*a_[`\n```\n\n<b>x</b> ~~y~~ ![z](z.png)\n\nSetext\n---\n\n- [ ] task\n",
		"":            "",
	} {
		var got, want bytes.Buffer
		if err := New(options...).Convert(t.Context(), []byte(source), &got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := goldmark.New(options...).Convert([]byte(source), &want); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%s: not what the library writes", name)
		}
	}
}

// hostile are fragments whose repetition took time with the square of their number, or a stack as deep.
var hostile = []string{"*a_", "[a](", "[", "![", "`a``", "<a ", "> ", "+ ", "[a]: b\n", "a `\\|` b|\n", "*a **b ", "[a][b", "<!-- ", "_a", "\n"}

// TestLimits checks that what takes the library too long is refused, and at which line.
func TestLimits(t *testing.T) {
	for name, source := range map[string]string{
		"emphasis":    strings.Repeat("*a_", 10_000),
		"links":       strings.Repeat("[a](", 10_000),
		"quotations":  strings.Repeat("> ", 1_000_000),
		"lists":       strings.Repeat("+ ", 1_000_000),
		"definitions": strings.Repeat("[a]: b\n", 100_000),
		"table":       strings.Repeat("a|", 10_000) + "\n" + strings.Repeat("-|", 10_000) + "\n" + strings.Repeat("a\n", 10_000),
		"escapes":     "a|b\n-|-\n" + strings.Repeat("`a\\|b`\n", 100_000),
	} {
		var err error
		took := growth.Measure(func() { err = New(options...).Convert(t.Context(), []byte("# A\n\n"+source), &bytes.Buffer{}) })
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Limit || e.Line < 3 || !strings.Contains(err.Error(), "limit") && !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v", name, err)
		}
		if took > 20*time.Second { // with the race detector; a second without
			t.Errorf("%s: took %s", name, took)
		}
	}
}

// TestCanceled checks that conversions end with the call, however much they have to do.
func TestCanceled(t *testing.T) {
	size := 4 << 20
	if underRace {
		size >>= 4 // the regular expressions of the library take twenty times as long then
	}
	for _, fragment := range hostile {
		atLimit := strings.Repeat(fragment, maxDelimiters/4) + "\n\n"
		for _, source := range []string{strings.Repeat(fragment, size/len(fragment)), strings.Repeat(atLimit, max(1, size/len(atLimit)))} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			var err error
			took := growth.Measure(func() { err = New(options...).Convert(ctx, []byte(source), &bytes.Buffer{}) })
			if took > time.Second {
				t.Errorf("%q: ended after %s of processor time: %v", fragment, took, err)
			}
			cancel()
		}
	}
}
