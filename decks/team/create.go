package team

import (
	"cmp"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage/fault"
)

var createTeam = engine.Op{
	Name: "Team.Create", Label: "Create Team", Category: deck.Category,
	Doc:     "Creates a team, together with the group of its members for sharing decks.",
	Callers: engine.Admins,
	Run:     engine.On(createTeamParams.run),
}

type createTeamParams struct {
	Name   string `json:"name" doc:"Name of the team."`
	Slug   string `json:"slug,omitzero" doc:"The team's part of addresses; derived from the name by default."`
	Period string `json:"billing_period" alias:"billingPeriod" default:"none" enum:"none,monthly,yearly" doc:"Billing period of the members' accounts."`
	Image  string `json:"thumbnail_url,omitzero" alias:"thumbnailUrl" doc:"Address of the team's picture."`
	Owner  string `json:"owner,omitzero" doc:"User who becomes the owner of the team."`
	Base   string `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
}

func (p createTeamParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := checkTeam(p.Name, p.Period); err != nil {
		return nil, err
	}
	slug, err := freeTeamSlug(c.Tx, cmp.Or(p.Slug, p.Name), 0)
	if err != nil {
		return nil, err
	}
	// A slug made of the name may get a number; one that was asked for is given as it is or not at all.
	if p.Slug != "" && slug != p.Slug {
		return nil, fault.Exists.Errorf("slug %q: is taken or invalid; %s is available", p.Slug, slug).In("slug")
	}
	t := &Team{Name: p.Name, Slug: slug, BillingPeriod: p.Period, ThumbnailURL: p.Image, Created: c.Now, Updated: c.Now}
	if t.ID, err = c.Tx.Next("teams"); err != nil {
		return nil, err
	}
	// save also makes the group, to which put then adds the owner.
	if err := t.save(c.Tx); err != nil {
		return nil, err
	}
	if p.Owner != "" {
		if err := t.put(c.Tx, p.Owner, "owner"); err != nil {
			return nil, err
		}
	}
	data, err := t.whole(c.Tx, p.Base)
	return map[string]any{"data": data}, err
}
