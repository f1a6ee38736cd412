package drive_test

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/engine"
	"catena/engine/scenario"
	"catena/ops/drive"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/grant"
	"catena/storage/outbox"
)

// server is one that is there for tests of the synchronizer.
func server(t *testing.T, clock *scenario.Clock, limits drive.Limits) *resttest.Server {
	return resttest.Start(t, resttest.Config{Storage: func(c *storage.Config) { c.Clock, c.Bounds = clock.Now, c.Bounds.With(limits) }, Engine: func(c *engine.Config) {
		set, err := c.Set.With(drive.Ops(drive.Config{Version: "2023.10", Tests: true}))
		if err != nil {
			t.Fatal(err)
		}
		c.Set = set
	}})
}

func run(t *testing.T, s *resttest.Server, user, op, input, params string) *resttest.Answer {
	t.Helper()
	body := `{"params":` + params + `}`
	if input != "" {
		body = `{"input":"` + input + `","params":` + params + `}`
	}
	a := s.Do("POST", "/api/v1/automation/"+op, body, "as", user)
	if a.StatusCode >= 300 {
		t.Errorf("%s: %s %s", op, a.Status, a.Text)
	}
	return a
}

// TestIntegrationTests goes through what tests of the synchronizer begin and end with.
func TestIntegrationTests(t *testing.T) {
	s := server(t, scenario.NewClock(), drive.Limits{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- outbox.Run(ctx, s.Repo, outbox.Handlers{grant.JobKind: grant.Jobs(s.Repo)}) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	const admin = "Administrator"
	for range 2 { // those of the call before give way
		told := run(t, s, admin, "NuxeoDrive.SetupIntegrationTests", "", `{"userNames":"user_1, user_2","permission":"ReadWrite"}`).Text
		users := strings.Split(told, ",")
		if len(users) != 2 || !strings.HasPrefix(users[0], "driveuser_1:") || !strings.HasPrefix(users[1], "driveuser_2:") {
			t.Fatalf("users: %s", told)
		}
	}
	const folder = "/default-domain/workspaces/nuxeo-drive-test-workspace"
	if n := run(t, s, admin, "NuxeoDrive.CreateTestDocuments", folder, `{"number":3,"delay":0}`).Text; n != "3" {
		t.Errorf("made: %s", n)
	}
	children := run(t, s, admin, "Document.GetChildren", folder, `{}`).Text
	if !strings.Contains(children, `"file_002.txt"`) {
		t.Errorf("children: %s", children)
	}
	run(t, s, admin, "NuxeoDrive.WaitForAsyncCompletion", "", `{}`)
	run(t, s, admin, "NuxeoDrive.WaitForElasticsearchCompletion", "", `{}`)
	for _, c := range []struct {
		params string
		want   bool
		top    string // names of what is in the top folder then
	}{
		{`{"profile":"permission"}`, true, "My Docs Other Docs"},
		{`{"profile":"userworkspace"}`, false, "My Docs Other Docs"},
		{`{"profile":"permission","enable":false}`, true, ""},
		{`{"profile":"userworkspace","enable":false}`, true, ""},
		{`{"profile":"nothing","enable":false}`, false, ""},
	} {
		if got := run(t, s, admin, "NuxeoDrive.SetActiveFactories", "", c.params).JSON(t)["value"]; got != c.want {
			t.Errorf("%s: %v", c.params, got)
		}
		var items []struct{ Name string }
		if err := json.Unmarshal([]byte(run(t, s, admin, "NuxeoDrive.GetChildren", "", `{"id":"`+drive.TopID+`"}`).Text), &items); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, it := range items {
			names = append(names, it.Name)
		}
		if got := strings.Join(names, " "); got != c.top {
			t.Errorf("%s: the top folder has %q", c.params, got)
		}
	}
	run(t, s, admin, "NuxeoDrive.TearDownIntegrationTests", "", `{}`)
	for _, path := range []string{"/api/v1/path" + folder, "/api/v1/user/driveuser_1"} {
		if a := s.Do("GET", path, ""); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, a.Status)
		}
	}
	if a := s.Do("POST", "/api/v1/automation/NuxeoDrive.SetVersioningOptions", `{"params":{"delay":"soon"}}`); a.StatusCode != http.StatusBadRequest {
		t.Errorf("delay: %s", a.Status)
	}
	if a := s.Do("POST", "/api/v1/automation/NuxeoDrive.CreateTestDocuments", `{"input":"/","params":{"number":1001}}`); a.StatusCode != http.StatusBadRequest {
		t.Errorf("number: %s", a.Status)
	}
}

// TestVersions: an update keeps what was before as a version once nobody has changed it for a while, as the server is told.
func TestVersions(t *testing.T) {
	clock := scenario.NewClock()
	s := server(t, clock, drive.Limits{})
	run(t, s, "Administrator", "Document.Create", "/", `{"type":"Folder","name":"desk"}`)
	run(t, s, "Administrator", "NuxeoDrive.SetSynchronization", "/desk", `{"enable":true}`)
	id, _ := run(t, s, "Administrator", "Document.Create", "/desk", `{"type":"File","name":"f"}`).JSON(t)["uid"].(string)
	update := func(content string) any {
		clock.Tick()
		batch, _ := s.Do("POST", "/api/v1/upload/", "").JSON(t)["batchId"].(string)
		at := "/api/v1/upload/" + batch + "/0"
		s.Do("POST", at, content, "X-File-Name", "f.bin", "Content-Type", "application/octet-stream")
		a := s.Do("POST", at+"/execute/NuxeoDrive.AttachBlob", `{"params":{"document":"`+id+`"}}`, "X-Device-Id", "laptop")
		if a.StatusCode != http.StatusOK || a.Text != content {
			t.Fatalf("attached: %s %s", a.Status, a.Text)
		}
		return s.Do("GET", "/api/v1/id/"+id, "", "fetch.document", "versionLabel").JSON(t)["versionLabel"]
	}
	if got := []any{update("1"), update("2")}; got[0] != "0.0" || got[1] != "0.0" {
		t.Errorf("within the hour: %v", got)
	}
	for _, c := range []struct{ params, want string }{
		{`{"delay":"0","option":"MINOR"}`, "0.1+"},
		{`{"option":"MAJOR"}`, "1.0+"},
		{`{"option":"NONE"}`, "1.0+"},
	} {
		run(t, s, "Administrator", "NuxeoDrive.SetVersioningOptions", "", c.params)
		if got := update(c.params); got != c.want {
			t.Errorf("%s: %v, want %s", c.params, got, c.want)
		}
	}
}

// TestDigests: whichever way a file has come, a computer is told the MD5 that it compares its copy with, from the first listing on, and
// it is computed once. Of large files that no computer sent it is told the SHA-256.
func TestDigests(t *testing.T) {
	s := server(t, scenario.NewClock(), drive.Limits{Digest: 150_000})
	run(t, s, "Administrator", "Document.Create", "/", `{"type":"Folder","name":"desk"}`)
	run(t, s, "Administrator", "NuxeoDrive.SetSynchronization", "/desk", `{"enable":true}`)
	large := strings.Repeat("0123456789", 20_000)
	ids := map[string]string{}
	for name, content := range map[string]string{"small": "words", "file": strings.Repeat("words", 20_000), "large": large} {
		err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
			desk, err := tx.Doc("/desk")
			if err != nil {
				return err
			}
			b, err := tx.NewBlob(name+".bin", "application/octet-stream", strings.NewReader(content))
			if err != nil {
				return err
			}
			d, err := tx.Create(desk, "File", name, storage.Props{"file:content": b})
			if err == nil {
				ids[name] = d.ID()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	type item struct{ ID, Name, DigestAlgorithm, Digest string }
	check := func(it item) {
		t.Helper()
		algorithm := "MD5"
		var sum string
		switch it.Name {
		case "small.bin":
			sum = fmt.Sprintf("%x", md5.Sum([]byte("words")))
		case "file.bin":
			sum = fmt.Sprintf("%x", md5.Sum([]byte(strings.Repeat("words", 20_000))))
		default:
			algorithm, sum = "SHA-256", fmt.Sprintf("%x", sha256.Sum256([]byte(large)))
		}
		if it.DigestAlgorithm != algorithm || it.Digest != sum {
			t.Errorf("%s: %s %s, want %s %s", it.Name, it.DigestAlgorithm, it.Digest, algorithm, sum)
		}
	}
	kept := func(name string) (row struct{ Digest, MD5 string }) {
		err := s.Repo.View(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
			_, err := tx.Table("sync files").Get(ids[name], &row)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	id := "defaultSyncRootFolderItemFactory#default#"
	id += run(t, s, "Administrator", "Document.Fetch", "", `{"value":"/desk"}`).JSON(t)["uid"].(string)
	for range 2 {
		var page struct{ FileSystemItems []item }
		if err := json.Unmarshal([]byte(run(t, s, "Administrator", "NuxeoDrive.ScrollDescendants", "", `{"id":"`+id+`","batchSize":10}`).Text), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.FileSystemItems) != 3 {
			t.Fatalf("items: %v", page)
		}
		for _, it := range page.FileSystemItems {
			check(it)
		}
		for name, want := range map[string]bool{"small": true, "file": true, "large": false} {
			if row := kept(name); (row.MD5 != "") != want {
				t.Errorf("%s: kept %v", name, row)
			}
		}
	}
	// What is kept is told, and is of the file that the document has: another one is computed again.
	err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
		row := kept("file")
		row.MD5 = "kept"
		return tx.Table("sync files").Put(ids["file"], row)
	})
	if err != nil {
		t.Fatal(err)
	}
	var it item
	get := func() {
		t.Helper()
		text := run(t, s, "Administrator", "NuxeoDrive.GetFileSystemItem", "", `{"id":"defaultFileSystemItemFactory#default#`+ids["file"]+`"}`).Text
		if err := json.Unmarshal([]byte(text), &it); err != nil {
			t.Fatal(err)
		}
	}
	if get(); it.Digest != "kept" {
		t.Errorf("not told what is kept: %v", it)
	}
	run(t, s, "Administrator", "Document.Update", "/desk/file", `{"properties":{"file:content":{"data":"words","name":"small.bin","mime-type":"application/octet-stream"}}}`)
	get()
	check(it)
}
