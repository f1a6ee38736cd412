package rest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"catena/storage/fault"
)

const (
	eventPause   = 250 * time.Millisecond
	eventSilence = 15 * time.Second // longest time without a word
	eventTime    = 5 * time.Minute  // longest stream
	maxStreams   = 200
)

// progress is the state of something that goes on.
type progress struct {
	mark string // of this state, which a client that comes back names
	body []byte
	over bool // it is the last
}

// stream sends every state of something that goes on as server-sent events of a name, until the last one. read is asked
// again and again; whoever may no longer see it gets no more.
func (x *exchange) stream(name string, read func() (progress, error)) error {
	p, err := read()
	if err != nil {
		return err
	}
	if p.over && x.r.Header.Get("Last-Event-ID") == p.mark {
		return x.noContent() // which tells a browser not to come back
	}
	select {
	case x.s.streams <- struct{}{}:
		defer func() { <-x.s.streams }()
	default:
		return fault.Unavailable.Errorf("events: %d streams are open", maxStreams)
	}
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	x.status = http.StatusOK
	x.w.WriteHeader(x.status)
	if x.r.Method != http.MethodHead {
		x.sendStates(name, p, read)
	}
	return nil
}

// sendStates sends a state that the client does not have, and those that come.
func (x *exchange) sendStates(name string, p progress, read func() (progress, error)) {
	ctx, cancel := context.WithTimeout(x.r.Context(), eventTime)
	defer cancel()
	rc := http.NewResponseController(x.w)
	tick := time.NewTicker(eventPause)
	defer tick.Stop()
	var sent []byte
	spoken := time.Now()
	for {
		var err error
		switch {
		case !bytes.Equal(p.body, sent):
			_, err = fmt.Fprintf(x.w, "id: %s\nevent: %s\ndata: %s\n\n", p.mark, name, p.body)
			sent, spoken = p.body, time.Now()
		case time.Since(spoken) > eventSilence:
			_, err = fmt.Fprint(x.w, ": still pending\n\n")
			spoken = time.Now()
		}
		if err != nil || rc.Flush() != nil || p.over {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-x.s.Done():
			return
		case <-tick.C:
		}
		if p, err = read(); err != nil {
			return
		}
	}
}
