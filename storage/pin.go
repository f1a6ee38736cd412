package storage

import "sync"

// pins are the digests that running transactions are about to refer to, and those that Sweep is about
// to remove. A digest is never both.
type pins struct {
	mu       sync.Mutex
	freed    *sync.Cond
	held     map[string]int
	removing map[string]bool
	contents map[string][]byte // small ones that these transactions are about to write
}

func (p *pins) init() {
	p.freed = sync.NewCond(&p.mu)
	p.held, p.removing, p.contents = map[string]int{}, map[string]bool{}, map[string][]byte{}
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

// lend shows the content of a pinned digest that is not committed yet.
func (p *pins) lend(digest string, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.contents[digest] = data
}

// lent returns a content that was lent and not committed yet.
func (p *pins) lent(digest string) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	data, ok := p.contents[digest]
	return data, ok
}

func (p *pins) release(digests []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range digests {
		if p.held[d]--; p.held[d] == 0 {
			delete(p.held, d)
			delete(p.contents, d)
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
