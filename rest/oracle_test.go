package rest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/people"
)

// oracle knows who may read and write what, by a plain evaluation of the access entries.
type oracle struct {
	s       *resttest.Server
	paths   []string
	ids     map[string]string
	words   map[string]string // in the file of a document
	entries map[string][]storage.ACE
	groups  map[string][]string
}

// newOracle makes a tree of folders and files, some of them in the trash.
func newOracle(t *testing.T, rnd *rand.Rand) *oracle {
	t.Helper()
	o := &oracle{
		s: resttest.Start(t, resttest.Config{}), ids: map[string]string{}, words: map[string]string{}, entries: map[string][]storage.ACE{},
		groups: map[string][]string{"u0": {"g0"}, "u1": {"g0", "g1"}, "u2": nil},
	}
	o.update(t, func(tx *storage.Tx) error {
		for _, g := range []string{"g0", "g1"} {
			if err := people.SaveGroup(tx, &people.Group{Name: g}); err != nil {
				return err
			}
		}
		root, err := tx.Root()
		if err != nil {
			return err
		}
		folders := []*storage.Doc{root}
		for i := range 30 {
			typ, up := "Folder", folders[rnd.IntN(len(folders))]
			word := fmt.Sprintf("secret%dword", i)
			props := storage.Props{"dc:title": word}
			if i > 0 && i%3 > 0 {
				typ = "File"
				props["file:content"] = map[string]any{"data": "only " + word, "name": "f.txt", "mime-type": "text/plain"}
			}
			if i > 0 {
				up = folders[1+rnd.IntN(len(folders)-1)]
			}
			d, err := tx.Create(up, typ, fmt.Sprintf("n%02d", i), props)
			if err != nil {
				return err
			}
			if typ == "Folder" {
				folders = append(folders, d)
			} else if i%5 == 1 {
				if d, err = tx.SetTrashed(d, true); err != nil {
					return err
				}
			}
			o.paths, o.ids[d.Path()], o.words[d.Path()] = append(o.paths, d.Path()), d.ID(), word
		}
		return nil
	})
	for user, groups := range o.groups {
		o.s.User(user, groups...)
	}
	return o
}

func (o *oracle) update(t *testing.T, fn func(tx *storage.Tx) error) {
	t.Helper()
	if err := o.s.Repo.Update(t.Context(), o.s.Repo.System(), fn); err != nil {
		t.Fatal(err)
	}
}

// shuffle gives documents other access entries.
func (o *oracle) shuffle(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	names := []string{"u0", "u1", "u2", "g0", "g1", "members", "Everyone"}
	for range 12 {
		path := o.paths[rnd.IntN(len(o.paths))]
		var list []storage.ACE
		for range rnd.IntN(4) {
			list = append(list, storage.ACE{
				User: names[rnd.IntN(len(names))], Permission: []string{"Read", "Everything"}[rnd.IntN(2)], Granted: rnd.IntN(2) == 0,
			})
		}
		o.entries[path] = list
		o.update(t, func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(path))
			if err == nil {
				_, err = tx.SetACL(d, "local", list)
			}
			return err
		})
	}
}

// may evaluates the entries from a document up to the root, where members may read.
func (o *oracle) may(user, path, permission string) bool {
	who := append([]string{user, "members", "Everyone"}, o.groups[user]...)
	for ; path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		for _, e := range o.entries[path] {
			if slices.Contains(who, e.User) && (e.Permission == "Everything" || e.Permission == permission) {
				return e.Granted
			}
		}
	}
	return permission == "Read"
}

// TestOracleOverTheWire compares what users get at every address with what they may read.
func TestOracleOverTheWire(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	o := newOracle(t, rnd)
	for range 3 {
		o.shuffle(t, rnd)
		for user := range o.groups {
			o.lists(t, user)
			for _, path := range o.paths {
				o.single(t, user, path)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// single asks for one document in many ways.
func (o *oracle) single(t *testing.T, user, path string) {
	t.Helper()
	id, reads := o.ids[path], o.may(user, path, "Read")
	status := map[bool]int{true: 200, false: 404}[reads]
	for _, at := range []string{"/id/" + id, "/path" + path, "/id/" + id + "/@acl", "/id/" + id + "/@audit", "/id/" + id + "/@rendition/xmlExport"} {
		if a := o.s.Do("GET", api+at, "", "as", user); a.StatusCode != status {
			t.Errorf("%s GET %s: %s, reads %v", user, at, a.Status, reads)
		}
	}
	input := `{"input":"` + id + `","params":{"xpath":"dc:title","value":"x"}}`
	writes := o.may(user, path, "WriteProperties")
	if a := o.s.Do("POST", api+"/automation/Document.SetProperty?dryRun=true", input, "as", user); (a.StatusCode == http.StatusOK) != (reads && writes) {
		t.Errorf("%s writes %s: %s, reads %v, writes %v", user, path, a.Status, reads, writes)
	}
	found := o.query(t, user, "SELECT * FROM Document WHERE ecm:fulltext = '"+o.words[path]+"'")
	if slices.Contains(found, path) != reads || len(found) > 1 {
		t.Errorf("%s finds %v by the word of %s, reads %v", user, found, path, reads)
	}
	if a := o.s.Do("GET", api+"/id/"+id+"?enrichers.document=breadcrumb,children,permissions", "", "as", user); reads {
		o.enriched(t, user, a.JSON(t)["contextParameters"].(map[string]any))
	} else if strings.Contains(a.Text, o.words[path]) {
		t.Errorf("%s is told of %s: %s", user, path, a.Text)
	}
	if a := o.s.Do("GET", "/nuxeo/nxfile/default/"+id+"/file:content/f.txt", "", "as", user); strings.Contains(a.Text, "only ") && !reads {
		t.Errorf("%s downloads the file of %s", user, path)
	} else if reads != strings.Contains(a.Text, "only "+o.words[path]) && a.StatusCode != http.StatusNotFound {
		t.Errorf("%s downloads %s: %s", user, path, a.Status)
	}
}

// enriched looks at the documents that enrichers show.
func (o *oracle) enriched(t *testing.T, user string, shown map[string]any) {
	t.Helper()
	for _, name := range []string{"breadcrumb", "children"} {
		for _, e := range shown[name].(map[string]any)["entries"].([]any) {
			if path := e.(map[string]any)["path"].(string); !o.may(user, path, "Read") {
				t.Errorf("%s sees %s as %s", user, path, name)
			}
		}
	}
}

// lists compares the results of queries and lists of children with all that may be read.
func (o *oracle) lists(t *testing.T, user string) {
	t.Helper()
	var want []string
	children := map[string][]string{}
	for _, path := range o.paths {
		if o.may(user, path, "Read") {
			want = append(want, path)
			up := path[:strings.LastIndexByte(path, '/')]
			children[up] = append(children[up], path)
		}
	}
	slices.Sort(want)
	if got := o.query(t, user, "SELECT * FROM Document WHERE dc:title LIKE 'secret%' AND ecm:isVersion = 0"); !slices.Equal(got, want) {
		t.Errorf("%s finds\n%v, reads\n%v", user, got, want)
	}
	for up, below := range children {
		if up == "" || !o.may(user, up, "Read") {
			continue
		}
		slices.Sort(below)
		if got := o.query(t, user, "SELECT * FROM Document WHERE ecm:parentId = '"+o.ids[up]+"'"); !slices.Equal(got, below) {
			t.Errorf("%s finds %v in %s, reads %v", user, got, up, below)
		}
		a := o.s.Do("POST", api+"/automation/Document.GetChildren", `{"input":"`+o.ids[up]+`"}`, "as", user)
		if got := pathsOf(t, a); !slices.Equal(got, below) {
			t.Errorf("%s lists %v in %s, reads %v", user, got, up, below)
		}
	}
}

func (o *oracle) query(t *testing.T, user, src string) []string {
	t.Helper()
	return pathsOf(t, o.s.Do("GET", api+"/search/execute?pageSize=1000&query="+url.QueryEscape(src), "", "as", user))
}

func pathsOf(t *testing.T, a *resttest.Answer) []string {
	t.Helper()
	var out []string
	entries, ok := a.JSON(t)["entries"].([]any)
	if !ok {
		t.Fatalf("%s %s", a.Status, a.Text)
	}
	for _, e := range entries {
		out = append(out, e.(map[string]any)["path"].(string))
	}
	slices.Sort(out)
	return out
}
