package rest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"catena/storage/fault"
)

// Times of events.
const (
	EventPause   = 250 * time.Millisecond
	eventSilence = 15 * time.Second // longest time without a word
	eventTime    = 5 * time.Minute  // longest stream
	maxStreams   = 200
)

// Progress is the state of something that goes on.
type Progress struct {
	Mark string // of this state, which a client that comes back names
	Body []byte
	Over bool // it is the last
}

// Stream sends every state of something that goes on as server-sent events of a name, until the last one. read is asked
// again and again; anyone who may no longer see it gets no more.
func (x *Request) Stream(name string, read func() (Progress, error)) error {
	p, err := read()
	if err != nil {
		return err
	}
	if p.Over && x.HTTP.Header.Get("Last-Event-ID") == p.Mark {
		return x.NoContent() // which tells a browser not to come back
	}
	select {
	case x.Server.streams <- struct{}{}:
		defer func() { <-x.Server.streams }()
	default:
		return fault.Unavailable.Errorf("events: %d streams are open", maxStreams)
	}
	h := x.Writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	x.Status = http.StatusOK
	x.Writer.WriteHeader(x.Status)
	if x.HTTP.Method != http.MethodHead {
		x.sendStates(name, p, read)
	}
	return nil
}

// sendStates sends a state that the client does not have, and those that come.
func (x *Request) sendStates(name string, p Progress, read func() (Progress, error)) {
	ctx, cancel := context.WithTimeout(x.HTTP.Context(), eventTime)
	defer cancel()
	rc := http.NewResponseController(x.Writer)
	tick := time.NewTicker(EventPause)
	defer tick.Stop()
	var sent []byte
	spoken := time.Now()
	for {
		var err error
		switch {
		case !bytes.Equal(p.Body, sent):
			_, err = fmt.Fprintf(x.Writer, "id: %s\nevent: %s\ndata: %s\n\n", p.Mark, name, p.Body)
			sent, spoken = p.Body, time.Now()
		case time.Since(spoken) > eventSilence:
			_, err = fmt.Fprint(x.Writer, ": still pending\n\n")
			spoken = time.Now()
		}
		if err != nil || rc.Flush() != nil || p.Over {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-x.Server.Done():
			return
		case <-tick.C:
		}
		if p, err = read(); err != nil {
			return
		}
	}
}
