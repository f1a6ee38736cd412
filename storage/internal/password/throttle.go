package password

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"time"
)

// rate says how often something may be tried: burst times at once, and then once in every interval.
type rate struct {
	burst int
	every time.Duration
}

// all is how long it takes until a budget that is used up is whole again.
func (r rate) all() time.Duration { return time.Duration(r.burst) * r.every }

// Failed attempts are counted for a name together with the place they come from, for a name over all places that the
// user is not known to use, and for an address over all names. In a day from strangers that is 1,000 for a user, and
// 7,200 for a link; from one address 2,500.
var (
	userHere     = rate{10, 90 * time.Second}
	userAnywhere = rate{100, 96 * time.Second}
	linkHere     = rate{5, 12 * time.Second}
	linkAnywhere = rate{1200, 14400 * time.Millisecond}
	addressRate  = rate{100, 36 * time.Second}
)

// LongestCount is how long a counter is kept at most: all budgets are whole again after less.
const LongestCount = 5 * time.Hour

// maxCounters bounds the counters in memory and in the store.
const maxCounters = 20_000

// Key names a counter without saying what it counts.
type Key [16]byte

// use is one attempt against the budget of a counter.
type use struct {
	key Key
	rate
}

// throttle keeps for each counter the moment at which its budget will be whole again: each attempt moves it on by an
// interval, and time catches up. So a counter is one moment, and expires by itself.
type throttle struct {
	mu    sync.Mutex
	whole map[Key]time.Time
	dirty map[Key]bool // changed since they were last written
	wrote time.Time    // when that was

	forgiven map[Key]time.Time // as it was last taken in
}

// used returns how much of a budget is used up. If the clock was set back, that is all of it from now on.
func (t *throttle) used(u use, now time.Time) time.Duration {
	used := t.whole[u.key].Sub(now)
	if used > u.all() {
		used = u.all()
		t.set(u.key, now.Add(used), now)
	}
	return max(0, used)
}

// take counts an attempt against all budgets. If some are exhausted it counts nothing, and returns the one that is so
// for longest.
func (t *throttle) take(now time.Time, uses []use) (exhausted int, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	exhausted = -1
	for i, u := range uses {
		if over := t.used(u, now) - time.Duration(u.burst-1)*u.every; over > wait {
			exhausted, wait = i, over
		}
	}
	if wait > 0 {
		return exhausted, wait
	}
	for _, u := range uses {
		t.set(u.key, now.Add(t.used(u, now)+u.every), now)
	}
	return -1, 0
}

// giveBack takes back an attempt that was right, and all failures of the first budget before it.
func (t *throttle) giveBack(now time.Time, uses []use) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, u := range uses {
		if i == 0 {
			t.set(u.key, now, now)
		} else {
			t.set(u.key, now.Add(t.used(u, now)-u.every), now)
		}
	}
}

func (t *throttle) set(k Key, whole, now time.Time) {
	if t.whole == nil {
		t.whole, t.dirty = map[Key]time.Time{}, map[Key]bool{}
	}
	t.dirty[k] = true
	if !whole.After(now) {
		delete(t.whole, k)
		return
	}
	if _, there := t.whole[k]; !there && len(t.whole) >= maxCounters {
		t.evict(now)
	}
	t.whole[k] = whole
}

// evict forgets the tenth of the counters that would be forgotten next anyway.
func (t *throttle) evict(now time.Time) {
	keys := make([]Key, 0, len(t.whole))
	for k := range t.whole {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return t.whole[a].Compare(t.whole[b]) })
	for i, k := range keys {
		if i >= maxCounters/10 && t.whole[k].After(now) {
			return
		}
		delete(t.whole, k)
		t.dirty[k] = true
	}
}

// key makes the name of a counter of parts.
func (c *Checker) key(parts ...string) (k Key) {
	b := append(make([]byte, 0, 256), c.countSecret...)
	for _, part := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	sum := sha256.Sum256(b)
	copy(k[:], sum[:])
	return k
}

// Restore takes in the counters of an earlier process, whose keys were made with a secret.
func (c *Checker) Restore(secret []byte, counters map[Key]time.Time) {
	t := &c.throttle
	t.mu.Lock()
	defer t.mu.Unlock()
	c.countSecret, t.whole, t.dirty = secret, counters, map[Key]bool{}
}

// Stored is a counter as processes that share a store have it there.
type Stored struct {
	Whole    time.Time `json:"expires"`           // when the budget is whole again
	Forgiven time.Time `json:"forgiven,omitzero"` // when a right password last forgave what was counted before
}

// TakeIn takes in counters of other processes: what they have counted beyond this one, and what they have forgiven.
func (c *Checker) TakeIn(counters map[Key]Stored) {
	t, now := &c.throttle, c.clock()
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, s := range counters {
		switch {
		case !s.Forgiven.Equal(t.forgiven[k]):
			if t.forgiven == nil || len(t.forgiven) >= maxCounters {
				t.forgiven = map[Key]time.Time{}
			}
			t.forgiven[k] = s.Forgiven
			t.set(k, s.Whole, now)
		case s.Whole.After(now) && s.Whole.After(t.whole[k]):
			t.set(k, s.Whole, now)
		}
	}
}

// Unwritten returns the counters that changed since the last call, zero for those that are gone. It returns none for
// less than an interval after it last returned some.
func (c *Checker) Unwritten(interval time.Duration) map[Key]time.Time {
	t, now := &c.throttle, c.clock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if since := now.Sub(t.wrote); len(t.dirty) == 0 || since >= 0 && since < interval {
		return nil
	}
	changed := make(map[Key]time.Time, len(t.dirty))
	for k := range t.dirty {
		changed[k] = t.whole[k]
	}
	clear(t.dirty)
	t.wrote = now
	return changed
}

// alarms bounds what is reported of attacks.
type alarms struct {
	mu   sync.Mutex
	last map[Key]time.Time
}

const (
	alarmEvery = time.Hour
	maxAlarms  = 60 // in alarmEvery
)

// first reports whether an attack on a counter was not reported within the last hour.
func (a *alarms) first(k Key, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for of, at := range a.last {
		if since := now.Sub(at); since < 0 || since >= alarmEvery {
			delete(a.last, of)
		}
	}
	if _, told := a.last[k]; told || len(a.last) >= maxAlarms {
		return false
	}
	if a.last == nil {
		a.last = map[Key]time.Time{}
	}
	a.last[k] = now
	return true
}

// Alarm is an attack to report: many wrong passwords for one name, from one address, or for one name from one address.
type Alarm struct {
	Name    string // "": of any
	Address string // "": from anywhere
}

// String says what is reported.
func (a *Alarm) String() string {
	return cmp.Or(a.Name, "address "+a.Address)
}
