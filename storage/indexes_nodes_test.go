package storage_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"catena/storage"
	"catena/storage/internal/row"
)

// TestIndexThatAnotherServerDropped: a server that does not declare an index takes it away when it is opened or swept. One that
// declares it does not use it from that commit on.
func TestIndexThatAnotherServerDropped(t *testing.T) {
	with := strings.Replace(itemTypes, "schemas: [item]}", "schemas: [item], indexes: [{columns: [item:status, item:rank desc], include: [item:priority]}]}", 1)
	w := newWorld(t, withTypes(t, with))
	w.items(300)
	plan, before := planAndNames(t, w.Repo, approved)
	if !strings.Contains(plan, " of type Item") {
		t.Fatalf("not used at first:\n%s", plan)
	}
	w.reopen(t, itemTypes)
	plan, after := planAndNames(t, w.Repo, approved)
	if strings.Contains(plan, " of type Item") || !slices.Equal(before, after) {
		t.Errorf("%v, before %v\n%s", after, before, plan)
	}
	swept(t, w.Repo)
	if plan, after = planAndNames(t, w.Repo, approved); !strings.Contains(plan, " of type Item") || !slices.Equal(before, after) {
		t.Errorf("written again: %v, before %v\n%s", after, before, plan)
	}
	noIndexProblems(t, w.Repo)
}

// TestIndexThatAServerDoesNotKnow: a server that was opened before another one brought an index takes it out of the list, since it
// does not write its rows, and goes on.
func TestIndexThatAServerDoesNotKnow(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes))
	w.items(300)
	newer := w.reopen(t, strings.Replace(itemTypes, "schemas: [item]}", "schemas: [item], indexes: [[item:status, item:rank desc]]}", 1))
	used := func(want bool) {
		t.Helper()
		plan, names := planAndNames(t, newer, "SELECT * FROM Item WHERE item:status = 'approved' ORDER BY item:rank DESC")
		if strings.Contains(plan, " of type Item") != want || len(names) != 10 {
			t.Errorf("used, want %t: %v\n%s", want, names, plan)
		}
	}
	used(true)
	swept(t, w.Repo)
	used(false)
	w.make("/default-domain/workspaces/late", "Item", storage.Props{"item:status": "approved", "item:rank": int64(9999)})
	swept(t, newer)
	used(true)
	noIndexProblems(t, newer)
}

// TestTwoServersFillTheSameIndexes: both find the same indexes to be built, while documents are created, moved to other places of
// the index by type, and removed.
func TestTwoServersFillTheSameIndexes(t *testing.T) {
	w := newWorld(t, withTypes(t, itemTypes), func(c *storage.Config) { c.NewID = nil })
	w.items(900)
	second := w.reopen(t, itemTypes)
	for _, a := range []storage.Automatic{
		{Type: "Item", Columns: []string{"item:status", "item:rank desc"}, Include: []string{"item:priority"}},
		{Type: "File", Columns: []string{"dc:title", "item:note"}},
		{Type: "Document", Columns: []string{"ecm:parentId", "dc:source"}},
	} {
		if made, err := w.Internal(row.Ordered{}).DeclareIndex(t.Context(), a); a.Type != "File" && (err != nil || !made) {
			t.Fatal(made, err)
		}
	}
	var ids []string
	w.view(w.System(), func(tx *storage.Tx) (err error) {
		ids, err = tx.EveryID()
		return err
	})
	stop, writing, building := make(chan struct{}), sync.WaitGroup{}, sync.WaitGroup{}
	l := &library{world: &world{t: t, Repo: second}}
	writing.Go(func() { l.rewrite(t, ids, stop, 3) })
	for _, r := range []*storage.Repo{w.Repo, second} {
		building.Go(func() {
			if err := r.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	building.Wait()
	close(stop)
	writing.Wait()
	for _, r := range []*storage.Repo{w.Repo, second} {
		all := must(r.AutomaticIndexes(t.Context()))(t)
		if len(all) < 2 || slices.ContainsFunc(all, func(a storage.Automatic) bool { return a.State != storage.IndexComplete }) {
			t.Errorf("%+v", all)
		}
		noIndexProblems(t, r)
	}
}

// TestAutomaticIndexThatSomebodyDoesNotKeep: from the snapshot on in which a process is there that maintains no automatic indexes,
// none is used; a sweep gives them up, so that none is used either once that process has left, which may have written documents.
func TestAutomaticIndexThatSomebodyDoesNotKeep(t *testing.T) {
	const other = "older"
	w := newWorld(t, withTypes(t, itemTypes), func(c *storage.Config) {
		c.Owners = append(slices.Clone(c.Owners), storage.Owner{Name: "nodes", Able: func(tx *storage.Tx, _ storage.Ability) (bool, error) {
			here, err := tx.Table("others").Get(other, new(bool))
			return !here, err
		}})
	})
	w.items(3000)
	asked(t, w.Repo, approved, 60)
	if all := swept(t, w.Repo); len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	used := func(want bool) {
		t.Helper()
		if plan, names := planAndNames(t, w.Repo, approved); strings.Contains(plan, "(automatic)") != want || len(names) != 10 {
			t.Errorf("used, want %t: %v\n%s", want, names, plan)
		}
	}
	used(true)
	if w.IndexesDue(t.Context()) {
		t.Error("something is due although nobody else is there")
	}
	w.update(w.System(), func(tx *storage.Tx) error { return tx.Table("others").Put(other, true) })
	used(false)
	if !w.IndexesDue(t.Context()) {
		t.Error("nothing is due although somebody is there who does not keep the index")
	}
	swept(t, w.Repo)
	if w.IndexesDue(t.Context()) {
		t.Error("something is due after the sweep")
	}
	w.update(w.System(), func(tx *storage.Tx) error { return tx.Table("others").Delete(other) })
	used(false)
	swept(t, w.Repo)
	asked(t, w.Repo, approved, 60)
	swept(t, w.Repo)
	used(true)
	noIndexProblems(t, w.Repo)
}
