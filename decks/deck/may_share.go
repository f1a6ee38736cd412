package deck

import (
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

// MayShare refuses team visibility to callers without a team.
func (in Input) MayShare(c *engine.Ctx) error {
	if in.text("visibility") != "team" {
		return nil
	}
	u, err := people.Lookup(c.Tx, c.As.Name)
	if err == nil && (u.AccountType != "team" || u.TeamID == 0) {
		err = ErrNoTeam()
	}
	return err
}

// ErrNoTeam is the error of team visibility without a team.
func ErrNoTeam() error {
	return fault.Denied.Errorf("visibility team: requires a team account").In("visibility").WithCode(fault.CodePlanRequired)
}
