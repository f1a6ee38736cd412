package decks

import (
	"encoding/json"
	"slices"
	"strconv"

	"catena/storage"
	"catena/storage/fault"
)

// checkTeam reports what is wrong with a team's fields.
func checkTeam(name, period string) error {
	f := fields{Title: &name}
	for _, err := range f.check() {
		return invalid("name", fault.CodeInvalidValue, "name: %d characters, 1 to %d expected, without control characters: %v", len(name), maxTitle, err)
	}
	if !slices.Contains([]string{"", "none", "monthly", "yearly"}, period) {
		return invalid("billing_period", fault.CodeInvalidValue, "billing_period: %.40q is none of none, monthly, yearly", period)
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
