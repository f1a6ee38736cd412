//go:build !race

package template

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
)

// TestCosts expects that a million steps, a fifth of the default, end each of them within a second or so.
func TestCosts(t *testing.T) {
	limits := DefaultLimits
	limits.Steps = 1_000_000
	wide := map[string]any{}
	texts := make([]any, 5000)
	for i := range texts {
		wide[fmt.Sprint("k", i)], texts[i] = i, fmt.Sprint(strings.Repeat("a", 200), i)
	}
	for name, source := range costly {
		tmpl, err := Parse("ftl", name, source, DefaultLimits)
		if err != nil {
			t.Error(err)
			continue
		}
		data := model()
		data["wide"], data["texts"], data["long"], data["huge"] = wide, texts, strings.Repeat("a", 100_000), 1e300
		began := time.Now()
		_, err = tmpl.Render(data, limits, endless)
		if took := time.Since(began); !fault.Is(err, fault.Limit) || took > 10*time.Second {
			t.Errorf("%s: %v after %s", name, err, took)
		}
	}
}
