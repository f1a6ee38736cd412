package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestPeople checks the addresses of users and groups.
func TestPeople(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	s.User("eve", "powerusers")
	odd := "a%20b/c@d%20%E3%83%9F"
	for _, x := range []struct {
		method, path, body string
		status             int
		want               string // part of the answer
		headers            []string
	}{
		{"GET", "/user/Administrator", "", 200, `"groups":["administrators"],"tenantId":null`, nil},
		{"GET", "/me", "", 200, `"id":"bob"`, []string{"as", "bob"}},
		{"GET", "/me?enrichers.user=userprofile", "", 200, `"contextParameters":{"userprofile":{"avatar":null,"birthdate":null,"gender":false,"locale":null,"phonenumber":null}}`, nil},
		{"GET", "/user/nobody", "", 404, "", nil},
		{"POST", "/user", `{"entity-type":"user","properties":{"username":"leela","firstName":"Leela","company":"P","email":"leela@example.org","password":"one"}}`, 201, `"lastName":null`, nil},
		{"POST", "/user", `{"entity-type":"user","properties":{"username":"leela"}}`, 409, "", nil},
		{"POST", "/user", `{"entity-type":"user","properties":{"username":"x"}}`, 403, "Cannot create artifact", []string{"as", "bob"}},
		{"POST", "/user", `{"entity-type":"user","properties":{"username":"x","groups":["nope"]}}`, 403, "group does not exist: nope", nil},
		{"POST", "/user", `{"entity-type":"user","properties":{"username":"x","groups":["administrators"]}}`, 403, "", []string{"as", "eve"}},
		{"POST", "/user", `{"entity-type":"user","properties":{"username":"zoe"}}`, 201, "", []string{"as", "eve"}},
		{"PUT", "/user/leela", `{"entity-type":"user","id":"leela","properties":{"username":"leela","firstName":"Turanga"}}`, 200, `"firstName":"Turanga"`, nil},
		{"PUT", "/user/leela", `{"properties":{"firstName":"x"}}`, 403, "", []string{"as", "bob"}},
		{"PUT", "/user/Administrator", `{"properties":{"password":"x"}}`, 403, "", []string{"as", "eve"}},
		{"GET", "/user/search?q=lee", "", 200, `"entity-type":"users","isPaginable":true,"resultsCount":1`, nil},
		{"GET", "/user/search?q=*&pageSize=2", "", 200, `"currentPageSize":2`, nil},
		{"POST", "/user", `{"entity-type":"user","properties":{"username":"a b/c@d ミ"}}`, 201, "", nil},
		{"GET", "/user/" + odd, "", 200, `"id":"a b/c@d ミ"`, nil},
		{"POST", "/group", `{"entity-type":"group","groupname":"foo","grouplabel":"Foo","memberUsers":["Administrator"],"memberGroups":["Administrators"]}`, 201, `"grouplabel":"Foo"`, nil},
		{"POST", "/group", `{"entity-type":"group","groupname":"foo"}`, 409, "Group already exists", nil},
		{"POST", "/group", `{"entity-type":"group"}`, 400, "Group MUST have a name", nil},
		{"GET", "/group/foo?fetch-group=memberUsers&fetch-group=memberGroups", "", 200, `"memberUsers":["Administrator"],"memberGroups":["Administrators"]`, nil},
		{"GET", "/group/nope", "", 404, "group does not exist", nil},
		{"PUT", "/group/foo", `{"entity-type":"group","groupname":"foo","grouplabel":"Fighters"}`, 200, `"grouplabel":"Fighters"`, nil},
		{"POST", "/user/" + odd + "/group/foo", "", 201, `"groups":["foo"]`, nil},
		{"POST", "/group/foo/user/leela", "", 201, `"groups":["foo"]`, nil},
		{"POST", "/group/foo/user/leela", "", 403, "", []string{"as", "bob"}},
		{"POST", "/group/nope/user/leela", "", 404, "", nil},
		{"GET", "/group/foo/@users?q=lee", "", 200, `"resultsCount":1`, nil},
		{"GET", "/group/foo/@users", "", 200, `"resultsCount":3`, nil},
		{"GET", "/group/foo/@groups", "", 200, `"entity-type":"groups"`, nil},
		{"GET", "/group/foo/@nope", "", 404, "", nil},
		{"DELETE", "/user/leela/group/foo", "", 200, "leela", nil},
		{"DELETE", "/group/foo/user/" + odd, "", 200, "a b/c@d ミ", nil},
		{"GET", "/group/search?q=fig", "", 200, `"resultsCount":1`, nil},
		{"DELETE", "/group/foo", "", 403, "", []string{"as", "bob"}},
		{"DELETE", "/group/foo", "", 204, "", nil},
		{"DELETE", "/user/" + odd, "", 204, "", nil},
		{"DELETE", "/user/" + odd, "", 404, "", nil},
		{"POST", "/user/leela", "", 405, "", nil},
		{"PUT", "/me/changepassword", `{"oldPassword":"wrong","newPassword":"x"}`, 401, "", []string{"as", "bob"}},
		{"PUT", "/me/changepassword", `{"oldPassword":"` + resttest.Password + `","newPassword":"x"}`, 200, `"id":"bob"`, []string{"as", "bob"}},
		{"GET", "/me", "", 401, "", []string{"as", "bob"}},
		{"PUT", "/repo/default/user/bob", `{"properties":{"password":"` + resttest.Password + `"}}`, 200, "", nil},
		{"GET", "/me", "", 200, "", []string{"as", "bob"}},
	} {
		a := s.Do(x.method, "/nuxeo/api/v1"+x.path, x.body, x.headers...)
		if a.StatusCode != x.status || !strings.Contains(a.Text, x.want) {
			t.Errorf("%s %s: %d %s, want %d %s", x.method, x.path, a.StatusCode, a.Text, x.status, x.want)
		}
		if a.StatusCode == http.StatusOK && x.method == "DELETE" && strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s %s: answers JSON", x.method, x.path)
		}
		if strings.Contains(a.Text, "password") && x.status < 300 {
			t.Errorf("%s %s: tells of a password: %s", x.method, x.path, a.Text)
		}
	}
}
