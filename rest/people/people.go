// Package people serves accounts: users and groups, and the ways they sign in: sessions, API keys, device tokens and
// OAuth 2. Which permissions an account has is decided in storage.
//
// Handlers translate between the platform's entities and the operations of ops/user and ops/oauth. Signing in
// itself, by whatever means, is in package rest, because every request needs it.
package people

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// Routes are the addresses of accounts, and of directories.
func Routes() []rest.Route {
	return slices.Concat(accountRoutes(), directoryRoutes(), OAuthAdminRoutes(), tokenRoutes())
}

// accountRoutes are the addresses of users and groups. Names run to the end of the path, or to
// what says how somebody belongs to a group; they may hold slashes.
func accountRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/group/*name", Handle: readGroup, Parts: []rest.Route{
			{Path: "/group/:name", Op: "Group.Get", Gives: "Group"},
			{Path: "/group/:name/@groups", Op: "Group.Groups", Query: peopleQuery, Gives: "Groups"},
			{Path: "/group/:name/@users", Op: "Group.Users", Query: peopleQuery, Gives: "Users"},
		}},
		{Method: "POST", Path: "/group", Op: "Group.Create", Entity: "group", Status: http.StatusCreated, Gives: "Group"},
		{Method: "POST", Path: "/group/*name", Body: rest.NoBody, Handle: joinGroup, Parts: []rest.Route{
			{Path: "/group/:group/user/:name", Body: rest.NoBody, Op: "User.AddToGroup", Status: http.StatusCreated, Gives: "User"},
		}},
		{Method: "PUT", Path: "/group/*name", Op: "Group.Update", Entity: "group", Params: person, Gives: "Group"},
		{Method: "DELETE", Path: "/group/*name", Handle: deleteGroup, Parts: []rest.Route{
			{Path: "/group/:name", Op: "Group.Delete"},
			{Path: "/group/:group/user/:name", Op: "User.RemoveFromGroup", Gives: "text"},
		}},
		{Method: "GET", Path: "/group/search", Op: "Group.Search", Query: peopleQuery, Gives: "Groups"},
		{Method: "GET", Path: "/me", Op: "User.Me", Gives: "User"},
		{Method: "PUT", Path: "/me/changepassword", Op: "User.ChangePassword", Entity: "*", Gives: "User"},
		{Method: "GET", Path: "/user/*name", Op: "User.Read", Params: person, Gives: "User"},
		{Method: "POST", Path: "/user", Op: "User.Create", Entity: "user", Status: http.StatusCreated, Gives: "User"},
		{Method: "POST", Path: "/user/*name", Body: rest.NoBody, Handle: joinGroup, Parts: []rest.Route{
			{Path: "/user/:name/group/:group", Body: rest.NoBody, Op: "User.AddToGroup", Status: http.StatusCreated, Gives: "User"},
		}},
		{Method: "PUT", Path: "/user/*name", Op: "User.Update", Entity: "user", Params: person, Gives: "User"},
		{Method: "DELETE", Path: "/user/*name", Handle: deleteUser, Parts: []rest.Route{
			{Path: "/user/:name", Op: "User.Delete"},
			{Path: "/user/:name/group/:group", Op: "User.RemoveFromGroup", Gives: "text"},
		}},
		{Method: "GET", Path: "/user/search", Op: "User.Search", Query: peopleQuery, Gives: "Users"},
	}
}

// peopleQuery are the parameters that ask for some users or groups, and for a part of their list.
const peopleQuery = "q pageSize currentPageIndex after"

// person is the name in an address, without the slash that may follow it.
func person(x *rest.Request) (rest.Values, error) {
	name, err := rest.Decode(strings.TrimSuffix(x.Segments.Get("name"), "/"))
	if err != nil || name == "" {
		return nil, cmp.Or[error](err, fault.NotFound.Errorf("%s: a name is missing", x.HTTP.URL.Path))
	}
	return rest.Values{"name": name}, nil
}

// readGroup answers with a group, or with those in it.
func readGroup(x *rest.Request) error {
	name, hops, err := rest.SplitHops(x.Segments.Get("name"))
	switch {
	case err != nil:
		return err
	case len(hops) == 0:
		return x.Call("Group.Get", person, http.StatusOK)
	}
	op := map[string]string{"groups": "Group.Groups", "users": "Group.Users"}[hops[0].Name]
	if op == "" || len(hops) > 1 || hops[0].Args != "" {
		return fault.NotFound.Errorf("adapter @%s", hops[0].Name)
	}
	return x.Call(op, func(x *rest.Request) (rest.Values, error) {
		out := rest.Values{"name": name}
		rest.Pick(out, x.Query(), strings.Fields(peopleQuery)...)
		return out, nil
	}, http.StatusOK)
}

// belonging takes an address apart that says who belongs to which group.
func belonging(x *rest.Request) (rest.Values, bool, error) {
	path := strings.TrimSuffix(x.Segments.Get("name"), "/")
	mid, user := "/group/", 0
	if strings.HasPrefix(x.Route.Path, "/group/") {
		mid, user = "/user/", 1
	}
	i := strings.LastIndex(path, mid)
	if i <= 0 || i+len(mid) == len(path) {
		return nil, false, nil
	}
	names := [2]string{path[:i], path[i+len(mid):]}
	name, err := rest.Decode(names[user])
	if err != nil {
		return nil, true, err
	}
	group, err := rest.Decode(names[1-user])
	return rest.Values{"name": name, "group": group}, true, err
}

// joinGroup answers with the user who was put into a group.
func joinGroup(x *rest.Request) error {
	params, ok, err := belonging(x)
	if err != nil {
		return err
	}
	if !ok {
		x.Writer.Header().Set("Allow", "DELETE, GET, HEAD, PUT")
		return fault.Invalid.Errorf("method POST is not allowed here").WithCode(fault.CodeMethodNotAllowed)
	}
	return x.Run(engine.Call{Op: "User.AddToGroup", Params: params}, rest.Reply{Status: http.StatusCreated})
}

func deleteUser(x *rest.Request) error { return deletePerson(x, "User.Delete", "username") }

func deleteGroup(x *rest.Request) error { return deletePerson(x, "Group.Delete", "groupname") }

// deletePerson removes a user or group, or a membership: then the answer is the user's name.
func deletePerson(x *rest.Request, op, name string) error {
	params, ok, err := belonging(x)
	if err != nil {
		return err
	}
	if !ok {
		if params, err = person(x); err != nil {
			return err
		}
		return x.Run(engine.Call{Op: op, Params: rest.Values{name: params["name"]}}, rest.Reply{Status: http.StatusNoContent})
	}
	if _, err := x.Value(engine.Call{Op: "User.RemoveFromGroup", Params: params, DryRun: x.Flag("dryRun")}); err != nil {
		return err
	}
	user, _ := params["name"].(string)
	return x.Text(http.StatusOK, user)
}
