package resource

import (
	"fmt"
	"testing"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

type entityMap = map[string]any

const base = "http://localhost:8080/nuxeo"

func body(props entityMap) entityMap {
	return entityMap{"entity-type": "document", "type": "File", "name": "n", "properties": props}
}

func text(name, content string) *storage.Blob {
	return blob.FromBytes(name, "text/plain", []byte(content))
}

func TestUpdateResolvesFiles(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		other := w.Make(c, "/", "File", "other", storage.Props{"file:content": text("other", "o")})
		at := func(id, rest string) string { return base + "/nxfile/default/" + id + "/" + rest + "?changeToken=0-0" }
		tests := []struct {
			given any
			want  string
		}{
			{nil, "-"},
			{entityMap{"data": "Hello", "name": "h", "mime-type": "text/plain"}, "h"},
			{entityMap{"data": "http://elsewhere.example.org/x"}, "old"},
			{entityMap{"name": "renamed"}, "old"},
			{entityMap{"data": at("{id}", "file:content/old"), "digest": "x"}, "old"},
			{entityMap{"data": at(other.ID(), "file:content/other")}, "other"},
			{entityMap{"data": "http://elsewhere.example.org/x", "blobUrl": at(other.ID(), "blobholder:0/x")}, "other"},
			{entityMap{"blobUrl": at(other.ID(), "file%3Acontent/a%2Fb")}, "other"},
			{entityMap{"data": at(other.ID(), "files:files/3/file/x")}, "invalid"},
			{entityMap{"data": at("00000000-0000-0000-0000-00000000dead", "file:content/x")}, "invalid"},
			{entityMap{"upload-batch": "b", "upload-fileId": "0"}, "-"},
			{7, "invalid"},
		}
		for i, test := range tests {
			d := w.Make(c, "/", "File", "a", storage.Props{"file:content": text("old", "x")})
			if m, ok := test.given.(entityMap); ok && m["data"] == at("{id}", "file:content/old") {
				m["data"] = at(d.ID(), "file:content/old")
			}
			d, err := updateParams{Document: body(entityMap{"file:content": test.given}), Base: base}.run(c, d)
			if got := outcome(d, err, "file:content"); got != test.want {
				t.Errorf("case %d: got %s, want %s", i, got, test.want)
			}
		}
		return nil
	})
}

func outcome(d *storage.Doc, err error, xpath string) string {
	if err != nil {
		return fault.Of(err).String()
	}
	b, err := d.Blob(xpath)
	switch {
	case err != nil:
		return err.Error()
	case b == nil:
		return "-"
	}
	return b.Name
}

func TestUpdateKeepsFilesInLists(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		d := w.Make(c, "/", "File", "a", nil)
		for _, name := range []string{"one", "two"} {
			if err := d.AttachBlob("files:files", text(name, name)); err != nil {
				t.Fatal(err)
			}
		}
		d, err := c.Tx.Save(d, storage.SaveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		second := base + "/nxfile/default/" + d.ID() + "/files:files/1/file/two"
		list := []any{entityMap{"file": entityMap{"data": second}}, entityMap{"file": entityMap{"data": "inline", "name": "three"}}, entityMap{"file": nil}}
		if d, err = (updateParams{Document: body(entityMap{"files:files": list}), Base: base}).run(c, d); err != nil {
			t.Fatal(err)
		}
		got := outcome(d, nil, "files:files/0/file") + outcome(d, nil, "files:files/1/file") + outcome(d, nil, "files:files/2/file")
		if got != "twothree-" {
			t.Errorf("got %s", got)
		}
		return nil
	})
}

func TestUnreadableFilesAreNotTaken(t *testing.T) {
	w := opstest.New(t)
	var id string
	w.Do("Administrator", func(c *engine.Ctx) error {
		secret := w.Make(c, "/", "File", "secret", storage.Props{"file:content": text("secret", "s")})
		id = secret.ID()
		desk := w.Make(c, "/", "Folder", "desk", nil)
		if _, err := c.Tx.SetACL(desk, "local", []storage.ACE{{User: "bob", Permission: "Everything", Granted: true}}); err != nil {
			return err
		}
		_, err := c.Tx.SetACL(secret, "local", []storage.ACE{{User: "Everyone", Permission: "Everything"}})
		return err
	})
	err := w.Try("bob", func(c *engine.Ctx) error {
		p := createParams{Document: body(entityMap{"file:content": entityMap{"data": base + "/nxfile/default/" + id + "/file:content/secret"}})}
		_, err := p.run(c, w.Doc(c, "/desk"))
		return err
	})
	if fault.Of(err) != fault.Invalid {
		t.Errorf("got %v, want invalid", err)
	}
}

func TestCreate(t *testing.T) {
	tests := []struct {
		doc  entityMap
		want string
	}{
		{body(entityMap{"dc:title": "T", "note:note": "x", "nope:nope": 1, "dc:subjects": []any{"a", "b"}}), "/n T [a b]"},
		{entityMap{"entity-type": "document", "type": "File", "name": " a/b [x]@ "}, "/a-b [x]@ a-b [x]@ []"},
		{body(entityMap{"dc:nope": 1}), "invalid"},
		{body(entityMap{"dc:expired": "soon"}), "invalid"},
		{entityMap{"entity-type": "document", "type": "Nope", "name": "n"}, "invalid"},
		{entityMap{"entity-type": "document", "type": "File", "name": "  "}, "invalid"},
		{entityMap{"entity-type": "document", "name": "n"}, "invalid"},
		{entityMap{"type": "File", "name": "n"}, "invalid"},
		{entityMap{"entity-type": "document", "type": "File", "name": "n", "properties": []any{}}, "invalid"},
		{nil, "invalid"},
	}
	w := opstest.New(t)
	for _, test := range tests {
		got := ""
		err := w.Try("Administrator", func(c *engine.Ctx) error {
			d, err := createParams{Document: test.doc}.run(c, w.Doc(c, "/"))
			if err != nil {
				return err
			}
			subjects, err := d.Get("dc:subjects")
			list, _ := subjects.([]any)
			got = fmt.Sprint(d.Path(), " ", d.Title(), " ", list)
			return err
		})
		if err != nil {
			got = fault.Of(err).String()
		}
		if got != test.want {
			t.Errorf("%v: got %s, %v, want %s", test.doc, got, err, test.want)
		}
	}
}

func TestFileNotThere(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		d := w.Make(c, "/", "File", "a", storage.Props{"file:content": text("a", "a"), "files:files": []any{entityMap{"file": text("b", "b")}}})
		tests := map[string]string{
			"file:content": "a", "blobholder:0": "a", "blobholder:1": "b", "files:files/0/file": "b",
			"blobholder:2": "", "blobholder:01": "", "blobholder:-1": "", "blobholder:": "", "files:files/1/file": "",
			"file:nope": "", "dc:title": "", "": "", "a//b": "", "files:files": "",
		}
		for xpath, want := range tests {
			b, err := fileAtParams{Xpath: xpath}.run(c, d)
			if want == "" && !fault.Is(err, fault.NotFound) || want != "" && (err != nil || b.Name != want) {
				t.Errorf("%q: got %v, %v, want %q", xpath, b, err, want)
			}
		}
		return nil
	})
}

func TestBusiness(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		bean := func(v entityMap) entityMap { return entityMap{"entity-type": "BusinessBeanAdapter", "value": v} }
		p := businessCreateParams{Adapter: "BusinessBeanAdapter", Name: "n", Object: bean(entityMap{"type": "Note", "title": "One", "note": "Hello"})}
		made, err := p.run(c, w.Doc(c, "/"))
		if err != nil {
			t.Fatal(err)
		}
		d := w.Doc(c, "/n")
		want := fmt.Sprint(bean(entityMap{"id": d.ID(), "type": "Note", "title": "One", "description": nil, "note": "Hello"}))
		if fmt.Sprint(made) != want {
			t.Errorf("made %v, want %s", made, want)
		}
		if _, err := (businessWriteParams{Adapter: "Note", Object: entityMap{"entity-type": "Note", "value": entityMap{"dc:title": "Two", "id": "x"}}}).run(c, d); err != nil {
			t.Fatal(err)
		}
		if got := w.Doc(c, "/n").Title(); got != "Two" {
			t.Errorf("written title %q", got)
		}
		if _, err := (businessReadParams{Adapter: "File"}).run(c, d); fault.Of(err) != fault.NotFound {
			t.Errorf("File of a note: got %v", err)
		}
		if _, err := (businessWriteParams{Adapter: "BusinessBeanAdapter", Object: bean(entityMap{"nope": 1})}).run(c, d); fault.Of(err) != fault.Invalid {
			t.Errorf("unknown field: got %v", err)
		}
		return nil
	})
}

func TestConfig(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		s, err := configSchemaParams{Name: "files"}.run(c, engine.Void{})
		if err != nil {
			t.Fatal(err)
		}
		want := "map[@prefix:files entity-type:schema fields:map[files:map[fields:map[file:blob] type:complex[]]] name:files prefix:files]"
		if fmt.Sprint(s) != want {
			t.Errorf("got %v", s)
		}
		if _, err := (configTypeParams{Name: "Nope"}).run(c, engine.Void{}); fault.Of(err) != fault.NotFound {
			t.Errorf("got %v, want not found", err)
		}
		all, err := configTypesParams{}.run(c, engine.Void{})
		if err != nil || all["doctypes"].(entityMap)["File"] == nil || all["schemas"].(entityMap)["dublincore"].(entityMap)["@prefix"] != "dc" {
			t.Errorf("got %v, %v", all, err)
		}
		return nil
	})
}

func TestBeans(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		bean := func(v entityMap) entityMap { return entityMap{"entity-type": "BusinessBeanAdapter", "value": v} }
		made, err := beanCreateParams{Name: "n", Parent: "/"}.run(c, bean(entityMap{"type": "Note", "title": "One"}))
		if err != nil {
			t.Fatal(err)
		}
		value := made["value"].(entityMap)
		value["title"] = "Two"
		if _, err := (beanUpdateParams{}).run(c, made); err != nil {
			t.Fatal(err)
		}
		again, err := beanFetchParams{}.run(c, bean(entityMap{"id": value["id"]}))
		if err != nil || again["value"].(entityMap)["title"] != "Two" {
			t.Errorf("got %v, %v", again, err)
		}
		return nil
	})
}

func TestChildrenAreNotCountedBeyondAPage(t *testing.T) {
	w := opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		w.Make(c, "/", "Folder", "desk", nil)
		for _, name := range []string{"c", "a", "b"} {
			w.Make(c, "/desk", "File", name, storage.Props{"dc:title": name})
		}
		tests := []struct {
			size, index int
			want        string
		}{
			{1, 0, "a more next"},
			{1, 1, "b more next"},
			{1, 2, "c more next"},
			{1, 3, " more"},
			{2, 0, "ab more next"},
			{2, 1, "c more"},
			{3, 0, "abc 3"},
			{50, 0, "abc 3"},
			{50, 1, " 3"},
		}
		for _, test := range tests {
			page, err := childrenParams{PageSize: test.size, Index: test.index}.run(c, w.Doc(c, "/desk"))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, d := range page.Docs {
				got += d.Name()
			}
			if page.More {
				got += " more"
			} else {
				got += fmt.Sprint(" ", page.Total)
			}
			if page.HasNext {
				got += " next"
			}
			if got != test.want {
				t.Errorf("size %d, page %d: got %q, want %q", test.size, test.index, got, test.want)
			}
		}
		return nil
	})
}
