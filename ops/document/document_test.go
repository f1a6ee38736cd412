package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/fault"
)

func TestFilter(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		w.Make(c, "/", "Folder", "desk", nil)
		w.Make(c, "/desk", "File", "a", nil)
		w.Make(c, "/desk", "Note", "b", nil)
		return nil
	})
	tests := []struct {
		p    filterParams
		want string
	}{
		{filterParams{}, "/desk /desk/a /desk/b"},
		{filterParams{Types: "File, Note"}, "/desk/a /desk/b"},
		{filterParams{Types: "Fil"}, ""},
		{filterParams{Facet: "Folderish"}, "/desk"},
		{filterParams{State: "project", Types: "Note"}, "/desk/b"},
		{filterParams{State: "approved"}, ""},
		{filterParams{Path: "/desk/"}, "/desk/a /desk/b"},
		{filterParams{Class: "Any"}, "/desk /desk/a /desk/b"},
		{filterParams{Class: "Regular Document", Types: "File"}, "/desk/a"},
		{filterParams{Class: "Document Proxy"}, ""},
		{filterParams{Class: "Document Version"}, ""},
		{filterParams{Class: "Immutable Document"}, ""},
		{filterParams{Class: "Mutable Document", Types: "Note"}, "/desk/b"},
		{filterParams{Class: "No such word", Types: " "}, "/desk /desk/a /desk/b"},
	}
	w.Do("Administrator", func(c *engine.Ctx) error {
		for _, test := range tests {
			var got []string
			for _, path := range []storage.Ref{"/desk", "/desk/a", "/desk/b"} {
				kept, err := test.p.run(c, w.Doc(c, path))
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range kept {
					got = append(got, d.Path())
				}
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("%+v: got %q, want %q", test.p, got, test.want)
			}
		}
		return nil
	})
}

func TestFilterTakesNoConditionFromClients(t *testing.T) {
	w := opstest.New(t)
	err := w.Try("bob", func(c *engine.Ctx) error {
		c.EntryPoint = engine.REST
		_, err := filterParams{Condition: "true"}.run(c, w.Doc(c, "/"))
		return err
	})
	if fault.Of(err) != fault.Denied {
		t.Errorf("got %v, want denied", err)
	}
}

func TestUpdateBehaviors(t *testing.T) {
	tests := []struct{ behavior, want string }{
		{"", "[music cooking]"},
		{"replace", "[music cooking]"},
		{"append", "[art music music cooking]"},
		{"APPEND_EXCLUDING_DUPLICATES", "[art music cooking]"},
	}
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		for _, test := range tests {
			d := w.Make(c, "/", "File", "a", storage.Props{"dc:subjects": "art,music"})
			p := updateParams{Properties: storage.Props{"dc:subjects": "music,cooking"}, Save: true, Behaviors: storage.Props{"dc:subjects": test.behavior}}
			d, err := p.run(c, d)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := d.Get("dc:subjects"); fmt.Sprint(got) != test.want {
				t.Errorf("%s: got %v, want %s", test.behavior, got, test.want)
			}
		}
		return nil
	})
}

func TestUpdateKeepsPropertiesBesidePermissions(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		d := w.Make(c, "/", "File", "a", nil)
		p := updateParams{Properties: storage.Props{"dc:title": "T", "ecm:acl": "bob:Read, alice:Write:false"}, Save: true}
		if _, err := p.run(c, d); err != nil {
			t.Fatal(err)
		}
		d = w.Doc(c, "/a")
		entries, err := entriesOf(c, d, localACL)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(d.Title(), ids(entries))
		want := "T[bob:Read:true:Administrator:: alice:Write:false:Administrator::]"
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		return nil
	})
}

func TestCanonicalID(t *testing.T) {
	tests := []struct{ id, want string }{
		{"bob:Read", "bob:Read:true:::"},
		{"bob:Read:false", "bob:Read:false:::"},
		{"bob:Read:true:alice::", "bob:Read:true:alice::"},
		{"bob:Read:true:alice:1:2", "bob:Read:true:alice:1:2"},
		{"a:b:Read:true:alice::", "a:b:Read:true:alice::"},
		{"bob", ""},
		{"", ""},
		{":Read:true:::", ""},
		{"bob:Read:maybe:::", ""},
		{"bob:Read:true:alice:soon:", ""},
	}
	for _, test := range tests {
		got, err := canonicalID(test.id)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%q: got %q, %v, want %q", test.id, got, err, test.want)
		}
	}
}

func TestEntriesStayBeforeBlock(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		d := w.Make(c, "/", "Folder", "desk", nil)
		d, err := blockInheritanceParams{ACL: localACL}.run(c, d)
		if err != nil {
			t.Fatal(err)
		}
		p := addPermissionParams{Permission: "Read", ACL: localACL, Users: []any{"bob", "bob"}, Username: "members", End: time.UnixMilli(1000)}
		if d, err = p.run(c, d); err != nil {
			t.Fatal(err)
		}
		entries, err := entriesOf(c, d, localACL)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"Administrator:Everything:true:Administrator::", "administrators:Everything:true:Administrator::",
			"bob:Read:true:Administrator::1000", "members:Read:true:Administrator::1000",
			"Everyone:Everything:false:Administrator::",
		}
		if got := ids(entries); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		if d, err = (unblockInheritanceParams{ACL: localACL}).run(c, d); err != nil {
			t.Fatal(err)
		}
		if entries, err = entriesOf(c, d, localACL); err != nil || !slices.Equal(ids(entries), want[:4]) {
			t.Errorf("unblocked: got %q, %v", ids(entries), err)
		}
		return nil
	})
}

func TestAddACEReplacesAllLists(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		d := w.Make(c, "/", "Folder", "desk", nil)
		for _, acl := range []string{localACL, "workflow"} {
			if _, err := (addACEParams{User: "bob", Permission: "Read", ACL: acl, Grant: true}).run(c, d); err != nil {
				t.Fatal(err)
			}
		}
		lists, err := c.Tx.ACLs(w.Doc(c, "/desk"))
		if err != nil || len(lists) != 3 {
			t.Fatalf("got %v, %v, want local, workflow and inherited", lists, err)
		}
		if _, err := (addACEParams{User: "alice", Permission: "Write", ACL: localACL, Grant: true, Overwrite: true}).run(c, d); err != nil {
			t.Fatal(err)
		}
		lists, err = c.Tx.ACLs(w.Doc(c, "/desk"))
		if err != nil || len(lists) != 2 || lists[0].Name != localACL || fmt.Sprint(ids(lists[0].Entries)) != "[alice:Write:true:Administrator::]" {
			t.Errorf("got %v, %v", lists, err)
		}
		return nil
	})
}

func ids(entries []storage.ACE) []string {
	var all []string
	for _, a := range entries {
		all = append(all, a.ID())
	}
	return all
}
