package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
)

const ndjson = "application/x-ndjson"

// loaded sends records and returns the answer without identifiers.
func loaded(t *testing.T, s *resttest.Server, query, typ, body string, headers ...string) (status int, answer string) {
	t.Helper()
	a := s.Do("POST", api+"/bulk?"+query, body, append([]string{"Content-Type", typ}, headers...)...)
	if a.StatusCode == http.StatusOK && a.Header.Get("Content-Type") != ndjson {
		t.Errorf("the answer is %s", a.Header.Get("Content-Type"))
	}
	return a.StatusCode, regexp.MustCompile(`,"uid":"[^"]*"`).ReplaceAllString(a.Text, "")
}

const desk = "into=/default-domain/workspaces/desk"

// TestLoad loads records and describes each what became of it.
func TestLoad(t *testing.T) {
	s := start(t)
	s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"Folder","name":"desk"}`)
	for _, tt := range []struct {
		name, query, typ, body string
		status                 int
		want                   string
	}{
		{
			"JSON Lines", desk + "&batchSize=2", ndjson, "{\"name\":\"a\",\"dc:title\":\"One\"}\n\nnonsense\n{\"name\":\"b\",\"nope\":1}\n{\"type\":\"Note\",\"name\":\"c\"}\n", 200,
			`{"line":1,"path":"/default-domain/workspaces/desk/a","status":"created"}
{"code":"invalid","error":"record: must be a JSON object in one line","line":3,"status":"rejected"}
{"code":"invalid","error":"member \"nope\": is unknown; records have name, parent, type, and properties such as dc:title","line":4,"status":"rejected"}
{"line":5,"path":"/default-domain/workspaces/desk/c","status":"created"}
{"complete":true,"created":2,"entity-type":"bulkLoad","rejected":2,"skipped":0,"updated":0}
`,
		},
		{
			"again, by key", desk + "&key=name&existing=update", "text/csv; charset=utf-8", "name;dc:title;dc:subjects\na;Two;\"x,y\"\nd;Three;\n", 200,
			`{"line":2,"path":"/default-domain/workspaces/desk/a","status":"updated"}
{"line":3,"path":"/default-domain/workspaces/desk/d","status":"created"}
{"complete":true,"created":1,"entity-type":"bulkLoad","rejected":0,"skipped":0,"updated":1}
`,
		},
		{
			"dry", desk + "&key=name&dryRun=true", ndjson, "{\"name\":\"a\"}\n{\"name\":\"e\"}", 200,
			`{"line":1,"path":"/default-domain/workspaces/desk/a","status":"skipped"}
{"line":2,"path":"/default-domain/workspaces/desk/e","status":"created"}
{"complete":true,"created":1,"entity-type":"bulkLoad","rejected":0,"skipped":1,"updated":0}
`,
		},
		{"nothing", desk, ndjson, "", 200, `{"complete":true,"created":0,"entity-type":"bulkLoad","rejected":0,"skipped":0,"updated":0}` + "\n"},
		{"a key", desk + "&key=dc:subjects", ndjson, `{"name":"a"}`, 400, "must be name, or a text property"},
		{"a choice", desk + "&existing=merge", ndjson, `{"name":"a"}`, 400, "existing"},
		{"a size", desk + "&batchSize=5000", ndjson, `{"name":"a"}`, 400, "batchSize"},
		{"too many workers", desk + "&workers=9", ndjson, `{"name":"a"}`, 400, "workers"},
		{"a format", desk + "&format=xml", ndjson, `{"name":"a"}`, 400, "format"},
		{"columns", desk, "text/csv", "name,name\n", 400, "column 2"},
		{"a type of content", desk, "application/json", `{"name":"a"}`, 415, "unsupported_media_type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, got := loaded(t, s, tt.query, tt.typ, tt.body)
			if status != tt.status || status == 200 && got != tt.want || !strings.Contains(got, tt.want) {
				t.Errorf("got %d\n%s\nwant %d\n%s", status, got, tt.status, tt.want)
			}
		})
	}
	if got := s.Do("GET", api+"/path/default-domain/workspaces/desk/a", "", "properties", "dublincore").Text; !strings.Contains(got, `"dc:subjects":["x","y"]`) || !strings.Contains(got, `"dc:title":"Two"`) {
		t.Errorf("a is %s", got)
	}
	if a := s.Do("GET", api+"/path/default-domain/workspaces/desk/e", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("a dry run made a document: %d", a.StatusCode)
	}
	if status, got := loaded(t, s, desk, ndjson, `{"name":"f"}`, "Authorization", "Bearer "+s.Key("Administrator", "read_only")); status != 403 {
		t.Errorf("a key that is read-only: %d %s", status, got)
	}
}

// TestLoadResumes: a load that ended early is sent again, and goes on behind what it did.
func TestLoadResumes(t *testing.T) {
	s := start(t)
	s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"Folder","name":"desk"}`)
	var body strings.Builder
	for i := range 250 {
		fmt.Fprintf(&body, "{\"name\":\"n%d\",\"dc:source\":\"s%d\"}\n", i, i)
	}
	half := strings.Join(strings.SplitAfter(body.String(), "\n")[:130], "")
	for _, tt := range []struct {
		body, key        string
		created, skipped int
	}{{half, "name", 130, 0}, {body.String(), "name", 120, 130}, {body.String(), "dc:source", 0, 250}} {
		_, got := loaded(t, s, desk+"&key="+tt.key, ndjson, tt.body)
		lines := strings.Split(strings.TrimSpace(got), "\n")
		var sum struct {
			Complete         bool
			Created, Skipped int
		}
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &sum); err != nil {
			t.Fatal(err)
		}
		if !sum.Complete || sum.Created != tt.created || sum.Skipped != tt.skipped || len(lines) != tt.created+tt.skipped+1 {
			t.Errorf("%d lines, %+v, want %+v", len(lines), sum, tt)
		}
	}
}

// TestLoadWorkers loads records in several transactions at a time: all are there, and are answered in their order, those that are
// rejected among them.
func TestLoadWorkers(t *testing.T) {
	s := start(t)
	s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"Folder","name":"desk"}`)
	const records = 103
	var body, want strings.Builder
	for i := range records {
		line, where := i+1, fmt.Sprintf("/default-domain/workspaces/desk/r%03d", i)
		if i%10 == 7 {
			fmt.Fprintln(&body, "nonsense")
			fmt.Fprintf(&want, `{"code":"invalid","error":"record: must be a JSON object in one line","line":%d,"status":"rejected"}`+"\n", line)
			continue
		}
		fmt.Fprintf(&body, `{"name":"r%03d"}`+"\n", i)
		fmt.Fprintf(&want, `{"line":%d,"path":%q,"status":"created"}`+"\n", line, where)
	}
	want.WriteString(`{"complete":true,"created":93,"entity-type":"bulkLoad","rejected":10,"skipped":0,"updated":0}` + "\n")
	status, got := loaded(t, s, desk+"&batchSize=5&workers=4", ndjson, body.String())
	if status != http.StatusOK || got != want.String() {
		t.Errorf("got %d\n%s\nwant\n%s", status, got, want.String())
	}
	a := s.Do("GET", api+"/path/default-domain/workspaces/desk/@children?pageSize=200&sortBy=ecm:pos", "").JSON(t)
	if a["resultsCount"] != 93.0 {
		t.Errorf("the folder has %v documents", a["resultsCount"])
	}
	var paths []string
	for _, d := range a["entries"].([]any) {
		paths = append(paths, d.(map[string]any)["path"].(string))
	}
	if !slices.IsSorted(paths) {
		t.Errorf("the documents of the folder are not in the order of the records: %v", paths)
	}
}

// lateStore takes a while for commits that write to the keys with late in them.
type lateStore struct {
	kv.Store
	late []byte
}

type lateSnapshot struct {
	kv.Snapshot
	of *lateStore
}

func (s *lateStore) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	snap, err := s.Store.Begin(ctx, write)
	return lateSnapshot{snap, s}, err
}

func (s lateSnapshot) Commit(ctx context.Context, b *kv.Batch) error {
	if slices.ContainsFunc(b.Writes, func(w kv.Mutation) bool { return bytes.Contains(w.Key, s.of.late) }) {
		time.Sleep(50 * time.Millisecond)
	}
	return s.Snapshot.Commit(ctx, b)
}

// TestLoadDependent loads records that depend on earlier ones with several workers: they wait for these.
func TestLoadDependent(t *testing.T) {
	store := &lateStore{Store: memory.New(), late: []byte("late")}
	s := resttest.Start(t, resttest.Config{Storage: func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) }})
	for name, tt := range map[string]struct{ query, body, want string }{
		"folder":            {"", `{"type":"Folder","name":"late"}|{"parent":"late","name":"b"}`, "created late, created late/b"},
		"path of a folder":  {"", `{"type":"Folder","name":" la/te "}|{"parent":"./x/../la-te/","name":"late"}`, "created la-te, created la-te/late"},
		"folder by title":   {"", `{"type":"Folder","properties":{"dc:title":"late"}}|{"parent":"late","dc:title":"b"}`, "created late, created late/b"},
		"folder to load to": {"?/late", `{"parent":"DESK","type":"Folder","name":"late"}|{"name":"b"}`, "created late, created late/b"},
		"unnamed folder":    {"", `{"type":"Folder","dc:source":"late"}|{"parent":"Untitled","name":"b"}`, "created Untitled, created Untitled/b"},
		"name with spaces":  {"&key=name", `{"name":" late "}|{"name":" late "}`, "created late, skipped late"},
		"key":               {"&key=name&existing=update", `{"name":"late"}|{"name":"late"}`, "created late, updated late"},
		"property as key":   {"&key=dc:source", `{"name":"late","dc:source":"A"}|{"name":"b","dc:source":"A"}`, "created late, skipped late"},
	} {
		t.Run(name, func(t *testing.T) {
			desk := strings.ReplaceAll(name, " ", "-")
			s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"Folder","name":"`+desk+`"}`)
			path, more := "/default-domain/workspaces/"+desk, tt.query
			into := path
			if below, ok := strings.CutPrefix(tt.query, "?"); ok {
				into, more = path+below, ""
			}
			body := strings.ReplaceAll(strings.ReplaceAll(tt.body, "DESK", path), "|", "\n")
			_, answer := loaded(t, s, "batchSize=1&workers=4&into="+into+more, ndjson, body+"\n")
			var got []string
			for line := range strings.Lines(answer) {
				var one struct{ Status, Path string }
				if err := json.Unmarshal([]byte(line), &one); err != nil {
					t.Fatal(err)
				}
				if one.Status != "" {
					got = append(got, strings.TrimSpace(one.Status+" "+strings.TrimPrefix(strings.TrimPrefix(one.Path, path), "/")))
				}
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %s, want %s\n%s", strings.Join(got, ", "), tt.want, answer)
			}
		})
	}
}

// heldStore keeps the commit that writes to the key with held in it until one writes to the key with frees in it.
type heldStore struct {
	kv.Store
	held, frees []byte
	free        chan struct{}
}

type heldSnapshot struct {
	kv.Snapshot
	of *heldStore
}

func (s *heldStore) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	snap, err := s.Store.Begin(ctx, write)
	return heldSnapshot{snap, s}, err
}

func (s heldSnapshot) Commit(ctx context.Context, b *kv.Batch) error {
	writes := func(what []byte) bool {
		return slices.ContainsFunc(b.Writes, func(w kv.Mutation) bool { return bytes.Contains(w.Key, what) })
	}
	switch {
	case writes(s.of.held):
		select {
		case <-s.of.free:
		case <-time.After(10 * time.Second):
			return fault.Internal.Errorf("nothing else was committed meanwhile")
		}
	case writes(s.of.frees):
		close(s.of.free)
	}
	return s.Snapshot.Commit(ctx, b)
}

// TestLoadGoesOn: while one transaction of a load takes long, the other workers take more than one each.
func TestLoadGoesOn(t *testing.T) {
	store := &heldStore{Store: memory.New(), held: []byte("record1"), frees: []byte("record3"), free: make(chan struct{})}
	s := resttest.Start(t, resttest.Config{Storage: func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) }})
	s.Do("POST", api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"Folder","name":"desk"}`)
	_, got := loaded(t, s, desk+"&batchSize=1&workers=2", ndjson, "{\"name\":\"record1\"}\n{\"name\":\"record2\"}\n{\"name\":\"record3\"}\n")
	if !strings.Contains(got, `"complete":true,"created":3`) {
		t.Error(got)
	}
}
