package storage

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// The feed tells what has happened to documents since a number of the audit log, for those who keep a copy of
// some: rows "a 3 number" say which document, where it was, and what happened. They are written once anybody has
// asked for them, and always in a store that other processes write to as well.

// feedOnKey is there once the feed is written.
var feedOnKey = layout.MetaKey("feed")

// FeedEntry is something that happened to a document, or to who may read documents.
type FeedEntry struct {
	Number int64 // of the audit record, and of what follows it
	Event  string
	Time   time.Time
	Doc    string // id; "" if memberships changed
	Parent string // id of where it was: above it, or the collection it has left
	User   string // of a membership: the user or group; of a document: whom alone it is about, if anybody

	acl layout.ListID // of a document that is gone: its own access list
}

// MembershipChanged is the event of a user or group that came into a group or left one.
const MembershipChanged = "membershipChanged"

// feedEvents are the events that the feed tells. Their places are what rows hold: new ones come last.
var feedEvents = []string{
	MembershipChanged, "documentCreated", "documentModified", "documentMoved", "documentCreatedByCopy", "documentRestored",
	"documentProxyPublished", "documentProxyUpdated", "documentLocked", "documentUnlocked", "documentTrashed", "documentUntrashed",
	"documentSecurityUpdated", "documentRemoved", "proxyRemoved", "addedToCollection", "removedFromCollection", RootRegistered, RootUnregistered,
}

// feed knows up to which number all transactions have ended that write rows.
type feed struct {
	on      atomic.Bool
	mu      sync.Mutex
	last    int64            // the last number given
	running map[*int64]int64 // by transaction that has not ended: what its numbers are above
	settled atomic.Int64     // no transaction that has not ended has or gets a number up to it; it never decreases, also when opened again
}

// openFeed is called before the repository is used, with the numbering known.
func (r *Repo) openFeed(ctx context.Context) error {
	f := &r.feed
	f.running = map[*int64]int64{}
	return r.db.View(ctx, func(k *kv.Tx) error {
		on, err := k.Get(feedOnKey)
		if err != nil {
			return err
		}
		f.on.Store(on != nil)
		if k.Remote() {
			return nil
		}
		last, err := lastNumber(k, feedPrefix)
		if err != nil {
			return err
		}
		upcoming, err := k.Upcoming(auditSequence)
		f.last = max(int64(last), r.numbering.Feed+upcoming-1)
		f.settled.Store(f.last)
		return err
	})
}

// begin is called before a transaction takes its first number.
func (f *feed) begin(tx *int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.running[tx]; !ok {
		f.running[tx] = f.last
	}
}

// given takes in that a transaction that has begun was given a number.
func (f *feed) given(number int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = max(f.last, number)
}

// end says that a transaction has ended, whether or not it was committed.
func (f *feed) end(tx *int64) {
	if !f.on.Load() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, tx)
	settled := f.last
	for _, above := range f.running {
		settled = min(settled, above)
	}
	f.settled.Store(max(settled, f.settled.Load()))
}

var feedPrefix = []byte{layout.AuditSpace, layout.AuditFeed}

func feedKey(number int64) []byte {
	return binary.BigEndian.AppendUint64(slices.Clone(feedPrefix), uint64(number))
}

// Folders that a user synchronizes.
const (
	RootRegistered   = "rootRegistered"
	RootUnregistered = "rootUnregistered"
)

// StartFeed has the feed written from now on. Transactions that did not know of it are run again.
func StartFeed(t *Tx) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if !t.kv.Remote() {
		t.repo.feed.on.Store(true)
	}
	on, err := t.kv.Get(feedOnKey)
	if err != nil || on != nil {
		return err
	}
	return t.kv.Set(feedOnKey, []byte{1})
}

// feeds reports whether the transaction writes to the feed.
func (t *Tx) feeds() bool {
	if t.kv.Remote() { // a transaction of another process may not know that it was begun
		return true
	}
	if t.repo.feed.on.Load() {
		t.repo.feed.begin(t.fed)
		return true
	}
	if !t.unfed {
		t.unfed = true
		t.kv.Guard(feedOnKey)
	}
	return false
}

// feedNumber returns the number of a row about what has the number of an audit record, or 0: in a store that other
// processes write to, it is a stamp, by which it can be told which transactions have ended.
func (t *Tx) feedNumber(audited int64) (number int64, err error) {
	if t.kv.Remote() {
		return t.feedStamp()
	}
	if number = audited; number == 0 {
		number, err = t.repo.db.Next(t.ctx, auditSequence)
	}
	number += t.repo.numbering.Feed
	t.repo.feed.given(number)
	return number, err
}

// feedEvent writes what the feed describes an event, whose audit record has a number.
func (t *Tx) feedEvent(number int64, e Event) error {
	if e.Doc == nil || e.Doc.IsVersion() || !slices.Contains(feedEvents, e.Name) {
		return nil
	}
	number, err := t.feedNumber(number)
	if err != nil {
		return err
	}
	entry := FeedEntry{Number: number, Event: e.Name, Time: t.now, Doc: e.Doc.ID(), Parent: cmp.Or(e.left, e.Doc.parent).String()}
	switch e.Name {
	case "removedFromCollection":
		entry.Parent, _ = e.Extra["collection"].(string)
	case RootRegistered, RootUnregistered:
		entry.User = t.as.Name
	case "documentRemoved", "proxyRemoved":
		entry.acl = e.Doc.acl
	}
	return t.putFeed(entry)
}

// feedMembers tells that somebody came into a group or left one.
func (t *Tx) feedMembers(of, name string, kind byte) error {
	if kind == layout.MemberUser || kind == layout.Subgroup {
		of = name
	}
	return t.feedAlone(FeedEntry{Event: MembershipChanged, User: of})
}

// feedRestored describes folders that came out of the trash with what is in them.
func (t *Tx) feedRestored(docs Docs) error {
	for _, d := range docs {
		if d == nil {
			continue
		}
		if err := t.feedAlone(FeedEntry{Event: "documentUntrashed", Doc: d.ID(), Parent: d.parent.String()}); err != nil {
			return err
		}
	}
	return nil
}

// feedAlone describes something that has no audit record, but a number among theirs.
func (t *Tx) feedAlone(e FeedEntry) (err error) {
	if !t.feeds() {
		return nil
	}
	if e.Number, err = t.feedNumber(0); err != nil {
		return err
	}
	e.Time = t.now
	return t.putFeed(e)
}

func (t *Tx) putFeed(e FeedEntry) error {
	doc, _ := layout.ParseID(e.Doc)
	parent, _ := layout.ParseID(e.Parent)
	v := append(make([]byte, 0, 64), byte(slices.Index(feedEvents, e.Event)))
	v = binary.BigEndian.AppendUint64(v, uint64(e.Time.UnixMilli()))
	v = append(append(append(v, doc[:]...), parent[:]...), e.acl[:]...)
	return t.kv.Fresh(feedKey(e.Number), append(v, e.User...))
}

// feedRow is how long the value of a row is, without a name.
const feedRow = 1 + 8 + 3*16

func parseFeed(key, v []byte) (e FeedEntry, err error) {
	if len(v) < feedRow || int(v[0]) >= len(feedEvents) {
		return e, fault.Internal.Errorf("feed row %x: cannot be read", key)
	}
	e.Number, e.Event = int64(binary.BigEndian.Uint64(key[2:])), feedEvents[v[0]]
	e.Time = time.UnixMilli(int64(binary.BigEndian.Uint64(v[1:]))).UTC()
	if doc := layout.ID(v[9:]); doc != layout.None {
		e.Doc = doc.String()
	}
	if parent := layout.ID(v[25:]); parent != layout.None {
		e.Parent = parent.String()
	}
	e.acl, e.User = layout.ListID(v[41:]), string(v[feedRow:])
	return e, nil
}

// ReadFeed returns what has happened since a number, oldest first, for what decides whom it is told. Up to is the
// number to go on from. More says that there is more of it than limit, or that the number was not given for what the store has
// now, because it was filled from a backup or from another store since; then nothing is returned.
func ReadFeed(t *Tx, since int64, limit int) (entries []FeedEntry, upTo int64, more bool, err error) {
	if !t.as.System {
		return nil, 0, false, fault.Denied.Errorf("feed: not visible to '%s'", t.as.Name)
	}
	if upTo, err = t.feedSettled(); err != nil {
		return nil, 0, false, err
	}
	if since < t.repo.numbering.Feed || since > upTo {
		return nil, upTo, true, nil
	}
	r := prefix(feedPrefix)
	r.Start, r.End = feedKey(since+1), feedKey(upTo+1)
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return nil, 0, false, err
		}
		if len(entries) == limit {
			return nil, upTo, true, nil
		}
		e, err := parseFeed(row.Key, row.Value)
		if err != nil {
			return nil, 0, false, err
		}
		entries = append(entries, e)
	}
	return entries, upTo, false, nil
}

// CouldRead reports whether the principal could read a document that is gone if it were still in a folder.
func CouldRead(t *Tx, e FeedEntry, folder *Doc) (bool, error) {
	f, err := t.folder(folder.id)
	return err == nil && f != nil && t.granted(e.acl, f, permRead), err
}

// numbering is above which numbers those of the feed and of the backlog begin in a store. Where the numbers come from differs
// between kinds of stores, and a database that was filled from a backup counts from the beginning: each store therefore begins
// above all numbers that may have been given for the rows that it was filled with. Stamps are added to these.
type numbering struct {
	Store   string `json:"store"` // identity of the store that these are for
	Feed    int64  `json:"feed"`
	Backlog uint64 `json:"backlog"`
}

// numberingGap is more numbers of the feed than are given between the time of a backup, whose rows tell which had been given,
// and the loss of the store that it is of: 268 million transactions of a database. Up to as much again is added at random, because
// several stores may be filled from the same backup.
const numberingGap = 1 << 42

// openNumbering reads from where on numbers are given. In a store that was filled with rows of another one, it decides that.
func (r *Repo) openNumbering(ctx context.Context) error {
	identity := r.db.Identity()
	if identity == "" {
		return nil
	}
	key := kv.OwnKey("numbering\x00" + r.name)
	read := func(k *kv.Tx) error {
		v, err := k.Get(key)
		if r.numbering = (numbering{}); err != nil || v == nil {
			return err
		}
		if err := json.Unmarshal(v, &r.numbering); err != nil {
			return fault.Internal.Errorf("numbering: %w", err)
		}
		return nil
	}
	if err := r.db.View(ctx, read); err != nil || r.numbering.Store == identity {
		return err
	}
	return r.db.Update(ctx, func(k *kv.Tx) error {
		if err := read(k); err != nil || r.numbering.Store == identity {
			return err
		}
		if err := r.beginNumbering(k, identity); err != nil {
			return err
		}
		v, err := json.Marshal(r.numbering)
		if err != nil {
			return err
		}
		return k.Set(key, v)
	})
}

// beginNumbering makes the numbers of a store begin above those of the rows that it has, and of one that had these rows before.
func (r *Repo) beginNumbering(k *kv.Tx, identity string) error {
	n := &r.numbering
	n.Store = identity
	on, err := k.Get(feedOnKey)
	if err != nil {
		return err
	}
	last, err := lastNumber(k, feedPrefix)
	if err != nil {
		return err
	}
	upcoming, err := k.Upcoming(auditSequence)
	if err != nil {
		return err
	}
	if on != nil || last > 0 {
		n.Feed = max(n.Feed, int64(last), upcoming) + numberingGap + int64(r.jitter()*numberingGap)
	}
	if !k.Remote() { // numbers of the backlog begin above its rows whenever it is opened
		return nil
	}
	last, err = lastNumber(k, backlogPrefix)
	n.Backlog = max(n.Backlog, last)
	return err
}

// lastNumber returns the number of the last row with a prefix, 0 if there are none.
func lastNumber(k *kv.Tx, of []byte) (last uint64, err error) {
	rg := prefix(of)
	rg.Reverse, rg.Limit, rg.KeysOnly = true, 1, true
	for row, err := range k.Scan(rg) {
		if err != nil {
			return 0, err
		}
		last = binary.BigEndian.Uint64(row.Key[2:])
	}
	return last, nil
}

// feedStamp returns a number for a row of the feed of a store that other processes write to.
func (t *Tx) feedStamp() (int64, error) {
	stamp, err := t.kv.Stamp()
	return t.repo.numbering.Feed + int64(stamp), err
}

// feedSettled returns the number up to which the snapshot has all rows of the feed that there will be.
func (t *Tx) feedSettled() (int64, error) {
	if !t.kv.Remote() {
		return t.settled, nil
	}
	settled, err := t.kv.Settled()
	return t.repo.numbering.Feed + int64(settled) - 1, err
}

var backlogPrefix = []byte{layout.WordsSpace, layout.WordsPending}
