package decks

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// The tables of teams. Who is in a team and as what is on the users; the group of the team
// is what decks are shared with.
const (
	teamTable  = "teams"      // number: team
	slugTable  = "team-slugs" // slug: number
	maxMembers = 500
	maxTeams   = 10_000
)

// team is people who see each other's decks.
type team struct {
	ID                       int64
	Name, Slug, ThumbnailURL string
	BillingPeriod            string
	Created, Updated         time.Time
}

var roles = []string{"owner", "admin", "member"}

func teamKey(id int64) string { return fmt.Sprintf("%019d", id) }

// teamGroup is the group of a team's members.
func teamGroup(id int64) string { return "team-" + strconv.FormatInt(id, 10) }

// readTeam returns a team by its number.
func readTeam(tx *storage.Tx, id int64) (*team, error) {
	t := &team{}
	ok, err := tx.Table(teamTable).Get(teamKey(id), t)
	if err == nil && !ok {
		err = fault.NotFound.Errorf("team %d: does not exist", id)
	}
	return t, err
}

// save writes a team, its slug, and what its group is called.
func (t *team) save(tx *storage.Tx) error {
	if err := tx.Table(teamTable).Put(teamKey(t.ID), t); err != nil {
		return err
	}
	if err := tx.Table(slugTable).Put(t.Slug, t.ID); err != nil {
		return err
	}
	g, err := tx.Group(teamGroup(t.ID))
	if fault.Is(err, fault.NotFound) {
		g, err = &storage.Group{Name: teamGroup(t.ID)}, nil
	}
	if err != nil || g.Label == t.Name {
		return err
	}
	g.Label = t.Name
	return tx.SaveGroup(g)
}

// shape is a team as users see theirs.
func (t *team) shape(base, role string) map[string]any {
	return map[string]any{
		"id": t.ID, "name": t.Name, "slug": t.Slug, "url": base + "/teams/" + url.PathEscape(t.Slug),
		"thumbnail_url": t.ThumbnailURL, "role": or(role, "member"),
	}
}

// whole is a team as those see it who look after it.
func (t *team) whole(tx *storage.Tx, base string) (map[string]any, error) {
	out := t.shape(base, "")
	delete(out, "role")
	out["billing_period"], out["created_at"], out["updated_at"] = or(t.BillingPeriod, "none"), stamp(t.Created), stamp(t.Updated)
	g, err := tx.Group(teamGroup(t.ID))
	if err != nil {
		return nil, err
	}
	members := make([]any, 0, len(g.Users))
	for _, name := range g.Users {
		u, err := tx.User(name)
		if fault.Is(err, fault.NotFound) || err == nil && u.TeamID != t.ID {
			continue
		}
		if err != nil {
			return nil, err
		}
		members = append(members, map[string]any{"id": u.ID, "username": u.Username, "name": fullName(u), "role": or(u.TeamRole, "member")})
	}
	out["members"] = members
	return out, nil
}

// leads reports whether somebody looks after a team: an administrator, the team's owner or one
// of its admins.
func leads(c *engine.Ctx, id int64) (bool, error) {
	if c.As.Admin {
		return true, nil
	}
	u, err := c.Tx.User(c.As.Name)
	if err != nil {
		return false, err
	}
	return u.TeamID == id && (u.TeamRole == "owner" || u.TeamRole == "admin"), nil
}

// led returns the team of a number for those who look after it; for others it does not exist.
func led(c *engine.Ctx, id int64) (*team, error) {
	ok, err := leads(c, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.NotFound.Errorf("team %d: does not exist", id)
	}
	return readTeam(c.Tx, id)
}

// lead returns the team that the caller is owner or admin of.
func lead(c *engine.Ctx) (*storage.User, error) {
	u, err := c.Tx.User(c.As.Name)
	if err == nil && (u.TeamID == 0 || u.TeamRole != "owner" && u.TeamRole != "admin") {
		err = fault.Denied.Errorf("team decks: only owners and admins of a team list them").WithCode("team_role_required")
	}
	return u, err
}

// teamHomes returns the folders of the members' decks.
func teamHomes(c *engine.Ctx, id int64) (ids []any, err error) {
	g, err := c.Tx.Group(teamGroup(id))
	if err != nil {
		return nil, err
	}
	tx := asSystem(c.Tx)
	for _, name := range g.Users[:min(len(g.Users), maxMembers)] {
		folder, err := homeOf(tx, name)
		if err != nil {
			return nil, err
		}
		if folder != nil {
			ids = append(ids, folder.ID())
		}
	}
	return ids, nil
}

// checkTeam reports what is wrong with a team's fields.
func checkTeam(name, period string) error {
	f := fields{Title: &name}
	for _, err := range f.check() {
		return invalid("name", "invalid_value", "name: %d characters, 1 to %d expected, without control characters: %v", len(name), maxTitle, err)
	}
	if !slices.Contains([]string{"", "none", "monthly", "yearly"}, period) {
		return invalid("billing_period", "invalid_value", "billing_period: %.40q is none of none, monthly, yearly", period)
	}
	return nil
}

// freeTeamSlug returns a slug that no team has.
func freeTeamSlug(tx *storage.Tx, name string, self int64) (string, error) {
	base := slugOf(name)
	slug := base
	for n := 2; n < 1000; n++ {
		var id int64
		ok, err := tx.Table(slugTable).Get(slug, &id)
		if err != nil || !ok || id == self {
			return slug, err
		}
		slug = base + "-" + strconv.Itoa(n)
	}
	return "", fault.Conflict.Errorf("slug %s: is taken", base)
}

// eachTeam walks all teams in the order of their numbers.
func eachTeam(tx *storage.Tx, fn func(*team) error) error {
	for _, raw := range tx.Table(teamTable).Scan("", "", false, maxTeams) {
		t := &team{}
		if err := json.Unmarshal(raw, t); err != nil {
			return fault.Internal.Errorf("team: %w", err)
		}
		if err := fn(t); err != nil {
			return err
		}
	}
	return nil
}
