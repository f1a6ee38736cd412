package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"catena/storage"
	"catena/storage/kv"
	"catena/storage/maintenance"
	"catena/storage/outbox"
	"catena/storage/search"
)

// hooked are the events that the webhook is informed of.
var hooked = []string{"documentCreated", "documentMoved", "documentRemoved"}

// hook registers the webhook.
type hook struct{ plain }

func (hook) String() string { return "webhook" }

func (hook) request() (string, string, map[string]any) {
	return "Webhook.Create", "", map[string]any{"url": "https://receiver.example/", "events": []any{"document.created", "document.moved", "document.removed"}}
}

func (hook) expect(*model, *person) answer { return granted }

func (hook) apply(*model, *person) error { return nil }

// check compares everything with the model, once nothing is left to be done.
func (w *world) check() {
	for _, s := range w.servers {
		err := s.repo.View(context.Background(), s.repo.System(), func(t *storage.Tx) error {
			w.checkTree(t)
			w.checkPermissions(t)
			w.checkIndexes(t)
			w.checkLog(t)
			w.checkDecks(t)
			return w.checkJobs(t)
		})
		if err != nil {
			w.problem("check: %v", err)
		}
	}
	w.checkDeliveries()
	w.checkContent()
	w.verify(w.servers[0])
}

// verify has a server look for what does not fit together.
func (w *world) verify(s *server) {
	problems, err := maintenance.Verify(context.Background(), s.repo)
	if err != nil {
		w.problem("verify: %v", err)
	}
	for _, p := range problems {
		w.problem("verify: %s", p)
	}
}

// checkTree walks down from the folder that all is in: each document is there once, where the model has it.
func (w *world) checkTree(t *storage.Tx) {
	found := map[string]bool{}
	var walk func(d *storage.Doc)
	walk = func(d *storage.Doc) {
		if found[d.ID()] {
			w.problem("document %s is found twice", d.ID())
			return
		}
		found[d.ID()] = true
		names := map[string]bool{}
		for child, err := range t.EachChild(d) {
			if err != nil {
				w.problem("children of %s: %v", d.ID(), err)
				return
			}
			if names[child.Name()] {
				w.problem("document %s has two children %s", d.ID(), child.Name())
			}
			names[child.Name()] = true
			if child.ParentID() != d.ID() {
				w.problem("document %s is a child of %s, but its parent is %s", child.ID(), d.ID(), child.ParentID())
			}
			walk(child)
		}
	}
	base, err := t.Doc(storage.Ref(w.model.base))
	if err != nil {
		w.problem("base: %v", err)
		return
	}
	walk(base)
	for id := range found {
		if w.model.docs[id] == nil {
			w.problem("document %s should not be there", id)
		}
	}
	for id, want := range w.model.docs {
		if !found[id] {
			w.problem("document %s, %s, is missing", id, want.token)
			continue
		}
		w.checkDocument(t, want)
	}
}

// checkDocument compares one document.
func (w *world) checkDocument(t *storage.Tx, want *document) {
	d, err := t.Doc(storage.Ref(want.id))
	if err != nil {
		w.problem("document %s: %v", want.id, err)
		return
	}
	if want.id == w.model.base {
		return
	}
	got := *want
	got.parent, got.typ, got.trashed, got.checkedIn = d.ParentID(), d.Type().Name, d.IsTrashed(), !d.IsCheckedOut()
	got.title, got.token, got.last = storage.Prop[string](d, "dc:title"), storage.Prop[string](d, "dc:source"), storage.Prop[string](d, "dc:lastContributor")
	owner, _, _ := d.Locked()
	got.lock, got.digest = owner, ""
	if b, err := d.MainBlob(); err != nil {
		w.problem("document %s: %v", want.id, err)
	} else if b != nil {
		got.digest = b.Digest
		data, err := b.Bytes(1 << 20)
		if sum := (&attach{content: data}).digest(); err != nil || sum != b.Digest {
			w.problem("document %s: its content is %.8s instead of %.8s: %v", want.id, sum, b.Digest, err)
		}
	}
	versions, err := t.Versions(d)
	if err != nil {
		w.problem("versions of %s: %v", want.id, err)
	}
	got.versions = len(versions)
	if g, m := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", *want); g != m {
		w.problem("document %s is\n\t\t%s instead of\n\t\t%s", want.id, g, m)
	}
}

// checkPermissions asks for what everybody may do with every document.
func (w *world) checkPermissions(t *storage.Tx) {
	for _, p := range w.model.people {
		as, err := storage.PrincipalOf(t, p.name)
		if err != nil {
			w.problem("user %s: %v", p.name, err)
			continue
		}
		if as.ID != p.number {
			w.problem("user %s has number %d instead of %d", p.name, as.ID, p.number)
		}
		mine := t.As(as)
		for id := range w.model.docs {
			d, err := t.Doc(storage.Ref(id))
			if err != nil {
				continue // which is told elsewhere
			}
			for _, permission := range []string{"Read", "WriteProperties", "AddChildren", "Remove", "RemoveChildren", "WriteSecurity", "WriteLifeCycle"} {
				if got, want := mine.Can(d, permission), w.model.may(p, id, permission); got != want {
					w.problem("%s has %s on %s: %t instead of %t", p.name, permission, id, got, want)
				}
			}
			if _, err := mine.Doc(storage.Ref(id)); (err == nil) != w.model.may(p, id, "Read") {
				w.problem("%s reads %s: %v", p.name, id, err)
			}
		}
	}
}

// checkIndexes has everybody query every title, by the index and by full text.
func (w *world) checkIndexes(t *storage.Tx) {
	for _, p := range w.model.people {
		as, err := storage.PrincipalOf(t, p.name)
		if err != nil {
			continue // which is told elsewhere
		}
		for _, title := range titles {
			for _, text := range []bool{false, true} {
				q := &query{title: title, text: text}
				_, _, params := q.request()
				page, err := search.Query(t.As(as), params["query"].(string), search.Options{})
				if err == nil {
					_ = q.seen(nil, page)
					err = q.apply(w.model, p)
				}
				if err != nil {
					w.problem("at the end, as %s: %s: %v", p.name, q, err)
				}
			}
		}
	}
}

// told are the events of which the audit log tells exactly what happened.
var told = []string{
	"documentCreated", "documentModified", "documentMoved", "documentRemoved", "documentTrashed", "documentUntrashed",
	"documentLocked", "documentUnlocked", "documentCheckedIn",
}

// checkLog compares the audit log with what happened.
func (w *world) checkLog(t *storage.Tx) {
	got := map[event]int{}
	o := storage.EntryFilter{Events: told, PageOptions: storage.PageOptions{Limit: 1000, CountLimit: -1}}
	for {
		page, err := t.Entries(o)
		if err != nil {
			w.problem("audit log: %v", err)
			return
		}
		for _, e := range page.Entries {
			if w.ours(e.DocID) {
				got[event{e.Event, e.DocID, e.User}]++
			}
		}
		if o.After = page.Next; page.Next == "" {
			break
		}
	}
	for e, n := range w.model.events {
		if got[e] != n {
			w.problem("audit log: %+v %d times instead of %d", e, got[e], n)
		}
	}
	for e, n := range got {
		if w.model.events[e] == 0 {
			w.problem("audit log: %+v %d times, and it did not happen", e, n)
		}
	}
}

// ours reports whether a document was made by a client.
func (w *world) ours(id string) bool {
	return slices.ContainsFunc(w.calls, func(c *call) bool {
		a, ok := c.action.(*create)
		return ok && a.id == id
	})
}

// checkDecks compares decks with what their owners see.
func (w *world) checkDecks(t *storage.Tx) {
	page, err := search.Query(t, "SELECT * FROM Deck WHERE ecm:isVersion = 0", search.Options{})
	if err != nil {
		w.problem("decks: %v", err)
		return
	}
	if len(page.Docs) != len(w.model.decks) {
		w.problem("%d decks instead of %d", len(page.Docs), len(w.model.decks))
	}
	for _, d := range page.Docs {
		want := w.model.decks[storage.Prop[int64](d, "deck:number")]
		if want == nil || want.title != d.Title() || want.trashed != d.IsTrashed() {
			w.problem("deck %s, trashed: %t, instead of %+v", d.Title(), d.IsTrashed(), want)
		}
	}
}

// checkJobs looks for jobs that were given up: nothing fails so often.
func (w *world) checkJobs(t *storage.Tx) error {
	jobs, err := outbox.Jobs(t, outbox.GivenUp, "", 0)
	for _, j := range jobs {
		w.problem("job %s %s was given up after %d tries: %s", j.Kind, j.ID, j.Tries, j.Failure)
	}
	return err
}

// checkDeliveries compares what the webhook was told with what happened: everything once, however often it was sent.
func (w *world) checkDeliveries() {
	got := map[event]int{}
	for id, body := range w.got.taken {
		var m struct {
			Data struct {
				Event, User string
				Document    struct{ UID string }
			}
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			w.problem("delivery %s: %v", id, err)
		}
		if e := (event{m.Data.Event, m.Data.Document.UID, m.Data.User}); slices.Contains(told, e.name) && w.ours(e.doc) {
			got[e]++
		}
	}
	for _, text := range w.got.wrong {
		w.problem("%s", text)
	}
	for e, n := range w.model.events {
		if slices.Contains(hooked, e.name) && got[e] != n {
			w.problem("webhook: %+v was told %d times instead of %d", e, got[e], n)
		}
	}
}

// checkContent waits until what nobody refers to is to be swept, and looks at what is left.
func (w *world) checkContent() {
	w.free()
	w.wait(grace * 3)
	w.settle()
	needed := map[string]bool{}
	for _, d := range w.model.docs {
		needed[d.digest] = true
		for _, digest := range d.kept {
			needed[digest] = true
		}
	}
	left, err := w.contents()
	if err != nil {
		w.problem("contents: %v", err)
	}
	for digest := range w.model.files {
		if left[digest] != needed[digest] {
			w.problem("content %.8s is there: %t, and needed: %t", digest, left[digest], needed[digest])
		}
	}
}

// contents returns the digests of all contents, whether they are files or rows.
func (w *world) contents() (map[string]bool, error) {
	left := map[string]bool{}
	err := w.blobs.Each(context.Background(), func(digest string, _ int64, _ time.Time) error {
		if !w.model.files[digest] {
			w.problem("content %.8s is nobody's", digest)
		}
		left[digest] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	snap, err := w.disk.Begin(context.Background(), false)
	if err != nil {
		return nil, err
	}
	defer snap.Discard()
	rows := snap.Scan(kv.Prefix([]byte("b\x01")))
	defer rows.Close()
	for rows.Next() {
		left[string(rows.Key()[2:])] = true
	}
	return left, rows.Err()
}
