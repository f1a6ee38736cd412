package page

import (
	"context"
	"time"

	"catena/rest"
	"catena/storage/cluster"
)

// Presenters and those who follow them may be at different servers of a store. Each server posts where the presenters are who
// told it, and a server where somebody follows looks at what the others have posted. As steps of one presenter may reach one
// server and then another, each place has a higher number than those that the server has seen.

// lookEvery is how often a server looks while somebody follows.
const lookEvery = 250 * time.Millisecond

// shared is what stages know of other servers.
type shared struct {
	board   *cluster.Board // nil: this server is the only one, or nobody has asked yet
	mine    map[int64]place
	looking bool
}

// place is where a presenter is, for other servers.
type place struct {
	Number int64     `json:"n"`
	Spot   spot      `json:"at"`
	told   time.Time // by the clock of the machine
}

// others returns the board of the servers, nil if this is the only one.
func (s *stages) others(x *rest.Request) *cluster.Board {
	repo := x.Server.Engine.Repo()
	if !repo.Shared() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.board == nil {
		s.board, s.mine = cluster.NewBoard(repo, "stages", followTime), map[int64]place{}
	}
	return s.board
}

// tell has everybody who follows know where a deck's presenter is, at all servers.
func (s *stages) tell(x *rest.Request, deck int64, at spot) error {
	board := s.others(x)
	if board == nil {
		s.move(deck, at)
		return nil
	}
	ctx := x.HTTP.Context()
	if err := s.look(ctx, board); err != nil {
		return err
	}
	return board.Post(ctx, s.moved(deck, at))
}

// moved is move, and returns what is to be posted.
func (s *stages) moved(deck int64, at spot) map[int64]place {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.put(deck, at)
	st.number++
	now, all := time.Now(), map[int64]place{}
	s.mine[deck] = place{st.number, at, now}
	for d, p := range s.mine {
		if now.Sub(p.told) > followTime || s.of[d] == nil {
			delete(s.mine, d)
			continue
		}
		all[d] = p
	}
	return all
}

// look takes in what other servers have posted. Places of decks that nobody follows are remembered like those of this server.
func (s *stages) look(ctx context.Context, board *cluster.Board) error {
	theirs, err := cluster.Posted[map[int64]place](ctx, board)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, all := range theirs {
		for deck, p := range all {
			if st := s.of[deck]; st == nil || p.Number > st.number {
				s.put(deck, p.Spot).number = p.Number
			}
		}
	}
	return nil
}

// listen begins to look, unless that is done already.
func (s *stages) listen(x *rest.Request) {
	board := s.others(x)
	if board == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.looking {
		s.looking = true
		log := x.Server.Log
		ctx := context.WithoutCancel(x.HTTP.Context()) // others may follow for longer
		go func() {
			for s.followed() {
				if err := s.look(ctx, board); err != nil {
					log.Debug("presentations at other servers", "err", err)
				}
				select {
				case <-s.quit:
					return
				case <-time.After(lookEvery):
				}
			}
		}()
	}
}

// followed reports whether somebody follows. If nobody does, looking ends.
func (s *stages) followed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looking = s.followers > 0
	return s.looking
}
