package simulation

import (
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"
)

// receiver is the address outside that a webhook posts to.
type receiver struct {
	seed   uint64
	rename bool // a fault: what is sent again has another id

	mu    sync.Mutex
	taken map[string]string // the body of each delivery that was taken, by its id
	tries map[string]int
	wrong []string
}

// post takes a delivery, or fails before it takes it or behind that.
func (r *receiver) post(_ context.Context, _ string, h http.Header, body []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := h.Get("webhook-id")
	r.tries[id]++
	try := r.tries[id]
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
