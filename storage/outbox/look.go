package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"catena/storage/kv"
)

// busy counts the jobs of each kind that are carried out.
type busy struct {
	handlers Handlers
	freed    chan struct{} // receives when a kind that was full is not any longer

	mu    sync.Mutex
	kinds map[string]int
}

// takes reports whether a job of a kind can be carried out now.
func (b *busy) takes(kind string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.handlers[kind]
	return h.Do != nil && (h.AtOnce == 0 || b.kinds[kind] < h.AtOnce)
}

// enter counts a job that takes has been asked for.
func (b *busy) enter(kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kinds[kind]++
}

func (b *busy) leave(kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kinds[kind]--; b.kinds[kind] == b.handlers[kind].AtOnce-1 {
		select {
		case b.freed <- struct{}{}:
		default:
		}
	}
}

// more reports whether a kind that was full is not any longer, once.
func (b *busy) more() bool {
	select {
	case <-b.freed:
		return true
	default:
		return false
	}
}

// look is where the queue is looked at next. Rows of jobs that were carried out are passed over until the store has merged them away, and
// those of kinds that take no more are read in vain: with many of either, the beginning of the queue is looked at once in a while only.
type look struct {
	busy  *busy
	last  time.Time       // what the clock showed
	whole time.Time       // when it is looked at from the beginning again
	from  map[byte][]byte // where the next look begins otherwise, by queue
}

const (
	lookBack  = time.Minute // by which a job may come into the queue later than it was due
	lookShare = 20          // a look from the beginning takes no more than one part in so many of the time,
	mostSpare = time.Minute // as long as it follows the last one within that
)

// begin returns where a look at a queue begins.
func (l *look) begin(queue byte, whole bool) []byte {
	if from := l.from[queue]; from != nil && !whole {
		return from
	}
	return []byte{Space, queue}
}

// due returns the keys of jobs that are due, or whose lease has ended, of kinds that take more.
func (q *Queue) due(ctx context.Context, l *look, max int) (keys [][]byte, err error) {
	now := q.Clock()
	whole := l.busy.more() || !now.Before(l.whole)
	from := map[byte][]byte{}
	err = q.DB.View(ctx, func(k *kv.Tx) error {
		keys = nil
		for _, queue := range []byte{queueRunning, queueWaiting} {
			from[queue] = key(queue, now.Add(-lookBack), "")
			end := key(queue, now.Add(time.Millisecond), "")
			for row, err := range k.Scan(kv.Range{Start: l.begin(queue, whole), End: end}) {
				if err != nil {
					return err
				}
				var j Job
				if json.Unmarshal(row.Value, &j) != nil || !l.busy.takes(j.Kind) {
					continue
				}
				if bytes.Compare(row.Key, from[queue]) < 0 {
					from[queue] = row.Key
				}
				if keys = append(keys, row.Key); len(keys) == max {
					return nil
				}
			}
		}
		return nil
	})
	if err != nil {
		l.whole = time.Time{}
		return nil, err
	}
	if whole {
		l.whole = now.Add(pause + min(lookShare*q.Clock().Sub(now), mostSpare)) // the clock may have been set meanwhile
	}
	l.from = from
	return keys, nil
}
