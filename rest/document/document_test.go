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

func TestUsualLoad(t *testing.T) {
	for _, tt := range []struct {
		shared           bool
		key              string
		records, workers int
	}{{false, "", 100, 1}, {false, "name", 100, 1}, {true, "", 200, 4}, {true, "name", 200, 1}} {
		if records, workers := usualLoad(tt.shared, tt.key); records != tt.records || workers != tt.workers {
			t.Errorf("shared %v, key %q: %d workers with %d records each", tt.shared, tt.key, workers, records)
		}
	}
}
