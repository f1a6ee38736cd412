package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestSeveralRepositories goes to a second repository by every way there is.
func TestSeveralRepositories(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Siblings: []string{"archive"}})
	s.User("pat")
	const folder = `{"entity-type":"document","type":"Folder","name":"plans","properties":{"dc:title":"Archived plans"}}`
	made := s.Do("POST", "/api/v1/repo/archive/path/", folder).JSON(t)
	if made["repository"] != "archive" || made["path"] != "/plans" {
		t.Fatalf("made: %v", made)
	}
	id, _ := made["uid"].(string)
	for _, tt := range []struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		{"GET", "/api/v1/repo/archive/path/plans", "", nil, 200, `"repository":"archive"`},
		{"GET", "/api/v1/path/plans", "", []string{"X-NXRepository", "archive"}, 200, id},
		{"GET", "/api/v1/path/plans", "", []string{"X-Platform-Repository", "archive"}, 200, id},
		{"GET", "/api/v1/id/" + id + "?nxrepository=archive", "", nil, 200, "Archived plans"},
		{"GET", "/api/v1/repo/archive/path/plans", "", []string{"X-NXRepository", "default"}, 200, id}, // the address wins
		{"GET", "/api/v1/path/plans", "", nil, 404, "/plans"},
		{"GET", "/api/v1/id/" + id, "", nil, 404, id},
		{"GET", "/api/v1/repo/nope/path/plans", "", nil, 404, "repository nope"},
		{"GET", "/api/v1/path/plans", "", []string{"X-NXRepository", "nope"}, 404, "repository nope"},
		{"GET", "/api/v1/repo/archive/search/execute?query=SELECT+*+FROM+Folder+WHERE+dc:title+LIKE+'A%25'", "", nil, 200, `"resultsCount":1`},
		{"GET", "/api/v1/repo/archive/path/@children", "", nil, 200, "Archived plans"},
		{"GET", "/api/v1/repo/archive/path/plans/@audit", "", nil, 200, `"repositoryId":"archive"`},
		{"GET", "/api/v1/repo/archive/user/pat", "", nil, 200, `"id":"pat"`},
		{"GET", "/api/v1/repo/archive/directory/nature", "", nil, 200, `"article"`},
		{"GET", "/api/v1/repo/archive/path/plans?enrichers.document=thumbnail", "", nil, 200, "/repo/archive/id/" + id + "/@rendition/thumbnail"},
		{"GET", "/api/v1/capabilities", "", nil, 200, `"repository":{"archive":{`},
		{"GET", "/json/cmis", "", nil, 200, `"archive":{"cmisVersionSupported"`},
		{"POST", "/api/v1/automation/GetRepositories", "{}", nil, 200, `["archive","default"]`},
		{"POST", "/site/automation/Repository.GetDocument", `{"params":{"value":"/plans"}}`, []string{"X-NXRepository", "archive"}, 200, id},
		{"POST", "/api/v1/repo/archive/path/plans/@op/Document.Create", `{"params":{"type":"Note","name":"n"}}`, nil, 200, `"path":"/plans/n"`},
		{"POST", "/api/v1/automation/Document.Lock", `{"input":"doc:/plans"}`, []string{"X-NXRepository", "archive", "as", "pat"}, 403, "pat"},
		{"GET", "/api/v1/path/plans/n", "", nil, 404, "/plans/n"},
	} {
		got := s.Do(tt.method, tt.path, tt.body, tt.headers...)
		if got.StatusCode != tt.status || !strings.Contains(got.Text, tt.want) {
			t.Errorf("%s %s %v: %d %s, want %d %s", tt.method, tt.path, tt.headers, got.StatusCode, got.Text, tt.status, tt.want)
		}
	}
}

// TestFilesOfRepositories has a file uploaded, kept in a second repository, read by its address there
// and taken over into the first one.
func TestFilesOfRepositories(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Siblings: []string{"archive"}})
	batch, _ := s.Do("POST", "/api/v1/upload", "").JSON(t)["batchId"].(string)
	s.Do("POST", "/api/v1/upload/"+batch+"/0", "the content", "X-File-Name", "a.txt", "X-File-Type", "text/plain", "Content-Type", "application/octet-stream")
	file := `{"entity-type":"document","type":"File","name":"a","properties":{"file:content":{"upload-batch":"` + batch + `","upload-fileId":"0"}}}`
	made := s.Do("POST", "/api/v1/repo/archive/path/?properties=file", file).JSON(t)
	properties, _ := made["properties"].(map[string]any)
	content, _ := properties["file:content"].(map[string]any)
	address, _ := content["data"].(string)
	if !strings.Contains(address, "/nxfile/archive/") {
		t.Fatalf("address %q of %v", address, made)
	}
	if got := s.Do("GET", strings.TrimPrefix(address, s.URL), ""); got.StatusCode != http.StatusOK || got.Text != "the content" {
		t.Errorf("%s: %d %s", address, got.StatusCode, got.Text)
	}
	taken := `{"entity-type":"document","type":"File","name":"b","properties":{"file:content":{"data":"` + address + `"}}}`
	s.Do("POST", "/api/v1/path/", taken).JSON(t)
	if got := s.Do("GET", "/api/v1/path/b/@blob/file:content", ""); got.StatusCode != http.StatusOK || got.Text != "the content" {
		t.Errorf("taken over: %d %s", got.StatusCode, got.Text)
	}
	s.User("pat")
	if got := s.Do("GET", strings.TrimPrefix(address, s.URL), "", "as", "pat"); got.StatusCode != http.StatusOK {
		t.Errorf("a member may read below the root: %d %s", got.StatusCode, got.Text)
	}
}
