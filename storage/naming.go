package storage

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// naming finds names that are free without looking at the other children of a folder, and without having transactions
// that make documents at the same time conflict. It is a hint of one process: that a name is free is validated when the
// transaction is committed.
type naming struct {
	stamps [stampSlots]atomic.Int64 // the last suffix given to the names of a slot
	rivals [stampSlots]atomic.Int64 // when another process was seen to give the same in a folder, in milliseconds
	taken  [stampSlots]atomic.Pointer[takenName]
	ended  atomic.Uint64 // transactions with claims that have ended

	mu      sync.Mutex
	claimed map[childName]claim
}

const (
	stampSlots = 1 << 10

	// maxClaims is how many names one transaction claims. Anyone who makes more is filling a folder, mostly alone.
	maxClaims = 64

	// maxEnded is how many claims are remembered; those of transactions that have ended are forgotten beyond it.
	maxEnded = 1 << 12
)

// childName is a name in a folder.
type childName struct {
	parent layout.ID
	name   string
}

// takenName is the name that was last wanted in a folder and found to be taken.
type takenName struct {
	childName
	seen int64 // in milliseconds
}

// claim says that a name is about to be taken, or has just been.
type claim struct {
	by    *claims // nil once the transaction is committed
	until uint64  // transactions that began before so many had ended do not see the document
}

// claims are the names that a transaction claimed, in all its attempts.
type claims struct {
	attempts int
	begun    uint64 // how many transactions had ended before the snapshot of this attempt was taken
	names    []childName
}

// stamped returns the names with a suffix that earlier attempts claimed in place of one in a folder.
func (c *claims) stamped(parent layout.ID, base string) (names []string) {
	if c.attempts == 1 {
		return nil
	}
	for _, k := range c.names {
		if k.parent == parent && k.name != base && unstamped(k.name) == base {
			names = append(names, k.name)
		}
	}
	return names
}

// take claims a name, unless another transaction that this one does not see has it.
func (n *naming) take(c *claims, parent layout.ID, name string) bool {
	key := childName{parent, name}
	n.mu.Lock()
	defer n.mu.Unlock()
	h, ok := n.claimed[key]
	switch {
	case ok && h.by == c:
		return true
	case ok && (h.by != nil || h.until > c.begun):
		return false
	case len(c.names) >= maxClaims:
		return true
	}
	if n.claimed == nil {
		n.claimed = map[childName]claim{}
	}
	n.claimed[key] = claim{by: c}
	c.names = append(c.names, key)
	return true
}

// held reports whether a name was taken when it was last heard of.
func (n *naming) held(parent layout.ID, name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	h, ok := n.claimed[childName{parent, name}]
	return ok && h.by == nil
}

// note remembers that a name is taken by somebody else, and that it was wanted.
func (n *naming) note(parent layout.ID, name string, now int64) {
	key := childName{parent, name}
	at := &n.taken[slot(parent, "")]
	if last := at.Load(); last == nil || last.childName != key || now-last.seen > rivalry/2 {
		at.Store(&takenName{key, now})
	}
	if unstamped(name) != name {
		n.rivals[slot(parent, "")].Store(now)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.claimed == nil {
		n.claimed = map[childName]claim{}
	}
	if _, ok := n.claimed[key]; !ok {
		n.claimed[key] = claim{}
	}
	n.forget()
}

// forget bounds how many names are remembered.
func (n *naming) forget() {
	if len(n.claimed) <= maxEnded {
		return
	}
	for key, h := range n.claimed {
		if h.by == nil {
			delete(n.claimed, key)
		}
	}
}

// end gives claims back once it is known whether the transaction was committed.
func (n *naming) end(c *claims, committed bool) {
	if len(c.names) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	ended := n.ended.Add(1)
	for _, key := range c.names {
		if committed {
			n.claimed[key] = claim{until: ended}
		} else {
			delete(n.claimed, key)
		}
	}
	n.forget()
}

// stamp returns a suffix for a name in a folder: the milliseconds of now, or the next number that was not given to it.
func (n *naming) stamp(parent layout.ID, name string, now int64) string {
	last := &n.stamps[slot(parent, name)]
	for {
		was := last.Load()
		ms := max(now, was+1)
		if last.CompareAndSwap(was, ms) {
			return strconv.FormatInt(ms, 10)
		}
	}
}

// wanted returns the name that was found taken in a folder not long ago, which is probably wanted again; "" if none was.
func (n *naming) wanted(parent layout.ID, now int64) string {
	if last := n.taken[slot(parent, "")].Load(); last != nil && last.parent == parent && now-last.seen < rivalry {
		return last.name
	}
	return ""
}

// rivalry is for how many milliseconds after another process gave the same suffix, or a name was found taken, it is likely to happen
// again.
const rivalry = 10_000

// rival reports whether another process gives suffixes to names in a folder at the same time.
func (n *naming) rival(parent layout.ID, now int64) bool {
	seen := n.rivals[slot(parent, "")].Load()
	return seen != 0 && now-seen < rivalry
}

// slot is the slot of a name in a folder, which is the same in every process, so that tests know the suffixes.
func slot(parent layout.ID, name string) uint32 {
	h := fnv.New32a()
	h.Write(parent[:])
	h.Write([]byte(name))
	return h.Sum32() % stampSlots
}

// freeName returns a name that no child of the parent has: the one wanted, or that with a dot and a suffix like the
// milliseconds of now. It reads these two names and no others. An attempt that follows another one gives the names that were given
// before: if one is taken now, another process gives the same suffixes, and is known from then on.
func (t *Tx) freeName(parent layout.ID, name string) (string, error) {
	free, err := t.freeChild(parent, name)
	if err != nil || free {
		return name, err
	}
	base := unstamped(name)
	for _, before := range t.claims.stamped(parent, base) {
		if free, err = t.freeChild(parent, before); err != nil || free {
			return before, err
		}
	}
	for more := false; ; more = true {
		now := t.now.UnixMilli()
		name = base + "." + t.repo.naming.stamp(parent, base, now)
		// A suffix is taken if the clock was set back, if a process that has ended gave more than one a millisecond, or if
		// another one gives the same.
		if more || t.repo.naming.rival(parent, now) {
			if name, err = t.longer(name); err != nil {
				return "", err
			}
		}
		if free, err = t.freeChild(parent, name); err != nil || free {
			return name, err
		}
	}
}

// longer returns a name with more digits, which come from an identifier, so that a run that is repeated gives the same.
func (t *Tx) longer(name string) (string, error) {
	id, err := t.newDocID()
	return fmt.Sprintf("%s%0*d", name, stampMore, binary.BigEndian.Uint64(id[8:])%1_000_000), err
}

// Suffixes have 13 digits, which are milliseconds, and 6 more if those were not enough.
const (
	stampDigits = 13
	stampMore   = 6
)

// unstamped is a name without the suffix that freeName gave it.
func unstamped(name string) string {
	cut := strings.LastIndexByte(name, '.')
	if cut <= 0 {
		return name
	}
	s := name[cut+1:]
	if len(s) != stampDigits && len(s) != stampDigits+stampMore || strings.Trim(s, "0123456789") != "" {
		return name
	}
	return name[:cut]
}

// CleanName makes a name fit for a path: it is the name that a document gets which is made with the given one.
func (r *Repo) CleanName(name string) (string, error) {
	name = strings.TrimSpace(strings.ReplaceAll(name, "/", "-"))
	switch {
	case name == "":
		return "Untitled", nil
	case name == "." || name == "..":
		return "", fault.Invalid.Errorf("name %q: is not allowed", name).In("name")
	case strings.IndexFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }) >= 0:
		return "", fault.Invalid.Errorf("name %q: control characters are not allowed", name).In("name")
	case len(name) > r.limits.NameLength:
		return "", fault.Limit.Errorf("name: %d bytes, limit %d", len(name), r.limits.NameLength).In("name")
	}
	return strings.ToValidUTF8(name, "\uFFFD"), nil
}

// NameOf is the name of a document that is called like a file or by a title: of a text that is longer than names may be, the end
// of what stands before the extension is left out, at a whole character. File systems measure names in characters, not in bytes.
func (r *Repo) NameOf(text string) string {
	most := r.limits.NameLength
	if len(text) <= most {
		return text
	}
	ext := path.Ext(text)
	if len(ext) > maxExtension || len(ext) >= most {
		ext = ""
	}
	return strings.ToValidUTF8(text[:most-len(ext)], "") + ext
}

// maxExtension bounds, in bytes, what counts as the extension of a long name.
const maxExtension = 16

// probes is how many names in a row are looked for and free before it is worth looking how many more
// are.
const probes = 16

// freeChild reports whether no child of the parent has a name, and none that is being made is about to have it. Only
// that it is free is validated: anyone who finds it taken chooses another one. Anyone who fills a folder asks many times.
// A transaction that has looked for a child of just this name makes it unless it is there, and would rather lose the race.
func (t *Tx) freeChild(parent layout.ID, name string) (bool, error) {
	if t.free.parent != parent {
		t.free = freeNames{parent: parent, probe: probes}
	}
	key := layout.ChildNameKey(parent, name)
	if t.kv.Remote() && !t.kv.Guarded(key) {
		if first := t.claims.attempts == 1; first || t.free.count < probes {
			return t.presume(parent, name, key)
		}
	}
	if t.free.count == t.free.probe {
		t.free.probe *= 4 // it may have been unused
		if err := t.kv.Void(key, prefix(key[:18]).End); err != nil {
			return false, err
		}
	}
	taken, err := t.kv.Peek(key)
	if err != nil || taken != nil || !t.repo.naming.take(t.claims, parent, name) && !t.kv.Guarded(key) {
		return false, err
	}
	t.kv.Guard(key)
	t.free.count++
	return true, nil
}

// presume is freeChild for a store that others write to, where a look at an absent name conflicts with all that make documents
// in the folder. A name is free unless it was heard of, and if that is wrong, the commit finds out and the transaction runs
// again, now with a look at the names outside of the transaction.
func (t *Tx) presume(parent layout.ID, name string, key []byte) (bool, error) {
	t.free.count++
	v, written := t.kv.Buffered(key)
	if !written && (t.claims.attempts > 1 || t.repo.naming.held(parent, name)) {
		var err error
		if v, err = t.taken(parent, name, key); err != nil {
			return false, err
		}
	}
	if v == nil {
		return t.repo.naming.take(t.claims, parent, name), nil
	}
	if !written {
		t.repo.naming.note(parent, name, t.now.UnixMilli())
	}
	return false, nil
}

// taken returns the row of a name in a folder, nil if the name is free: as the transaction sees it, if it was fetched with what the
// transaction began with and is taken, and otherwise as it is now.
func (t *Tx) taken(parent layout.ID, name string, key []byte) ([]byte, error) {
	if t.wanted == (childName{parent, name}) {
		if v, err := t.kv.Get(key); err != nil || v != nil {
			return v, err
		}
	}
	return t.kv.Latest(key)
}

// freeNames counts the names that were free in the folder that is being filled.
type freeNames struct {
	parent       layout.ID
	count, probe int
}
