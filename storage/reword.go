package storage

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/text"
)

// How terms are brought up to date.
const (
	wordsBatch = 32     // documents in one transaction, about
	wordsRows  = 10_000 // rows written in one transaction, about
	wordsQuiet = 250 * time.Millisecond
	wordsLate  = 3 * time.Second // longest wait for quiet
	wordsPause = 15 * time.Second
)

// RunText brings what full text finds documents by up to date until ctx ends. It waits for moments
// when nothing is written, but not for long.
func (r *Repo) RunText(ctx context.Context) error {
	r.working.Add(1)
	defer r.working.Done()
	woken, stop := r.db.Watch(textTopic)
	defer stop()
	for ctx.Err() == nil {
		more, err := r.IndexText(ctx)
		if err != nil && !more && ctx.Err() == nil {
			r.log.Error("full text cannot be brought up to date", "err", err)
		}
		if !more {
			select {
			case <-ctx.Done():
				return nil
			case <-woken:
			case <-time.After(wordsPause):
			}
		}
		r.awaitQuiet(ctx, woken)
	}
	return nil
}

// awaitQuiet returns once nothing was written for a moment.
func (r *Repo) awaitQuiet(ctx context.Context, woken <-chan struct{}) {
	late := time.After(wordsLate)
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
func (r *Repo) IndexText(ctx context.Context) (more bool, err error) {
	var rows []pendingRow
	var unread error
	crowded := false // others wait behind these
	err = r.View(ctx, r.System(), func(t *Tx) (err error) {
		rows, err = t.pendingRows(wordsBatch)
		n := 0
		for i := range rows {
			n += len(rows[i].ids)
			unread = cmp.Or(t.readContents(&rows[i]), unread)
		}
		crowded = n > wordsBatch
		return err
	})
	rows = slices.DeleteFunc(rows, func(row pendingRow) bool {
		more = more || len(row.ids) > 0
		return len(row.ids) == 0 && !crowded
	})
	if err != nil || len(rows) == 0 {
		return false, cmp.Or(err, unread)
	}
	err = r.Update(ctx, r.System(), func(t *Tx) error {
		written := 0
		for _, row := range rows {
			n, err := t.writePending(row, wordsRows-written)
			if written += n; err != nil || written >= wordsRows {
				return err
			}
		}
		return nil
	})
	return more && err == nil, cmp.Or(err, unread)
}

// writePending brings the terms of the documents of a row up to date, as far as that takes about limit rows, and returns
// how many it took. Those that cannot be read go to the end, behind all that wait.
func (t *Tx) writePending(row pendingRow, limit int) (written int, err error) {
	for i, id := range row.ids {
		n, err := t.writeTerms(id)
		if err != nil {
			return 0, err
		}
		if written += n; written >= limit && i < len(row.ids)-1 {
			return written, t.putPending(row.key, slices.Concat(row.ids[i+1:], row.unread))
		}
	}
	if len(row.unread) > 0 {
		if err := t.putPending(backlogKey(t.repo.backlog.number(t.noted)), row.unread); err != nil {
			return 0, err
		}
	}
	return written, t.kv.Delete(row.key)
}

// readContents finds the text in the files of a row's documents that no one has looked into yet, and keeps it in
// transactions of its own: reading takes its time. Documents whose files cannot be read now are set apart.
func (t *Tx) readContents(row *pendingRow) (unread error) {
	var read []docID
	for _, id := range row.ids {
		if err := t.readFiles(id); err != nil {
			unread = err
			row.unread = append(row.unread, id)
		} else {
			read = append(read, id)
		}
	}
	row.ids = read
	return unread
}

// readFiles is readContents for one document.
func (t *Tx) readFiles(id docID) error {
	d, err := t.load(id)
	if err != nil || d == nil {
		return err
	}
	return d.eachBlob(func(b *blob.Blob) error {
		known, err := t.kv.Get(contentKey(b.Digest))
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
		r.log.Debug("no text in a file", "digest", b.Digest, "err", err)
	}
	return r.Update(ctx, r.System(), func(t *Tx) error { return t.kv.Set(contentKey(b.Digest), []byte("\n"+found)) })
}

// writeTerms brings the terms of one document up to date and returns how many rows that took.
func (t *Tx) writeTerms(id docID) (rows int, err error) {
	var now []string
	d, err := t.load(id)
	if err != nil {
		return 0, err
	}
	if d != nil {
		words, err := t.textOf(d, nil)
		if err != nil {
			return 0, err
		}
		now = words.Terms()
	}
	was, err := t.terms(id)
	if err != nil {
		return 0, err
	}
	for _, term := range was {
		if _, stays := slices.BinarySearch(now, term); !stays {
			rows++
			if err := t.kv.Delete(append(termKey(term), id[:]...)); err != nil {
				return 0, err
			}
		}
	}
	for _, term := range now {
		if _, had := slices.BinarySearch(was, term); !had {
			rows++
			if err := t.kv.Set(append(termKey(term), id[:]...), []byte{1}); err != nil {
				return 0, err
			}
		}
	}
	switch {
	case len(now) > 0:
		err = t.kv.Set(termsKey(id), []byte(strings.Join(now, "\n")))
	case len(was) > 0:
		err = t.kv.Delete(termsKey(id))
	}
	return rows + 1, err
}

// terms are those that a document is found by, sorted.
func (t *Tx) terms(id docID) ([]string, error) {
	b, err := t.kv.Get(termsKey(id))
	if err != nil || len(b) == 0 {
		return nil, err
	}
	return strings.Split(string(b), "\n"), nil
}
