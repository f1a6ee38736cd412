package search

import (
	"slices"
	"testing"
	"time"
)

// TestJoinSlow has the slow queries of three servers be shown as those of one: sums, the longest with what it read, the newest advice.
func TestJoinSlow(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got := JoinSlow(
		[]SlowQuery{{Shape: "a", Count: 2, Longest: time.Second, Rows: 10, Last: at, Advice: "old", Automatic: "building"}, {Shape: "b", Count: 1, Longest: 3 * time.Second, Last: at}},
		[]SlowQuery{{Shape: "a", Count: 3, Refused: 1, Longest: 2 * time.Second, Rows: 20, Docs: 5, Last: at.Add(time.Minute), Advice: "new", Automatic: "complete"}},
		nil,
		[]SlowQuery{{Shape: "c", Count: 1, Longest: time.Second, Last: at}, {Shape: "a", Count: 1, Longest: time.Second / 2, Rows: 30, Last: at.Add(time.Second), Advice: "older"}},
	)
	want := []SlowQuery{
		{Shape: "a", Count: 6, Refused: 1, Longest: 2 * time.Second, Rows: 20, Docs: 5, Last: at.Add(time.Minute), Advice: "new", Automatic: "complete"},
		{Shape: "b", Count: 1, Longest: 3 * time.Second, Last: at},
		{Shape: "c", Count: 1, Longest: time.Second, Last: at},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
