// Package retention makes documents records, which are kept as they are: for a time that can only become longer, or as long as somebody
// has a legal hold on them. Versions can be records, too.
//
// The files of a record no longer change. While it must be kept, its other properties do not change either, but for those
// that the server derives from it and that others attach to it: pictures of it, tags, collections. That such a document is not
// deleted, not even by administrators, is seen to by package storage; this one asks about what would go with a folder.
//
// A row for each document that must be kept, in the order of the ends, is how ends are noticed (Expire).
package retention

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
)

// Owner refuses changes of records, and the deletion of folders with documents that must be kept.
var Owner = storage.Owner{Name: "retention", Change: change, Cut: cut, Erase: erase}

// The rows: "until" is by repository, end and id, "kept" by repository and id.
var (
	ends = row.Secret{Name: "retention ends"}
	kept = row.Kept
)

// keptRow says nothing that the document does not say.
type keptRow struct{}

// batch is how many ends are looked at in one go.
const batch = 100

// derived are the schemas of what the server makes of a document and others attach to it.
var derived = []string{"audio", "collectionMember", "facetedTag", "picture", "relatedtext", "thumbnail", "video"}

// touched are the properties by which the server says who changed a document last, and which version it is.
var touched = []string{"dc:contributors", "dc:lastContributor", "dc:modified", "uid:major_version", "uid:minor_version"}

// MakeRecord makes a document a record, and returns it. One that is a record already is left alone.
func MakeRecord(t *storage.Tx, d *storage.Doc) (*storage.Doc, error) {
	cur, err := current(t, d, "MakeRecord")
	if err != nil || cur.Retention().Record {
		return cur, err
	}
	if err := t.Internal(row.Ordered{}).Fire(storage.Event{Name: "beforeMakeRecord", Doc: cur}); err != nil {
		return nil, err
	}
	to := cur.Retention()
	to.Record = true
	return set(t, cur, to, storage.Event{Name: "afterMakeRecord"})
}

// Retain retains a record until a time, which can only be later than the one before. One that is to be retained for an
// indeterminate time can be given a date.
func Retain(t *storage.Tx, d *storage.Doc, until storage.Until) (*storage.Doc, error) {
	cur, err := current(t, d, "SetRetention")
	if err != nil {
		return nil, err
	}
	to := cur.Retention()
	was := to.Until
	switch {
	case !to.Record:
		return nil, fault.Conflict.Errorf("document %s: is not a record", cur.ID())
	case until <= storage.Until(t.Now().UnixMilli()):
		return nil, fault.Invalid.Errorf("until: must be in the future").In("until")
	case until == was:
		return cur, nil
	case was != storage.Indeterminate && until < was:
		return nil, fault.Conflict.Errorf("document %s: is under retention until %s, which can only be extended", t.Internal(row.Ordered{}).Named(cur), was.Time().Format(time.RFC3339))
	}
	verb := "SetRetention"
	if to.Until = until; was != 0 {
		verb = "ExtendRetention"
	}
	if err := t.Internal(row.Ordered{}).Fire(storage.Event{Name: "before" + verb, Doc: cur, Extra: about(to)}); err != nil {
		return nil, err
	}
	return set(t, cur, to, storage.Event{Name: "after" + verb})
}

// Hold puts a legal hold on a record, or removes it; comment is for the audit log.
func Hold(t *storage.Tx, d *storage.Doc, hold bool, comment string) (*storage.Doc, error) {
	cur, err := current(t, d, "ManageLegalHold")
	if err != nil {
		return nil, err
	}
	to := cur.Retention()
	if to.Hold == hold {
		return cur, nil
	}
	if !to.Record {
		return nil, fault.Conflict.Errorf("document %s: is not a record", cur.ID())
	}
	verb := "RemoveLegalHold"
	if to.Hold = hold; hold {
		verb = "SetLegalHold"
	}
	if err := t.Internal(row.Ordered{}).Fire(storage.Event{Name: "before" + verb, Doc: cur, Comment: comment, Extra: about(to)}); err != nil {
		return nil, err
	}
	return set(t, cur, to, storage.Event{Name: "after" + verb, Comment: comment})
}

// current returns a document as it is now, on which the principal must have a permission.
func current(t *storage.Tx, d *storage.Doc, permission string) (*storage.Doc, error) {
	if err := t.MayWrite(); err != nil {
		return nil, err
	}
	cur, err := t.Reload(d)
	if err != nil {
		return nil, err
	}
	if cur.IsProxy() {
		return nil, fault.Conflict.Errorf("document %s: a proxy cannot be a record, but %s can", cur.ID(), cur.TargetID())
	}
	if cur.Path() == "/" || cur.IsFolder() {
		return nil, fault.Conflict.Errorf("document %s: a folder cannot be a record", cur.ID())
	}
	return cur, t.Internal(row.Ordered{}).Need(cur, permission)
}

// set writes why a document is kept, with the rows that find it, and fires the event.
func set(t *storage.Tx, d *storage.Doc, to storage.Retention, e storage.Event) (*storage.Doc, error) {
	was, in := d.Retention(), t.Internal(row.Ordered{})
	if err := index(t, d.ID(), was, to); err != nil {
		return nil, err
	}
	d, err := in.Retain(d, to)
	if err != nil {
		return nil, err
	}
	e.Doc, e.Extra = d, about(to)
	return d, in.Fire(e)
}

// about is what events say of a retention.
func about(r storage.Retention) map[string]any {
	all := map[string]any{"legalHold": r.Hold}
	if r.Until != 0 {
		all["retainUntil"] = r.Until.Time()
	}
	return all
}

func endKey(t *storage.Tx, until storage.Until, id string) string {
	return fmt.Sprintf("%s/%019d/%s", t.Repo().Name(), int64(until), id)
}

func keptKey(t *storage.Tx, id string) string { return t.Repo().Name() + "/" + id }

// index brings the rows of a document up to date.
func index(t *storage.Tx, id string, was, is storage.Retention) error {
	put := func(table row.Secret, key string, on bool) error {
		if !on {
			return t.Secret(table).Delete(key)
		}
		return t.Secret(table).Put(key, keptRow{})
	}
	if was.Until != is.Until {
		if was.Until != 0 {
			if err := put(ends, endKey(t, was.Until, id), false); err != nil {
				return err
			}
		}
		if is.Until != 0 {
			if err := put(ends, endKey(t, is.Until, id), true); err != nil {
				return err
			}
		}
	}
	before, after := was.Hold || was.Until != 0, is.Hold || is.Until != 0
	if before == after {
		return nil
	}
	return put(kept, keptKey(t, id), after)
}

// erase removes the rows of a document that may go.
func erase(t *storage.Tx, d *storage.Doc) error {
	if d.IsProxy() {
		return nil
	}
	return index(t, d.ID(), d.Retention(), storage.Retention{})
}

// change refuses what would change a record.
func change(t *storage.Tx, before, after *storage.Doc) error {
	fixed, err := files(t, before)
	if err != nil {
		return err
	}
	now, err := files(t, after)
	if err != nil {
		return err
	}
	for xpath, was := range fixed {
		if now[xpath] != was {
			return fault.Denied.Errorf("document %s: is a record, whose file %s cannot change", before.ID(), xpath).In(xpath).WithCode(fault.CodeUnderRetention)
		}
	}
	for xpath := range now {
		if _, ok := fixed[xpath]; !ok {
			return fault.Denied.Errorf("document %s: is a record, and can have no further file %s", before.ID(), xpath).In(xpath).WithCode(fault.CodeUnderRetention)
		}
	}
	if !before.Retention().Holds(t.Now()) {
		return nil
	}
	return same(t, before, after)
}

// files are the files of a document that a record keeps, by xpath.
func files(t *storage.Tx, d *storage.Doc) (map[string]string, error) {
	ours := map[string]bool{}
	for _, s := range d.Schemas() {
		ours[s.Space()] = !slices.Contains(derived, s.Name)
	}
	all := map[string]string{}
	err := t.Internal(row.Ordered{}).EachFile(d, func(xpath string, b *storage.Blob) error {
		space, _, _ := strings.Cut(xpath, ":")
		if ours[space] {
			all[xpath] = b.Digest + " " + b.Name
		}
		return nil
	})
	return all, err
}

// same refuses a difference in a property that cannot change while a record must be kept.
func same(t *storage.Tx, before, after *storage.Doc) error {
	for _, s := range before.Schemas() {
		if slices.Contains(derived, s.Name) {
			continue
		}
		if !slices.Contains(after.Schemas(), s) {
			return fault.Denied.Errorf("document %s: is under retention or legal hold, and keeps the schema %s", t.Internal(row.Ordered{}).Named(before), s.Name).WithCode(fault.CodeUnderRetention)
		}
		for _, f := range s.Fields {
			if slices.Contains(touched, f.Key) {
				continue
			}
			was, err := before.Get(f.Key)
			is, err2 := after.Get(f.Key)
			if err := cmp.Or(err, err2); err != nil {
				return err
			}
			if !bytes.Equal(f.AppendJSON(nil, was, nil), f.AppendJSON(nil, is, nil)) {
				return fault.Denied.Errorf("document %s: is under retention or legal hold, and its property %s cannot change", t.Internal(row.Ordered{}).Named(before), f.Key).In(f.Key).WithCode(fault.CodeUnderRetention)
			}
		}
	}
	return nil
}

// cut refuses to leave a tree to the sweep in which a document must be kept, or the versions of one.
func cut(t *storage.Tx, top string) error {
	id, ok := layout.ParseID(top)
	if !ok {
		return fault.Internal.Errorf("document %s: not an id", top)
	}
	in, limit, from := t.Internal(row.Ordered{}), t.Repo().Limits().ScanRows, t.Repo().Name()+"/"
	n := 0
	for key := range t.Secret(kept).Scan(from, t.Repo().Name()+"0", false, limit+1) { // "0" comes after "/"
		if n++; n > limit {
			return fault.Limit.Errorf("document %s: more documents are under retention than limit-rows allows to look at; delete what is below it first", top)
		}
		one, ok := layout.ParseID(key[len(from):])
		if !ok {
			return fault.Internal.Errorf("retention: row %q", key)
		}
		d, err := in.Load(one)
		if err != nil {
			return err
		}
		if d != nil && d.Retention().Holds(t.Now()) && in.Within(d, id) {
			return fault.Denied.Errorf("document %s: below it, %s is under retention or legal hold", named(in, id), in.Named(d)).WithCode(fault.CodeUnderRetention)
		}
	}
	return t.Err()
}

// named is how messages name the document of an id.
func named(in storage.Internal, id layout.ID) string {
	if d, err := in.Load(id); err == nil && d != nil {
		return in.Named(d)
	}
	return id.String()
}

// Expire ends the retention of documents whose time has passed, each in a transaction of its own with the event retentionExpired. The
// row that finds a document goes in the same transaction, so that there is one event, whichever server looks and whenever. It
// returns how many there were; the event of a document that a listener refuses is fired again the next time.
func Expire(ctx context.Context, r *storage.Repo) (n int, err error) {
	var failed []error
	from := r.Name() + "/"
	for ctx.Err() == nil {
		var due []string
		err := r.View(ctx, r.System(), func(t *storage.Tx) error {
			due = nil
			for key := range t.Secret(ends).Scan(from, endKey(t, storage.Until(t.Now().UnixMilli()+1), ""), false, batch) {
				due = append(due, key)
			}
			return t.Err()
		})
		if err != nil || len(due) == 0 {
			return n, errors.Join(append(failed, err)...)
		}
		for _, key := range due {
			ended := false
			if err := r.Update(ctx, r.System(), func(t *storage.Tx) (err error) {
				ended, err = expire(t, key)
				return err
			}); err != nil {
				failed = append(failed, fault.Wrap(err, "retention of %s", key[strings.LastIndexByte(key, '/')+1:]))
			}
			if ended {
				n++
			}
		}
		if from = due[len(due)-1] + "\x00"; len(due) < batch {
			break
		}
	}
	return n, errors.Join(failed...)
}

// expire ends one retention, unless another server has, or it was extended.
func expire(t *storage.Tx, key string) (bool, error) {
	table := t.Secret(ends)
	if raw, err := table.Row(key); err != nil || raw == nil {
		return false, err
	}
	parts := strings.Split(key, "/")
	until, err := strconv.ParseInt(parts[1], 10, 64)
	id, ok := layout.ParseID(parts[2])
	if err != nil || !ok {
		return false, fault.Internal.Errorf("retention: row %q", key)
	}
	d, err := t.Internal(row.Ordered{}).Load(id)
	if err != nil {
		return false, err
	}
	if d == nil || d.Retention().Until != storage.Until(until) {
		return false, table.Delete(key)
	}
	to := d.Retention()
	to.Until = 0
	_, err = set(t, d, to, storage.Event{Name: "retentionExpired"})
	return err == nil, err
}
