package collection_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"catena/ops/collection"
	"catena/ops/document"
	"catena/ops/opstest"
	"catena/ops/property"
	"catena/ops/publish"
	"catena/ops/repository"
	"catena/ops/version"
	"catena/storage"
)

// serve has collections /ws/c and /ws/d of alice's, and files /ws/x, /ws/y, /ws/z.
func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	s := opstest.Serve(t, collection.Ops, document.Ops, property.Ops, publish.Ops, repository.Ops(nil), version.Ops)
	rows := []opstest.Row{
		{"alice", "Collection.Create", "/ws", `{"name": "c"}`, "/ws/c"},
		{"", "Collection.Create", "/ws", `{"name": "d", "description": "About"}`, "/ws/d"},
		{"", "keep", "/ws/c", "", "c"},
		{"", "keep", "/ws/d", "", "d"},
	}
	for _, name := range []string{"x", "y", "z"} {
		rows = append(rows, opstest.Row{"", "Document.Create", "/ws", `{"type": "File", "name": "` + name + `"}`, "/ws/" + name}, opstest.Row{"", "keep", "/ws/" + name, "", name})
	}
	s.Play(rows)
	return s
}

func TestCreate(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"", "see", "/ws/d", "type title dc:description facets", "Collection | d | About | Collection NotCollectionMember Versionable"},
		{"alice", "Collection.Create", "", `{"name": "Mine"}`, "/default-domain/UserWorkspaces/alice/Collections/Mine"},
		{"", "Collection.Create", "", `{"name": "Mine"}`, "/default-domain/UserWorkspaces/alice/Collections/Mine.1735689613000"},
		{"", "Collection.Create", "/ws", `{}`, `! invalid missing_parameter name: parameter "name" is missing`},
		{"", "Collection.Create", "/ws", `{"name": ""}`, "/ws/Untitled"},
		{"", "Collection.Create", "/ws", `{"name": "a/b"}`, "/ws/a-b"},
		{"", "Collection.Create", `["/ws", "/ws"]`, `{"name": "two"}`, "/ws/two /ws/two.1735689617000"},
		{"bob", "Collection.Create", "/ws", `{"name": "his"}`, "! denied: Privilege 'AddChildren' is not granted to 'bob'"},
		{"", "Collection.Create", "/private", `{"name": "his"}`, "! notfound: /private"},
		{"", "Collection.Create", "", `{"name": "His"}`, "/default-domain/UserWorkspaces/bob/Collections/His"},
		{"alice", "see", "/default-domain/UserWorkspaces/bob/Collections/His", "path", "! notfound: /default-domain/UserWorkspaces/bob/Collections/His"},
	})
}

func TestMembers(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"alice", "Document.AddToCollection", "/ws/x", `{"collection": "/ws/c"}`, "/ws/x"},
		{"", "Document.AddToCollection", "/ws/x", `{"collection": "/ws/c"}`, "/ws/x"},
		{"", "Document.AddToCollection", `["/ws/z", "/ws/y"]`, `{"collection": "$c"}`, "/ws/z /ws/y"},
		{"", "see", "/ws/c", "collection:documentIds", `["$x","$z","$y"]`},
		{"", "see", "/ws/x", "collectionMember:collectionIds dc:modified dc:lastContributor", `["$c"] | 2025-01-01T00:00:05Z | alice`},
		{"", "Collection.GetDocumentsFromCollection", "/ws/c", ``, "/ws/x /ws/y /ws/z"}, // by title
		{"", "Collection.GetDocumentsFromCollection", "/ws/c", `{"pageSize": 2, "currentPageIndex": 1}`, "/ws/z"},
		{"", "Collection.GetDocumentsFromCollection", "/ws/c", `{"sortBy": "dc:title", "sortOrder": "desc"}`, "/ws/z /ws/y /ws/x"},
		{"", "Document.Trash", "/ws/y", ``, "/ws/y"},
		{"", "Collection.GetDocumentsFromCollection", "/ws/c", ``, "/ws/x /ws/z"},
		{"", "Document.Untrash", "/ws/y", ``, "/ws/y"},
		{"", "Document.BlockPermissionInheritance", "/ws/z", ``, "/ws/z"},
		{"bob", "Collection.GetDocumentsFromCollection", "/ws/c", ``, "/ws/x /ws/y"},
		{"alice", "Collection.GetDocumentsFromCollection", "/ws/x", ``, "! invalid input: document /ws/x: not a collection"},
		{"", "Collection.RemoveFromCollection", "/ws/z", `{"collection": "/ws/c"}`, "/ws/z"},
		{"", "Collection.RemoveFromCollection", "/ws/z", `{"collection": "/ws/c"}`, "/ws/z"}, // again: nothing
		{"", "see", "/ws/c", "collection:documentIds", `["$x","$y"]`},
		{"", "see", "/ws/z", "collectionMember:collectionIds", "null"},
		{"", "Document.Delete", "/ws/x", ``, ""},
		{"", "Collection.GetDocumentsFromCollection", "/ws/c", ``, "/ws/y"},
	})
}

// TestWhoMayCollect: who may write the collection decides, who may read a document collects it.
func TestWhoMayCollect(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"bob", "Document.AddToCollection", "/ws/x", `{"collection": "/ws/c"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "Collection.RemoveFromCollection", "/ws/x", `{"collection": "/ws/c"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "Document.MoveCollectionMember", "/ws/c", `{"member1": "/ws/x"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "Document.AddToCollection", "/ws/x", `{"collection": "/private"}`, "! notfound: /private"},
		{"", "Document.AddToCollection", "/ws/x", `{}`, `! invalid missing_parameter collection: parameter "collection" is missing`},
		{"", "Document.AddToCollection", "/ws/x", `{"collection": "/nowhere"}`, "! notfound: /nowhere"},
		{"", "Collection.Create", "", `{"name": "His"}`, "/default-domain/UserWorkspaces/bob/Collections/His"},
		{"", "Document.AddToCollection", "/ws/x", `{"collection": "/default-domain/UserWorkspaces/bob/Collections/His"}`, "/ws/x"}, // only reads it
		{"", "Document.AddToCollection", "/private", `{"collection": "/default-domain/UserWorkspaces/bob/Collections/His"}`, "! notfound: /private"},
		{"alice", "Document.AddToCollection", "/ws/x", `{"collection": "/ws/y"}`, "! invalid collection: document /ws/y: not a collection"},
		{"", "Document.AddToCollection", "/ws/c", `{"collection": "/ws/d"}`, "! invalid: document /ws/c: cannot be added to a collection"},
		{"", "Document.AddToCollection", "/ws/c", `{"collection": "/ws/c"}`, "! invalid: document /ws/c: cannot be added to a collection"},
		{"", "Document.Lock", "/ws/x", ``, "/ws/x"},
		{"admin", "Document.AddToCollection", "/ws/x", `{"collection": "/ws/c"}`, "/ws/x"}, // a lock does not matter
		{"", "Document.CreateVersion", "/ws/y", `{"increment": "Minor"}`, "/ws/y"},
		{"", "Document.AddToCollection", "/ws/y", `{"collection": "/ws/c"}`, "/ws/y"},
		{"", "see", "/ws/y", "version", "0.1"}, // still checked in
	})
}

// TestRepair: a document that only one of the two lists names, as after an import, is named once by both afterwards.
func TestRepair(t *testing.T) {
	for _, lost := range []string{"collection", "member"} {
		s := serve(t)
		s.Play([]opstest.Row{{"alice", "Document.AddToCollection", "/ws/x", `{"collection": "/ws/c"}`, "/ws/x"}})
		err := s.Update(context.Background(), s.System(), func(tx *storage.Tx) error {
			path, xpath := storage.Ref("/ws/c"), "collection:documentIds"
			if lost == "member" {
				path, xpath = "/ws/x", "collectionMember:collectionIds"
			}
			d, err := tx.Doc(path)
			if err == nil {
				err = d.Set(xpath, []any{})
			}
			if err == nil {
				_, err = tx.Save(d, storage.SaveOptions{})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Play([]opstest.Row{
			{"alice", "Document.AddToCollection", "/ws/x", `{"collection": "/ws/c"}`, "/ws/x"},
			{"", "see", "/ws/c", "collection:documentIds", `["$x"]`},
			{"", "see", "/ws/x", "collectionMember:collectionIds", `["$c"]`},
			{"", "Collection.RemoveFromCollection", "/ws/x", `{"collection": "/ws/c"}`, "/ws/x"},
			{"", "see", "/ws/c", "collection:documentIds", "null"},
			{"", "see", "/ws/x", "collectionMember:collectionIds", "null"},
		})
	}
}

func TestMove(t *testing.T) {
	tests := []struct{ member, after, moved, want string }{
		{"/ws/x", "", "false", "x y z"}, // is the first
		{"/ws/y", "", "true", "y x z"},
		{"/ws/z", "", "true", "z x y"},
		{"/ws/x", "/ws/z", "true", "y z x"},
		{"/ws/x", "/ws/y", "true", "y x z"},
		{"/ws/z", "/ws/x", "true", "x z y"},
		{"/ws/y", "/ws/x", "false", "x y z"}, // is there
		{"/ws/y", "/ws/y", "false", "x y z"}, // after itself
		{"/ws/c", "/ws/y", "false", "x y z"}, // not a member
		{"/ws/x", "/ws/c", "false", "x y z"},
		{"$x", "$y", "true", "y x z"},
		{"/nowhere", "", "! notfound: /nowhere", "x y z"},
		{"/ws/x", "/nowhere", "! notfound: /nowhere", "x y z"},
	}
	s := serve(t)
	for _, test := range tests {
		params := `{"member1": "` + test.member + `"}`
		if test.after != "" {
			params = fmt.Sprintf(`{"member1": %q, "member2": %q}`, test.member, test.after)
		}
		s.Play([]opstest.Row{
			{"alice", "Collection.RemoveFromCollection", `["/ws/x", "/ws/y", "/ws/z"]`, `{"collection": "/ws/c"}`, "/ws/x /ws/y /ws/z"},
			{"", "Document.AddToCollection", `["/ws/x", "/ws/y", "/ws/z"]`, `{"collection": "/ws/c"}`, "/ws/x /ws/y /ws/z"},
			{"", "Document.MoveCollectionMember", "/ws/c", params, test.moved},
			{"", "see", "/ws/c", "collection:documentIds", `["$` + strings.ReplaceAll(test.want, " ", `","$`) + `"]`},
		})
	}
	s.Play([]opstest.Row{{"", "Document.MoveCollectionMember", "/ws/x", `{"member1": "/ws/y"}`, "! invalid collection: document /ws/x: not a collection"}})
}

func TestFavorites(t *testing.T) {
	s := serve(t)
	const home = "/default-domain/UserWorkspaces/bob/Favorites"
	s.Play([]opstest.Row{
		{"bob", "Favorite.GetDocuments", "/ws", ``, ""},
		{"", "Favorite.Fetch", "", ``, home},
		{"", "Document.AddToFavorites", "/ws/y", ``, "/ws/y"},
		{"", "Document.AddToFavorites", `["/ws/y", "/ws/x"]`, ``, "/ws/y /ws/x"},
		{"", "Favorite.GetDocuments", "/ws", ``, "/ws/x /ws/y"},
		{"", "Favorite.GetDocuments", "/ws", `{"pageSize": 1}`, "/ws/x"},
		{"", "Favorite.GetDocuments", "", ``, "! invalid input: input: is missing, must be of type document"},
		{"alice", "Favorite.GetDocuments", "/ws", ``, ""},
		{"", "see", home, "path", "! notfound: " + home},
		{"", "see", "/ws/x", "dc:lastContributor", "alice"},
		{"bob", "Document.RemoveFromFavorites", "/ws/y", ``, "/ws/y"},
		{"", "Document.RemoveFromFavorites", "/ws/y", ``, "/ws/y"},
		{"", "Favorite.GetDocuments", "/ws", ``, "/ws/x"},
		{"", "Document.AddToFavorites", "/private", ``, "! notfound: /private"},
		{"", "Document.AddToFavorites", "/ws/c", ``, "! invalid: document /ws/c: cannot be added to a collection"},
	})
}

func TestFind(t *testing.T) {
	s := serve(t)
	const offer = `{"id":"-999999%s","displayLabel":%[1]q}`
	c := func(id, label, path string) string {
		if id != "" {
			id = fmt.Sprintf(`"id":%q,`, id)
		}
		return fmt.Sprintf(`{%s"displayLabel":%q,"path":%q,"icon":"/icons/collection.png"}`, id, label, path)
	}
	list := func(items ...string) string { return "[" + strings.Join(items, ",") + "]" }
	s.Play([]opstest.Row{
		{"alice", "Collection.Create", "/ws", `{"name": "100% sure"}`, "/ws/100% sure"},
		{"", "keep", "/ws/100% sure", "", "p"},
		{"", "User.GetCollections", "", `{"searchTerm": ""}`, "/ws/100% sure /ws/d /ws/c"},
		{"", "User.GetCollections", "", `{"searchTerm": "C"}`, "/ws/c"},
		{"", "User.GetCollections", "", `{"searchTerm": "%"}`, ""},
		{"", "User.GetCollections", "", `{"searchTerm": "100%"}`, "/ws/100% sure"},
		{"", "User.GetCollections", "", `{"searchTerm": "_"}`, ""},
		{"", "User.GetCollections", "", `{"searchTerm": "'"}`, ""},
		{"", "User.GetCollections", "", `{"searchTerm": "\\"}`, ""},
		{"", "User.GetCollections", "", `{}`, `! invalid missing_parameter searchTerm: parameter "searchTerm" is missing`},
		{"", "User.GetCollections", "", `{"searchTerm": "", "pageSize": 1, "currentPageIndex": 1}`, "/ws/d"},
		{"", "Collection.Suggestion", "", `{}`, list(c("$p", "100% sure", "/ws/100% sure"), c("$c", "c", "/ws/c"), c("$d", "d", "/ws/d"))},
		{"", "Collection.Suggestion", "", `{"searchTerm": "c"}`, list(c("$c", "c", "/ws/c"))},
		{"", "Collection.Suggestion", "", `{"searchTerm": "100"}`, list(fmt.Sprintf(offer, "100"), c("$p", "100% sure", "/ws/100% sure"))},
		{"", "Collection.Suggestion", "", `{"searchTerm": "new"}`, list(fmt.Sprintf(offer, "new"))},
		{"", "Collection.Suggestion", "", `{"pageSize": 1, "currentPageIndex": 2}`, list(c("$d", "d", "/ws/d"))},
		{"bob", "Collection.Suggestion", "", `{"searchTerm": "c"}`, list(c("", "c", "/ws/c"))}, // bob cannot choose it
		{"alice", "Document.Trash", "/ws/c", ``, "/ws/c"},
		{"", "Collection.Suggestion", "", `{"searchTerm": "c"}`, list(fmt.Sprintf(offer, "c"))},
		{"", "Favorite.Fetch", "", ``, "/default-domain/UserWorkspaces/alice/Favorites"},
		{"", "User.GetCollections", "", `{"searchTerm": "F"}`, ""},
	})
}
