package oauth

import (
	"sync"

	"catena/storage"
)

// place is where an access token was found: its entry, and the user. Rows say that it is good.
type place struct {
	entry, user string
	rows        storage.Asked
}

// places are the rows by which access tokens were found to be good last. A store across a network is asked for all of them at once; what
// is read decides.
type places struct {
	mu      sync.Mutex
	byToken map[string]storage.Asked
}

// maxPlaces is how many are remembered at most. Then all are forgotten.
const maxPlaces = 10_000

func (p *places) get(token string) storage.Asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byToken[token]
}

func (p *places) put(token string, rows storage.Asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byToken == nil || len(p.byToken) >= maxPlaces {
		p.byToken = map[string]storage.Asked{}
	}
	p.byToken[token] = rows
}
