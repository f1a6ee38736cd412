package user

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/people"
)

var getWorkspace = engine.Op{
	Name:     "User.GetUserWorkspace",
	Aliases:  []string{"UserWorkspace.Get"},
	Label:    "Get Home",
	Category: "Users & Groups",
	Doc:      "Returns the caller's personal workspace, which is created on first use.",
	Callers:  engine.Anyone,
	Run:      engine.On(getWorkspaceParams.run),
}

type getWorkspaceParams struct{}

func (getWorkspaceParams) run(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	// It is made by the server, since users have no permission to create documents where the
	// workspaces are.
	return people.Home(c.Tx, true)
}
