package team

import (
	"cmp"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

var updateTeam = engine.Op{
	Name: "Team.Update", Label: "Update Team", Category: deck.Category,
	Doc:     "Changes the name, the slug, the picture or the billing period of a team. For its owner, its admins and administrators.",
	Callers: engine.Anyone,
	Run:     engine.On(updateTeamParams.run),
}

type updateTeamParams struct {
	ID     int64  `json:"id" doc:"Number of the team."`
	Name   string `json:"name,omitzero" doc:"Name of the team."`
	Slug   string `json:"slug,omitzero" doc:"The team's part of addresses."`
	Period string `json:"billing_period,omitzero" alias:"billingPeriod" enum:"none,monthly,yearly" doc:"Billing period of the members' accounts; only administrators may set it."`
	// Nil keeps the picture; an empty address removes it.
	Image *string `json:"thumbnail_url,omitzero" alias:"thumbnailUrl" type:"string" doc:"Address of the team's picture."`
	Base  string  `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
}

func (p updateTeamParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	t, err := led(c, p.ID)
	if err != nil {
		return nil, err
	}
	t.Name = cmp.Or(p.Name, t.Name)
	if err := checkTeam(t.Name, p.Period); err != nil {
		return nil, err
	}
	if p.Image != nil {
		t.ThumbnailURL = *p.Image
	}
	tx := deck.AsSystem(c.Tx)
	if p.Slug != "" && p.Slug != t.Slug {
		if err := t.rename(tx, p.Slug); err != nil {
			return nil, err
		}
	}
	if p.Period != "" && p.Period != t.BillingPeriod {
		if !c.As.Admin {
			// What a team pays is for those who run the service.
			return nil, fault.Denied.Errorf("billing_period: only administrators may set it").In("billing_period")
		}
		t.BillingPeriod = p.Period
		if err := t.bill(tx); err != nil {
			return nil, err
		}
	}
	t.Updated = c.Now
	if err := t.save(tx); err != nil {
		return nil, err
	}
	data, err := t.whole(c.Tx, p.Base)
	return map[string]any{"data": data}, err
}

// rename gives a team another slug.
func (t *Team) rename(tx *storage.Tx, slug string) error {
	free, err := freeTeamSlug(tx, slug, t.ID)
	if err != nil {
		return err
	}
	if free != slug {
		return fault.Exists.Errorf("slug %q: is taken or invalid; %s is available", slug, free).In("slug")
	}
	if err := tx.Table(slugTable).Delete(t.Slug); err != nil {
		return err
	}
	// The new slug is written by save, in the same transaction.
	t.Slug = slug
	return nil
}

// bill passes the team's billing period on to its members.
func (t *Team) bill(tx *storage.Tx) error {
	g, err := people.LookupGroup(tx, deck.TeamGroup(t.ID))
	if err != nil {
		return err
	}
	for _, name := range g.Users {
		u, err := people.Lookup(tx, name)
		// Who is merely listed in the group pays for an account of their own, or is in another team.
		if fault.Is(err, fault.NotFound) || err == nil && u.TeamID != t.ID {
			continue
		}
		if err != nil {
			return err
		}
		u.BillingPeriod = t.BillingPeriod
		if err := people.SaveUser(tx, u, ""); err != nil {
			return err
		}
	}
	return nil
}
