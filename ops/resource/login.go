package resource

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/people"
)

var login = engine.Op{
	Name:     "Login",
	Label:    "Login",
	Category: "Users & Groups",
	Doc:      "Returns who is signed in.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Login"),
	Run:      engine.On(loginParams.run),
}

type loginParams struct{}

func (loginParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	groups := c.As.Groups
	// The entity shows only the groups that directly contain the user. The principal also has those
	// above them. The server itself, and a user deleted meanwhile, keep the principal's.
	if u, err := people.Lookup(c.Tx, c.As.Name); err == nil {
		groups = u.Groups
	}
	return map[string]any{
		"entity-type":     "login",
		"id":              c.As.Name,
		"username":        c.As.Name,
		"isAdministrator": c.As.Admin,
		"groups":          engine.List(groups),
	}, nil
}
