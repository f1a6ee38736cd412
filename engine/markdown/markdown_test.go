package markdown

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

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
