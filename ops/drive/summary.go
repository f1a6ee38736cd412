package drive

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

// Change says that an item is there, as it is now, or that it is gone. The item is always the current one,
// not of the time of the event: a program that was away for a day needs the state and not the way to it.
type Change struct {
	Event      string `json:"eventId"`
	Date       int64  `json:"eventDate"` // milliseconds since 1970
	Repository string `json:"repositoryId"`
	DocID      string `json:"docUuid"`
	ItemID     string `json:"fileSystemItemId"`
	Name       string `json:"fileSystemItemName"` // "" of what is gone
	Item       *Item  `json:"fileSystemItem"`     // nil: it is gone

	number int64
}

// Summary is what has changed for a user since a number.
type Summary struct {
	Changes   []Change `json:"fileSystemChanges"` // latest first
	Date      int64    `json:"syncDate"`          // now, in milliseconds since 1970, in whole seconds
	UpTo      int64    `json:"upperBound"`        // what to ask with next
	TooMany   bool     `json:"hasTooManyChanges"` // then everything is to be read again
	RootsText string   `json:"activeSynchronizationRootDefinitions"`
}

// Events that only summaries know.
const (
	deleted         = "deleted"
	securityUpdated = "securityUpdated"
)

// past is what the feed describes a document.
type past struct {
	id       string
	last     storage.FeedEntry
	gone     storage.FeedEntry // when it was removed
	left     []string          // where it was when it was changed, and the collections it has left
	moved    bool
	secured  bool
	restored bool // with what was in the trash in it
	changed  bool // by more than that the user chose it or gave it up
}

// Changes returns what has changed since a number that a summary gave; below zero only the number to begin with.
// Roots are those of that summary, as it gave them, nil if it is not known.
//
// A copy made when the number was given becomes what the user may read now if what is gone is removed with all that
// is in it, what is there is put where it belongs, and the folders named are read again.
func (v *View) Changes(since int64, roots *string) (*Summary, error) {
	s := &Summary{Changes: []Change{}, Date: v.tx.Now().Truncate(time.Second).UnixMilli()}
	var defs []string
	for _, root := range v.Roots() {
		defs = append(defs, root.Repository()+":"+root.ID())
	}
	s.RootsText = strings.Join(defs, ",")
	most := limitsOf(v.tx).Changes
	// The feed and what was moved out of sight can only be read as the system, since the caller may
	// have lost the right to it. What is read this way decides which changes are reported; the
	// items in the answer are read as the caller.
	system := v.tx.As(v.tx.Repo().System())
	entries, upTo, more, err := storage.ReadFeed(system, max(since, 0), v.tx.Repo().Limits().ScanRows)
	if err != nil {
		return nil, err
	}
	// The first call begins with a number and then reads the folders; what changes meanwhile is in
	// the next summary.
	if s.UpTo = upTo; since < 0 {
		return s, nil
	}
	h := &history{View: v, system: system, docs: map[string]*past{}, mine: map[string]bool{}, up: map[string][]string{}}
	// More entries than one call may scan, or a number from before the store was restored: the feed
	// cannot say then what the program has missed.
	if more || !h.read(entries) {
		s.TooMany = true
		return s, nil
	}
	h.known(roots)
	if s.Changes, err = h.changes(most); err != nil {
		return nil, err
	}
	if len(s.Changes) > most || v.tired() {
		s.Changes, s.TooMany = []Change{}, true
	}
	return s, nil
}

// history is what the feed tells, by document.
type history struct {
	*View
	system *storage.Tx
	docs   map[string]*past
	before []string // the ids of what was a root, as far as it is told
	mine   map[string]bool
	up     map[string][]string // ids of what a document is and was in
	diffed bool                // the roots before are known
}

// read takes entries in. It reports false if the user's groups have changed: nobody knows what that has changed.
func (h *history) read(entries []storage.FeedEntry) bool {
	who := h.tx.Principal()
	for _, e := range entries {
		switch e.Event {
		case storage.MembershipChanged:
			if e.User == who.Name || slices.Contains(who.Groups, e.User) {
				return false
			}
			continue
		case storage.RootRegistered, storage.RootUnregistered:
			if e.User != who.Name {
				continue
			}
			h.mine[e.Doc] = true
		}
		p := h.docs[e.Doc]
		if p == nil {
			p = &past{id: e.Doc}
			h.docs[e.Doc] = p
		}
		p.last = e
		if !slices.Contains(p.left, e.Parent) {
			p.left = append(p.left, e.Parent)
		}
		p.changed = p.changed || e.Event != storage.RootRegistered && e.Event != storage.RootUnregistered
		switch e.Event {
		case "documentRemoved", "proxyRemoved":
			p.gone = e
		case "documentMoved":
			p.moved = true
		case "documentSecurityUpdated":
			p.secured = true
		case "documentUntrashed":
			p.restored = true
		}
	}
	return true
}

// known takes in the roots of the summary before.
func (h *history) known(roots *string) {
	if roots == nil {
		return
	}
	h.diffed = true
	for def := range strings.SplitSeq(*roots, ",") {
		if id := def[strings.LastIndexByte(def, ':')+1:]; id != "" {
			h.before = append(h.before, id)
		}
	}
}

// changes returns what is to be told, latest first; at most one more than limit.
func (h *history) changes(limit int) ([]Change, error) {
	out, err := h.ofRoots()
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(h.docs))
	for id, p := range h.docs {
		if p.changed || p.last.Event != storage.RootUnregistered { // roots that were given up are reported above
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(h.docs[b].last.Number, h.docs[a].last.Number) })
	for _, id := range ids {
		if len(out) > limit || h.tired() {
			break
		}
		more, err := h.of(h.docs[id])
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(b.number, a.number) })
	return out, nil
}

// ofRoots returns what has become a root and what is none any longer. They are informed of as what happened last.
func (h *history) ofRoots() ([]Change, error) {
	out, err := h.newRoots()
	if err != nil {
		return nil, err
	}
	lost, err := h.lostRoots()
	return append(out, lost...), err
}

// ofRoot is an event of a root or of what was one. The largest number puts it before all other changes.
func (h *history) ofRoot(event, id, item string) Change {
	return Change{Event: event, Date: h.tx.Now().UnixMilli(), Repository: h.tx.Repo().Name(), DocID: id, ItemID: item, number: 1<<63 - 1}
}

// newRoots returns what has become a root, and what has happened to the permissions or the place of one.
func (h *history) newRoots() (out []Change, err error) {
	out = []Change{}
	for _, root := range h.Roots() {
		id := root.ID()
		fresh := h.mine[id]
		if h.diffed {
			fresh = !slices.Contains(h.before, id)
		}
		event, err := h.shaken(root)
		if err != nil {
			return nil, err
		}
		if fresh && id == h.home {
			event = securityUpdated // its folder was there before
		} else if fresh {
			event = storage.RootRegistered
			if p := h.docs[id]; p != nil && p.moved { // it may come out of another root
				out = append(out, h.ofRoot(deleted, id, plainID(root)))
			}
		}
		if event == "" {
			continue
		}
		it, err := h.Item(root)
		if err != nil {
			return nil, err
		}
		c := h.ofRoot(event, id, it.ID)
		c.Name, c.Item = it.Name, it
		out = append(out, c)
		delete(h.docs, id)
	}
	return out, nil
}

// lostRoots returns the documents that are no longer roots, what was given up last first. Without the roots of the earlier summary,
// only the events of this user tell what was one.
func (h *history) lostRoots() (out []Change, err error) {
	for id := range h.mine {
		if !slices.Contains(h.before, id) && !h.diffed {
			h.before = append(h.before, id)
		}
	}
	// The feed ends before the first transaction that is still open, so that the latest events may be missing in it.
	number := func(id string) int64 {
		if p := h.docs[id]; p != nil {
			return p.last.Number
		}
		return 1<<63 - 1
	}
	slices.SortStableFunc(h.before, func(a, b string) int { return cmp.Compare(number(b), number(a)) })
	for _, id := range h.before {
		if h.roots[id] != nil {
			continue
		}
		if id == h.home && h.own != nil { // its folder remains, without its content
			c := h.ofRoot(securityUpdated, id, h.own.ID)
			c.Name, c.Item = h.own.Name, h.own
			out = append(out, c)
			continue
		}
		item, err := h.lostID(id)
		if err != nil {
			return nil, err
		}
		out = append(out, h.ofRoot(deleted, id, item))
	}
	return out, nil
}

// lostID returns the id of what a document that was a root was shown as. Nobody knows the kind of one that is gone; programs know
// what is meant without it.
func (h *history) lostID(id string) (string, error) {
	d, err := h.system.Doc(storage.Ref(id))
	switch {
	case fault.Is(err, fault.NotFound):
		return h.tx.Repo().Name() + "#" + id, nil
	case err != nil:
		return "", err
	}
	return rootID(d), nil
}

// shaken returns the event to describe a root because of a folder above it, with which it may have changed what is to
// be read in the root; "" if there is none. The folders above are outside of what is synchronized, so
// their events would otherwise be dropped, although the rights in the root are inherited from them.
func (h *history) shaken(root *storage.Doc) (string, error) {
	for d, err := h.system.Parent(root); d != nil || err != nil; d, err = h.system.Parent(d) {
		if err != nil {
			return "", err
		}
		if p := h.docs[d.ID()]; p != nil && (p.moved || p.secured || p.restored) {
			return securityUpdated, nil
		}
	}
	return "", nil
}

// of returns what is to be told of a document, and of what shows it elsewhere.
func (h *history) of(p *past) ([]Change, error) {
	d, err := h.system.Doc(storage.Ref(p.id))
	if fault.Is(err, fault.NotFound) {
		return h.ofGone(p)
	}
	if err != nil {
		return nil, err
	}
	out, err := h.ofThere(p, d)
	if err != nil || d.IsProxy() {
		return out, err
	}
	// A proxy shows the file of its target, so a change of the target is one of the proxy, which
	// has no event itself.
	proxies, err := h.system.Proxies(d, nil)
	if err != nil {
		return nil, err
	}
	for _, proxy := range proxies {
		if proxy.TargetID() != p.id || h.docs[proxy.ID()] != nil {
			continue
		}
		more, err := h.ofThere(&past{id: proxy.ID(), last: p.last}, proxy)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// ofThere returns what is to be told of a document that is there.
func (h *history) ofThere(p *past, d *storage.Doc) ([]Change, error) {
	mine, err := readable(h.tx, p.id)
	if err != nil {
		return nil, err
	}
	if mine != nil {
		it, err := h.Item(mine)
		if err != nil {
			return nil, err
		}
		if it != nil {
			return []Change{h.change(p, p.event(), it.ID, it)}, nil
		}
	}
	// A document that the caller cannot read, and whose rights and place have not changed, was
	// never in the copy. Reporting it as deleted would reveal that it exists.
	if mine == nil && !p.secured && !p.moved || slices.Contains(h.before, p.id) {
		return nil, nil
	}
	if in, err := h.chosenAbove(p.id); err != nil || !in {
		return nil, err
	}
	return []Change{h.change(p, deleted, plainID(d), nil)}, nil
}

// ofGone returns what is to be told of a document that is there no more: only if the user could have read it.
// Its own rights are gone with it. Whether the user could read it is judged from the record of its
// removal and the folders it was in; an id must not be shown to somebody who could not.
func (h *history) ofGone(p *past) ([]Change, error) {
	if in, err := h.chosenAbove(p.id); err != nil || !in {
		return nil, err
	}
	for _, id := range p.left {
		folder, err := readable(h.tx, id)
		if err != nil {
			return nil, err
		}
		if folder == nil {
			continue
		}
		could, err := storage.CouldRead(h.tx, p.gone, folder)
		if err != nil {
			return nil, err
		}
		if could || p.secured {
			return []Change{h.change(p, deleted, plainItem+"#"+h.tx.Repo().Name()+"#"+p.id, nil)}, nil
		}
	}
	return nil, nil
}

func (h *history) change(p *past, event, item string, it *Item) Change {
	c := Change{Event: event, Date: p.last.Time.UnixMilli(), Repository: h.tx.Repo().Name(), DocID: p.id, ItemID: item, Item: it, number: p.last.Number}
	if it != nil {
		c.Name = it.Name
	}
	return c
}

// event is what the document is told to have gone through: what has most to be read again for.
func (p *past) event() string {
	switch {
	case p.secured:
		return securityUpdated
	case p.moved:
		return "documentMoved"
	}
	return p.last.Event
}

// chosenAbove reports whether a document is or was in something the user chose, regardless of who may read what is between.
func (h *history) chosenAbove(id string) (bool, error) {
	// Collections may contain each other, so the walk upwards can meet a document twice.
	seen := map[string]bool{id: true}
	for todo := []string{id}; len(todo) > 0; todo = todo[1:] {
		id := todo[0]
		if slices.Contains(h.chosen, id) || h.mine[id] {
			return true, nil
		}
		up, err := h.wasIn(id)
		if err != nil {
			return false, err
		}
		for _, above := range up {
			if above != "" && !seen[above] {
				seen[above] = true
				todo = append(todo, above)
			}
		}
	}
	return false, nil
}

// wasIn returns the ids of what a document is in and, as far as that is told, was in.
func (h *history) wasIn(id string) ([]string, error) {
	if up, known := h.up[id]; known {
		return up, nil
	}
	var up []string
	if p := h.docs[id]; p != nil {
		up = slices.Clone(p.left)
	}
	d, err := h.system.Doc(storage.Ref(id))
	switch {
	case err == nil:
		up = append(append(up, d.ParentID()), collections(d)...)
	case !fault.Is(err, fault.NotFound):
		return nil, err
	}
	h.up[id] = up
	return up, nil
}
