package rest_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const platformAPI = api + "/openapi.json"

// described are the methods and paths of a description.
func (c *contract) described() (all []string) {
	for path, methods := range c.at("paths") {
		for method := range methods.(map[string]any) {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

// varied are the parts of a described path that vary.
var varied = regexp.MustCompile(`\{\w+\}`)

// describedPath is a path of the description: what requests of it look like, and how many of its bytes do not vary.
type describedPath struct {
	method, path string
	form         *regexp.Regexp
	fixed        int
}

// paths are the described paths. They are made once: a hundred thousand expressions would be compiled otherwise.
func (c *contract) paths() []describedPath {
	if c.forms != nil {
		return c.forms
	}
	for _, d := range c.described() {
		method, path, _ := strings.Cut(d, " ")
		pattern, at := "", 0
		for _, part := range varied.FindAllStringIndex(path, -1) {
			form := "[^/]+"
			switch path[part[0]+1 : part[1]-1] {
			case "doc", "tail", "xpath", "adapter":
				form = ".+"
			}
			pattern += regexp.QuoteMeta(path[at:part[0]]) + form
			at = part[1]
		}
		form := regexp.MustCompile("^" + pattern + regexp.QuoteMeta(path[at:]) + "/?$")
		c.forms = append(c.forms, describedPath{method, path, form, len(varied.ReplaceAllString(path, ""))})
	}
	return c.forms
}

// of finds the described path that a request is of: the one that says most of it.
func (c *contract) of(method, path string) string {
	path, _, _ = strings.Cut(strings.TrimPrefix(path, "/nuxeo"), "?")
	best, most := "", -1
	for _, d := range c.paths() {
		if d.method == method && d.fixed > most && d.form.MatchString(path) {
			best, most = d.path, d.fixed
		}
	}
	return best
}

// TestPlatformDescribed has every address of the platform in the description, with a summary and what it
// answers, and nothing else in it.
func TestPlatformDescribed(t *testing.T) {
	s := start(t)
	c := readContract(t, s, platformAPI)
	all := c.described()
	want := map[string]bool{}
	for _, d := range describedAddresses() {
		want[d] = true
	}
	if len(want) < 150 || len(all) != len(want) {
		t.Errorf("%d addresses are described, %d there", len(all), len(want))
	}
	ids := map[string]string{}
	for _, d := range all {
		method, path, _ := strings.Cut(d, " ")
		says := c.at("paths", path, strings.ToLower(method))
		summary, _ := says["summary"].(string)
		id, _ := says["operationId"].(string)
		if parts := varied.FindAllString(path, -1); id == "" || ids[id] != "" || len(parts) > 1 && slices.Contains(parts[1:], parts[0]) {
			t.Errorf("%s: identifier %q, also of %q; parts %q", d, id, ids[id], parts)
		}
		ids[id] = d
		responses, _ := says["responses"].(map[string]any)
		if !want[d] || summary == "" || len(responses) < 2 {
			t.Errorf("%s: there %v, summary %q, %d answers", d, want[d], summary, len(responses))
		}
	}
}

// refusedAddresses are rows of the tables that serve only what more follows.
var refusedAddresses = []string{"DELETE /api/v1/bulk/:commandId", "POST /api/v1/group/*name", "POST /api/v1/user/*name", "POST @bo", "GET @diff", "POST /api/v1/id/:id/*tail", "PUT /api/v1/id/:id/*tail", "DELETE /api/v1/id/:id/*tail"}

// TestPlatformContract sends a request to every address, adapter and operation, and compares each answer with
// what the description says of it.
func TestPlatformContract(t *testing.T) {
	e := newEverything(t, "Administrator", "/default-domain/workspaces")
	e.fill("Canary")
	c := readContractAs(t, e.Server, platformAPI, "Administrator")
	e.User("chief", "administrators")
	shots := append(e.addresses(), e.operations()...)
	slices.SortStableFunc(shots, func(a, b shot) int { return e.harm(a) - e.harm(b) })
	sent, good := 0, 0
	for _, s := range shots {
		s.path = strings.Replace(s.path, "/api/v1/id/1", "/api/v1/id/"+e.id, 1)
		if !strings.HasPrefix(s.path, "/api/v1") && !strings.HasPrefix(s.path, api) {
			continue
		}
		if strings.HasSuffix(s.path, "/events") {
			continue // goes on until what it describes has ended
		}
		of := c.of(s.method, s.path)
		if of == "" {
			if !slices.Contains(refusedAddresses, s.name) {
				t.Errorf("%s %s is not described", s.name, s.path)
			}
			continue
		}
		got := e.send(s, "as", "chief", "properties", "*", "Nuxeo-Transaction-Timeout", "20")
		sent++
		if got.StatusCode < http.StatusBadRequest {
			good++
		}
		c.check(s.method, of, got)
	}
	if sent < 500 || good < 280 || c.used < 450 {
		t.Errorf("%d requests, %d without an error, %d checked with a schema", sent, good, c.used)
	}
	t.Logf("%d requests, %d without an error, %d checked with a schema", sent, good, c.used)
}

// harm orders requests: those that read, those that write, those that take away what others need.
func (e *everything) harm(s shot) int {
	switch {
	case e.reading(s):
		return 0
	case s.method == http.MethodDelete || regexp.MustCompile(`\.(Delete|Remove|Trash|Empty|Move)|[^.](Delete|Remove|Trash)`).MatchString(s.name):
		return 2
	}
	return 1
}

// TestPlatformOperations tells the caller of the operations they may run, and nobody of any.
func TestPlatformOperations(t *testing.T) {
	s := start(t)
	s.User("bob")
	for _, tt := range []struct {
		as, op string
		there  bool
	}{
		{"Administrator", "Auth.LoginAs", true},
		{"bob", "Auth.LoginAs", false},
		{"bob", "Document.Create", true},
		{"", "Document.Create", false},
	} {
		c := readContractAs(t, s, platformAPI, tt.as)
		call := c.at("paths", "/api/v1/automation/"+tt.op, "post")
		if (call != nil) != tt.there {
			t.Errorf("%s for %q: %v", tt.op, tt.as, call)
		}
		if call == nil {
			continue
		}
		schema := c.at("paths", "/api/v1/automation/"+tt.op, "post", "requestBody", "content", "application/json", "schema", "properties", "params")
		if schema["properties"] == nil || schema["title"] != tt.op {
			t.Errorf("%s: parameters %v", tt.op, schema)
		}
	}
}

// TestPlatformTyped counts the answers of which the description says no more than that they are JSON: values of operations
// that may return anything, and addresses that write something of their own.
func TestPlatformTyped(t *testing.T) {
	c := readContractAs(t, start(t), platformAPI, "Administrator")
	var operations, addresses []string
	all := 0
	for _, d := range c.described() {
		method, path, _ := strings.Cut(d, " ")
		responses := c.at("paths", path, strings.ToLower(method), "responses")
		for status := range responses {
			if status[0] != '2' {
				continue
			}
			all++
			schema := c.at("paths", path, strings.ToLower(method), "responses", status, "content", "application/json", "schema")
			if schema == nil || len(schema) > 0 && schema["$ref"] != "#/components/schemas/Value" && schema["$ref"] != "#/components/schemas/Entity" {
				continue
			}
			if name, ok := strings.CutPrefix(path, "/api/v1/automation/"); ok && !strings.Contains(name, "{") {
				operations = append(operations, name)
			} else {
				addresses = append(addresses, d)
			}
		}
	}
	if len(operations) > 8 || len(addresses) > 8 {
		t.Errorf("of %d answers %d of operations and %d of addresses have no type: %v %v", all, len(operations), len(addresses), operations, addresses)
	}
	t.Logf("of %d answers %d of operations and %d of addresses have no type", all, len(operations), len(addresses))
}
