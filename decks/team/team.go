// Package team keeps teams: their members and the role of each. The decks of a team are shared with the group of the
// team; membership and role are stored with the user. Roles (owner, admin, member) decide who may change the team.
// Admins cannot take a team over from its owner.
//
// Membership is stored with the user because every request of a user needs it: reading the user gives the
// groups, and so the decks that are shared.
package team

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// Ops are the operations on teams and their decks.
var Ops = []engine.Op{
	createTeam,
	deleteTeam,
	getTeam,
	getTeamDeck,
	listTeamDecks,
	listTeams,
	removeMember,
	setMember,
	updateTeam,
}

// The tables of teams. Who is in a team and as what is on the users; the group of the team
// is what decks are shared with.
const (
	teamTable = "teams"      // number: team
	slugTable = "team-slugs" // slug: number
	// Deleting a team, changing its owner and changing its billing period read every member in one transaction.
	maxMembers = 500
	maxTeams   = 10_000
)

// Team is people who see each other's decks.
type Team struct {
	ID                       int64
	Name, Slug, ThumbnailURL string
	BillingPeriod            string
	Created, Updated         time.Time
}

// roles are those of the service's clients; owner and admin may lead the team.
var roles = []string{"owner", "admin", "member"}

func teamKey(id int64) string { return fmt.Sprintf("%019d", id) }

// Read returns a team by its number.
func Read(tx *storage.Tx, id int64) (*Team, error) {
	t := &Team{}
	ok, err := tx.Table(teamTable).Get(teamKey(id), t)
	if err == nil && !ok {
		err = fault.NotFound.Errorf("team %d: does not exist", id)
	}
	return t, err
}

// save writes a team, its slug, and what its group is called.
func (t *Team) save(tx *storage.Tx) error {
	if err := tx.Table(teamTable).Put(teamKey(t.ID), t); err != nil {
		return err
	}
	if err := tx.Table(slugTable).Put(t.Slug, t.ID); err != nil {
		return err
	}
	g, err := people.LookupGroup(tx, deck.TeamGroup(t.ID))
	if fault.Is(err, fault.NotFound) {
		g, err = &people.Group{Name: deck.TeamGroup(t.ID)}, nil
	}
	if err != nil || g.Label == t.Name {
		return err
	}
	g.Label = t.Name
	return people.SaveGroup(tx, g)
}

// Shape is a team as users see theirs.
func (t *Team) Shape(base, role string) map[string]any {
	return map[string]any{
		"id": t.ID, "name": t.Name, "slug": t.Slug, "url": base + "/teams/" + url.PathEscape(t.Slug),
		"thumbnail_url": t.ThumbnailURL, "role": cmp.Or(role, "member"),
	}
}

// whole is a team as those see it who look after it.
func (t *Team) whole(tx *storage.Tx, base string) (map[string]any, error) {
	out := t.Shape(base, "")
	delete(out, "role")
	out["billing_period"], out["created_at"], out["updated_at"] = cmp.Or(t.BillingPeriod, "none"), deck.Stamp(t.Created), deck.Stamp(t.Updated)
	g, err := people.LookupGroup(tx, deck.TeamGroup(t.ID))
	if err != nil {
		return nil, err
	}
	members := make([]any, 0, len(g.Users))
	for _, name := range g.Users {
		u, err := people.Lookup(tx, name)
		if fault.Is(err, fault.NotFound) || err == nil && u.TeamID != t.ID {
			continue
		}
		if err != nil {
			return nil, err
		}
		members = append(members, map[string]any{"id": u.ID, "username": u.Username, "name": deck.FullName(u), "role": cmp.Or(u.TeamRole, "member")})
	}
	out["members"] = members
	return out, nil
}
