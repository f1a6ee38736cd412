package fault

import (
	"errors"
	"strings"
	"testing"
)

// TestQuoted checks that errors do not repeat megabytes of what a caller sent.
func TestQuoted(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	short := strings.Repeat("é", maxQuoted/2) + "…"
	for _, test := range []struct {
		err  error
		want string
	}{
		{NotFound.Errorf("document %s: not in folder %q", long, "a"), "document " + short + `: not in folder "a"`},
		{NotFound.Errorf("document %s", []byte(long)), "document " + short},
		{Wrap(errors.New("b"), "document %s", long), "document " + short + ": b"},
		{Invalid.Errorf("%w", errors.New(long)), strings.Repeat("é", maxMessage/2) + "…"},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("%d bytes beginning with %.40q, want %d bytes beginning with %.40q", len(got), got, len(test.want), test.want)
		}
	}
}
