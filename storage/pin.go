package storage

import "sync"

// pins are the digests that running transactions are about to refer to, and those that Sweep is about
// to remove. A digest is never both.
type pins struct {
	mu       sync.Mutex
	freed    *sync.Cond
	held     map[string]int
	removing map[string]bool
}

func (p *pins) init() {
	p.freed = sync.NewCond(&p.mu)
	p.held, p.removing = map[string]int{}, map[string]bool{}
}

// pin keeps content from being swept until the transaction has ended.
func (t *Tx) pin(digest string) {
	p := &t.repo.pins
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.removing[digest] {
		p.freed.Wait()
	}
	p.held[digest]++
	*t.pinned = append(*t.pinned, digest)
}

func (p *pins) release(digests []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range digests {
		if p.held[d]--; p.held[d] == 0 {
			delete(p.held, d)
		}
	}
}

// remove runs fn unless a transaction holds the digest; none can get it meanwhile.
func (p *pins) remove(digest string, fn func() error) error {
	p.mu.Lock()
	if p.held[digest] > 0 {
		p.mu.Unlock()
		return nil
	}
	p.removing[digest] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.removing, digest)
		p.freed.Broadcast()
	}()
	return fn()
}
