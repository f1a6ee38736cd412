package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// request is one request of a batch.
func request(method, path, body string) string {
	if body == "" {
		return fmt.Sprintf(`{"method":%q,"path":%q}`, method, path)
	}
	return fmt.Sprintf(`{"method":%q,"path":%q,"body":%s}`, method, path, body)
}

func sendBatch(s *resttest.Server, headers []string, requests ...string) *resttest.Answer {
	return s.Do("POST", api+"/batch", `{"requests":[`+strings.Join(requests, ",")+`]}`, headers...)
}

const (
	batchFolder = `{"entity-type":"document","type":"Folder","name":"f"}`
	batchNote   = `{"entity-type":"document","type":"Note","name":"n","properties":{"dc:title":"One"}}`
)

// TestBatch carries out requests that build on each other, and gets the answers that each would have had by itself.
func TestBatch(t *testing.T) {
	s := start(t)
	s.User("bob")
	const ws = "/api/v1/path/default-domain/workspaces"
	got := sendBatch(
		s, []string{"properties", "dublincore"},
		request("POST", ws, batchFolder),
		request("POST", "/nuxeo"+ws+"/f", batchNote),
		request("PUT", ws+"/f/n", `{"entity-type":"document","properties":{"dc:title":"Two"}}`),
		request("POST", "/site/automation/Document.SetProperty", `{"input":"/default-domain/workspaces/f/n","params":{"xpath":"dc:source","value":"here"}}`),
		request("GET", ws+"/f/@children?pageSize=1", ""),
		request("POST", ws+"/f/n/@op/Document.Lock", `{"params":{}}`),
		request("GET", "/api/v1/repo/default/path/default-domain/workspaces/f/n", ""),
		request("POST", "/api/v1/group", `{"entity-type":"group","groupname":"batched"}`),
		request("POST", "/api/v1/automation/Group.Delete", `{"params":{"groupname":"batched"}}`),
		request("POST", "/api/v1/automation/Auth.LoginAs", `{"params":{"name":"bob"}}`),
		request("GET", "/api/v1/me", ""),
		request("POST", "/api/v1/automation/Log", `{"params":{"level":"info","message":"done"}}`),
	)
	var answer struct {
		Entries []struct {
			Status int
			Body   map[string]any
		}
	}
	if err := json.Unmarshal([]byte(got.Text), &answer); err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("%v: %s %s", err, got.Status, got.Text)
	}
	var statuses []int
	for _, e := range answer.Entries {
		statuses = append(statuses, e.Status)
	}
	if want := fmt.Sprint([]int{201, 201, 200, 200, 200, 200, 200, 201}); !strings.HasPrefix(fmt.Sprint(statuses), strings.TrimSuffix(want, "]")) || len(statuses) != 12 {
		t.Fatalf("statuses %v, want %s …: %s", statuses, want, got.Text)
	}
	note := answer.Entries[6].Body
	properties, _ := note["properties"].(map[string]any)
	if properties["dc:title"] != "Two" || properties["dc:source"] != "here" {
		t.Errorf("the note in the batch: %v", properties)
	}
	if list, _ := answer.Entries[4].Body["entries"].([]any); len(list) != 1 {
		t.Errorf("children: %v", answer.Entries[4].Body)
	}
	if me := answer.Entries[10].Body; me["id"] != "Administrator" {
		t.Errorf("signed in as %v after a request that changed who acts", me["id"])
	}
	if alone := s.Do("GET", ws+"/f/n", "", "properties", "dublincore").JSON(t); alone["uid"] != note["uid"] || alone["changeToken"] != note["changeToken"] {
		t.Errorf("alone %v, in the batch %v", alone, note)
	}
	readContract(t, s, platformAPI).check("POST", "/api/v1/batch", got)
}

// TestBatchFails has one request of several fail: the error is told with its place, and nothing is done.
func TestBatchFails(t *testing.T) {
	s := start(t)
	s.User("bob")
	key := s.Key("Administrator", "read_only")
	const ws = "/api/v1/path/default-domain/workspaces"
	good := request("POST", ws, batchFolder)
	for _, tt := range []struct {
		name     string
		headers  []string
		requests []string
		status   int
		has      string
	}{
		{"not found", nil, []string{good, request("GET", ws+"/nothing", "")}, 404, `{"pointer":"#/requests","detail":"request 1: `},
		{"exists", nil, []string{good, request("POST", "/api/v1/group", `{"entity-type":"group","groupname":"members"}`)}, 409, `request 1`},
		{"forbidden", []string{"as", "bob"}, []string{request("GET", "/api/v1/me", ""), request("DELETE", "/api/v1/path/default-domain", "")}, 403, `request 1: `},
		{"operation not allowed", []string{"as", "bob"}, []string{request("POST", "/api/v1/automation/Auth.LoginAs", `{}`)}, 404, `request 0: `},
		{"read-only key", bearer(key), []string{good}, 403, `insufficient_scope`},
		{"nobody", []string{"as", ""}, []string{good}, 401, ``},
		{"no such address", nil, []string{good, request("GET", "/api/v1/nothing", "")}, 404, `request 1: `},
		{"another method", nil, []string{good, request("PATCH", ws, "{}")}, 405, `request 1: `},
		{"another server", nil, []string{good, request("GET", "http://example.org/api/v1/me", "")}, 400, `request 1: `},
		{"decks", nil, []string{good, request("GET", "/v1/decks", "")}, 400, `not supported in a batch`},
		{"a batch", nil, []string{good, request("POST", "/api/v1/batch", `{"requests":[]}`)}, 400, `not supported in a batch`},
		{"in the background", nil, []string{good, request("POST", "/api/v1/automation/Log/@async", `{"params":{}}`)}, 400, `not supported in a batch`},
		{"membership", nil, []string{good, request("DELETE", "/api/v1/user/bob/group/members", "")}, 400, `not supported in a batch`},
		{"dry run of one", nil, []string{good, request("DELETE", ws+"/f?dryRun=true", "")}, 400, `dryRun`},
		{"another repository", nil, []string{good, request("GET", "/api/v1/repo/nothing/path/", "")}, 404, `request 1: `},
		{"broken body", nil, []string{good, request("POST", "/api/v1/automation/Log", `{"params":[]}`)}, 400, `request 1: `},
		{"a file", nil, []string{good, request("GET", ws+"/f/@rendition/xmlExport", "")}, 400, `which a batch cannot contain`},
		{"none", nil, nil, 400, `#/requests`},
	} {
		got := sendBatch(s, tt.headers, tt.requests...)
		if got.StatusCode != tt.status || !strings.Contains(got.Text, tt.has) {
			t.Errorf("%s: %s %s, want %d with %s", tt.name, got.Status, got.Text, tt.status, tt.has)
		}
		if left := s.Do("GET", ws+"/f", ""); left.StatusCode != http.StatusNotFound {
			t.Fatalf("%s: the folder stays: %s", tt.name, left.Text)
		}
	}
}

// TestBatchOnce repeats a batch under an idempotency key, and tries one without doing it.
func TestBatchOnce(t *testing.T) {
	s := start(t)
	const ws = "/api/v1/path/default-domain/workspaces"
	folder := request("POST", ws, batchFolder)
	dry := s.Do("POST", api+"/batch?dryRun=true", `{"requests":[`+folder+`]}`)
	if dry.StatusCode != http.StatusOK || !strings.Contains(dry.Text, `"entity-type":"dryRun"`) || !strings.Contains(dry.Text, `/default-domain/workspaces/f`) {
		t.Errorf("dry run: %s %s", dry.Status, dry.Text)
	}
	if got := s.Do("GET", ws+"/f", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("after a dry run: %s", got.Text)
	}
	first := sendBatch(s, []string{"Idempotency-Key", "k1"}, folder)
	again := sendBatch(s, []string{"Idempotency-Key", "k1"}, folder)
	if first.StatusCode != http.StatusOK || again.Text != first.Text || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("first %s %s\nagain %s %s", first.Status, first.Text, again.Status, again.Text)
	}
	if list := s.Do("GET", ws+"/@children", "").JSON(t)["entries"].([]any); len(list) != 1 {
		t.Errorf("%d folders", len(list))
	}
}
