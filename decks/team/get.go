package team

import (
	"catena/decks/deck"
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

var getTeam = engine.Op{
	Name: "Team.Get", Label: "Get Team", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns a team with its members, for its owner, its admins and administrators.",
	Run:     engine.On(getTeamParams.run),
}

type getTeamParams struct {
	ID   int64  `json:"id" doc:"Number of the team."`
	Base string `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
}

func (p getTeamParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	t, err := led(c, p.ID)
	if err != nil {
		return nil, err
	}
	data, err := t.whole(c.Tx, p.Base)
	return map[string]any{"data": data}, err
}

var listTeams = engine.Op{
	Name: "Team.List", Label: "List Teams", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Admins,
	Doc:     "Returns all teams, without their members.",
	Run:     engine.On(listTeamsParams.run),
}

type listTeamsParams struct {
	Base string `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
}

func (p listTeamsParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	data := []any{}
	err := eachTeam(c.Tx, func(t *Team) error {
		row := t.Shape(p.Base, "")
		// The role is the caller's own in a team, and administrators need not be in any.
		delete(row, "role")
		data = append(data, row)
		return nil
	})
	return map[string]any{"data": data, "meta": map[string]any{"total": int64(len(data))}}, err
}

var deleteTeam = engine.Op{
	Name: "Team.Delete", Label: "Delete Team", Category: deck.Category,
	Doc:     "Deletes a team: its members' accounts become free accounts, and decks shared with the team become private.",
	Callers: engine.Admins,
	Run:     engine.On(deleteTeamParams.run),
}

type deleteTeamParams struct {
	ID int64 `json:"id" doc:"Number of the team."`
}

func (p deleteTeamParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	t, err := Read(c.Tx, p.ID)
	if err != nil {
		return nil, err
	}
	g, err := people.LookupGroup(c.Tx, deck.TeamGroup(p.ID))
	if err != nil {
		return nil, err
	}
	// Members are dropped before the group is deleted: only the user's record says who is in the team, and a
	// user who is merely listed in the group keeps their account and decks.
	for _, name := range g.Users {
		u, err := people.Lookup(c.Tx, name)
		if fault.Is(err, fault.NotFound) || err == nil && u.TeamID != p.ID {
			continue
		}
		if err == nil {
			err = t.drop(c.Tx, u)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := people.DeleteGroup(c.Tx, g.Name); err != nil {
		return nil, err
	}
	if err := c.Tx.Table(slugTable).Delete(t.Slug); err != nil {
		return nil, err
	}
	return map[string]any{"data": map[string]any{"id": p.ID, "deleted": true}}, c.Tx.Table(teamTable).Delete(teamKey(p.ID))
}
