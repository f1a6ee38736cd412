package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// peopleRoutes are the addresses of accounts, and of directories.
func peopleRoutes() []route {
	return slices.Concat(accountRoutes(), directoryRoutes(), oauthAdminRoutes(), tokenRoutes())
}

// accountRoutes are the addresses of users and groups. Names run to the end of the path, or to
// what says how somebody belongs to a group; they may hold slashes.
func accountRoutes() []route {
	return []route{
		{method: "GET", path: "/group/*name", handle: readGroup, parts: []route{
			{path: "/group/:name", op: "Group.Get", gives: "Group"},
			{path: "/group/:name/@groups", op: "Group.Groups", query: peopleQuery, gives: "Groups"},
			{path: "/group/:name/@users", op: "Group.Users", query: peopleQuery, gives: "Users"},
		}},
		{method: "POST", path: "/group", op: "Group.Create", entity: "group", status: http.StatusCreated, gives: "Group"},
		{method: "POST", path: "/group/*name", body: noBody, handle: joinGroup, parts: []route{
			{path: "/group/:group/user/:name", body: noBody, op: "User.AddToGroup", status: http.StatusCreated, gives: "User"},
		}},
		{method: "PUT", path: "/group/*name", op: "Group.Update", entity: "group", params: person, gives: "Group"},
		{method: "DELETE", path: "/group/*name", handle: deleteGroup, parts: []route{
			{path: "/group/:name", op: "Group.Delete"},
			{path: "/group/:group/user/:name", op: "User.RemoveFromGroup", gives: "text"},
		}},
		{method: "GET", path: "/group/search", op: "Group.Search", query: peopleQuery, gives: "Groups"},
		{method: "GET", path: "/me", op: "User.Me", gives: "User"},
		{method: "PUT", path: "/me/changepassword", op: "User.ChangePassword", entity: "*", gives: "User"},
		{method: "GET", path: "/user/*name", op: "User.Read", params: person, gives: "User"},
		{method: "POST", path: "/user", op: "User.Create", entity: "user", status: http.StatusCreated, gives: "User"},
		{method: "POST", path: "/user/*name", body: noBody, handle: joinGroup, parts: []route{
			{path: "/user/:name/group/:group", body: noBody, op: "User.AddToGroup", status: http.StatusCreated, gives: "User"},
		}},
		{method: "PUT", path: "/user/*name", op: "User.Update", entity: "user", params: person, gives: "User"},
		{method: "DELETE", path: "/user/*name", handle: deleteUser, parts: []route{
			{path: "/user/:name", op: "User.Delete"},
			{path: "/user/:name/group/:group", op: "User.RemoveFromGroup", gives: "text"},
		}},
		{method: "GET", path: "/user/search", op: "User.Search", query: peopleQuery, gives: "Users"},
	}
}

// peopleQuery are the parameters that ask for some users or groups, and for a part of their list.
const peopleQuery = "q pageSize currentPageIndex"

// person is the name in an address, without the slash that may follow it.
func person(x *exchange) (values, error) {
	name, err := decode(strings.TrimSuffix(x.ps.get("name"), "/"))
	if err != nil || name == "" {
		return nil, cmp.Or[error](err, fault.NotFound.Errorf("%s: a name is missing", x.r.URL.Path))
	}
	return values{"name": name}, nil
}

// readGroup answers with a group, or with those in it.
func readGroup(x *exchange) error {
	name, hops, err := splitHops(x.ps.get("name"))
	switch {
	case err != nil:
		return err
	case len(hops) == 0:
		return x.call("Group.Get", person, http.StatusOK)
	}
	op := map[string]string{"groups": "Group.Groups", "users": "Group.Users"}[hops[0].name]
	if op == "" || len(hops) > 1 || hops[0].args != "" {
		return fault.NotFound.Errorf("adapter @%s", hops[0].name)
	}
	return x.call(op, func(x *exchange) (values, error) {
		out := values{"name": name}
		pick(out, x.query(), strings.Fields(peopleQuery)...)
		return out, nil
	}, http.StatusOK)
}

// belonging takes an address apart that says who belongs to which group.
func belonging(x *exchange) (values, bool, error) {
	path := strings.TrimSuffix(x.ps.get("name"), "/")
	mid, user := "/group/", 0
	if strings.HasPrefix(x.route.path, "/group/") {
		mid, user = "/user/", 1
	}
	i := strings.LastIndex(path, mid)
	if i <= 0 || i+len(mid) == len(path) {
		return nil, false, nil
	}
	names := [2]string{path[:i], path[i+len(mid):]}
	name, err := decode(names[user])
	if err != nil {
		return nil, true, err
	}
	group, err := decode(names[1-user])
	return values{"name": name, "group": group}, true, err
}

// joinGroup answers with the user who was put into a group.
func joinGroup(x *exchange) error {
	params, ok, err := belonging(x)
	if err != nil {
		return err
	}
	if !ok {
		x.w.Header().Set("Allow", "DELETE, GET, HEAD, PUT")
		return fault.Invalid.Errorf("method POST is not allowed here").WithCode(fault.CodeMethodNotAllowed)
	}
	return x.run(engine.Call{Op: "User.AddToGroup", Params: params}, reply{status: http.StatusCreated})
}

func deleteUser(x *exchange) error { return x.deletePerson("User.Delete", "username") }

func deleteGroup(x *exchange) error { return x.deletePerson("Group.Delete", "groupname") }

// deletePerson removes a user or group, or a membership: then the answer is the user's name.
func (x *exchange) deletePerson(op, name string) error {
	params, ok, err := belonging(x)
	if err != nil {
		return err
	}
	if !ok {
		if params, err = person(x); err != nil {
			return err
		}
		return x.run(engine.Call{Op: op, Params: values{name: params["name"]}}, reply{status: http.StatusNoContent})
	}
	call := engine.Call{
		Op: "User.RemoveFromGroup", Params: params, As: x.as, Door: x.door(), RequestID: x.id, DryRun: x.flag("dryRun"),
	}
	if _, err := x.engine.Run(x.r.Context(), call); err != nil {
		return err
	}
	user, _ := params["name"].(string)
	return x.text(http.StatusOK, user)
}
