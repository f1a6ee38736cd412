package team

import (
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

// leads reports whether somebody looks after a team: an administrator, the team's owner or one
// of its admins.
func leads(c *engine.Ctx, id int64) (bool, error) {
	if c.As.Admin {
		return true, nil
	}
	u, err := people.Lookup(c.Tx, c.As.Name)
	if err != nil {
		return false, err
	}
	return u.TeamID == id && (u.TeamRole == "owner" || u.TeamRole == "admin"), nil
}

// led returns the team of a number for those who look after it; for others it does not exist.
func led(c *engine.Ctx, id int64) (*Team, error) {
	ok, err := leads(c, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.NotFound.Errorf("team %d: does not exist", id)
	}
	return Read(c.Tx, id)
}

// lead returns the team that the caller is owner or admin of.
// Others are denied instead of told that nothing exists: they ask for their own team. Administrators of
// the server have no team by that, so they need a role like everybody else.
func lead(c *engine.Ctx) (*people.User, error) {
	u, err := people.Lookup(c.Tx, c.As.Name)
	if err == nil && (u.TeamID == 0 || u.TeamRole != "owner" && u.TeamRole != "admin") {
		err = fault.Denied.Errorf("team decks: only owners and admins of the team may list them").WithCode(fault.CodeTeamRoleRequired)
	}
	return u, err
}
