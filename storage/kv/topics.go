package kv

import "sync"

// Topics wakes watchers within one process. The zero value is ready.
type Topics struct {
	mu       sync.Mutex
	watchers map[string]map[chan struct{}]struct{}
}

// Watch subscribes to a topic. Wake-ups that come faster than they are received are
// joined. Stop ends the subscription; the channel is not closed.
func (t *Topics) Watch(topic string) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == nil {
		t.watchers = map[string]map[chan struct{}]struct{}{}
	}
	if t.watchers[topic] == nil {
		t.watchers[topic] = map[chan struct{}]struct{}{}
	}
	t.watchers[topic][ch] = struct{}{}
	return ch, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers[topic], ch)
		if len(t.watchers[topic]) == 0 {
			delete(t.watchers, topic)
		}
	}
}

// Wake wakes the watchers of the topics.
func (t *Topics) Wake(topics []string) {
	if len(topics) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, topic := range topics {
		for ch := range t.watchers[topic] {
			select {
			case ch <- struct{}{}:
			default:
			}
		}
	}
}
