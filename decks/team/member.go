package team

import (
	"slices"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

var setMember = engine.Op{
	Name: "Team.SetMember", Label: "Set Team Member", Category: deck.Category,
	Doc: "Adds a user to a team or changes the user's role in it. A new owner replaces the old one, who becomes an admin. " +
		"For the team's owner, its admins and administrators.",
	Callers: engine.Anyone,
	Run:     engine.On(setMemberParams.run),
}

type setMemberParams struct {
	ID       int64  `json:"id" doc:"Number of the team."`
	Username string `json:"username" doc:"Name of the user."`
	Role     string `json:"role" default:"member" enum:"owner,admin,member" doc:"The user's role: owner, admin or member."`
}

func (p setMemberParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	t, err := led(c, p.ID)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(roles, p.Role) {
		return nil, deck.Invalid("role", fault.CodeInvalidValue, "role: %.40q is not one of owner, admin, member", p.Role)
	}
	u, err := people.Lookup(c.Tx, p.Username)
	if err != nil {
		return nil, err
	}
	if err := mayChange(c, t, u, p.Role); err != nil {
		return nil, err
	}
	if err := t.put(deck.AsSystem(c.Tx), p.Username, p.Role); err != nil {
		return nil, err
	}
	data, err := t.whole(c.Tx, "")
	return map[string]any{"data": data}, err
}

// mayChange keeps admins of a team from taking it over, and anybody from taking in people
// who have not been put under the team's care: those an administrator brings.
func mayChange(c *engine.Ctx, t *Team, u *people.User, role string) error {
	if c.As.Admin {
		return nil
	}
	if u.TeamID != t.ID {
		return fault.Denied.Errorf("user %s: only administrators may add users to a team", u.Username)
	}
	me, err := people.Lookup(c.Tx, c.As.Name)
	if err == nil && me.TeamRole != "owner" && (u.TeamRole == "owner" || role == "owner") {
		err = fault.Denied.Errorf("team %d: only its owner may transfer it", t.ID).WithCode(fault.CodeTeamRoleRequired)
	}
	return err
}

// put makes a user a member.
// A new owner makes the old one an admin, so that a team has one owner at most. The team's plan replaces
// the user's own for good: leaving the team later leads to a free account.
func (t *Team) put(tx *storage.Tx, name, role string) error {
	u, err := people.Lookup(tx, name)
	if err != nil {
		return err
	}
	// A user is in one team at most, since a deck of visibility "team" has to name one group.
	if u.TeamID != 0 && u.TeamID != t.ID {
		return fault.Conflict.Errorf("user %s: is already in team %d", name, u.TeamID)
	}
	group := deck.TeamGroup(t.ID)
	g, err := people.LookupGroup(tx, group)
	if err != nil {
		return err
	}
	// A new role for a member does not count as another member.
	if !slices.Contains(g.Users, name) && len(g.Users) >= maxMembers {
		return fault.Limit.Errorf("team %d: has %d members, limit %d", t.ID, len(g.Users), maxMembers)
	}
	if role == "owner" {
		for _, other := range g.Users {
			if o, err := people.Lookup(tx, other); err == nil && o.TeamID == t.ID && o.TeamRole == "owner" && other != name {
				o.TeamRole = "admin"
				if err := people.SaveUser(tx, o, ""); err != nil {
					return err
				}
			}
		}
	}
	u.TeamID, u.TeamRole, u.AccountType, u.BillingPeriod = t.ID, role, "team", t.BillingPeriod
	if !slices.Contains(u.Groups, group) {
		u.Groups = append(u.Groups, group)
	}
	return people.SaveUser(tx, u, "")
}
