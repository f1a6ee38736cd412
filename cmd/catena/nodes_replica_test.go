package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/storage/postgres/pgtest"
)

// stale asks as somebody who accepts an old answer, and returns how old it is; "" if it is the latest.
func (p *process) stale(t *testing.T, user, method, path, body string) (status int, age, text string) {
	t.Helper()
	resp, text := p.do(t, user, method, path, body, "Cache-Control", "no-transform, max-stale")
	return resp.StatusCode, resp.Header.Get("Age"), text
}

// becomes asks until an answer is of the replica, or is not.
func (p *process) becomes(t *testing.T, user, path string, replica bool) (status int, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		status, age, text := p.stale(t, user, "GET", path, "")
		if (age != "") == replica {
			return status, text
		}
	}
	t.Fatalf("%s: answered by the replica: %t\n%s", path, !replica, p.log)
	return 0, ""
}

// TestReplica reads from a standby: what accepts an old state, and only that, for as long as it is not older than the limit. What is
// missing there is looked for on the primary, which also answers while the standby is gone.
func TestReplica(t *testing.T) {
	pgtest.Address(t) // skips if there is none
	var servers [2]*pgtest.Server
	for i := range servers {
		server, err := pgtest.Start(pgtest.Settings...)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		servers[i] = server
	}
	primary, standby := servers[0], servers[1]
	standby.Kill()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const limit = 5 * time.Second
	p := startServer(t, t.TempDir(), "--store", primary.Address, "--replica", standby.Address, "--blobs", t.TempDir(), "--repository", "second", "--limit-staleness", limit.String(), "--rate", "-1")
	doc, ann := spaces+"/doc", spaces+"/of-ann"
	p.want(t, 201, "Administrator", "POST", spaces, `{"entity-type":"document","type":"File","name":"doc","properties":{"dc:title":"one"}}`)
	p.want(t, 201, "Administrator", "POST", "/api/v1/repo/second/path/default-domain/workspaces", `{"entity-type":"document","type":"File","name":"doc","properties":{"dc:title":"of the second"}}`)
	runs(t, p.base, "User.CreateOrUpdate", map[string]any{"username": "ann", "password": "a long ann"}, nil)
	p.want(t, 201, "Administrator", "POST", spaces, `{"entity-type":"document","type":"Folder","name":"of-ann"}`)
	runs(t, p.base, "Document.BlockPermissionInheritance", nil, nil, "/default-domain/workspaces/of-ann")
	runs(t, p.base, "Document.AddPermission", map[string]any{"permission": "Read", "user": "ann"}, nil, "/default-domain/workspaces/of-ann")
	if status, age, _ := p.stale(t, "Administrator", "GET", doc, ""); status != 200 || age != "" {
		t.Errorf("while there is no replica yet: %d, %q", status, age)
	}
	ok(standby.Standby(primary))
	p.becomes(t, "Administrator", doc, true)
	if _, text := p.becomes(t, "Administrator", "/api/v1/repo/second/path/default-domain/workspaces/doc", true); !strings.Contains(text, "of the second") {
		t.Errorf("of another repository: %.300s", text)
	}
	p.becomes(t, "ann", ann, true)

	ok(standby.Repeat(t.Context(), false))
	paused := time.Now()
	p.want(t, 200, "Administrator", "PUT", doc, `{"entity-type":"document","properties":{"dc:title":"two"}}`)
	p.want(t, 201, "Administrator", "POST", spaces, `{"entity-type":"document","type":"File","name":"new"}`)
	runs(t, p.base, "Document.RemovePermission", map[string]any{"user": "ann"}, nil, "/default-domain/workspaces/of-ann")
	const query = `{"params":{"query":"SELECT * FROM File WHERE ecm:name = 'doc'"}}`
	for _, q := range []struct{ method, path, body string }{{"GET", doc, ""}, {"POST", "/api/v1/automation/Repository.Query", query}, {"GET", "/api/v1/query?query=SELECT+*+FROM+File+WHERE+ecm:name='doc'", ""}} {
		if text := p.want(t, 200, "Administrator", q.method, q.path, q.body); !strings.Contains(text, `"title":"two"`) {
			t.Errorf("%s, the latest: %.300s", q.path, text)
		}
		if status, age, text := p.stale(t, "Administrator", q.method, q.path, q.body); status != 200 || age == "" || !strings.Contains(text, `"title":"one"`) {
			t.Errorf("%s, an old state: %d, %q, %.300s", q.path, status, age, text)
		}
	}
	if status, age, _ := p.stale(t, "Administrator", "GET", spaces+"/new", ""); status != 200 || age != "" {
		t.Errorf("a document that the replica does not have: %d, %q", status, age)
	}
	if status, age, _ := p.stale(t, "Administrator", "PUT", spaces+"/new", `{"entity-type":"document","properties":{"dc:title":"new"}}`); status != 200 || age != "" {
		t.Errorf("a change: %d, %q", status, age)
	}
	if status, age, _ := p.stale(t, "ann", "GET", ann, ""); (status != 200 || age == "") && time.Since(paused) < limit/2 {
		t.Errorf("a permission that was taken away a moment ago: %d, %q", status, age)
	}
	if status, _ := p.becomes(t, "ann", ann, false); status != 403 && status != 404 {
		t.Errorf("a permission that was taken away longer ago than the limit: %d", status)
	}
	if passed := time.Since(paused); passed > limit+2*time.Second {
		t.Errorf("the limit is %s, an older answer was given %s after the standby paused", limit, passed)
	}
	if _, text := p.becomes(t, "Administrator", doc, false); !strings.Contains(text, `"title":"two"`) {
		t.Errorf("behind the limit: %.300s", text)
	}

	ok(standby.Repeat(t.Context(), true))
	if _, text := p.becomes(t, "Administrator", doc, true); !strings.Contains(text, `"title":"two"`) {
		t.Errorf("after the standby went on: %.300s", text)
	}
	if _, text := administer(t, http.MethodGet, p.base+"/metrics", "", ""); !strings.Contains(text, "catena_replica_up 1") {
		t.Error("the metrics do not show that the replica answers")
	}
	standby.Kill()
	killed := time.Now()
	for _, path := range []string{doc, spaces + "/new", "/api/v1/query?query=SELECT+*+FROM+File"} {
		if status, age, text := p.stale(t, "Administrator", "GET", path, ""); status != 200 || age != "" {
			t.Errorf("%s without the standby: %d, %q, %.300s", path, status, age, text)
		}
	}
	t.Logf("three requests without the standby took %s", time.Since(killed))
	ok(standby.Run())
	p.becomes(t, "Administrator", doc, true)
	standby.Kill()
	ok(standby.Standby(primary)) // another one at the same address
	p.becomes(t, "Administrator", doc, true)
	p.stop(t)
}

// TestReplicaRefused: a replica of something else is named, and the server works without it.
func TestReplicaRefused(t *testing.T) {
	store := pgtest.Database(t)
	other, err := pgtest.Start(pgtest.Settings...)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Stop()
	startServer(t, t.TempDir(), "--store", other.Address, "--blobs", t.TempDir()).stop(t)
	p := startServer(t, t.TempDir(), "--store", store, "--replica", other.Address, "--blobs", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for want := "is not a standby of the database of the store"; !strings.Contains(fmt.Sprint(p.log), want); time.Sleep(20 * time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("not in the log: %s\n%s", want, p.log)
		}
	}
	if status, age, _ := p.stale(t, "Administrator", "GET", spaces, ""); status != 200 || age != "" {
		t.Errorf("%d, %q", status, age)
	}
	if _, text := administer(t, http.MethodGet, p.base+"/metrics", "", ""); !strings.Contains(text, "catena_replica_up 0") {
		t.Error("the metrics say nothing of the replica, or that it answers")
	}
	for _, args := range [][]string{{"--replica", "postgres://h/d"}, {"--store", "postgres://h/d", "--replica", "h"}} {
		if code, _, errs := line(t, append([]string{"config", "check", "--data", t.TempDir()}, args...)...); code != 2 || !strings.Contains(errs, "replica: ") {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
	}
}
