package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/people"
)

// namesIn collects the names of all properties in a part of a description.
func namesIn(c *contract, v any, into map[string]bool, seen map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && !seen[ref] {
			seen[ref] = true
			namesIn(c, c.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), into, seen)
		}
		if props, ok := v["properties"].(map[string]any); ok {
			for name := range props {
				into[name] = true
			}
		}
		for _, part := range v {
			namesIn(c, part, into, seen)
		}
	case []any:
		for _, part := range v {
			namesIn(c, part, into, seen)
		}
	}
}

// TestFieldsNobodyWrites sends every field that any answer of the deck service has to every address that
// takes fields, but those it takes: each is refused by its name, and not a byte changes.
func TestFieldsNobodyWrites(t *testing.T) {
	e := newEverything(t, "Administrator", "/default-domain/workspaces")
	e.fill("Canary")
	c := readContract(t, e.Server, "/openapi.json")
	shown := map[string]bool{"isAdministrator": true, "__proto__": true, "owner_id": true, "user_id": true, "Title": true}
	for _, methods := range c.at("paths") {
		for _, m := range methods.(map[string]any) {
			if m, ok := m.(map[string]any); ok {
				namesIn(c, m["responses"], shown, map[string]bool{})
			}
		}
	}
	sent, addresses := 0, 0
	before, version := e.rows(), e.version()
	for path, methods := range c.at("paths") {
		for method, m := range methods.(map[string]any) {
			m, _ := m.(map[string]any)
			body, ok := m["requestBody"].(map[string]any)
			content, _ := body["content"].(map[string]any)
			if !ok || content["application/json"] == nil {
				continue
			}
			takes := map[string]bool{}
			namesIn(c, content, takes, map[string]bool{})
			addresses++
			at := e.at(strings.NewReplacer("{", ":", "}", "").Replace(path))
			_, usual := e.sent(strings.ToUpper(method), strings.NewReplacer("{", ":", "}", "").Replace(path))
			for _, name := range slices.Sorted(maps.Keys(shown)) {
				if takes[name] {
					continue
				}
				fields := map[string]any{}
				if json.Unmarshal([]byte(usual), &fields) != nil {
					fields = map[string]any{"source": "# New"}
				}
				for _, value := range []any{"x", 2, nil, map[string]any{"id": 1}} {
					fields[name] = value
					b, err := json.Marshal(fields)
					if err != nil {
						t.Fatal(err)
					}
					a := e.Do(strings.ToUpper(method), at, string(b))
					sent++
					if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(a.Text, name) {
						t.Errorf("%s %s with %s: %s %.300s", method, at, b, a.Status, a.Text)
					}
				}
			}
			if e.version() != version {
				t.Errorf("%s %s changes %s", method, at, changed(before, e.rows()))
				before, version = e.rows(), e.version()
			}
		}
	}
	if t.Logf("%d fields, %d addresses, %d requests", len(shown), addresses, sent); addresses < 12 || sent < 4000 {
		t.Error("the test does not test much")
	}
}

// more is what would make bob more than he is, or what he makes somebody else's.
const more = `"owner":"Administrator","user":"Administrator","author":"Administrator","creator":"Administrator","username":"bob","groups":["administrators"],"isAdministrator":true,"admin":true,"Admin":true,"AccountType":"team","accountType":"team","account_type":"team","TeamID":1,"TeamRole":"owner","id":1,"ID":1,"extendedGroups":[{"name":"administrators"}],"password":"another password"`

// standing is what bob is: his groups, what he may do, and his account.
func (e *everything) standing() (out string, admin bool) {
	e.t.Helper()
	if err := e.Repo.View(e.t.Context(), e.Repo.System(), func(tx *storage.Tx) error {
		p, err := storage.PrincipalOf(tx, "bob")
		if err != nil {
			return err
		}
		u, err := people.Lookup(tx, "bob")
		out, admin = fmt.Sprint(p.Groups, p.Admin, u.AccountType, u.BillingPeriod, u.TeamID, u.TeamRole, u.ID), p.Admin
		return err
	}); err != nil {
		e.t.Fatal(err)
	}
	return out, admin
}

// owned counts the webhooks and keys of bob's. There are no others.
func (e *everything) owned() tally {
	e.t.Helper()
	own := tally{}
	for row, value := range e.rows() {
		for table, of := range map[string]string{"swebhooks": `"Owner":`, "skeys": `"User":`} {
			switch {
			case !strings.HasPrefix(row, table+"\x00"):
			case strings.Contains(value, of+`"bob"`):
				own[table]++
			case strings.Contains(value, of):
				e.t.Errorf("%q: %s", row, value)
			}
		}
	}
	return own
}

// TestNobodyBecomesMore has bob send what would make him more than he is, or something somebody else's,
// in every entity he may write: he is who he was, and all that he made is his.
func TestNobodyBecomesMore(t *testing.T) {
	e := newEverything(t, "bob", "/default-domain/workspaces")
	if err := e.Repo.Update(t.Context(), e.Repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/default-domain/workspaces")
		if err == nil {
			_, err = tx.SetACL(d, "local", []storage.ACE{{User: "bob", Permission: "ReadWrite", Granted: true}})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	e.fill("Canary")
	was, _ := e.standing()
	taken := tally{}
	try := func(s shot, body string) {
		s.body = body
		a := e.send(s, "as", "bob")
		e.noFault(s, a)
		if a.StatusCode < http.StatusBadRequest {
			taken[s.table]++
		}
		if strings.Contains(a.Text, "cat_") && !strings.Contains(a.Text, `"user":"bob"`) { // his own he may have
			t.Errorf("%s %s: %s", s.name, body, a.Text)
		}
	}
	for _, s := range e.addresses() {
		if s.method == http.MethodGet || s.method == http.MethodDelete || !strings.Contains(s.typ, "json") || strings.Contains(s.path, "changepassword") {
			continue
		}
		for _, body := range []string{
			`{` + more + `}`, `{"entity-type":"user","id":"bob",` + more + `,"properties":{` + more + `}}`, `{"entity-type":"group","id":"administrators","groupname":"administrators","memberUsers":["bob"],"properties":{"groupname":"administrators","memberUsers":["bob"]}}`,
			strings.TrimSuffix(s.body, "}") + "," + more + `}`, `{"params":{` + more + `,"mode":"createOrUpdate","properties":{` + more + `}}}`,
		} {
			try(s, body)
		}
	}
	for _, s := range e.operations() {
		if !manages.MatchString(s.name) {
			continue
		}
		for _, params := range []string{
			`{` + more + `}`, `{"name":"bob","group":"administrators"}`, `{"name":"bob","user":{"entity-type":"user","properties":{` + more + `}}}`, `{"groupname":"administrators","members":["bob"],"mode":"createOrUpdate"}`,
			`{"name":"administrators","group":{"entity-type":"group","groupname":"administrators","memberUsers":["bob"]}}`, `{"username":"bob","type":"team"}`, `{"name":"Administrator"}`,
		} {
			try(s, `{"params":`+params+`}`)
		}
	}
	if is, _ := e.standing(); is != was {
		t.Errorf("bob is %s, was %s", is, was)
	}
	taken.least(t, "taken", tally{"address": 45, "adapter": 5, "operation": 100})
	e.owned().least(t, "bob's", tally{"swebhooks": 2, "skeys": 3})
	a := e.Do("PUT", api+"/user/bob", `{"entity-type":"user","id":"bob","properties":{"username":"bob","groups":["administrators"]}}`)
	if _, admin := e.standing(); !admin {
		t.Errorf("what makes bob more when an administrator sends it does not: %s %s", a.Status, a.Text)
	}
}

// manages are the operations that make or change people and what belongs to one.
var manages = regexp.MustCompile(`^operation (Auth|Bulk|Comment|Group|Key|OAuth2|SavedSearch|Services|Team|Token|User|UserGroup|Webhook)\.`)
