package simulation

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"
	"time"

	"catena/storage/work"
)

// receiver is the address outside that a webhook posts to.
type receiver struct {
	seed   uint64
	rename bool // a fault: what is sent again has another id
	slow   bool // the answer may take longer than a server may keep a job

	mu    sync.Mutex
	taken map[string]string // the body of each delivery that was taken, by its id
	tries map[string]int
	wrong []string
}

// post takes a delivery, or fails before it takes it or behind that.
func (r *receiver) post(ctx context.Context, _ string, h http.Header, body []byte) (int, error) {
	id := h.Get("webhook-id")
	r.mu.Lock()
	r.tries[id]++
	try := r.tries[id]
	r.mu.Unlock()
	if r.slow && try == 1 && id[len(id)-1]%4 == 0 {
		if err := work.Pause(ctx, time.Duration(id[len(id)-2])*time.Second/2); err != nil {
			return 0, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rename && try > 1 {
		id += fmt.Sprint("-", try)
	}
	sum := fnv.New64a()
	fmt.Fprint(sum, r.seed, id, try)
	luck := sum.Sum64() % 16
	if try > 2 {
		luck = 15 // it is up again before the server gives up
	}
	if luck == 0 {
		return http.StatusServiceUnavailable, nil
	}
	if was, again := r.taken[id]; again && was != string(body) {
		r.wrong = append(r.wrong, fmt.Sprintf("delivery %s: came again with another body", id))
	}
	if r.taken[id] = string(body); luck == 1 {
		return 0, errIO
	}
	return http.StatusOK, nil
}
