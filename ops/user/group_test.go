package user_test

import (
	"testing"

	"catena/ops/opstest"
	"catena/ops/user"
)

func serve(t *testing.T) *opstest.Engine {
	t.Helper()
	return opstest.Serve(t, user.Ops)
}

func TestSaveGroup(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"admin", "Group.CreateOrUpdate", "", `{"groupname": "g", "grouplabel": "G", "description": "About", "members": ["alice", "bob"]}`, ""},
		{"", "Group.Get", "", `{"name": "g"}`, `{"entity-type":"group","groupname":"g","grouplabel":"G","id":"g","properties":{"groupname":"g","grouplabel":"G","description":"About"}}`},
		{"", "Group.Users", "", `{"name": "g"}`, `…"resultsCount":2…"id":"alice"…"id":"bob"…`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "members": ["bob"]}`, ""}, // what is omitted stays
		{"", "Group.Users", "", `{"name": "g"}`, `…"resultsCount":1…"id":"bob"…`},
		{"", "Group.Get", "", `{"name": "g"}`, `{"entity-type":"group","groupname":"g","grouplabel":"G","id":"g","properties":{"groupname":"g","grouplabel":"G","description":"About"}}`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "members": []}`, ""},
		{"", "Group.Users", "", `{"name": "g"}`, `…"resultsCount":0…`},
		{"", "Group.Get", "", `{"name": "g"}`, `{"entity-type":"group","groupname":"g","grouplabel":"G","id":"g","properties":{"groupname":"g","grouplabel":"G","description":"About"}}`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "grouplabel": "", "properties": {"description": null}}`, ""},
		{"", "Group.Get", "", `{"name": "g"}`, `{"entity-type":"group","groupname":"g","grouplabel":"G","id":"g","properties":{"groupname":"g","grouplabel":"G","description":null}}`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "mode": "create"}`, "! exists: group g: already exists"},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "h", "mode": "update"}`, "! notfound: group h: does not exist"},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "h", "mode": "replace"}`, `! invalid mode: parameter "mode": "replace" is not one of createOrUpdate, create, update`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "h", "members": ["nobody"]}`, ""},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "h", "subGroups": ["nobody"]}`, ""},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "h", "subGroups": ["h"]}`, "! conflict: group h: cannot contain h, which contains it"},
		{"", "Group.CreateOrUpdate", "", `{"groupname": ""}`, "! invalid groupname: Group MUST have a name"},
		{"", "Group.CreateOrUpdate", "", `{}`, `! invalid missing_parameter groupname: parameter "groupname" is missing`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "h", "tenantId": "t"}`, "! invalid tenantId: tenantId: there are no tenants"},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "h", "properties": {"labl": "x"}}`, `! invalid properties: properties: groups have no field "labl"`},
		{"alice", "Group.CreateOrUpdate", "", `{"groupname": "h"}`, "! notfound unknown_operation: operation Group.CreateOrUpdate"},
	})
}

// TestSameProperties: of two names of a field the same one always counts, and the parameter before both.
func TestSameProperties(t *testing.T) {
	s := serve(t)
	for range 20 {
		s.Play([]opstest.Row{
			{"admin", "Group.CreateOrUpdate", "", `{"groupname": "g", "properties": {"grouplabel": "B", "group:grouplabel": "A", "description": "x"}}`, ""},
			{"", "Group.Get", "", `{"name": "g"}`, `…"grouplabel":"B"…`},
			{"", "Group.CreateOrUpdate", "", `{"groupname": "h", "properties": {"b": "x", "a": "x", "c": "x"}}`, `! invalid properties: properties: groups have no field "a"`},
			{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "grouplabel": "P", "properties": {"grouplabel": "B"}}`, ""},
			{"", "Group.Get", "", `{"name": "g"}`, `…"grouplabel":"P"…`},
		})
	}
}

func TestParents(t *testing.T) {
	s := serve(t)
	s.Play([]opstest.Row{
		{"admin", "Group.CreateOrUpdate", "", `{"groupname": "a"}`, ""},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "b"}`, ""},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "parentGroups": ["a", "b"]}`, ""},
		{"", "Group.Groups", "", `{"name": "a"}`, `…"resultsCount":1…"groupname":"g"…`},
		{"", "Group.Groups", "", `{"name": "b"}`, `…"resultsCount":1…"groupname":"g"…`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g"}`, ""}, // parents stay
		{"", "Group.Groups", "", `{"name": "b"}`, `…"resultsCount":1…"groupname":"g"…`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "parentGroups": ["a", "a"]}`, ""},
		{"", "Group.Groups", "", `{"name": "a"}`, `…"resultsCount":1…"groupname":"g"…`},
		{"", "Group.Groups", "", `{"name": "b"}`, `…"resultsCount":0…`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "parentGroups": ["nowhere"]}`, "! notfound: group does not exist"},
		{"", "Group.Groups", "", `{"name": "a"}`, `…"resultsCount":1…"groupname":"g"…`},                                                           // nothing has changed
		{"", "Group.CreateOrUpdate", "", `{"groupname": "a", "parentGroups": ["g"]}`, "! conflict: group g: cannot contain a, which contains it"}, // a cycle
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "parentGroups": []}`, ""},
		{"", "Group.Groups", "", `{"name": "a"}`, `…"resultsCount":0…`},
	})
}
