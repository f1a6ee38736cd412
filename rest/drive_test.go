package rest_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/storagetest"
)

// desktop is a user's computer, which calls as the synchronizer does.
type desktop struct {
	t     *testing.T
	s     *resttest.Server
	token string
	roots string
	upTo  int64
}

// item is what the synchronizer reads of one.
type item struct {
	ID, ParentID, Path, Name, DownloadURL, Digest, DigestAlgorithm string
	Folder, CanUpdate, CanRename, CanDelete                        bool
	CanCreateChild, CanScrollDescendants                           bool
	LockInfo                                                       *struct {
		Owner   string
		Created int64
	}
}

func (d *desktop) send(method, path, body string, headers ...string) *resttest.Answer {
	d.t.Helper()
	return d.s.Do(method, path, body, append([]string{
		"as", "", "X-Authentication-Token", d.token, "X-User-Id", "bob", "X-Device-Id", "device", "X-Application-Name", "Nuxeo Drive",
		"X-Client-Version", "5.5.0", "X-NXRepository", "default", "X-NXVoidOperation", "false", "Cache-Control", "no-cache",
	}, headers...)...)
}

// run calls an operation and reads its answer into what into points at.
func (d *desktop) run(op, input, params string, into any) {
	d.t.Helper()
	body := `{"params":` + params + `}`
	if input != "" {
		body = `{"input":"` + input + `","params":` + params + `}`
	}
	d.read(d.send("POST", "/nuxeo/site/automation/NuxeoDrive."+op, body), into)
}

func (d *desktop) read(a *resttest.Answer, into any) {
	d.t.Helper()
	if a.StatusCode >= 300 {
		d.t.Fatalf("%s: %s: %s", a.Request.URL.Path, a.Status, a.Text)
	}
	if into == nil {
		return
	}
	if !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
		d.t.Fatalf("%s: type %q", a.Request.URL.Path, a.Header.Get("Content-Type"))
	}
	if err := json.Unmarshal([]byte(a.Text), into); err != nil {
		d.t.Fatalf("%s: %v: %s", a.Request.URL.Path, err, a.Text)
	}
}

// upload sends a file and runs an operation with it.
func (d *desktop) upload(op, name, content, params string) (it item) {
	d.t.Helper()
	var batch struct{ BatchID string }
	d.read(d.send("POST", "/nuxeo/api/v1/upload/", ""), &batch)
	at := "/nuxeo/api/v1/upload/" + batch.BatchID + "/0"
	d.read(d.send("POST", at, content, "X-File-Name", url.PathEscape(name), "Content-Type", "application/octet-stream"), nil)
	d.read(d.send("POST", at+"/execute/NuxeoDrive."+op, `{"params":`+params+`}`), &it)
	return it
}

// changes asks what has changed: the events, by what they are about; a minus sign stands before what is gone.
func (d *desktop) changes() string {
	d.t.Helper()
	var s struct {
		FileSystemChanges []struct {
			EventID, FileSystemItemID string
			FileSystemItem            *item
		}
		UpperBound                           int64
		HasTooManyChanges                    bool
		ActiveSynchronizationRootDefinitions string
	}
	d.run("GetChangeSummary", "", `{"lowerBound":`+strconv.FormatInt(d.upTo, 10)+`,"lastSyncActiveRootDefinitions":"`+d.roots+`"}`, &s)
	d.upTo, d.roots = s.UpperBound, s.ActiveSynchronizationRootDefinitions
	var out []string
	for _, c := range s.FileSystemChanges {
		if c.FileSystemItem == nil {
			out = append(out, "-"+c.EventID)
		} else {
			out = append(out, c.EventID+":"+c.FileSystemItem.Name)
		}
	}
	if s.HasTooManyChanges {
		out = append(out, "too many")
	}
	return strings.Join(out, " ")
}

// told waits until the feed, which ends before the first transaction that is under way, tells of an event of a document. On PostgreSQL
// those of other databases of the server count, too.
func told(t *testing.T, s *resttest.Server, id, event string) {
	t.Helper()
	await(t, "the feed", func() (has bool) {
		err := s.Repo.View(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
			feed, _, _, err := storage.ReadFeed(tx, 0, 1<<20)
			has = slices.ContainsFunc(feed, func(e storage.FeedEntry) bool { return e.Doc == id && e.Event == event })
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return has
	})
}

// told expects to be told of changes. Where other servers write, the feed ends before the oldest transaction that is under way,
// so that what has been committed may come with a later answer: the question is asked again with the same bound.
func (d *desktop) told(want string) {
	d.t.Helper()
	upTo, roots := d.upTo, d.roots
	got := d.changes()
	for deadline := time.Now().Add(time.Minute); got != want && storagetest.Nodes() > 1 && time.Now().Before(deadline); got = d.changes() {
		time.Sleep(20 * time.Millisecond)
		d.upTo, d.roots = upTo, roots
	}
	if got != want {
		d.t.Errorf("changes: %s\nwant %s", got, want)
	}
}

// TestSynchronize goes through what the desktop synchronizer does: it binds, reads what is there, and carries changes
// both ways.
func TestSynchronize(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	// From the first synchronized folder on, there is a feed.
	expect(t, s.Do("POST", api+"/automation/NuxeoDrive.SetSynchronization", `{"input":"/default-domain","params":{"enable":true}}`), 204, "")
	for _, r := range []string{
		`{"input":"/","params":{"type":"Workspace","name":"desk","properties":{"dc:title":"Desk"}}}`,
		`{"input":"/desk","params":{"type":"Folder","name":"plans","properties":{"dc:title":"Plans"}}}`,
	} {
		expect(t, s.Do("POST", api+"/automation/Document.Create", r), 200, "")
	}
	expect(t, s.Do("POST", api+"/automation/Document.AddPermission", `{"input":"/desk","params":{"username":"bob","permission":"ReadWrite"}}`), 200, "")
	var workspace struct{ UID string }
	d := &desktop{t: t, s: s, upTo: 0}
	d.read(s.Do("GET", api+"/path/desk", ""), &workspace)
	told(t, s, workspace.UID, "documentSecurityUpdated")
	d.token = s.Do("GET", "/nuxeo/authentication/token?applicationName=Nuxeo%20Drive&deviceId=device&permission=ReadWrite&deviceDescription=Linux", "", "as", "bob").Text

	var top item
	d.run("GetTopLevelFolder", "", `{}`, &top)
	if !top.Folder || top.ID == "" || top.Path != "/"+top.ID {
		t.Errorf("top: %+v", top)
	}
	d.told("")
	expect(t, d.send("POST", "/nuxeo/site/automation/NuxeoDrive.SetSynchronization", `{"input":"doc:/desk","params":{"enable":true}}`), 204, "")
	var roots []item
	d.run("GetChildren", "", `{"id":"`+top.ID+`"}`, &roots)
	if len(roots) != 1 || roots[0].Name != "Desk" || roots[0].ParentID != top.ID || !roots[0].CanCreateChild || !roots[0].CanScrollDescendants {
		t.Fatalf("roots: %+v", roots)
	}
	desk := roots[0]
	told(t, s, workspace.UID, storage.RootRegistered)
	d.told("rootRegistered:Desk")

	file := d.upload("CreateFile", "größe 1.bin", "\x00\x01\x02", `{"parentId":"`+desk.ID+`","overwrite":false}`)
	if file.Name != "größe 1.bin" || file.Folder || file.ParentID != desk.ID || file.DigestAlgorithm != "MD5" || file.Path != desk.Path+"/"+file.ID {
		t.Errorf("created: %+v", file)
	}
	expect(t, d.send("GET", "/nuxeo/"+file.DownloadURL, "", "Range", "bytes=1-"), 206, "\x01\x02")
	note := d.upload("CreateFile", "a.txt", "Dear all,", `{"parentId":"`+desk.ID+`"}`)
	expect(t, d.send("GET", "/nuxeo/"+note.DownloadURL, ""), 200, "Dear all,")
	if note.Name != "a.txt" {
		t.Errorf("text: %+v", note)
	}
	if plain := d.upload("CreateFile", "Makefile", "all:\n", `{"parentId":"`+desk.ID+`"}`); plain.Name != "Makefile" {
		t.Errorf("text without an ending: %+v", plain)
	}
	d.told("documentCreated:Makefile documentCreated:a.txt documentCreated:größe 1.bin")
	d.told("")

	seen := map[string]bool{}
	for at, n := "", 0; n < 10; n++ {
		var page struct {
			ScrollID        string
			FileSystemItems []item
		}
		d.run("ScrollDescendants", "", `{"id":"`+desk.ID+`","scrollId":`+strconv.Quote(at)+`,"batchSize":2,"keepAlive":60000}`, &page)
		if len(page.FileSystemItems) == 0 {
			break
		}
		for _, it := range page.FileSystemItems {
			seen[it.Name] = true
		}
		at = page.ScrollID
	}
	if len(seen) != 4 || !seen["Plans"] || !seen["Makefile"] {
		t.Errorf("scrolled: %v", seen)
	}

	var renamed item
	d.run("Rename", "", `{"id":"`+file.ID+`","name":"b.bin"}`, &renamed)
	if renamed.Name != "b.bin" || renamed.Digest != file.Digest || renamed.ID != file.ID {
		t.Errorf("renamed: %+v", renamed)
	}
	var plans item
	d.run("CreateFolder", "", `{"parentId":"`+desk.ID+`","name":"Plans","overwrite":true}`, &plans)
	var moved item
	d.run("Move", "", `{"srcId":"`+file.ID+`","destId":"`+plans.ID+`"}`, &moved)
	if moved.ParentID != plans.ID {
		t.Errorf("moved: %+v", moved)
	}
	await(t, "the move", func() bool { return strings.Contains(d.changes(), "documentMoved:b.bin") })

	// Somebody else changes the file, and locks it: the user's own change is refused, and kept under another name.
	id := file.ID[strings.LastIndexByte(file.ID, '#')+1:]
	expect(t, s.Do("POST", api+"/automation/Document.Lock", `{"input":"`+id+`"}`), 200, "")
	d.told("documentLocked:b.bin")
	var found item
	d.run("GetFileSystemItem", "", `{"id":"`+file.ID+`","parentId":null}`, &found)
	if found.LockInfo == nil || found.LockInfo.Owner != "Administrator" || found.LockInfo.Created == 0 || found.CanUpdate || found.CanRename || found.CanDelete {
		t.Errorf("locked: %+v", found)
	}
	var batch struct{ BatchID string }
	d.read(d.send("POST", "/nuxeo/api/v1/upload/", ""), &batch)
	at := "/nuxeo/api/v1/upload/" + batch.BatchID + "/0"
	d.read(d.send("POST", at, "mine", "X-File-Name", "b.bin", "Content-Type", "application/octet-stream"), nil)
	expect(t, d.send("POST", at+"/execute/NuxeoDrive.UpdateFile", `{"params":{"id":"`+file.ID+`"}}`), 403, "")
	var name string
	d.run("GenerateConflictedItemName", "", `{"name":"b.bin"}`, &name)
	if !strings.HasPrefix(name, "b (bob - ") || !strings.HasSuffix(name, ").bin") {
		t.Errorf("name: %q", name)
	}
	expect(t, s.Do("POST", api+"/automation/Document.Unlock", `{"input":"`+id+`"}`), 200, "")
	if updated := d.upload("UpdateFile", "b.bin", "mine", `{"id":"`+file.ID+`","parentId":"`+plans.ID+`"}`); updated.Digest == file.Digest {
		t.Errorf("updated: %+v", updated)
	}
	d.told("documentModified:b.bin")

	// What may no longer be read is gone, and has no name.
	expect(t, s.Do("POST", api+"/automation/Document.BlockPermissionInheritance", `{"input":"/desk/plans"}`), 200, "")
	d.told("-deleted")
	expect(t, s.Do("POST", api+"/automation/Document.SetProperty", `{"input":"/desk/plans","params":{"xpath":"dc:title","value":"Secret"}}`), 200, "")
	d.told("")
	var there bool
	d.run("FileSystemItemExists", "", `{"id":"`+file.ID+`"}`, &there)
	if there {
		t.Error("what may not be read is there")
	}
	expect(t, d.send("POST", "/nuxeo/site/automation/NuxeoDrive.Delete", `{"params":{"id":"`+note.ID+`"}}`, "X-NXVoidOperation", "true"), 204, "")
	d.told("-deleted")
	expect(t, d.send("POST", "/nuxeo/site/automation/NuxeoDrive.Delete", `{"params":{"id":"`+desk.ID+`"}}`), 204, "")
	d.told("-deleted")
}

// ofBob is the computer of bob, which synchronizes the workspace desk, on which he has a permission, and the workspace's id there.
func ofBob(t *testing.T, s *resttest.Server, permission string) (d *desktop, desk string) {
	t.Helper()
	s.User("bob")
	expect(t, s.Do("POST", api+"/automation/Document.Create", `{"input":"/","params":{"type":"Workspace","name":"desk","properties":"dc:title=Desk"}}`), 200, "")
	expect(t, s.Do("POST", api+"/automation/Document.AddPermission", `{"input":"/desk","params":{"username":"bob","permission":"`+permission+`"}}`), 200, "")
	d = &desktop{t: t, s: s}
	d.token = s.Do("GET", "/nuxeo/authentication/token?applicationName=Nuxeo%20Drive&deviceId=device&permission=ReadWrite&deviceDescription=Linux", "", "as", "bob").Text
	expect(t, d.send("POST", "/nuxeo/site/automation/NuxeoDrive.SetSynchronization", `{"input":"doc:/desk","params":{"enable":true}}`), 204, "")
	var folder struct{ UID string }
	d.read(s.Do("GET", api+"/path/desk", ""), &folder)
	return d, "default#" + folder.UID
}

// TestLostUpdate has two computers of one user change a file, and somebody in a browser: what a computer replaces without
// having it itself is kept as a version.
func TestLostUpdate(t *testing.T) {
	s := start(t)
	d, desk := ofBob(t, s, "ReadWrite")
	file := d.upload("CreateFile", "report.bin", "1", `{"parentId":"`+desk+`"}`)
	sum := md5.Sum([]byte("1"))
	if file.DigestAlgorithm != "MD5" || file.Digest != hex.EncodeToString(sum[:]) {
		t.Errorf("digest: %+v", file)
	}
	id := file.ID[strings.LastIndexByte(file.ID, '#')+1:]
	update := func(device, content string) {
		t.Helper()
		var batch struct{ BatchID string }
		d.read(d.send("POST", "/nuxeo/api/v1/upload/", ""), &batch)
		at := "/nuxeo/api/v1/upload/" + batch.BatchID + "/0"
		d.read(d.send("POST", at, content, "X-File-Name", "report.bin", "Content-Type", "application/octet-stream"), nil)
		expect(t, d.send("POST", at+"/execute/NuxeoDrive.UpdateFile", `{"params":{"id":"`+file.ID+`"}}`, "X-Device-Id", device), 200, "")
	}
	versions := func() (contents []string) {
		t.Helper()
		var list struct{ Entries []struct{ UID string } }
		d.read(s.Do("POST", api+"/automation/Document.GetVersions", `{"input":"`+id+`"}`), &list)
		for _, v := range list.Entries {
			contents = append(contents, s.Do("GET", api+"/id/"+v.UID+"/@blob/file:content", "").Text)
		}
		return contents
	}
	for _, c := range []struct {
		device, content string
		want            []string
	}{
		{"device", "2", nil}, // its own work
		{"device", "3", nil},
		{"laptop", "2b", []string{"3"}}, // began from 1
		{"laptop", "2c", []string{"3"}},
		{"", "2d", []string{"3", "2c"}}, // some computer
		{"", "2e", []string{"3", "2c", "2d"}},
	} {
		update(c.device, c.content)
		if got := versions(); !slices.Equal(got, c.want) {
			t.Errorf("after %q from %q: versions %q, want %q", c.content, c.device, got, c.want)
		}
	}
	expect(t, s.Do("PUT", api+"/id/"+id, `{"entity-type":"document","properties":{"dc:description":"reviewed"}}`, "as", "bob"), 200, "")
	update("laptop", "4")
	if got := versions(); !slices.Contains(got, "2e") {
		t.Errorf("after a change in a browser: versions %q", got)
	}
}

// TestRecordsFromComputers: a computer can neither replace nor rename nor delete a document that must be kept, nor the folder that it is
// in; what it is told says so, and everything stays.
func TestRecordsFromComputers(t *testing.T) {
	s := start(t)
	d, desk := ofBob(t, s, "Everything")
	var folder item
	d.run("CreateFolder", "", `{"parentId":"`+desk+`","name":"Deeds"}`, &folder)
	file := d.upload("CreateFile", "deed.bin", "first", `{"parentId":"`+folder.ID+`"}`)
	id := file.ID[strings.LastIndexByte(file.ID, '#')+1:]
	for _, keep := range []string{"Retain", "Hold"} {
		expect(t, s.Do("POST", api+"/automation/Document."+keep, `{"input":"`+id+`","params":{}}`), 200, "")
		refused := func(what string, a *resttest.Answer) {
			t.Helper()
			if a.StatusCode != http.StatusForbidden || !strings.Contains(a.Text, "under_retention") {
				t.Errorf("%s: %s: %s: %s", keep, what, a.Status, a.Text)
			}
		}
		var batch struct{ BatchID string }
		d.read(d.send("POST", "/nuxeo/api/v1/upload/", ""), &batch)
		at := "/nuxeo/api/v1/upload/" + batch.BatchID + "/0"
		d.read(d.send("POST", at, "second", "X-File-Name", "deed.bin", "Content-Type", "application/octet-stream"), nil)
		refused("replace", d.send("POST", at+"/execute/NuxeoDrive.UpdateFile", `{"params":{"id":"`+file.ID+`"}}`))
		const run = "/nuxeo/site/automation/NuxeoDrive."
		refused("rename", d.send("POST", run+"Rename", `{"params":{"id":"`+file.ID+`","name":"other.bin"}}`))
		refused("delete", d.send("POST", run+"Delete", `{"params":{"id":"`+file.ID+`"}}`))
		refused("delete the folder", d.send("POST", run+"Delete", `{"params":{"id":"`+folder.ID+`"}}`))
		var is item
		d.run("GetFileSystemItem", "", `{"id":"`+file.ID+`"}`, &is)
		if text := s.Do("GET", api+"/id/"+id+"/@blob/file:content", "").Text; is.Name != "deed.bin" || text != "first" {
			t.Errorf("%s: %+v has %q", keep, is, text)
		}
	}
}

// TestNamesFromComputers has file systems that write accents as characters of their own find what has them, and files
// called .bin stay files.
func TestNamesFromComputers(t *testing.T) {
	s := start(t)
	const api = "/nuxeo/api/v1"
	expect(t, s.Do("POST", api+"/path/", `{"entity-type":"document","type":"Folder","name":"d`+"\u00e9"+`j`+"\u00e0"+`"}`), 201, "")
	expect(t, s.Do("GET", api+"/path/"+url.PathEscape("de\u0301ja\u0300"), ""), 200, "")
	var batch struct{ BatchID string }
	d := &desktop{t: t, s: s}
	d.read(s.Do("POST", api+"/upload/", ""), &batch)
	at := api + "/upload/" + batch.BatchID + "/0"
	d.read(s.Do("POST", at, "only letters", "X-File-Name", "test.bin", "Content-Type", "application/octet-stream"), nil)
	got := s.Do("POST", at+"/execute/FileManager.Import", `{"context":{"currentDocument":"/"}}`, "X-NXproperties", "*")
	expect(t, got, 200, "")
	if !strings.Contains(got.Text, `"type":"File"`) || !strings.Contains(got.Text, `"mime-type":"application/octet-stream"`) {
		t.Errorf("imported: %.900s", got.Text)
	}
}

// TestEmptyFiles has a text without content come from a computer, get some, and lose it again: it is there all the time.
func TestEmptyFiles(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	expect(t, s.Do("POST", api+"/automation/Document.Create", `{"input":"/","params":{"type":"Workspace","name":"desk"}}`), 200, "")
	expect(t, s.Do("POST", api+"/automation/Document.AddPermission", `{"input":"/desk","params":{"username":"bob","permission":"ReadWrite"}}`), 200, "")
	d := &desktop{t: t, s: s}
	d.token = s.Do("GET", "/nuxeo/authentication/token?applicationName=Nuxeo%20Drive&deviceId=device&permission=ReadWrite&deviceDescription=Linux", "", "as", "bob").Text
	expect(t, d.send("POST", "/nuxeo/site/automation/NuxeoDrive.SetSynchronization", `{"input":"doc:/desk","params":{"enable":true}}`), 204, "")
	var top item
	d.run("GetTopLevelFolder", "", `{}`, &top)
	var roots []item
	d.run("GetChildren", "", `{"id":"`+top.ID+`"}`, &roots)
	made := d.upload("CreateFile", "empty.txt", "", `{"parentId":"`+roots[0].ID+`"}`)
	for _, content := range []string{"some", "", "more"} {
		if got := d.upload("UpdateFile", "empty.txt", content, `{"id":"`+made.ID+`"}`); got.ID != made.ID || got.Name != "empty.txt" {
			t.Errorf("%q: %+v", content, got)
		}
		if got := d.send("GET", "/nuxeo/"+made.DownloadURL, ""); got.StatusCode != http.StatusOK || got.Text != content {
			t.Errorf("%q: %s %q", content, got.Status, got.Text)
		}
	}
	var children []item
	d.run("GetChildren", "", `{"id":"`+roots[0].ID+`"}`, &children)
	if len(children) != 1 || children[0].ID != made.ID {
		t.Errorf("children: %+v", children)
	}
}
