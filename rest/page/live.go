package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"catena/rest"
	"catena/rest/web"
	"catena/storage/fault"
)

const (
	maxFollowers = 5000 // connections of all decks
	maxStages    = 1000 // decks whose place is remembered
	followTime   = time.Hour
	followBeat   = 20 * time.Second
)

// spot is where a presenter is: indices of the framework, and whether the screen is dark.
type spot struct {
	H     int  `json:"h"`
	V     int  `json:"v"`
	F     int  `json:"f"`
	Black bool `json:"black"`
}

// stages tell those who follow a presentation where it is. Nothing of it is kept: after a
// restart the presenter's next step says it again.
type stages struct {
	mu        sync.Mutex
	of        map[int64]*stage // by number of deck
	followers int
	quit      <-chan struct{} // closed when the server closes
	shared
}

type stage struct {
	at        spot
	set       bool
	number    int64 // of the place, if several servers tell each other
	followers map[chan spot]bool
}

func newStages(quit <-chan struct{}) *stages { return &stages{of: map[int64]*stage{}, quit: quit} }

// move puts a deck's presenter somewhere and tells anyone who follows. Who has not read the
// last place yet gets the newest instead.
func (s *stages) move(deck int64, at spot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(deck, at)
}

func (s *stages) put(deck int64, at spot) *stage {
	st := s.of[deck]
	if st == nil {
		if len(s.of) >= maxStages {
			s.forget()
		}
		st = &stage{followers: map[chan spot]bool{}}
		s.of[deck] = st
	}
	st.at, st.set = at, true
	for c := range st.followers {
		select {
		case <-c:
		default:
		}
		c <- at
	}
	return st
}

// forget drops the places that nobody follows.
func (s *stages) forget() {
	for deck, st := range s.of {
		if len(st.followers) == 0 {
			delete(s.of, deck)
		}
	}
}

// join returns where to hear of a deck's presenter, and how to stop.
func (s *stages) join(deck int64) (c chan spot, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.followers >= maxFollowers {
		return nil, nil, fault.Unavailable.Errorf("viewers: at most %d are allowed", maxFollowers)
	}
	st := s.of[deck]
	if st == nil {
		st = &stage{followers: map[chan spot]bool{}}
		s.of[deck] = st
	}
	c = make(chan spot, 1)
	st.followers[c] = true
	s.followers++
	if st.set {
		c <- st.at
	}
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(st.followers, c)
		s.followers--
		if len(st.followers) == 0 && !st.set {
			delete(s.of, deck)
		}
	}, nil
}

// lead moves everybody who follows to where the presenter is.
func (s *stages) lead(x *rest.Request, d *web.Deck, _ func() error) error {
	if !d.Editable {
		return fault.Denied.Errorf("deck: only its owner may present it")
	}
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	var at spot
	if err := json.Unmarshal(body, &at); err != nil {
		return fault.Invalid.Errorf("position: %v", err)
	}
	if err := s.tell(x, d.ID, at); err != nil {
		return err
	}
	return x.NoContent()
}

// follow sends the presenter's places as they come. It ends now and then, and at once when
// the viewer may no longer see the deck: then the browser's next try is refused.
func (s *stages) follow(x *rest.Request, d *web.Deck, still func() error) error {
	c, leave, err := s.join(d.ID)
	if err != nil {
		return err
	}
	defer leave()
	s.listen(x)
	h := x.Writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	x.Status = http.StatusOK
	x.Writer.WriteHeader(x.Status)
	if x.HTTP.Method == http.MethodHead {
		return nil
	}
	rc := http.NewResponseController(x.Writer)
	beat := time.NewTicker(followBeat)
	defer beat.Stop()
	end := time.NewTimer(followTime)
	defer end.Stop()
	text, sure := "retry: 3000\n\n", time.Now()
	for {
		if _, err := x.Writer.Write([]byte(text)); err != nil || rc.Flush() != nil {
			return nil
		}
		select {
		case at := <-c:
			if time.Since(sure) > rest.EventPause {
				if still() != nil {
					return nil
				}
				sure = time.Now()
			}
			body, err := json.Marshal(at)
			if err != nil {
				return nil
			}
			text = fmt.Sprintf("event: place\ndata: %s\n\n", body)
		case <-beat.C:
			if still() != nil {
				return nil
			}
			text = ":\n\n"
		case <-end.C:
			return nil
		case <-s.quit:
			return nil
		case <-x.HTTP.Context().Done():
			return nil
		}
	}
}

func fmtInt(n int64) string { return strconv.FormatInt(n, 10) }
