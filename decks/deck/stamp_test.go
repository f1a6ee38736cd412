package deck

import (
	"testing"
	"time"
)

// TestStamp writes instants with milliseconds, which are cut.
func TestStamp(t *testing.T) {
	for _, at := range []time.Time{
		{},
		time.UnixMilli(0), time.Date(2026, 11, 26, 23, 59, 59, 7_999_999, time.UTC),
		time.Date(2026, 1, 2, 3, 4, 5, 120_000_000, time.FixedZone("", 5*3600+1800)), time.Date(10_000, 1, 1, 0, 0, 0, 999_999_999, time.UTC),
	} {
		if got, want := Stamp(at), at.UTC().Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Errorf("%v: %s, want %s", at, got, want)
		}
	}
}
