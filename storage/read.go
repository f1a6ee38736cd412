package storage

import (
	"encoding/base64"
	"iter"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

func prefix(p []byte) kv.Range { return kv.Prefix(p) }

// Doc returns the document a reference names. What the principal may not read does not exist for it: that, like what is
// missing, is NotFound with the reference as message, so that nobody learns which names a closed folder holds.
func (t *Tx) Doc(ref Ref) (*Doc, error) {
	path, id, ok := t.repo.parseRef(ref)
	if !ok {
		return nil, notFound(ref)
	}
	if path != "" {
		var err error
		if id, err = t.find(path); err != nil {
			return nil, err
		}
	}
	return t.visible(id, ref)
}

// find resolves a path as it is written or else with composed accents: some file systems write an accent as a character of
// its own.
func (t *Tx) find(path string) (layout.ID, error) {
	id, err := t.resolve(path)
	if composed := norm.NFC.String(path); err == nil && id == layout.None && composed != path {
		return t.resolve(composed)
	}
	return id, err
}

func notFound(ref Ref) error { return fault.NotFound.Errorf("%s", ref) }

// visible loads a document, which is NotFound unless it may be read.
func (t *Tx) visible(id layout.ID, ref Ref) (*Doc, error) {
	var d *Doc
	if id != layout.None {
		var err error
		if d, err = t.load(id); err != nil {
			return nil, err
		}
	}
	// Both cases give the same error with the same text.
	if d == nil || !t.can(d, permRead) {
		return nil, notFound(ref)
	}
	return d, nil
}

// DocFrom is Doc for references that may also be paths relative to base, beginning with a dot.
func (t *Tx) DocFrom(base *Doc, ref Ref) (*Doc, error) {
	if base == nil || !strings.HasPrefix(string(ref), ".") {
		return t.Doc(ref)
	}
	// The path is looked up again: base may have been moved since it was read.
	at, err := t.Path(base)
	if err != nil {
		return nil, err
	}
	return t.Doc(Ref(path.Join(at, string(ref))))
}

// Docs returns the documents that references name.
func (t *Tx) Docs(refs Refs) (Docs, error) {
	if err := Ahead(t, refs); err != nil {
		return nil, err
	}
	docs := make(Docs, 0, len(refs))
	for _, ref := range refs {
		d, err := t.Doc(ref)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// Reload returns the document as it is now, without what was set and not saved.
func (t *Tx) Reload(d *Doc) (*Doc, error) { return t.visible(d.id, d.Ref()) }

// Root returns the root.
func (t *Tx) Root() (*Doc, error) { return t.visible(t.repo.root, "/") }

// Parent returns the document above d; nil for the root.
func (t *Tx) Parent(d *Doc) (*Doc, error) {
	if d.parent == layout.None || d.IsVersion() {
		return nil, nil
	}
	return t.visible(d.parent, Ref(d.parent.String()))
}

// Ancestors returns the readable documents above d, the root first.
func (t *Tx) Ancestors(d *Doc) (Docs, error) {
	if d.parent == layout.None || d.IsVersion() {
		return nil, nil
	}
	up, err := t.folder(d.parent)
	if err != nil {
		return nil, err
	}
	if up == nil {
		return nil, nil
	}
	all, err := t.lineage(up)
	if err != nil {
		return nil, err
	}
	var docs Docs
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] != nil && t.can(all[i], permRead) {
			docs = append(docs, all[i])
		}
	}
	return docs, nil
}

// maxAbove is how many documents' rows a transaction keeps that only reads.
const maxAbove = 1000

// lineage returns a folder and those above it. A transaction that only reads asks the store once for
// each: the documents of a list are mostly in the same folders.
func (t *Tx) lineage(up *Folder) (Docs, error) {
	// A list of documents from many folders would otherwise keep the rows of all of them in memory.
	if t.above == nil || len(t.above)+up.depth >= maxAbove {
		t.above = map[layout.ID][2][]byte{}
	}
	var keys [][]byte
	for f := up; f != nil; f = f.up {
		if _, known := t.above[f.id]; !known {
			keys = append(keys, layout.NodeKey(f.id), layout.RecordKey(f.id))
		}
	}
	found, err := t.kv.GetMany(keys)
	if err != nil {
		return nil, err
	}
	var docs Docs
	for f := up; f != nil; f = f.up {
		rows, known := t.above[f.id]
		if !known {
			rows, found = [2][]byte(found), found[2:]
			// A writing transaction may change the rows itself, so it reads them each time.
			if !t.kv.Writable() {
				t.above[f.id] = rows
			}
		}
		var d *Doc
		if rows[0] != nil && rows[1] != nil {
			if d, err = t.assemble(f.id, rows[0], rows[1]); err != nil {
				return nil, err
			}
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// Path returns where d is now, also after it or a folder above it moved in this transaction.
func (t *Tx) Path(d *Doc) (string, error) {
	if !d.saved {
		return d.Path(), nil
	}
	n, err := t.node(d.id)
	if err != nil {
		return "", err
	}
	if n == nil {
		return "", notFound(d.Ref())
	}
	if n.flags&layout.Version != 0 {
		return n.name, nil
	}
	f, err := t.folder(d.id)
	if err != nil {
		return "", err
	}
	if f == nil {
		return "", notFound(d.Ref())
	}
	return f.path, nil
}

// Child returns the child of d with the given name.
func (t *Tx) Child(d *Doc, name string) (*Doc, error) {
	if err := t.need(d, permReadChildren); err != nil {
		return nil, err
	}
	id, err := t.childID(d.id, name)
	if err != nil {
		return nil, err
	}
	return t.visible(id, Ref(joinPath(d.Path(), name)))
}

// ChildrenAhead has a store across a network fetch in two round trips what Child is about to ask for: who has the names, and these
// documents.
func ChildrenAhead(t *Tx, parent *Doc, names []string) error {
	if !t.kv.Remote() {
		return nil
	}
	keys := make([][]byte, len(names))
	for i, name := range names {
		keys[i] = layout.ChildNameKey(parent.id, name)
	}
	if err := t.kv.Prefetch(keys); err != nil {
		return err
	}
	var ids []layout.ID
	for _, key := range keys {
		row, err := t.kv.Peek(key)
		if err != nil {
			return err
		}
		if row != nil {
			ids = append(ids, childOf(row))
		}
	}
	return t.ahead(ids)
}

// childRow is a row of a child in order.
type childRow struct {
	id       layout.ID
	position int64
	flags    byte
	acl      layout.ListID
}

// children walks the children of d that may be browsed, in order.
func (t *Tx) children(d *Doc, after []byte) iter.Seq2[childRow, error] {
	return t.childrenAhead(d, after, 0)
}

// childrenAhead is children for who will load the documents of the first ones, which a store across a network then fetches together
// with the rows.
func (t *Tx) childrenAhead(d *Doc, after []byte, load int) iter.Seq2[childRow, error] {
	return func(yield func(childRow, error) bool) {
		if err := t.need(d, permReadChildren); err != nil {
			yield(childRow{}, err)
			return
		}
		f, err := t.folder(d.id)
		if err == nil && f == nil {
			err = notFound(d.Ref())
		}
		if err != nil {
			yield(childRow{}, err)
			return
		}
		r := prefix(layout.ChildrenPrefix(d.id))
		if after != nil {
			r.Start = append(append(layout.ChildrenPrefix(d.id), after...), 0)
		}
		if load > 0 {
			if err := t.childDocsAhead(d.id, r, after == nil, load); err != nil {
				yield(childRow{}, err)
				return
			}
		}
		for row, err := range t.kv.Scan(r) {
			if err != nil {
				yield(childRow{}, err)
				return
			}
			var c childRow
			c.position, c.id = layout.PositionAndID(row.Key)
			c.flags, c.acl, _ = t.repo.numbers.ParseChild(row.Value)
			if t.granted(c.acl, f, permRead) && !yield(c, nil) {
				return
			}
		}
	}
}

// childDocsAhead fetches the first rows of children together with their documents; of whole folders, also for those that were read
// together with this one.
func (t *Tx) childDocsAhead(of layout.ID, r kv.Range, whole bool, load int) error {
	first := func(r kv.Range) kv.Range {
		r.Limit, r.Follow = load, layout.DocumentSpaces
		return r
	}
	if whole {
		err := t.rowsAhead("children with documents", of, func(id layout.ID) kv.Range { return first(prefix(layout.ChildrenPrefix(id))) })
		if err != nil {
			return err
		}
	}
	return t.kv.Prefetch(nil, first(r))
}

// EachChild walks the readable children of d in order. The ids are read first and the documents in pieces
// behind them, each in one round trip, so that the caller may change or delete children during the walk.
func (t *Tx) EachChild(d *Doc) iter.Seq2[*Doc, error] {
	return func(yield func(*Doc, error) bool) {
		var ids []layout.ID
		for c, err := range t.childrenAhead(d, nil, descendChunk) {
			if err != nil {
				yield(nil, err)
				return
			}
			ids = append(ids, c.id)
		}
		for most := descendChunk; len(ids) > 0; most = min(2*most, mostAtOnce) {
			n := min(len(ids), most)
			docs, err := t.loadMany(ids[:n])
			if err != nil {
				yield(nil, err)
				return
			}
			for _, c := range docs {
				if c != nil && !yield(c, nil) {
					return
				}
			}
			ids = ids[n:]
		}
	}
}

// HasChildren reports whether d has a readable child, or one that is a folder.
func (t *Tx) HasChildren(d *Doc, folderish bool) (bool, error) {
	for c, err := range t.children(d, nil) {
		if err != nil {
			return false, err
		}
		if !folderish || c.flags&layout.Folder != 0 {
			return true, nil
		}
	}
	return false, nil
}

// descendChunk is how many children are read at once on the way down a tree.
const descendChunk = 100

// Descend returns some of the documents below top that may be read, those above before those below them: what
// take accepts, until there are as many as wanted. Only what it lets the walk enter is gone into. After is
// where the part before ended; next, where this one has, is "" once nothing follows. What moves meanwhile may
// be left out.
//
// The cursor holds the positions of all folders on the way, so that the walk can be continued in another
// transaction without remembering anything in between.
func Descend(t *Tx, top *Doc, after string, want int, take func(*Doc) (taken, enter bool, err error)) (docs Docs, next string, err error) {
	at, err := base64.RawURLEncoding.DecodeString(after)
	if err != nil || len(at)%childAt != 0 {
		return nil, "", fault.Invalid.Errorf("cursor: was not returned by a traversal of the tree")
	}
	w := &descent{t: t, want: want, take: take}
	done, err := w.below(top, at)
	if err != nil || done {
		return w.docs, "", err
	}
	return w.docs, base64.RawURLEncoding.EncodeToString(w.last), nil
}

// childAt is the length of what says where a child is among the children.
const childAt = 24

// descent is a walk down a tree.
type descent struct {
	t    *Tx
	want int
	take func(*Doc) (taken, enter bool, err error)
	docs Docs
	seen int
	path []byte // where the walk is: the places of the folders that it is in
	last []byte // where it stopped: path and the place of the document
}

// below walks what is below a folder, behind a place if one is given; done says that nothing is left there.
func (w *descent) below(d *Doc, after []byte) (done bool, err error) {
	if !w.t.can(d, permReadChildren) {
		return true, nil
	}
	var at []byte
	if len(after) > 0 {
		at = after[:childAt]
		if done, err := w.again(d, at, after[childAt:]); err != nil || !done {
			return done, err
		}
	}
	for {
		chunk, err := w.chunk(d, at)
		if err != nil || len(chunk) == 0 {
			return true, err
		}
		ids := make([]layout.ID, len(chunk))
		for i, c := range chunk {
			ids[i] = c.id
		}
		docs, err := w.t.loadMany(ids)
		if err != nil {
			return true, err
		}
		for i, child := range docs {
			at = layout.ChildPositionKey(layout.None, chunk[i].position, chunk[i].id)[18:]
			if child == nil {
				continue
			}
			if done, err := w.visit(child, at); err != nil || !done {
				return done, err
			}
		}
	}
}

// chunk returns the next children.
func (w *descent) chunk(d *Doc, after []byte) (rows []childRow, err error) {
	for c, err := range w.t.childrenAhead(d, after, descendChunk) {
		if err != nil {
			return nil, err
		}
		if rows = append(rows, c); len(rows) == descendChunk {
			break
		}
	}
	// Rows are counted, not results: a filter that accepts nothing must end as well.
	if w.seen += len(rows); w.seen > w.t.repo.limits.ScanRows {
		return nil, fault.Limit.Errorf("documents below %s: more than %d read", d.ID(), w.t.repo.limits.ScanRows)
	}
	return rows, nil
}

// visit takes a document and walks what is below it.
func (w *descent) visit(d *Doc, at []byte) (done bool, err error) {
	taken, enter, err := w.take(d)
	if err != nil {
		return true, err
	}
	if taken {
		w.docs = append(w.docs, d)
	}
	if len(w.docs) == w.want {
		w.last = slices.Concat(w.path, at)
		return false, nil
	}
	if !enter {
		return true, nil
	}
	return w.within(d, at, nil)
}

// again goes on in a document where the part before ended, unless it has gone elsewhere.
func (w *descent) again(folder *Doc, at, after []byte) (done bool, err error) {
	_, id := layout.PositionAndID(at)
	d, err := w.t.load(id)
	// The document has gone or moved since; the walk continues with its next sibling.
	if err != nil || d == nil || d.parent != folder.id || !w.t.can(d, permRead) {
		return true, err
	}
	_, enter, err := w.take(d)
	if err != nil || !enter {
		return true, err
	}
	return w.within(d, at, after)
}

func (w *descent) within(d *Doc, at, after []byte) (done bool, err error) {
	before := len(w.path)
	w.path = append(w.path, at...)
	done, err = w.below(d, after)
	w.path = w.path[:before]
	return done, err
}
