package decks

import (
	"cmp"
	"net/url"

	"catena/decks/deck"
	"catena/decks/team"
	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

var account = engine.Op{
	Name: "Deck.Account", Label: "Deck Account", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns the caller's profile with the account and the team.",
	Run:     engine.On(accountParams.run),
}

type accountParams struct{ deck.View }

func (p accountParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if _, err := p.Set(); err != nil {
		return nil, err
	}
	u, err := people.Lookup(c.Tx, c.As.Name)
	if err != nil {
		return nil, err
	}
	team, err := p.team(c, u)
	if err != nil {
		return nil, err
	}
	return map[string]any{"data": map[string]any{
		"id":             u.ID,
		"username":       u.Username,
		"name":           deck.FullName(u),
		"email":          u.Email,
		"description":    u.Description,
		"thumbnail_url":  u.ThumbnailURL,
		"website_url":    u.WebsiteURL,
		"twitter_handle": u.TwitterHandle,
		"profile_url":    p.Base + "/" + deck.Homes + "/" + url.PathEscape(u.Username),
		// Both members are strings in the specification, so an account without a plan is "free" and "none", never null.
		"account":    map[string]any{"type": cmp.Or(u.AccountType, "free"), "billing_period": cmp.Or(u.BillingPeriod, "none")},
		"team":       team,
		"created_at": deck.Stamp(u.Created),
		"updated_at": deck.Stamp(u.Updated),
	}}, nil
}

// team describes the user's team: the group of its members says what it is called.
func (p accountParams) team(c *engine.Ctx, u *people.User) (any, error) {
	if u.TeamID == 0 {
		return nil, nil
	}
	t, err := team.Read(c.Tx, u.TeamID)
	if fault.Is(err, fault.NotFound) {
		// A user may bear the number of a team that has no record; the name of its group then stands for the rest.
		t, err = &team.Team{ID: u.TeamID, Name: deck.TeamGroup(u.TeamID), Slug: deck.TeamGroup(u.TeamID)}, nil
	}
	if err != nil {
		return nil, err
	}
	return t.Shape(p.Base, u.TeamRole), nil
}
