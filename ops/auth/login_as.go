package auth

import (
	"cmp"

	"catena/engine"
	"catena/storage"
)

var loginAs = engine.Op{
	Name:     "Auth.LoginAs",
	Label:    "Login As",
	Category: "Users & Groups",
	Doc: "Continues as another user, or without a name as the server itself on behalf of the user, until Auth.Logout or the end of the " +
		"run. A document is read again as the new user; any other input is passed on. Only administrators and stored chains may call it.",
	Effect:  engine.Reads,
	Callers: engine.Admins.OrStored(),
	Run:     engine.Overload(engine.On(loginParams.void), engine.On(loginParams.doc)),
}

type loginParams struct {
	Name string `json:"name,omitzero" doc:"Name of the user."`
}

func (p loginParams) void(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	as, err := p.principal(c)
	if err == nil {
		c.Login(as)
	}
	return engine.Void{}, err
}

func (p loginParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if _, err := p.void(c, engine.Void{}); err != nil {
		return nil, err
	}
	return reread(c, d)
}

// principal is who will act. What a key may not do, nobody whom its holder becomes may.
func (p loginParams) principal(c *engine.Ctx) (*storage.Principal, error) {
	system := c.Tx.Repo().System()
	as := *system
	if p.Name == "" {
		as.Actor = cmp.Or(c.As.Actor, c.As.Name)
	} else {
		user, err := storage.PrincipalOf(c.Tx.As(system), p.Name)
		if err != nil {
			return nil, err
		}
		as = *user
	}
	as.ReadOnly, as.KeyID, as.By, as.Revision = c.As.ReadOnly, c.As.KeyID, c.As.By, c.As.Revision
	return &as, nil
}
