package rest

import (
	"cmp"
	"net/http"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// peopleRoutes are the addresses of users and groups. Names run to the end of the path, or to
// what says how somebody belongs to a group; they may hold slashes.
func peopleRoutes() []route {
	return []route{
		{method: "GET", path: "/group/*name", handle: readGroup},
		{method: "POST", path: "/group", handle: sendPerson("Group.Create", "group", http.StatusCreated)},
		{method: "POST", path: "/group/*name", body: noBody, handle: joinGroup},
		{method: "PUT", path: "/group/*name", handle: sendPerson("Group.Update", "group", http.StatusOK)},
		{method: "DELETE", path: "/group/*name", handle: deleteGroup},
		{method: "GET", path: "/group/search", handle: call("Group.Search", personSearch)},
		{method: "GET", path: "/me", handle: call("User.Me", nil)},
		{method: "PUT", path: "/me/changepassword", handle: changePassword},
		{method: "GET", path: "/user/*name", handle: readUser},
		{method: "POST", path: "/user", handle: sendPerson("User.Create", "user", http.StatusCreated)},
		{method: "POST", path: "/user/*name", body: noBody, handle: joinGroup},
		{method: "PUT", path: "/user/*name", handle: sendPerson("User.Update", "user", http.StatusOK)},
		{method: "DELETE", path: "/user/*name", handle: deleteUser},
		{method: "GET", path: "/user/search", handle: call("User.Search", personSearch)},
	}
}

func personSearch(x *exchange) (values, error) {
	out := values{}
	pick(out, x.query(), "q", "pageSize", "currentPageIndex")
	return out, nil
}

// person is the name in an address, without the slash that may follow it.
func person(x *exchange) (values, error) {
	name, err := decode(strings.TrimSuffix(x.ps.get("name"), "/"))
	if err != nil || name == "" {
		return nil, cmp.Or[error](err, fault.NotFound.Errorf("%s: a name is missing", x.r.URL.Path))
	}
	return values{"name": name}, nil
}

func readUser(x *exchange) error { return call("User.Read", person)(x) }

// readGroup answers with a group, or with those in it.
func readGroup(x *exchange) error {
	name, hops, err := splitHops(x.ps.get("name"))
	switch {
	case err != nil:
		return err
	case len(hops) == 0:
		return call("Group.Get", person)(x)
	}
	op := map[string]string{"groups": "Group.Groups", "users": "Group.Users"}[hops[0].name]
	if op == "" || len(hops) > 1 || hops[0].args != "" {
		return fault.NotFound.Errorf("adapter @%s", hops[0].name)
	}
	return call(op, func(x *exchange) (values, error) {
		out, err := personSearch(x)
		out["name"] = name
		return out, err
	})(x)
}

// sendPerson runs an operation on the user or group in the body.
func sendPerson(op, name string, status int) handler {
	params := person
	if status == http.StatusCreated {
		params = nil
	}
	return func(x *exchange) error { return x.runBody(op, name, params, status) }
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

// changePassword gives who asks another password.
func changePassword(x *exchange) error {
	body, err := x.readJSON()
	if err != nil {
		return err
	}
	return x.run(engine.Call{Op: "User.ChangePassword", RawParams: body}, reply{status: http.StatusOK})
}
