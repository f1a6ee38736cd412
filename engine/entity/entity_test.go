package entity_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage"
	"catena/storage/people"
	"catena/storage/search"
	"catena/storage/storagetest"
)

// world opens a repository with the document /desk/a.
func world(t testing.TB) *storage.Repo {
	t.Helper()
	ids := 0
	repo := storagetest.Open(t, func(c *storage.Config) {
		c.Clock = func() time.Time { return time.Date(2024, 5, 2, 10, 15, 30, 0, time.UTC) }
		c.NewID = func() string {
			ids++
			return "00000000-0000-4000-8000-" + strings.Repeat("0", 9) + string([]byte{byte('0' + ids/100), byte('0' + ids/10%10), byte('0' + ids%10)})
		}
	})
	update(t, repo, func(c *engine.Ctx) error {
		root, err := c.Tx.Root()
		if err != nil {
			return err
		}
		desk, err := c.Tx.Create(root, "Folder", "desk", storage.Props{"dc:title": "Desk"})
		if err != nil {
			return err
		}
		_, err = c.Tx.Create(desk, "File", "a", storage.Props{
			"dc:title": "A \"<letter>\"", "dc:subjects": []any{"art"},
			"file:content": engine.NewBlob("ä b.txt", "text/plain", []byte("hi")),
		})
		return err
	})
	return repo
}

func update(t testing.TB, repo *storage.Repo, fn func(c *engine.Ctx) error) {
	t.Helper()
	ctx := context.Background()
	var admin *storage.Principal
	err := repo.View(ctx, repo.System(), func(tx *storage.Tx) (err error) {
		admin, err = storage.PrincipalOf(tx, "Administrator")
		return err
	})
	if err == nil {
		err = repo.Update(ctx, admin, func(tx *storage.Tx) error {
			return fn(&engine.Ctx{Context: ctx, Tx: tx, As: admin, Now: tx.Now(), Vars: map[string]any{}})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDocument(t *testing.T) {
	repo := world(t)
	update(t, repo, func(c *engine.Ctx) error {
		d, err := c.Tx.Doc("/desk/a")
		if err != nil {
			return err
		}
		got, err := entity.Append(nil, c, d, nil)
		if err != nil {
			return err
		}
		head := `{"entity-type":"document","repository":"default","uid":"` + d.ID() + `","path":"/desk/a","type":"File","state":"project","parentRef":"` +
			d.ParentID() + `","isCheckedOut":true,"isRecord":false,"retainUntil":null,"hasLegalHold":false,"isUnderRetentionOrLegalHold":false,` +
			`"isVersion":false,"isProxy":false,"changeToken":"` + d.ChangeToken() + `","isTrashed":false,"title":"A \"<letter>\"","lastModified":"2024-05-02T10:15:30.000Z","facets":[`
		if !strings.HasPrefix(string(got), head) || strings.Contains(string(got), "properties") || strings.Contains(string(got), "contextParameters") {
			t.Errorf("got  %s\nwant %s", got, head)
		}
		o := &entity.Options{Base: "http://h/nuxeo", Properties: []string{"dublincore", "file"}, Fetch: map[string][]string{"document": {"versionLabel", "lock"}}}
		m := parse(t, c, d, o)
		props := m["properties"].(map[string]any)
		file := props["file:content"].(map[string]any)
		want := "http://h/nuxeo/nxfile/default/" + d.ID() + "/file:content/%C3%A4%20b.txt?changeToken=" + d.ChangeToken()
		if props["dc:title"] != `A "<letter>"` || file["data"] != want || file["length"] != "2" || m["versionLabel"] != "0.0" {
			t.Errorf("got %v", m)
		}
		if _, there := props["files:files"]; there {
			t.Error("a schema that was not asked for")
		}
		if _, there := m["lockOwner"]; there {
			t.Error("lock of an unlocked document")
		}
		m = parse(t, c, d, &entity.Options{Properties: []string{"*"}, Fetch: map[string][]string{"document": {"dc:creator"}}})
		props = m["properties"].(map[string]any)
		if u, _ := props["dc:creator"].(map[string]any); u["entity-type"] != "user" || u["id"] != "Administrator" || props["files:files"] == nil || props["dc:description"] != nil {
			t.Errorf("resolved: got %v", props)
		}
		return nil
	})
}

func parse(t *testing.T, c *engine.Ctx, v any, o *entity.Options) map[string]any {
	t.Helper()
	raw, err := entity.Append(nil, c, v, o)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return m
}

func TestEnrichers(t *testing.T) {
	repo := world(t)
	update(t, repo, func(c *engine.Ctx) error {
		d, err := c.Tx.Doc("/desk")
		if err != nil {
			return err
		}
		names := []string{
			"acls", "permissions", "breadcrumb", "children", "documentURL", "thumbnail", "preview", "hasFolderishChild", "hasContent",
			"subtypes", "tags", "favorites", "audit", "firstAccessibleAncestor", "renditions", "nope",
		}
		o := &entity.Options{Base: "http://h", Properties: []string{"*"}, Enrichers: map[string][]string{"document": names}}
		got := parse(t, c, d, o)["contextParameters"].(map[string]any)
		if len(got) != len(names)-1 {
			t.Errorf("got %d of %d", len(got), len(names))
		}
		raw, _ := json.Marshal(got)
		for _, want := range []string{
			`"hasContent":true`, `"hasFolderishChild":false`, `"preview":{"url":null}`, `"tags":[]`, `"documentURL":"http://h/ui/#!/doc/` + d.ID(),
			`"aces":[{"begin":null,"creator":null,"end":null,"externalUser":false,"granted":true,"id":"Administrator:Everything:true:::"`, `"eventId":"documentCreated"`,
		} {
			if !strings.Contains(string(raw), want) {
				t.Errorf("no %s in %s", want, raw)
			}
		}
		crumbs := got["breadcrumb"].(map[string]any)["entries"].([]any)
		child := got["children"].(map[string]any)["entries"].([]any)[0].(map[string]any)
		if len(crumbs) != 1 || child["properties"] != nil || child["path"] != "/desk/a" {
			t.Errorf("breadcrumb %v, child %v", crumbs, child)
		}
		o.Depth = 2
		child = parse(t, c, d, o)["contextParameters"].(map[string]any)["children"].(map[string]any)["entries"].([]any)[0].(map[string]any)
		if child["properties"] == nil || child["contextParameters"] == nil {
			t.Errorf("depth 2: got %v", child)
		}
		return nil
	})
}

// What a document is part of comes from its own properties, without looking elsewhere for each.
func TestMembership(t *testing.T) {
	repo := world(t)
	update(t, repo, func(c *engine.Ctx) error {
		home, err := people.Home(c.Tx, true)
		if err != nil {
			return err
		}
		ids := map[string]string{}
		for name, typ := range map[string]string{"Favorites": "Favorites", "best": "Collection", "gone": "Collection"} {
			made, err := c.Tx.Create(home, typ, name, storage.Props{"dc:title": name})
			if err != nil {
				return err
			}
			ids[name] = made.ID()
		}
		gone, err := c.Tx.Doc(storage.Ref(ids["gone"]))
		if err == nil {
			_, err = c.Tx.SetTrashed(gone, true)
		}
		if err != nil {
			return err
		}
		d, err := c.Tx.Doc("/desk/a")
		if err != nil {
			return err
		}
		o := &entity.Options{Base: "http://h", Enrichers: map[string][]string{"document": {"collections", "favorites", "tags"}}}
		if raw, _ := json.Marshal(parse(t, c, d, o)["contextParameters"]); string(raw) != `{"collections":[],"favorites":{"isFavorite":false},"tags":[]}` {
			t.Errorf("got %s", raw)
		}
		if err := d.AddFacet("CollectionMember"); err != nil {
			return err
		}
		for xpath, v := range map[string]any{
			"collectionMember:collectionIds": []any{ids["best"], ids["gone"], ids["Favorites"], "00000000-0000-4000-8000-999999999999"},
			"nxtag:tags":                     []any{map[string]any{"label": "red", "username": "bob"}},
		} {
			if err := d.Set(xpath, v); err != nil {
				return err
			}
		}
		if d, err = c.Tx.Save(d, storage.SaveOptions{}); err != nil {
			return err
		}
		got := parse(t, c, d, o)["contextParameters"].(map[string]any)
		list := got["collections"].([]any)
		if len(list) != 1 || list[0].(map[string]any)["uid"] != ids["best"] {
			t.Errorf("collections %v", list)
		}
		if raw, _ := json.Marshal([]any{got["favorites"], got["tags"]}); string(raw) != `[{"isFavorite":true},["red"]]` {
			t.Errorf("got %s", raw)
		}
		return nil
	})
}

func TestValues(t *testing.T) {
	day := time.Date(2024, 5, 2, 10, 15, 30, 0, time.UTC)
	tests := []struct {
		v    any
		want string
	}{
		{nil, `null`},
		{"a\n", `{"entity-type":"string","value":"a\n"}`},
		{true, `{"entity-type":"boolean","value":true}`},
		{3, `{"entity-type":"number","value":3}`},
		{1.5, `{"entity-type":"number","value":1.5}`},
		{day, `{"entity-type":"date","value":"2024-05-02T10:15:30.000Z"}`},
		{[]string{"a"}, `{"entity-type":"list","value":["a"]}`},
		{[]any{1, nil}, `{"entity-type":"list","value":[1,null]}`},
		{map[string]any{"b": 1, "a": []any{}}, `{"entity-type":"map","value":{"a":[],"b":1}}`},
		{map[string]any{"a": 1, "entity-type": "login"}, `{"entity-type":"login","a":1}`},
		{engine.Value{Word: "validationmethod", V: "x"}, `{"entity-type":"validationmethod","value":"x"}`},
		{storage.Docs{}, `{"entity-type":"documents","entries":[]}`},
		{&storage.Page{Limit: 2, Total: 3, HasNext: true, MaxPage: 1000}, `{"entity-type":"documents","isPaginable":true,"resultsCount":3,"pageSize":2,"maxPageSize":1000,` +
			`"resultsCountLimit":0,"currentPageSize":0,"currentPageIndex":0,"currentPageOffset":0,"numberOfPages":2,"isPreviousPageAvailable":false,` +
			`"isNextPageAvailable":true,"isLastPageAvailable":true,"isSortable":true,"hasError":false,"errorMessage":null,"totalSize":3,"pageIndex":0,"pageCount":2,"entries":[]}`},
		{&storage.Page{Limit: 1, Offset: 1, Total: 1, More: true}, `{"entity-type":"documents","isPaginable":true,"resultsCount":-2,"pageSize":1,"maxPageSize":0,` +
			`"resultsCountLimit":0,"currentPageSize":0,"currentPageIndex":1,"currentPageOffset":1,"numberOfPages":0,"isPreviousPageAvailable":true,` +
			`"isNextPageAvailable":false,"isLastPageAvailable":false,"isSortable":true,"hasError":false,"errorMessage":null,"totalSize":-2,"pageIndex":1,"pageCount":0,"entries":[]}`},
		{&search.Rows{Entries: []map[string]any{{"dc:title": "a"}}}, `{"entity-type":"recordSet","isPaginable":true,"resultsCount":0,"pageSize":0,"maxPageSize":0,` +
			`"resultsCountLimit":0,"currentPageSize":1,"currentPageIndex":0,"currentPageOffset":0,"numberOfPages":1,"isPreviousPageAvailable":false,` +
			`"isNextPageAvailable":false,"isLastPageAvailable":true,"isSortable":true,"hasError":false,"errorMessage":null,"totalSize":0,"pageIndex":0,"pageCount":1,"entries":[{"dc:title":"a"}]}`},
		{[]storage.ACL{{Name: "local", Entries: []storage.ACE{{User: "bob", Permission: "Read", Granted: true}}}}, `{"entity-type":"acls","acl":[{"name":"local","ace":[` +
			`{"id":"bob:Read:true:::","username":"bob","permission":"Read","granted":true,"creator":null,"begin":null,"end":null,"status":"effective"}]}]}`},
		{storage.Entry{ID: 17, Event: "documentCreated", Time: day, Logged: day}, `{"entity-type":"logEntry","id":17,"category":null,"principalName":null,"comment":null,` +
			`"docLifeCycle":null,"docPath":null,"docType":null,"docUUID":null,"eventId":"documentCreated","repositoryId":null,` +
			`"eventDate":"2024-05-02T10:15:30.000Z","logDate":"2024-05-02T10:15:30.000Z","extended":{}}`},
		{&people.User{Username: "leela", Groups: []string{"members"}}, `{"entity-type":"user","id":"leela","properties":{"username":"leela","firstName":null,"lastName":null,` +
			`"email":null,"company":null,"groups":["members"],"tenantId":null},"extendedGroups":[{"name":"members","label":"members","url":"group/members"}],` +
			`"isAdministrator":false,"isAnonymous":false}`},
	}
	c := &engine.Ctx{Context: context.Background(), Now: day}
	for _, test := range tests {
		got, err := entity.Append(nil, c, test.v, nil)
		if err != nil || string(got) != test.want {
			t.Errorf("%v:\n got %s %v\nwant %s", test.v, got, err, test.want)
		}
	}
	got, err := entity.Append(nil, c, engine.NewBlob("a", "text/plain", []byte("x")), nil)
	if err != nil || !strings.HasPrefix(string(got), `{"entity-type":"blob","name":"a","mime-type":"text/plain",`) || !json.Valid(got) {
		t.Errorf("blob: got %s", got)
	}
}

func TestDeepValuesAreRefused(t *testing.T) {
	var v any = "x"
	for range 100 {
		v = []any{v}
	}
	if _, err := entity.Append(nil, &engine.Ctx{}, v, nil); err == nil {
		t.Error("no error")
	}
}

func TestDecode(t *testing.T) {
	repo := world(t)
	update(t, repo, func(c *engine.Ctx) error {
		d, err := c.Tx.Doc("/desk/a")
		if err != nil {
			return err
		}
		tests := []struct{ raw, want string }{
			{`"doc:/desk"`, "document /desk"},
			{`"doc:` + d.ID() + `"`, "document /desk/a"},
			{`"docs:/desk, /desk/a"`, "documents /desk /desk/a"},
			{`"/desk"`, "string"},
			{`"text"`, "string"},
			{`{"entity-type":"document","uid":"` + d.ID() + `"}`, "document /desk/a"},
			{`{"entity-type":"document","path":"/desk"}`, "document /desk"},
			{`{"entity-type":"document","name":"n","type":"File","properties":{"dc:title":"New"}}`, "unsaved New"},
			{`{"entity-type":"documents","entries":[{"entity-type":"document","uid":"` + d.ID() + `"},"/desk"]}`, "documents /desk/a /desk"},
			{`["doc:/desk","/desk/a"]`, "documents /desk /desk/a"},
			{`["a","b"]`, "list"},
			{`{"entity-type":"string","value":"x"}`, "string"},
			{`{"entity-type":"date","value":"2024-05-02"}`, "date"},
			{`{"entity-type":"Custom","value":{}}`, "map"},
			{`7`, "int64"},
			{`true`, "bool"},
			{`"doc:/nope"`, "! /nope"},
			{`{"entity-type":"document"}`, "! input: a document without uid, path or type"},
			{`{"entity-type":"documents"}`, "! input: entity-type documents without entries"},
			{`{"a":1,"a":2}`, `! JSON has the duplicate name "a" at byte 7`},
		}
		for _, test := range tests {
			v, err := entity.Decode(c, json.RawMessage(test.raw))
			if got := kind(v, err); got != test.want {
				t.Errorf("%s: got %s, want %s", test.raw, got, test.want)
			}
		}
		return nil
	})
}

func kind(v any, err error) string {
	if err != nil {
		return "! " + err.Error()
	}
	switch v := v.(type) {
	case *storage.Doc:
		if !v.Saved() {
			return "unsaved " + v.Title()
		}
		return "document " + v.Path()
	case storage.Docs:
		s := "documents"
		for _, d := range v {
			s += " " + d.Path()
		}
		return s
	case string:
		return "string"
	case time.Time:
		return "date"
	case []any:
		return "list"
	case map[string]any:
		return "map"
	case int64:
		return "int64"
	case bool:
		return "bool"
	}
	return "other"
}

func BenchmarkDocument(b *testing.B) {
	repo := world(b)
	update(b, repo, func(c *engine.Ctx) error {
		o := &entity.Options{Base: "http://h/nuxeo", Properties: []string{"*"}}
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			d, err := c.Tx.Doc("/desk/a")
			if err != nil {
				return err
			}
			if buf, err = entity.Append(buf[:0], c, d, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestGiven reads inputs: only what may name a document waits for the transaction.
func TestGiven(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want any // nil: it waits
	}{
		{`"x"`, "x"},
		{`"/a/doc:b"`, "/a/doc:b"},
		{`"more \u0062"`, "more b"},
		{`7`, int64(7)},
		{`true`, true},
		{`"doc:/a"`, nil},
		{`"docs:/a,/b"`, nil},
		{`"\u0064oc:/a"`, nil},
		{`"do\u0063:/a"`, nil},
		{`["x"]`, nil},
		{`{"entity-type":"document"}`, nil},
	} {
		got, err := entity.Given(json.RawMessage(c.raw))
		if _, waits := got.(engine.Lazy); err != nil || waits != (c.want == nil) || !waits && got != c.want {
			t.Errorf("%s: %v, %v", c.raw, got, err)
		}
	}
	if _, err := entity.Given(json.RawMessage(`"a`)); err == nil {
		t.Error("half a text has no error")
	}
}
