package storage

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/schema"
	"catena/storage/text"
)

// How terms are brought up to date.
const (
	wordsBatch = 32     // documents in one transaction, about
	wordsRows  = 10_000 // rows written in one transaction, about
	wordsQuiet = 250 * time.Millisecond
	wordsLate  = 3 * time.Second        // longest wait for quiet, half as long after each turn that leaves something
	wordsShort = 10 * time.Millisecond  // the longest wait then becomes no shorter
	wordsTurn  = 100 * time.Millisecond // of work between two waits, while others write
	wordsPause = 15 * time.Second
)

// RunText brings what full text finds documents by up to date until ctx ends. It waits for moments when nothing is
// written, but not for long, and ever less while more is written than it can index between its waits.
func (r *Repo) RunText(ctx context.Context) error {
	r.working.Add(1)
	defer r.working.Done()
	woken, stop := r.db.Watch(textTopic)
	defer stop()
	for most := wordsLate; ctx.Err() == nil; {
		if r.indexFor(ctx, woken) {
			most = max(most/2, wordsShort)
		} else {
			most = wordsLate
			select {
			case <-ctx.Done():
				return nil
			case <-woken:
			case <-time.After(wordsPause):
			}
		}
		awaitQuiet(ctx, woken, most)
	}
	return nil
}

// indexFor brings terms up to date until all are, or until something was written and its turn has ended: then it reports
// that there may be more.
func (r *Repo) indexFor(ctx context.Context, woken <-chan struct{}) (more bool) {
	for began := time.Now(); ctx.Err() == nil; {
		more, err := r.IndexText(ctx)
		switch {
		case ctx.Err() != nil:
			return false
		case fault.Is(err, fault.Conflict): // somebody else indexes the same documents
			r.log.Debug("full text will be indexed later", "err", err)
			return true
		case err != nil && !more:
			r.log.Error("full text cannot be updated", "err", err)
		}
		if !more {
			return false
		}
		if time.Since(began) >= wordsTurn {
			select {
			case <-woken:
				return true
			default:
			}
		}
	}
	return false
}

// awaitQuiet returns once nothing was written for a moment, or after the longest wait.
func awaitQuiet(ctx context.Context, woken <-chan struct{}, most time.Duration) {
	late := time.After(most)
	for {
		select {
		case <-ctx.Done():
			return
		case <-late:
			return
		case <-woken:
		case <-time.After(wordsQuiet):
			return
		}
	}
}

// IndexText brings the terms of some documents up to date, and reports whether it did, so that others may wait. What
// cannot be read now stays: the error says why, and it does not keep the rest waiting.
//
// It reads the documents of a snapshot without having them validated, so that it does not conflict with those who save
// them: anyone who saves a document after that snapshot leaves a new row.
func (r *Repo) IndexText(ctx context.Context) (more bool, err error) {
	w, read, unread, why, err := r.unindexed(ctx)
	if err == nil && len(w.rows) == 0 {
		r.backlog.forget()
	}
	if more = len(read) > 0 || len(unread) == 0; err != nil || len(w.rows) == 0 || !more && !w.more {
		return false, cmp.Or(err, why)
	}
	var bound uint64
	var indexed []layout.ID
	fresh := true
	write := func(t *Tx) (err error) {
		if bound, err = t.backlogBound(); err != nil {
			return err
		}
		if indexed, err = t.writeTermsOf(read, fresh); err != nil {
			return err
		}
		if !w.more {
			return t.settle(w.rows, indexed)
		}
		if err := t.waitAgain(unread); err != nil {
			return err
		}
		return t.settle(w.rows, slices.Concat(indexed, unread))
	}
	if err = r.Update(ctx, r.System(), write); fault.Is(err, fault.Exists) { // left by damage, or by somebody who indexes the same documents
		fresh = false
		err = r.Update(ctx, r.System(), write)
	}
	if err != nil {
		return false, err
	}
	r.backlog.setIndexed(indexed, bound)
	return more, why
}

// waitAgain puts documents at the end of the backlog, behind all that wait.
func (t *Tx) waitAgain(ids []layout.ID) error {
	for row := range slices.Chunk(ids, backlogRow) {
		number, err := t.backlogNumber()
		if err != nil {
			return err
		}
		if err := t.kv.Fresh(backlogKey(number), pendingIDs(row)); err != nil {
			return err
		}
	}
	return nil
}

// unindexed returns what waits to be indexed, which of those documents can be, which cannot, and why. It finds the text in the files of
// documents that no one has looked into yet, and keeps it in transactions of its own: reading takes its time.
func (r *Repo) unindexed(ctx context.Context) (w waiting, read, unread []layout.ID, why, err error) {
	batch := wordsBatch
	if r.shared { // each transaction costs more there
		batch = maxAhead
	}
	err = r.View(ctx, r.System(), func(t *Tx) (err error) {
		read, unread, why = nil, nil, nil // it may run again
		if w, err = t.pendingRows(batch, r.backlog.isIndexed); err != nil {
			return err
		}
		for some := range slices.Chunk(w.ids, maxAhead) { // a row of many may have come last
			if err := t.ahead(some); err != nil {
				return err
			}
			for _, id := range some {
				if err := t.readFiles(id); err != nil {
					unread, why = append(unread, id), err
				} else {
					read = append(read, id)
				}
			}
		}
		return nil
	})
	return w, read, unread, why, err
}

// maxAhead is of how many documents the rows are fetched together, in one round trip.
const maxAhead = 100

// writeTermsOf brings the terms of documents up to date, as far as that takes about wordsRows rows, and returns for which. Fresh says
// that there are no rows of terms of a document without a row that lists them.
func (t *Tx) writeTermsOf(ids []layout.ID, fresh bool) (indexed []layout.ID, err error) {
	written := 0
	for i, id := range ids {
		if i%maxAhead == 0 {
			if err := t.termsAhead(ids[i:min(i+maxAhead, len(ids))]); err != nil {
				return nil, err
			}
		}
		n, err := t.writeTerms(id, fresh)
		if err != nil {
			return nil, err
		}
		if written += n; written >= wordsRows {
			return ids[:i+1], nil
		}
	}
	return ids, nil
}

// termsAhead has a store across a network fetch in one round trip what writeTerms reads of documents.
func (t *Tx) termsAhead(ids []layout.ID) error {
	if !t.kv.Remote() {
		return nil
	}
	keys := make([][]byte, 0, 3*len(ids)+1)
	keys = append(keys, epochKey)
	for _, id := range ids {
		keys = append(keys, layout.NodeKey(id), layout.RecordKey(id), layout.TermsKey(id))
	}
	return t.kv.Prefetch(keys)
}

// settle removes documents from rows of the backlog, and those that are indexed as far as a row asks for.
func (t *Tx) settle(rows []pendingRow, done []layout.ID) error {
	gone := make(map[layout.ID]bool, len(done))
	for _, id := range done {
		gone[id] = true
	}
	for _, row := range rows {
		var left []layout.ID
		number := numberOf(row.key)
		for _, id := range row.ids {
			if !gone[id] && !t.repo.backlog.isIndexed(number, id) {
				left = append(left, id)
			}
		}
		var err error
		switch len(left) {
		case len(row.ids):
		case 0:
			err = t.kv.Delete(row.key)
		default:
			err = t.kv.Set(row.key, pendingIDs(left))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readFiles finds the text in the files of a document.
func (t *Tx) readFiles(id layout.ID) error {
	d, err := t.load(id)
	if err != nil || d == nil {
		return err
	}
	return d.eachBlob(func(b *blob.Blob) error {
		known, err := t.kv.Get(layout.TextKey(b.Digest))
		if err != nil || known != nil || !text.Readable(b.Type, b.Name) {
			return err
		}
		return t.repo.keepContent(t.ctx, b)
	})
}

// keepContent writes the text of a file. A file that cannot be read has none.
func (r *Repo) keepContent(ctx context.Context, b *blob.Blob) error {
	found, err := r.TextIn(ctx, b)
	if fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
		return err
	}
	if err != nil {
		r.log.Debug("file has no text", "digest", b.Digest, "err", err)
	}
	return r.Update(ctx, r.System(), func(t *Tx) error { return t.kv.Set(layout.TextKey(b.Digest), []byte("\n"+found)) })
}

// writeTerms brings the terms of one document up to date and returns how many rows that took. It always reads and writes
// the row of the document's terms, so that two that index the same document conflict.
func (t *Tx) writeTerms(id layout.ID, fresh bool) (rows int, err error) {
	words, err := t.wordsNow(id)
	if err != nil {
		return 0, err
	}
	row := words.Row()
	now := text.RowTerms(row)
	was, err := t.terms(id)
	if err != nil {
		return 0, err
	}
	for _, term := range was {
		if _, stays := slices.BinarySearch(now, term); !stays {
			rows++
			if err := t.kv.Delete(append(layout.TermKey(term), id[:]...)); err != nil {
				return 0, err
			}
		}
	}
	set := t.kv.Set
	if fresh && len(was) == 0 && t.kv.Remote() { // a database adds a row for half of what it costs to find out whether one is there
		set = t.kv.Fresh
	}
	for _, term := range now {
		if _, had := slices.BinarySearch(was, term); !had {
			rows++
			if err := set(append(layout.TermKey(term), id[:]...), []byte{1}); err != nil {
				return 0, err
			}
		}
	}
	if len(now) > 0 {
		return rows + 1, set(layout.TermsKey(id), []byte(row))
	}
	return rows + 1, t.kv.Delete(layout.TermsKey(id))
}

// wordsNow are those in the text of a document, which is not validated.
func (t *Tx) wordsNow(id layout.ID) (words *text.Text, err error) {
	err = t.kv.Unvalidated(func() error {
		d, err := t.load(id)
		if err != nil || d == nil {
			words = &text.Text{}
			return err
		}
		words, err = t.textOf(d, nil)
		return err
	})
	return words, err
}

// terms are those that a document is found by, sorted.
func (t *Tx) terms(id layout.ID) ([]string, error) {
	b, err := t.kv.Get(layout.TermsKey(id))
	return text.RowTerms(string(b)), err
}

// Full text finds documents by rows "w 1 term id", which are written behind the transactions that
// change documents: such a transaction leaves rows "w 3 number" that list these, and anyone who brings the terms
// up to date takes them away (backlog.go). A search reads the documents of these rows itself, as long as they
// are few, so that it sees what its transaction sees.

// textTopic wakes the one who writes terms.
const textTopic = "text"

// reindexText has the terms of d brought up to date.
func (t *Tx) reindexText(d *Doc) error {
	t.kv.Wake(textTopic)
	return t.mark(d.id)
}

// textChanged reports whether something was set that full text finds.
func (d *Doc) textChanged() bool {
	for i := range d.blocks {
		b := &d.blocks[i]
		if b.opened == nil {
			continue
		}
		for j := range b.vals {
			if f := b.shape.Fields[j]; b.vals[j].dirty && (f.Search || f.Kind == schema.Blob || f.Kind == schema.Complex || f.Key == languageKey) {
				return true
			}
		}
	}
	return d.facetsSet
}

const languageKey = "dc:language"

// maxText is how much text of one document is looked at, in bytes.
const maxText = 1 << 20

// textOf returns the words of a document, or those of one property.
func (t *Tx) textOf(d *Doc, only *schema.Field) (*text.Text, error) {
	language, err := d.value(languageKey)
	if err != nil {
		return nil, err
	}
	code, _ := language.(string)
	var b strings.Builder
	add := func(v any) {
		if s, ok := v.(string); ok && b.Len() < maxText {
			b.WriteString(s[:min(len(s), maxText-b.Len())])
			b.WriteByte('\n')
		}
	}
	if only != nil {
		v, err := d.value(only.Key)
		text.Each(v, add)
		return text.Analyse(code, b.String()), err
	}
	if d.HasFacet("NotFulltextIndexable") {
		return text.Analyse(code, ""), nil
	}
	add(d.name)
	for i := range d.blocks {
		block := &d.blocks[i]
		for j, f := range block.shape.Fields {
			if !f.Search {
				continue
			}
			v, err := block.get(d.repo, j)
			if err != nil {
				return nil, err
			}
			if f.Key == noteKey {
				v = t.note(d, v)
			}
			text.Each(v, add)
		}
	}
	if err := d.eachTag(add); err != nil {
		return nil, err
	}
	err = d.eachBlob(func(c *blob.Blob) error {
		found, err := t.kv.Get(layout.TextKey(c.Digest))
		add(string(found))
		return err
	})
	return text.Analyse(code, b.String()), err
}

// Properties with texts of their own: a note, and the tags of a document with who has put them there.
const (
	noteKey = "note:note"
	tagsKey = "nxtag:tags"
)

// eachTag calls fn with each tag of a document.
func (d *Doc) eachTag(fn func(any)) error {
	v, err := d.value(tagsKey)
	text.Each(v, func(v any) {
		if tag, ok := v.(map[string]any); ok {
			fn(tag["label"])
		}
	})
	return err
}

// note takes the marks of HTML off a note.
func (t *Tx) note(d *Doc, v any) any {
	s, ok := v.(string)
	kind, err := d.value("note:mime_type")
	if ok && err == nil && kind == "text/html" {
		return text.HTML(s)
	}
	return v
}

// KeepText says what full text finds a file by, where the one who made the file knows that better
// than the one who reads files: decks leave the speaker notes out.
func KeepText(t *Tx, b *Blob, found string) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if len(found) > maxText {
		return fault.Limit.Errorf("text of %s: %d bytes, limit %d", b.Name, len(found), maxText)
	}
	return t.kv.Set(layout.TextKey(b.Digest), append([]byte("\n"), found...))
}

// TextIn returns the text in a file, as much of it as full text looks at; "" for a file of a
// kind that has none.
func (r *Repo) TextIn(ctx context.Context, b *Blob) (string, error) {
	switch {
	case b == nil || !text.Readable(b.Type, b.Name):
		return "", nil
	case text.IsPDF(b.Type, b.Name):
		return r.pdfText(ctx, b)
	}
	f, err := b.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	return text.Read(f, b.Size, b.Type, b.Name)
}
