//go:build !race

package markdown

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/growth"
)

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
		if took > 3*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}
