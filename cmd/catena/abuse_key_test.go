package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"catena/engine"
)

// signed sends a request with a key.
func (a *abused) signed(t *testing.T, key, method, path, body string) (int, refusal) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, a.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return answered(t, req)
}

func answered(t *testing.T, req *http.Request) (int, refusal) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	var r refusal
	_ = json.Unmarshal([]byte(whole(t, resp)), &r) // an answer that is no refusal says nothing here
	return resp.StatusCode, r
}

func (a *abused) key(t *testing.T, params string) key {
	t.Helper()
	body := a.must(t, "Key.Create", `{"params":`+params+`}`)
	var made struct{ Value key }
	if err := json.Unmarshal([]byte(body), &made); err != nil || made.Value.Key == "" {
		t.Fatalf("key: %v %s", err, body)
	}
	return made.Value
}

// keys checks that a key to read writes nowhere, and that keys end.
func (a *abused) keys(t *testing.T) {
	reader := a.key(t, `{"user":"Administrator","scope":"read_only","name":"reader"}`)
	if status, _ := a.signed(t, reader.Key, "GET", "/api/v1/path"+abuseFolder, ""); status != http.StatusOK {
		t.Fatalf("a key to read reads nothing: %d", status)
	}
	a.readOnlyRoutes(t, reader.Key)
	a.readOnlyOperations(t, reader.Key)
	a.unharmed(t)
	short := a.key(t, `{"user":"Administrator","name":"short","expires":"`+time.Now().Add(700*time.Millisecond).UTC().Format(time.RFC3339Nano)+`"}`)
	gone := a.key(t, `{"user":"Administrator","name":"gone"}`)
	for _, k := range []key{short, gone} {
		if status, _ := a.signed(t, k.Key, "GET", "/api/v1/me", ""); status != http.StatusOK {
			t.Errorf("key %s: %d while it is good", k.Name, status)
		}
	}
	a.must(t, "Key.Revoke", `{"params":{"id":`+strconv.FormatInt(gone.ID, 10)+`}}`)
	time.Sleep(750 * time.Millisecond)
	for _, k := range []string{short.Key, gone.Key, reader.Key + "x", reader.Key[:len(reader.Key)-1], ""} {
		if status, r := a.signed(t, k, "GET", "/api/v1/me", ""); status != http.StatusUnauthorized || r.Code != "not_signed_in" {
			t.Errorf("a key that is not good: %d %s", status, r.Message)
		}
	}
}

// readOnlyRoutes tries every kind of address that writes.
func (a *abused) readOnlyRoutes(t *testing.T, key string) {
	t.Helper()
	const doc, file = `{"entity-type":"document","type":"File","name":"x","properties":{"dc:title":"x"}}`, "/api/v1/path" + abuseFolder + "/file"
	for _, r := range []struct{ method, path, body string }{
		{"POST", "/api/v1/path" + abuseFolder, doc},
		{"PUT", file, doc},
		{"DELETE", file, ""},
		{"DELETE", file + "/@blob/file:content", ""},
		{"POST", file + "/@op/Document.Lock", "{}"},
		{"POST", "/api/v1/repo/default/path" + abuseFolder, doc},
		{"POST", "/nuxeo/site/api/v1/path" + abuseFolder, doc},
		{"POST", "/v1/decks", `{"title":"x"}`},
		{"POST", "/api/v1/automation/Document.Create?dryRun=false", `{"input":"` + abuseFolder + `","params":{"type":"File"}}`},
	} {
		status, answer := a.signed(t, key, r.method, r.path, r.body)
		if status != http.StatusForbidden {
			t.Errorf("%s %s with a key to read: %d %s", r.method, r.path, status, answer.Message)
		}
	}
	a.readOnlyUpload(t, key, "/api/v1/path"+abuseFolder+"/file/@blob/file:content")
	a.readOnlyAsync(t, key)
}

func (a *abused) readOnlyUpload(t *testing.T, key, path string) {
	t.Helper()
	body, typ := parts("other content")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, a.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", typ)
	if status, r := answered(t, req); status != http.StatusForbidden {
		t.Errorf("an upload with a key to read: %d %s", status, r.Message)
	}
}

// readOnlyAsync starts a run, which is refused where its result is asked for.
func (a *abused) readOnlyAsync(t *testing.T, key string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.base+"/api/v1/automation/Document.Create/@async",
		strings.NewReader(`{"input":"`+abuseFolder+`","params":{"type":"File"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden {
		return
	}
	run := strings.TrimPrefix(strings.TrimSuffix(resp.Header.Get("Location"), "/status"), a.base)
	for range 100 {
		status, r := a.signed(t, key, http.MethodGet, run, "")
		if status == http.StatusForbidden {
			return
		}
		if status != http.StatusAccepted {
			t.Fatalf("the run of a key to read: %d %s %s", status, run, r.Message)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the run of a key to read does not end")
}

// readOnlyOperations calls every operation there is.
func (a *abused) readOnlyOperations(t *testing.T, key string) {
	t.Helper()
	_, body := get(t, a.base+"/api/v1/automation")
	var all registry
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Operations) < 150 {
		t.Fatalf("registry: %v, %d operations", err, len(all.Operations))
	}
	effects := writing(t)
	for _, op := range all.Operations {
		params := map[string]any{}
		for _, p := range op.Params {
			if p.Required {
				params[p.Name] = sample(p.Name, p.Type)
			}
		}
		call := map[string]any{"params": params}
		if len(op.Signature) > 0 && op.Signature[0] != "void" {
			call["input"] = abuseFolder + "/file"
		}
		b, err := json.Marshal(call)
		if err != nil {
			t.Fatal(err)
		}
		status, r := a.signed(t, key, "POST", "/api/v1/automation/"+op.ID, string(b))
		switch {
		case status == http.StatusInternalServerError:
			t.Errorf("%s %s: a fault of the server: %s", op.ID, b, r.Message)
		case effects[op.ID] && status != http.StatusForbidden:
			t.Errorf("%s %s with a key to read: %d %s", op.ID, b, status, r.Message)
		}
	}
}

// writing tells which operations write, by name and alias.
func writing(t *testing.T) map[string]bool {
	t.Helper()
	local, err := fresh(t).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = local.close() }()
	out := map[string]bool{}
	for _, name := range local.engine.Set().Names() {
		if op, ok := local.engine.Set().Op(name); ok && op.Effect == engine.Writes {
			out[name] = true
			for _, alias := range op.Aliases {
				out[alias] = true
			}
		}
	}
	if len(out) < 60 {
		t.Errorf("only %d operations write", len(out))
	}
	return out
}

// sample is a value for a required parameter.
func sample(name, typ string) any {
	switch strings.ToLower(typ) {
	case "document", "documents":
		return abuseFolder
	case "boolean":
		return true
	case "integer", "int", "long", "float":
		return 1
	case "date":
		return "2025-01-01T00:00:00Z"
	case "properties", "map":
		return map[string]any{"dc:title": "x"}
	case "list", "stringlist":
		return []string{"x"}
	}
	switch name {
	case "type":
		return "File"
	case "xpath":
		return "dc:title"
	case "query":
		return "SELECT * FROM Document"
	case "permission":
		return "Read"
	}
	return "x"
}

// passwords checks that guessing comes to an end, for one user only, and costs no time then.
func (a *abused) passwords(t *testing.T) {
	a.must(t, "User.CreateOrUpdate", `{"params":{"username":"guessed","password":"a good long password"}}`)
	try := func(user, password string) (int, time.Duration) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.base+"/api/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth(user, password)
		started := time.Now()
		status, _ := answered(t, req)
		return status, time.Since(started)
	}
	status, hashed := try("guessed", "a good long password")
	if status != http.StatusOK {
		t.Fatalf("the right password: %d", status)
	}
	for i := range 25 {
		status, took := try("guessed", "guess "+strconv.Itoa(i))
		if status != http.StatusUnauthorized && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
			t.Errorf("guess %d: %d", i, status)
		}
		if i > 15 && took > max(30*time.Millisecond, hashed/2) { // half of a hash, on a busy machine
			t.Errorf("guess %d still took %s", i, took)
		}
	}
	if status, _ := try("nobody at all", "x"); status != http.StatusUnauthorized {
		t.Errorf("an unknown user: %d", status)
	}
	if status, _ := try("Administrator", adminPassword); status != http.StatusOK {
		t.Errorf("another user's guesses lock out Administrator: %d", status)
	}
	a.unharmed(t)
}
