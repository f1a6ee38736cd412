package rest

import (
	"fmt"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/storagetest"
)

// several are the rates of servers on one store, and a time that passes when the test says so.
type several struct {
	t   *testing.T
	all []*rates
	*storagetest.World
}

func newSeveral(t *testing.T, n, quota int) *several {
	s := &several{t: t, World: storagetest.NewWorld(t)}
	for range n {
		r := newRates(quota)
		r.board = cluster.NewBoard(s.Repo, "rates", usageKept)
		s.all = append(s.all, r)
	}
	return s
}

// ask sends a request of a caller to a server.
func (s *several) ask(server int, name string) bool {
	r := s.all[server]
	c := r.caller(name, r.quota)
	ok := c.limiter.AllowN(s.Now, 1)
	if ok {
		r.counts(c, s.Now)
	}
	return ok
}

// second passes one, after which the servers that have something to tell do.
func (s *several) second() {
	s.t.Helper()
	s.Now = s.Now.Add(time.Second)
	for _, r := range s.all {
		if !r.sharing {
			continue
		}
		if _, err := r.exchange(s.t.Context(), s.Now); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *several) posts() (n int) {
	s.t.Helper()
	s.Read(s.System(), func(tx *storage.Tx) error {
		n = 0
		for range tx.Table("board.rates").Scan("", "", false, 0) {
			n++
		}
		return tx.Err()
	})
	return n
}

// TestRatesShared has a caller ask fifty times a second, at one server after the other, for three minutes: all let through what
// one would, and what is too much in the first second is paid for later, up to one bucket.
func TestRatesShared(t *testing.T) {
	const quota, minutes = 120, 3
	for servers, most := range map[int]int{
		1: 30 + minutes*quota,
		2: 30 + minutes*quota + 12,
		4: 30 + minutes*quota + 3*30 + 24,
	} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			s := newSeveral(t, servers, quota)
			through := 0
			for i := range minutes * 60 {
				for j := range 50 {
					if s.ask((i+j)%servers, "alice") {
						through++
					}
				}
				s.second()
			}
			if least := minutes*quota - 30; through < least || through > most {
				t.Errorf("%d requests, want %d to %d", through, least, most)
			}
			if !s.ask(0, "bob") {
				t.Error("another caller is refused")
			}
		})
	}
}

// TestRatesSharedWithin has a caller who stays within the limit: no server refuses.
func TestRatesSharedWithin(t *testing.T) {
	s := newSeveral(t, 3, 120)
	for i := range 300 {
		for j := range 2 { // two a second: the limit
			if !s.ask((2*i+j)%3, "alice") {
				t.Fatalf("second %d: refused", i)
			}
		}
		s.second()
	}
}

// TestRatesSharedAtRest has callers who use little, of whom nothing is written, and one who uses much, of whom nothing stays.
func TestRatesSharedAtRest(t *testing.T) {
	s := newSeveral(t, 2, 120)
	for i := range 3 {
		s.ask(i%2, "alice")
	}
	s.second()
	if n := s.posts(); n != 0 || s.all[0].sharing {
		t.Errorf("%d rows about somebody who uses little", n)
	}
	for range 30 {
		s.ask(0, "alice")
	}
	s.second()
	if n := s.posts(); n != 1 {
		t.Errorf("%d rows, want that of one server", n)
	}
	for range 15 { // as long as the bucket takes to fill
		s.second()
	}
	if n := s.posts(); n != 0 || s.all[0].sharing || s.all[1].sharing {
		t.Errorf("%d rows are left", n)
	}
}

// TestRatesSharedLate has a server hear of a caller when another one has let through all that is allowed.
func TestRatesSharedLate(t *testing.T) {
	s := newSeveral(t, 2, 120)
	for range 40 {
		s.ask(0, "alice")
	}
	s.second()
	for range 8 {
		s.ask(1, "alice")
	}
	s.second()
	if s.ask(1, "alice") {
		t.Error("let through by the second server, which has heard that nothing is left")
	}
	// The first server is lost: what it has told counts no longer than it takes to fill the bucket.
	s.all = s.all[1:]
	for range 20 {
		s.second()
	}
	for i := range 30 {
		if !s.ask(0, "alice") {
			t.Fatalf("request %d is refused, 20 seconds later", i)
		}
	}
	if n := s.posts(); n != 1 {
		s.second()
		if n = s.posts(); n != 1 {
			t.Errorf("%d rows", n)
		}
	}
}

// TestRatesToldOf has more callers than are told of: it is of those who have used most.
func TestRatesToldOf(t *testing.T) {
	s := newSeveral(t, 1, 120)
	for i := range maxTold + 5 {
		for range 5 {
			s.ask(0, fmt.Sprint("u", i))
		}
	}
	for range 20 {
		s.ask(0, "most")
	}
	all := s.all[0].told(s.Now)
	if _, ok := all["most"]; !ok || len(all) != maxTold {
		t.Errorf("%d callers, with the one who has used most: %v", len(all), ok)
	}
	s.all[0].takeAway("nobody", nil, s.Now) // has been forgotten meanwhile
}
