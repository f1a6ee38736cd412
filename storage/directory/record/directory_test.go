package record_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/storagetest"
)

// TestDirectory walks through what can be done with the entries of a directory.
func TestDirectory(t *testing.T) {
	r := storagetest.Open(t, nil)
	ctx := context.Background()
	in := func(as *storage.Principal, dir string, fn func(*record.Directory) error) error {
		return r.Update(ctx, as, func(tx *storage.Tx) error {
			d, err := record.In(tx, dir)
			if err != nil {
				return err
			}
			return fn(d)
		})
	}
	system := r.System()
	bob := &storage.Principal{Name: "bob", Groups: []string{"members"}}
	power := &storage.Principal{Name: "eve", Groups: []string{"members", "powerusers"}}

	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	wrong := func(kind fault.Kind, err error) {
		t.Helper()
		if err == nil || fault.Of(err) != kind {
			t.Fatalf("%v, want an error of kind %s", err, kind)
		}
	}
	ids := func(d *record.Directory, q record.Query) string {
		t.Helper()
		p, err := d.Find(q)
		must(err)
		var out []string
		for _, e := range p.Entries {
			out = append(out, e.ID)
		}
		return strings.Join(out, " ")
	}

	must(in(bob, "nature", func(d *record.Directory) error {
		e, err := d.Entry("article")
		if err == nil && e.Values["label"] != "label.directories.nature.article" {
			err = errors.New(fmt.Sprint(e.Values))
		}
		return err
	}))
	wrong(fault.NotFound, in(bob, "nope", func(*record.Directory) error { return nil }))
	create := func(id string) func(d *record.Directory) error {
		return func(d *record.Directory) error {
			_, err := d.Create(map[string]any{"id": id, "label": "Foo", "nonsense": 1})
			return err
		}
	}
	wrong(fault.Denied, in(bob, "nature", create("foo")))
	must(in(power, "nature", create("http://address.com/")))
	wrong(fault.Exists, in(power, "nature", create("article")))
	wrong(fault.Invalid, in(power, "nature", create("")))
	wrong(fault.Limit, in(power, "nature", create(strings.Repeat("x", 600))))

	// what is declared changes and goes without coming back
	must(in(power, "nature", func(d *record.Directory) error {
		e, err := d.Update("article", map[string]any{"label": "Essay", "id": "other"})
		must(err)
		if e.ID != "article" || e.Values["label"] != "Essay" || e.Values["ordering"] != int64(10000000) {
			t.Errorf("updated: %+v", e)
		}
		return d.Delete("memo")
	}))
	must(in(bob, "nature", func(d *record.Directory) error {
		p, err := d.Find(record.Query{PageOptions: storage.PageOptions{Offset: 35, Limit: 5}})
		must(err)
		if p.Total != 37 || len(p.Entries) != 2 || p.HasNext || p.Entries[1].ID != "http://address.com/" {
			t.Errorf("page: %d of %d, next %v", len(p.Entries), p.Total, p.HasNext)
		}
		if _, err := d.Entry("memo"); !fault.Is(err, fault.NotFound) {
			t.Errorf("a deleted entry: %v", err)
		}
		for _, x := range []struct {
			q    record.Query
			want string
		}{
			{record.Query{Starts: map[string]string{"label": "ess"}}, "article"},
			{record.Query{Starts: map[string]string{"label": "ess"}, Exact: true}, ""},
			{record.Query{Equal: map[string]any{"label": "Foo"}}, "http://address.com/"},
			{record.Query{Contains: map[string]string{"id": "press"}}, "pressReview"},
			{record.Query{Starts: map[string]string{"id": "a"}, Sort: []storage.SortKey{{Field: "label"}}}, "article accomodationApplicationForm acknowledgement application assessment"},
			{record.Query{PageOptions: storage.PageOptions{Offset: 1000}}, ""},
		} {
			if got := ids(d, x.q); got != x.want {
				t.Errorf("%+v: %s, want %s", x.q, got, x.want)
			}
		}
		return nil
	}))
	must(in(power, "nature", create("memo")))
	must(in(power, "nature", func(d *record.Directory) error { return d.Delete("http://address.com/") }))
	wrong(fault.Conflict, in(power, "continent", func(d *record.Directory) error { return d.Delete("europe") }))

	// what only administrators see
	must(in(system, "oauth2Clients", func(d *record.Directory) error {
		for _, id := range []string{"1", "2"} {
			e, err := d.Create(map[string]any{"id": "77", "clientId": "one", "clientSecret": "hush"})
			must(err)
			if e.ID != id || e.Values["clientSecret"] != "" || e.Values["enabled"] != true {
				t.Errorf("client: %+v", e)
			}
		}
		if got := ids(d, record.Query{Equal: map[string]any{"clientId": "one"}}); got != "1 2" {
			t.Errorf("clients: %s", got)
		}
		return nil
	}))
	must(in(power, "oauth2Clients", func(d *record.Directory) error {
		if _, err := d.Entry("1"); !fault.Is(err, fault.NotFound) {
			t.Errorf("a power user reads a client: %v", err)
		}
		if got := ids(d, record.Query{}); got != "" {
			t.Errorf("a power user lists clients: %s", got)
		}
		return nil
	}))
	wrong(fault.Denied, in(power, "oauth2Clients", func(d *record.Directory) error { return d.Delete("1") }))

	var names []string
	for _, d := range record.RegistryOf(r).Directories() {
		if !d.System() {
			names = append(names, d.Name)
		}
	}
	want := []string{"continent", "country", "l10ncoverage", "l10nsubjects", "language", "nature", "subtopic", "topic"}
	if !slices.Equal(names, want) {
		t.Errorf("directories: %v, want %v", names, want)
	}
}

// TestAll: what needs a directory as a whole reads its rows once, however many pages it would be, and refuses more than it can hold.
func TestAll(t *testing.T) {
	const many = 2500
	store := &storagetest.Counted{Store: memory.New()}
	r := storagetest.Open(t, func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) })
	in := func(fn func(*record.Directory) error) {
		t.Helper()
		err := r.Update(t.Context(), r.System(), func(tx *storage.Tx) error {
			d, err := record.In(tx, "nature")
			if err != nil {
				return err
			}
			return fn(d)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	declared := 0
	in(func(d *record.Directory) error {
		declared = len(d.Entries())
		for i := range many {
			if _, err := d.Create(map[string]any{"id": fmt.Sprint("n", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	in(func(d *record.Directory) error {
		store.Reset()
		found, err := d.All(record.Query{}, many+declared)
		if rows := store.Rows.Load(); len(found) != many+declared || rows > many+100 {
			t.Errorf("%d entries with %d rows, want %d entries with one row for each that is not declared", len(found), rows, many+declared)
		}
		if err != nil {
			return err
		}
		if _, err = d.All(record.Query{}, many+declared-1); fault.Of(err) != fault.Limit {
			t.Errorf("more than are allowed: %v", err)
		}
		return nil
	})
}
