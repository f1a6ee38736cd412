package user_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/ops/opstest"
	"catena/ops/user"
)

func TestUsersThatAreChanged(t *testing.T) {
	s := opstest.Serve(t, user.Ops)
	made := func(props string) string { return `{"user": {"entity-type": "user", "properties": {` + props + `}}}` }
	s.Play([]opstest.Row{
		{"alice", "User.Create", "", made(`"username": "eve"`), "! denied: Cannot create artifact"},
		{"", "User.Update", "", `{"name": "bob", "user": {"properties": {"company": "Mine"}}}`, "! denied: User is not allowed to edit users"},
		{"", "User.Delete", "", `{"username": "bob"}`, "! denied: User is not allowed to edit users"},
		{"", "User.AddToGroup", "", `{"name": "alice", "group": "administrators"}`, "! denied: User is not allowed to edit users"},
		{"", "Services.CreateUser", "", `{"username": "eve"}`, "! notfound unknown_operation: operation Services.CreateUser"},
		{"", "User.SetAccount", "", `{"username": "alice", "type": "pro"}`, "! notfound unknown_operation: operation User.SetAccount"},
		{"admin", "User.Create", "", made(`"username": "éva", "firstName": "Éva", "password": "a secret"`), `{…"id":"éva"…}`},
		{"", "User.Create", "", made(`"username": "éva"`), "! exists: User already exists"},
		{"", "User.Create", "", made(`"username": ""`), "! invalid username: User MUST have a name"},
		{"", "User.Create", "", made(`"username": "n", "nope": "1"`), `{…"id":"n"…}`},
		{"", "User.Create", "", made(`"username": "x", "groups": 5`), "! invalid groups: groups: must be a list of names"},
		{"", "User.Create", "", made(`"username": "x", "groups": [5]`), "! invalid groups: groups: must be a list of names"},
		{"", "User.Create", "", `{"user": {"entity-type": "group"}}`, `! invalid entity-type: entity-type: must be user, not "group"`},
		{"", "User.Create", "", `{"user": {"properties": "x"}}`, "! invalid properties: properties: must be an object"},
		{"", "User.Create", "", `{}`, `! invalid missing_parameter user: parameter "user" is missing`},
		{"", "User.Update", "", `{"name": "éva", "user": {"properties": {"company": "日本"}}}`, `{…"firstName":"Éva"…"company":"日本"…}`},
		{"", "User.Update", "", `{"name": "éva", "user": {"properties": {"username": "eva"}}}`, "! invalid username: user éva: cannot be renamed to eva"},
		{"", "User.Update", "", `{"name": "nobody", "user": {"properties": {"company": "x"}}}`, "! notfound: user does not exist"},
		{"", "User.Delete", "", `{"username": "éva"}`, ""},
		{"", "User.Delete", "", `{"username": "éva"}`, "! notfound: user does not exist"},
		{"", "Services.CreateUser", "", `{"username": "eve", "mode": "update"}`, "! notfound…user eve: does not exist"},
		{"", "Services.CreateUser", "", `{"username": "eve", "mode": "create", "email": "eve@example.org"}`, ""},
		{"", "Services.CreateUser", "", `{"username": "eve", "mode": "create"}`, "! exists…user eve: already exists"},
		{"", "Services.CreateUser", "", `{"username": "eve", "mode": "upsert"}`, `! invalid mode: parameter "mode": "upsert" is not one of createOrUpdate, create, update`},
		{"", "Services.CreateUser", "", `{"username": "eve", "tenantId": "t"}`, "! invalid tenantId: tenantId: there are no tenants"},
		{"", "Services.CreateUser", "", `{"username": "eve", "properties": {"nope": "1"}}`, `! invalid properties: properties: users have no field "nope"`},
		{"", "User.SetAccount", "", `{"username": "eve", "type": "free", "billingPeriod": "monthly"}`, "! invalid billingPeriod: billingPeriod: free accounts are not billed"},
		{"", "User.SetAccount", "", `{"username": "eve", "type": "gold"}`, `! invalid type: parameter "type": "gold" is not one of free, lite, pro`},
		{"", "User.SetAccount", "", `{"username": "nobody", "type": "pro"}`, "! notfound: user does not exist: nobody"},
		{"", "User.AddToGroup", "", `{"name": "eve", "group": "nope"}`, "! notfound: group does not exist"},
		{"", "User.AddToGroup", "", `{"name": "nobody", "group": "members"}`, "! notfound: user does not exist"},
	})
}

func TestPasswordsThatAreChanged(t *testing.T) {
	s := opstest.Serve(t, user.Ops)
	s.Play([]opstest.Row{
		{"alice", "User.ChangePassword", "", `{"oldPassword": "wrong", "newPassword": "another secret"}`, "! denied not_signed_in oldPassword: password: the old password is wrong"},
		{"", "User.ChangePassword", "", `{"oldPassword": "", "newPassword": "another secret"}`, "! denied not_signed_in oldPassword: password: the old password is wrong"},
		{"", "User.ChangePassword", "", `{"oldPassword": "secret"}`, `! invalid missing_parameter newPassword: parameter "newPassword" is missing`},
		{"", "User.ChangePassword", "", `{"oldPassword": "secret", "newPassword": ""}`, "! invalid newPassword: password: the new password must not be empty"},
		{"", "User.ChangePassword", "", `{"oldPassword": "secret", "newPassword": "pässwörd 日本"}`, `{…"id":"alice"…}`},
		{"", "User.ChangePassword", "", `{"oldPassword": "secret", "newPassword": "pässwörd 日本"}`, "! denied not_signed_in oldPassword: password: the old password is wrong"}, // it is the old one no more
		{"bob", "User.ChangePassword", "", `{"oldPassword": "pässwörd 日本", "newPassword": "x secret"}`, "! denied not_signed_in oldPassword: password: the old password is wrong"},
		{"alice", "User.ChangePassword", "", `{"oldPassword": "pässwörd 日本", "newPassword": "a third one"}`, `{…"id":"alice"…}`},
	})
}

func TestGroupsThatAreChanged(t *testing.T) {
	s := opstest.Serve(t, user.Ops)
	group := func(name, more string) string {
		return fmt.Sprintf(`{"group": {"entity-type": "group", "groupname": %q%s}}`, name, more)
	}
	s.Play([]opstest.Row{
		{"alice", "Group.Create", "", group("g", ""), "! denied: Cannot create artifact"},
		{"", "Group.Delete", "", `{"groupname": "members"}`, "! denied: User is not allowed to edit users"},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g"}`, "! notfound unknown_operation: operation Group.CreateOrUpdate"},
		{"admin", "Group.Create", "", group("g", `, "memberUsers": ["alice", "bob"]`), `{…"groupname":"g"…}`},
		{"", "Group.Create", "", group("g", ""), "! exists: Group already exists"},
		{"", "Group.Create", "", group("", ""), "! invalid groupname: Group MUST have a name"},
		{"", "Group.Create", "", group("h", `, "memberUsers": 5`), "! invalid memberUsers: memberUsers: must be a list of names"},
		{"", "Group.Users", "", `{"name": "g"}`, `{…"resultsCount":2…}`},
		{"", "User.Create", "", `{"user": {"entity-type": "user", "properties": {"username": "Bea", "password": "pässwörd 日本"}}}`, `{…"id":"Bea"…}`},
		{"", "Group.Update", "", `{"name": "g", "group": {"memberUsers": ["bob", "Bea", "alice"]}}`, `{…"groupname":"g"…}`},
		{"", "Group.Users", "", `{"name": "g"}`, `{…"id":"alice"…"id":"Bea"…"id":"bob"…}`},
		{"", "Group.Update", "", `{"name": "g", "group": {"memberUsers": ["alice", "bob"]}}`, `{…"groupname":"g"…}`},
		{"", "Group.Users", "", `{"name": "g", "q": "al"}`, `{…"resultsCount":1…}`},
		{"", "Group.Users", "", `{"name": "g", "pageSize": 1, "currentPageIndex": 1}`, `{…"currentPageSize":1…}`},
		{"", "Group.Users", "", `{"name": "g", "pageSize": 1, "currentPageIndex": 2}`, `{…"currentPageSize":0…}`},
		{"", "Group.Users", "", `{"name": "g", "currentPageIndex": -1}`, "! invalid currentPageIndex: currentPageIndex: must be at least 0"},
		{"", "Group.Users", "", `{"name": "nope"}`, "! notfound: group does not exist"},
		{"", "Group.Update", "", `{"name": "g", "group": {"grouplabel": "Ünï"}}`, `{…"grouplabel":"Ünï"…}`},
		{"", "Group.Users", "", `{"name": "g"}`, `{…"resultsCount":2…}`}, // members that are not named stay
		{"", "Group.Update", "", `{"name": "g", "group": {"groupname": "h"}}`, "! invalid groupname: group g: cannot be renamed to h"},
		{"", "Group.Update", "", `{"name": "nope", "group": {}}`, "! notfound: group does not exist"},
		{"", "Group.CreateOrUpdate", "", `{"groupname": ""}`, "! invalid groupname: Group MUST have a name"},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "properties": {"nope": "1"}}`, `! invalid properties: properties: groups have no field "nope"`},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "h", "mode": "update"}`, "! notfound…group h: does not exist"},
		{"", "Group.CreateOrUpdate", "", `{"groupname": "g", "mode": "create"}`, "! exists…group g: already exists"},
		{"", "User.RemoveFromGroup", "", `{"name": "bob", "group": "g"}`, `{…"id":"bob"…"groups":[]…}`},
		{"", "Group.Users", "", `{"name": "g"}`, `{…"resultsCount":1…}`},
		{"", "Group.Delete", "", `{"groupname": "g"}`, ""},
		{"", "Group.Delete", "", `{"groupname": "g"}`, "! notfound: group does not exist"},
		{"", "Group.Read", "", `{"groupname": "g"}`, "! notfound: group does not exist"},
	})
}

func TestUsersThatAreFound(t *testing.T) {
	s := opstest.Serve(t, user.Ops)
	s.Play([]opstest.Row{
		{"alice", "User.Search", "", `{"q": "ali"}`, `{…"id":"alice"…}`},
		{"", "User.Search", "", `{"q": "nobody"}`, `{…"resultsCount":0…}`},
		{"", "User.Search", "", `{"q": "%"}`, `{…"resultsCount":3…}`}, // marks a prefix of the platform's
		{"", "User.Search", "", `{"q": "_lice"}`, `{…"resultsCount":0…}`},
		{"", "User.Search", "", `{"q": "*", "currentPageIndex": -1}`, "! invalid currentPageIndex: currentPageIndex: must be at least 0"},
		{"", "User.Search", "", `{"q": "*", "currentPageIndex": 9223372036854775807}`, "! invalid currentPageIndex…"},
		{"", "User.Get", "", `{"login": "bob"}`, "! denied: user bob: not visible to 'alice'"},
		{"", "User.GetUserWorkspace", "", `{}`, "…/alice"},
		{"", "UserGroup.Suggestion", "", `{"searchTerm": "ali", "searchType": "USER_TYPE"}`, `[{…"id":"alice"…}]`},
		{"", "UserGroup.Suggestion", "", `{"searchTerm": "ali", "searchType": "GROUP_TYPE"}`, `[]`},
		{"", "UserGroup.Suggestion", "", fmt.Sprintf(`{"searchTerm": %q}`, strings.Repeat("ü", 10_000)), `[]`},
		{"", "Key.Create", "", `{"user": "bob"}`, "! denied: keys of bob: not visible to 'alice'"},
		{"", "Key.Create", "", `{"scope": "all"}`, `! invalid scope: parameter "scope": "all" is not one of read_only, read_write`},
		{"", "Key.List", "", `{"user": "bob"}`, "! denied: keys of bob: not visible to 'alice'"},
		{"", "Key.Revoke", "", `{"id": 999999}`, "! notfound: key 999999: does not exist"},
		{"", "Key.Revoke", "", `{"id": -1}`, "! notfound: key -1: does not exist"},
		{"", "User.AcceptInvitation", "", `{"id": "nope"}`, "! notfound: invitation: does not exist or has expired"},
	})
}
