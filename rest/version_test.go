package rest_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestVersionsOverTheWire saves with versions and reads what is said of versions and proxies.
func TestVersionsOverTheWire(t *testing.T) {
	s := start(t)
	const file = `{"entity-type":"document","type":"File","name":"v","properties":{"dc:title":"one"}}`
	version := s.Do("POST", "/api/v1/path/", file, "X-Versioning-Option", "MINOR").JSON(t)
	live := s.Do("GET", "/api/v1/path/v?fetch.document=versionLabel", "").JSON(t)
	for name, want := range map[string]any{
		"isVersion": true, "isLatestVersion": true, "isLatestMajorVersion": false, "versionableId": live["uid"],
		"path": "/v", "parentRef": nil, "isCheckedOut": false, "isProxy": false,
	} {
		if got := version[name]; got != want {
			t.Errorf("version: %s is %v, want %v", name, got, want)
		}
	}
	if live["versionLabel"] != "0.1" || live["isCheckedOut"] != false || live["versionableId"] != nil {
		t.Errorf("live: label %v, checked out %v, of %v", live["versionLabel"], live["isCheckedOut"], live["versionableId"])
	}
	if _, told := live["isLatestVersion"]; told {
		t.Error("a live document tells whether it is the latest version")
	}
	const change = `{"entity-type":"document","properties":{"dc:title":"two"}}`
	s.Do("PUT", "/api/v1/path/v", change, "Source", "drive")
	if live = s.Do("GET", "/api/v1/path/v?fetch.document=versionLabel", "").JSON(t); live["versionLabel"] != "0.1+" || live["isCheckedOut"] != true {
		t.Errorf("changed: label %v, checked out %v", live["versionLabel"], live["isCheckedOut"])
	}
	version = s.Do("PUT", "/api/v1/path/v?fetch.document=versionLabel", change, "X-Versioning-Option", "major").JSON(t)
	if version["versionLabel"] != "1.0" || version["isLatestMajorVersion"] != true || version["title"] != "two" {
		t.Errorf("version: label %v, major %v, title %v", version["versionLabel"], version["isLatestMajorVersion"], version["title"])
	}
	if got := s.Do("PUT", "/api/v1/path/v", change, "X-Versioning-Option", "huge"); got.StatusCode != http.StatusBadRequest {
		t.Errorf("unknown versioning: %d %s", got.StatusCode, got.Text)
	}
	folder := s.Do("PUT", "/api/v1/path/default-domain", change, "X-Versioning-Option", "MINOR").JSON(t)
	if folder["isVersion"] != false || folder["title"] != "two" {
		t.Errorf("what has no versions: version %v, title %v", folder["isVersion"], folder["title"])
	}
	proxy := s.Do("POST", "/api/v1/automation/Document.PublishToSection", `{"input":"/v","params":{"target":"/default-domain/sections"}}`).JSON(t)
	if proxy["isProxy"] != true || proxy["proxyTargetId"] != version["uid"] || proxy["versionableId"] != live["uid"] || proxy["isVersion"] != false {
		t.Errorf("proxy: %v shows %v of %v", proxy["isProxy"], proxy["proxyTargetId"], proxy["versionableId"])
	}
	if got := s.Do("GET", "/api/v1/path/v?enrichers.document=publications", ""); !strings.Contains(got.Text, `"publications":{"resultsCount":1}`) {
		t.Errorf("publications: %s", got.Text)
	}
	id, _ := version["uid"].(string)
	if got := s.Do("GET", "/api/v1/id/"+id, "").JSON(t)["path"]; got != "/v" {
		t.Errorf("path of a version: %v", got)
	}
	if got := s.Do("PUT", "/api/v1/id/"+id, change+" "); got.StatusCode != http.StatusConflict {
		t.Errorf("change of a version: %d %s", got.StatusCode, got.Text)
	}
	s.Do("POST", "/api/v1/automation/Document.Move", `{"input":"/v","params":{"target":"/default-domain/workspaces","name":"w"}}`)
	if got := s.Do("GET", "/api/v1/id/"+id, "").JSON(t)["path"]; got != "/default-domain/workspaces/w" {
		t.Errorf("path after a move: %v", got)
	}
	s.Do("DELETE", "/api/v1/path/default-domain/workspaces/w", "")
	if got := s.Do("GET", "/api/v1/id/"+id, ""); got.StatusCode == http.StatusOK && got.JSON(t)["path"] != "v" {
		t.Errorf("path without a live document: %s", got.Text)
	}
}
