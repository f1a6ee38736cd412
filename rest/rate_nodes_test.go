package rest_test

import (
	"net/http"
	"testing"
	"time"

	"catena/storage/storagetest"
)

// TestRateOfServers uses up the limit of a key through two servers in turn, and both refuse: what one of them still had left was
// used at the other one.
func TestRateOfServers(t *testing.T) {
	if storagetest.Nodes() == 1 {
		t.Skip("TEST_STORE is not nodes")
	}
	const quota = 30 // all of them may come at once, and the next ones two seconds apart
	s := startDecksOf(t, quota, false)
	key := s.Key("alice", "read_only")
	through := 0
	ask := func() int {
		t.Helper()
		got := s.Do("GET", "/v1/user", "", bearer(key)...)
		switch got.StatusCode {
		case http.StatusOK:
			through++
		case http.StatusTooManyRequests:
		default:
			t.Fatalf("%s: %s", got.Status, got.Text)
		}
		return got.StatusCode
	}
	for range quota {
		ask()
	}
	// Each has let through half of them, and hears of the other half.
	began := time.Now()
	for refused := 0; refused < 2; { // one after the other: both servers
		if ask() == http.StatusOK {
			refused = 0
			time.Sleep(time.Second / 2)
		} else {
			refused++
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("%d requests are let through, and none is refused", through)
		}
	}
	if most := 2*quota - 1 + int(time.Since(began)/(2*time.Second)); through > most {
		t.Errorf("%d requests are let through, as many as by two servers that do not know of each other", through)
	}
}
