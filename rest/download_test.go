package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestDownloadsAreRecorded counts the audit records of downloads: one for each time that the
// beginning of a file goes out, regardless of the caller and with which key.
func TestDownloadsAreRecorded(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	at := withFile(t, s, "a.txt", "text/plain", "0123456789")
	id := s.Do("GET", at, "").JSON(t)["uid"].(string)
	blob := at + "/@blob/file:content"
	etag := s.Do("HEAD", blob, "").Header.Get("Etag")
	s.User("eve")
	s.Do("POST", api+"/automation/Document.AddPermission", `{"input":"/a.txt","params":{"username":"eve","permission":"Read"}}`)
	key := s.Key("eve", "read_only")
	steps := []struct {
		path    string
		headers []string
		status  int
		records int
	}{
		{blob, nil, 200, 1},
		{"/nuxeo/nxfile/default/" + id + "/file:content/a.txt?inline=true", []string{"as", "eve"}, 200, 2},
		{blob, []string{"Range", "bytes=0-3"}, 206, 3},
		{blob, []string{"Range", "bytes=4-"}, 206, 3},
		{blob, []string{"If-None-Match", etag}, 304, 3},
		{blob, []string{"as", "", "Authorization", "Bearer " + key}, 200, 4},
		{at + "/@blob/files:files/0/file", nil, 404, 4},
	}
	for _, step := range steps {
		expect(t, s.Do("GET", step.path, "", step.headers...), step.status, "")
		entries := s.Do("GET", api+"/id/"+id+"/@audit?eventId=download", "").JSON(t)["entries"].([]any)
		if len(entries) != step.records {
			t.Fatalf("%s %v: %d records, want %d", step.path, step.headers, len(entries), step.records)
		}
	}
	entries := s.Do("GET", api+"/id/"+id+"/@audit?eventId=download", "").JSON(t)["entries"].([]any)
	newest := entries[0].(map[string]any)
	if newest["principalName"] != "eve" || newest["docPath"] != "/a.txt" {
		t.Errorf("%v", newest)
	}
	if text := fmt.Sprint(newest["extended"]); !strings.Contains(text, "file:content") || !strings.Contains(text, "a.txt") {
		t.Errorf("%v", newest["extended"])
	}
}

func TestRenditions(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	at := withFile(t, s, "a.txt", "text/plain", "Hello")
	for name, want := range map[string]string{"thumbnail": "image/png", "thumbnail?changeToken=0-0&sync=true": "image/png", "pdf": "application/pdf"} {
		a := s.Do("GET", at+"/@rendition/"+name, "")
		if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != want {
			t.Errorf("%s: %s %s", name, a.Status, a.Header.Get("Content-Type"))
		}
	}
	expect(t, s.Do("GET", at+"/@rendition/nothing", ""), 400, "")
	expect(t, s.Do("GET", at+"/@rendition/zipTreeExport", ""), 404, "")
	for _, path := range []string{at + "/@preview", at + "/@preview/", at + "/@blob/file:content/@preview"} {
		a := s.Do("GET", path, "")
		if a.StatusCode != http.StatusOK || !strings.Contains(a.Text, "<pre>Hello</pre>") || !strings.HasPrefix(a.Header.Get("Content-Disposition"), "inline") ||
			!strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %s %v", path, a.Status, a.Header)
		}
	}
	expect(t, s.Do("GET", at+"/@preview/more", ""), 404, "")
	expect(t, s.Do("GET", api+"/path/default-domain/@preview", ""), 404, "")
	list := s.Do("GET", at, "", "X-NXenrichers.document", "renditions").JSON(t)["contextParameters"].(map[string]any)["renditions"].([]any)
	var names []string
	for _, r := range list {
		names = append(names, r.(map[string]any)["name"].(string))
	}
	if got := strings.Join(names, " "); got != "thumbnail pdf xmlExport zipExport" {
		t.Error(got)
	}
}

// TestSeveralFiles checks the answer that holds more than one file.
func TestSeveralFiles(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	withFile(t, s, "a.txt", "text/plain", "one")
	withFile(t, s, "b.txt", "text/plain", "two")
	a := s.Do("POST", api+"/automation/Document.GetBlob", `{"input":"docs:/a.txt,/b.txt"}`)
	expect(t, a, 200, "")
	if typ := a.Header.Get("Content-Type"); !strings.HasPrefix(typ, `multipart/mixed; boundary="`) {
		t.Error(typ)
	}
	for _, want := range []string{"one", "two", "attachment; filename=a.txt", "attachment; filename=b.txt"} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("no %s in %s", want, a.Text)
		}
	}
}
