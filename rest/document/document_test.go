package document

import (
	"testing"
)

func TestHolds(t *testing.T) {
	cases := []struct {
		header string
		want   bool
	}{{`"0-1.abc"`, true}, {`"0-1"`, true}, {`"0-2.abc"`, false}, {`"x", "0-1.z"`, true}, {`*`, true}, {`W/"0-1.a"`, false}}
	for _, c := range cases {
		if got := holds([]string{c.header}, "0-1"); got != c.want {
			t.Errorf("%s: got %v", c.header, got)
		}
	}
}
