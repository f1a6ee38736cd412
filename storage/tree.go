package storage

import (
	"crypto/rand"
	"strings"
	"sync"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/namehint"
	"catena/storage/kv"
)

// Folder is a document with its place resolved up to the root, as those below it need it.
type Folder struct {
	node
	id    layout.ID
	up    *Folder // nil for the root
	path  string
	depth int
	// Every permission check walks this list, so it is computed once for each folder instead of following up.
	acls []layout.ListID // the access lists that hold here, nearest first
}

// ID returns the document's identifier.
func (f *Folder) ID() layout.ID { return f.id }

// Up returns the folder above; nil for the root.
func (f *Folder) Up() *Folder { return f.up }

// PathOf is the path of what has a name in it.
func (f *Folder) PathOf(name string) string { return joinPath(f.path, name) }

// Flags returns the flags that rows repeat about the document.
func (f *Folder) Flags() byte { return f.flags }

// treeCache holds folders of one epoch: nothing that is a folder or has children was moved, renamed,
// removed or given another access list between the snapshots that share it. New folders
// may appear, so absence is never remembered; what is no folder may move without a new
// epoch, so it is never kept here.
type treeCache struct {
	epoch   string
	version uint64

	mu    sync.RWMutex
	byID  map[layout.ID]*Folder
	paths map[string]*Folder
}

const (
	maxCachedFolders = 200_000
	deepest          = 4096 // levels; a longer way up is a circle
)

func newTreeCache(epoch string, version uint64) *treeCache {
	return &treeCache{epoch: epoch, version: version, byID: map[layout.ID]*Folder{}, paths: map[string]*Folder{}}
}

func (c *treeCache) get(id layout.ID) *Folder {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byID[id]
}

func (c *treeCache) at(path string) *Folder {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.paths[path]
}

func (c *treeCache) put(f *Folder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Clearing is simpler than an order of use, and the tree is read again in a short time.
	if len(c.byID) >= maxCachedFolders {
		clear(c.byID)
		clear(c.paths)
	}
	c.byID[f.id], c.paths[f.path] = f, f
}

var epochKey = layout.MetaKey("epoch")

// folderCache returns the cache to use; nil once this transaction has changed a place
// itself. One that writes guards the rows of the folders it takes from there.
func (t *Tx) folderCache() (*treeCache, error) {
	if t.cache != nil || t.placing {
		return t.cache, nil
	}
	// Peek reads without recording a dependency: the epoch changes with every move anywhere, and a writer
	// that only uses some folders must not conflict with it. guard records those it uses.
	epoch, err := t.kv.Peek(epochKey)
	if err != nil {
		return nil, err
	}
	cur := t.repo.tree.Load()
	if cur == nil || cur.epoch != string(epoch) {
		// A transaction that began before the current epoch gets a cache of its own, or it would put old
		// positions into the shared one.
		older := cur != nil && t.kv.Version() < cur.version
		cur = newTreeCache(string(epoch), t.kv.Version())
		if !older {
			t.repo.tree.Store(cur)
		}
	}
	t.cache = cur
	return cur, nil
}

// guard has the transaction fail if a folder known from the cache, or one above it,
// meanwhile gets another place or access list.
func (t *Tx) guard(f *Folder) {
	if !t.kv.Writable() {
		return
	}
	for ; f != nil && t.folders[f.id] == nil; f = f.up {
		t.kv.Guard(layout.NodeKey(f.id))
		t.remember(f)
	}
}

// remember keeps a folder for this transaction.
func (t *Tx) remember(f *Folder) {
	if t.folders == nil {
		t.folders = map[layout.ID]*Folder{}
	}
	t.folders[f.id] = f
}

// invalidate starts a new epoch: a document that has or may have others below it was moved, renamed,
// removed or given another access list.
func (t *Tx) invalidate() error {
	t.moved()
	if t.invalidated {
		return nil
	}
	t.invalidated = true
	// A random value rather than a counter: two transactions can set it without reading it, so they do not
	// conflict.
	epoch := make([]byte, 12)
	rand.Read(epoch)
	return t.kv.Set(epochKey, epoch)
}

// moved forgets folders known so far, after a place has changed.
func (t *Tx) moved() { t.placing, t.cache, t.folders = true, nil, nil }

// invalidateAt is invalidate if d is a folder or has children.
func (t *Tx) invalidateAt(d *Doc) error {
	t.moved()
	if !d.IsFolder() {
		some, err := t.anyChild(d.id)
		if err != nil || !some {
			return err
		}
	}
	return t.invalidate()
}

// folder returns a document as those below it see it; nil if it is gone, or cut off from
// the root by the deletion of one above it.
func (t *Tx) folder(id layout.ID) (*Folder, error) { return t.folderAt(id, 0) }

// folderAt returns a document as those below it see it; nil if it is gone, or cut off from
// the root by the deletion of one above it. steps counts the folders below it that led here.
func (t *Tx) folderAt(id layout.ID, steps int) (*Folder, error) {
	if f := t.folders[id]; f != nil {
		return f, nil
	}
	cache, err := t.folderCache()
	if err != nil {
		return nil, err
	}
	if cache != nil {
		if f := cache.get(id); f != nil {
			t.guard(f)
			return f, nil
		}
	}
	f, err := t.readFolder(id, steps)
	if err != nil || f == nil {
		return nil, err
	}
	// What the transaction has written itself must not get into a cache that others see before the commit.
	if written, _ := t.kv.Size(); cache != nil && written == 0 && f.flags&layout.Folder != 0 {
		cache.put(f)
		if !t.kv.Writable() {
			return f, nil
		}
	}
	t.remember(f)
	return f, nil
}

// readFolder reads the row of a document, and those of the folders above it.
func (t *Tx) readFolder(id layout.ID, steps int) (*Folder, error) {
	n, err := t.node(id)
	if err != nil || n == nil {
		return nil, err
	}
	// Only damage can make a circle; without the bound it would be an endless loop.
	if steps > deepest {
		return nil, fault.Internal.Errorf("tree: document %s is not below the root", id)
	}
	f := &Folder{node: *n, id: id, path: "/"}
	if id != t.repo.root {
		if f.up, err = t.folderAt(n.parent, steps+1); err != nil || f.up == nil {
			return nil, err
		}
		f.path, f.depth = joinPath(f.up.path, f.name), f.up.depth+1
		f.acls = f.up.acls
	}
	if f.acl != (layout.ListID{}) {
		f.acls = append([]layout.ListID{f.acl}, f.acls...)
	}
	return f, nil
}

// node reads a document's row of the tree, nil if it has none.
func (t *Tx) node(id layout.ID) (*node, error) {
	b, err := t.kv.Get(layout.NodeKey(id))
	if err != nil || b == nil {
		return nil, err
	}
	n, err := parseNode(b)
	if err != nil {
		return nil, err
	}
	return &n, nil
}

// load reads a document anyone who may see it; nil if there is none.
func (t *Tx) load(id layout.ID) (*Doc, error) {
	if err := t.ahead([]layout.ID{id}); err != nil {
		return nil, err
	}
	b, err := t.place, error(nil)
	if b == nil || t.placeOf != id {
		b, err = t.kv.Get(layout.NodeKey(id))
	}
	if err != nil || b == nil {
		return nil, err
	}
	rec, err := t.kv.Get(layout.RecordKey(id))
	if err != nil || rec == nil {
		return nil, err
	}
	return t.assemble(id, b, rec)
}

// assemble makes a document of its two rows; nil if it is cut off from the root.
func (t *Tx) assemble(id layout.ID, node, rec []byte) (*Doc, error) {
	n, err := parseNode(node)
	if err != nil {
		return nil, err
	}
	return t.assembleAt(id, n, rec, nil)
}

// assembleAt is assemble for a place that is known. A spare document, which nobody uses any longer, becomes the one that is
// returned; nil: there is none.
func (t *Tx) assembleAt(id layout.ID, n node, rec []byte, d *Doc) (*Doc, error) {
	var blocks []block
	if d == nil {
		d = &Doc{}
	} else {
		blocks = d.blocks
	}
	*d = Doc{repo: t.repo, id: id, saved: true, node: n}
	if !t.kv.Writable() {
		d.seen = t.kv.Version()
	}
	var err error
	if d.record, err = t.repo.parseRecordIn(rec, blocks); err != nil {
		return nil, fault.Wrap(err, "document %s", id)
	}
	if id == t.repo.root {
		return d, nil
	}
	if d.up, err = t.folder(d.parent); err != nil || d.up == nil {
		return nil, err
	}
	if !d.IsVersion() {
		d.parentPath = d.up.path
	}
	if d.IsProxy() {
		return t.shown(d)
	}
	return d, nil
}

// loadMany is load for several ids in one round trip; those that are gone are nil.
func (t *Tx) loadMany(ids []layout.ID) (Docs, error) {
	keys := make([][]byte, 0, 2*len(ids))
	for _, id := range ids {
		keys = append(keys, layout.NodeKey(id), layout.RecordKey(id))
	}
	rows, err := t.kv.GetMany(keys)
	if err != nil {
		return nil, err
	}
	if err := t.aroundAhead(rows); err != nil {
		return nil, err
	}
	t.accompany(ids)
	docs := make(Docs, len(ids))
	for i, id := range ids {
		if rows[2*i] == nil || rows[2*i+1] == nil {
			continue
		}
		if docs[i], err = t.assemble(id, rows[2*i], rows[2*i+1]); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// anyChild reports whether a document has a child, regardless of who may see it.
func (t *Tx) anyChild(id layout.ID) (bool, error) {
	first := func(id layout.ID) kv.Range {
		r := prefix(layout.ChildrenPrefix(id))
		r.KeysOnly, r.Limit = true, 1
		return r
	}
	if err := t.rowsAhead("first child", id, first); err != nil {
		return false, err
	}
	n, more, err := t.kv.Count(prefix(layout.ChildrenPrefix(id)), 1)
	return n > 0 || more, err
}

// childID finds a child by name, none if there is no such child.
func (t *Tx) childID(parent layout.ID, name string) (layout.ID, error) {
	b, err := t.kv.Get(layout.ChildNameKey(parent, name))
	if err != nil || b == nil {
		return layout.None, err
	}
	return childOf(b), nil
}

// resolve walks a path down from the root, or from the folder that is known to be there or just above; none
// if it leads nowhere.
func (t *Tx) resolve(path string) (layout.ID, error) {
	cache, err := t.folderCache()
	if err != nil {
		return layout.None, err
	}
	at, names := t.repo.root, path
	// Mostly the folder of a path is in the cache, if not the document itself, so one row is read instead of
	// one for each name in the path.
	if cut := strings.LastIndexByte(path, '/'); cache != nil && cut >= 0 {
		f, below := cache.at(path), ""
		if f == nil {
			f, below = cache.at(path[:cut]), path[cut+1:]
		}
		if f != nil {
			t.guard(f)
			at, names = f.id, below
		}
	}
	for name := range strings.SplitSeq(names, "/") {
		if name == "" {
			continue
		}
		if at, err = t.named(at, name); err != nil || at == layout.None {
			return layout.None, err
		}
	}
	return at, nil
}

// named is childID for a name that may be asked for again. Which document had it last is only a hint: the document's own row
// says in this snapshot whether it is there, and is needed next anyway.
func (t *Tx) named(parent layout.ID, name string) (layout.ID, error) {
	if t.kv.Remote() { // fetches the rows together
		return t.childID(parent, name)
	}
	hints := &t.repo.hints
	of := hints.Of(namehint.ID(parent), name)
	if id := layout.ID(hints.Find(of)); id != layout.None {
		row, err := t.kv.Get(layout.NodeKey(id))
		if err != nil {
			return layout.None, err
		}
		if n, err := parseNode(row); err == nil && n.parent == parent && n.name == name && n.flags&layout.Version == 0 {
			if !t.kv.Writable() { // or the row could change
				t.place, t.placeOf = row, id
			}
			return id, nil
		}
	}
	id, err := t.childID(parent, name)
	if err == nil && id != layout.None {
		hints.Note(of, namehint.ID(id))
	}
	return id, err
}
