package oauth

import (
	"sync"

	"catena/storage"
)

// place is where an access token was found: the entries of the token and of its client, the id of the client, and the user. What is
// read there decides whether the token is good; a store across a network is only asked for all of it at once.
type place struct{ token, holder, client, user string }

// places are those where access tokens were found last.
type places struct {
	mu      sync.Mutex
	byToken map[string]place
}

// maxPlaces is how many are remembered at most. Then all are forgotten.
const maxPlaces = 10_000

func (p *places) get(token string) place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byToken[token]
}

func (p *places) put(token string, at place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byToken == nil || len(p.byToken) >= maxPlaces {
		p.byToken = map[string]place{}
	}
	p.byToken[token] = at
}

// rows are what says that the token is good.
func (at place) rows(tx *storage.Tx) (rows storage.Asked, err error) {
	if at.token == "" {
		return rows, nil
	}
	held, err := kept(tx, tokens)
	if err != nil {
		return rows, err
	}
	holders, err := kept(tx, clients)
	if err != nil {
		return rows, err
	}
	return held.Row(at.token).And(holders.IndexRows("clientId", at.client)).And(holders.Row(at.holder)), nil
}

// first is what is to be asked for to find the token, as far as it is known.
func (at place) first(tx *storage.Tx, token string) (storage.Asked, error) {
	held, err := kept(tx, tokens)
	if err != nil {
		return storage.Asked{}, err
	}
	rows, err := at.rows(tx)
	return rows.And(held.IndexRows("accessToken", token)), err
}
