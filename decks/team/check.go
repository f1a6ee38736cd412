package team

import (
	"encoding/json"
	"slices"
	"strconv"

	"catena/decks/deck"
	"catena/decks/field"
	"catena/storage"
	"catena/storage/fault"
)

// checkTeam reports what is wrong with a team's fields.
func checkTeam(name, period string) error {
	if err := (deck.Input{"title": name}).Check(); err != nil {
		return deck.Invalid("name", fault.CodeInvalidValue, "name: has %d characters, must have 1 to %d and no control characters: %v", len(name), field.MaxTitle, err)
	}
	// The empty period leaves the one that the team has.
	if !slices.Contains([]string{"", "none", "monthly", "yearly"}, period) {
		return deck.Invalid("billing_period", fault.CodeInvalidValue, "billing_period: %.40q is not one of none, monthly, yearly", period)
	}
	return nil
}

// freeTeamSlug returns a slug that no team has.
// It is made of the name, with a number from 2 to 999 behind it if need be. The team self may keep the
// slug that it has; self is 0 for a new team.
func freeTeamSlug(tx *storage.Tx, name string, self int64) (string, error) {
	base := deck.SlugOf(name)
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
// It visits maxTeams at most.
func eachTeam(tx *storage.Tx, fn func(*Team) error) error {
	for _, raw := range tx.Table(teamTable).Scan("", "", false, maxTeams) {
		t := &Team{}
		if err := json.Unmarshal(raw, t); err != nil {
			return fault.Internal.Errorf("team: %w", err)
		}
		if err := fn(t); err != nil {
			return err
		}
	}
	return nil
}
