package team

import (
	"slices"
	"strings"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/search"
)

var removeMember = engine.Op{
	Name: "Team.RemoveMember", Label: "Remove Team Member", Category: deck.Category,
	Doc:     "Removes a user from a team. The account becomes a free account, and decks shared with the team become private.",
	Callers: engine.Anyone,
	Run:     engine.On(removeMemberParams.run),
}

type removeMemberParams struct {
	ID       int64  `json:"id" doc:"Number of the team."`
	Username string `json:"username" doc:"Name of the user."`
}

func (p removeMemberParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	t, err := led(c, p.ID)
	if err != nil {
		return nil, err
	}
	u, err := people.Lookup(c.Tx, p.Username)
	if err != nil {
		return nil, err
	}
	if u.TeamID != t.ID {
		return nil, fault.NotFound.Errorf("user %s: is not in team %d", p.Username, p.ID)
	}
	// Removal counts as a change of role: an admin who may not replace the owner may not remove the owner either.
	if err := mayChange(c, t, u, u.TeamRole); err != nil {
		return nil, err
	}
	tx := deck.AsSystem(c.Tx)
	if err := t.drop(tx, u); err != nil {
		return nil, err
	}
	data, err := t.whole(tx, "")
	return map[string]any{"data": data}, err
}

// drop takes a user and the user's decks out of the team.
func (t *Team) drop(tx *storage.Tx, u *people.User) error {
	group := deck.TeamGroup(t.ID)
	u.TeamID, u.TeamRole, u.AccountType, u.BillingPeriod = 0, "", "free", "none"
	u.Groups = slices.DeleteFunc(u.Groups, func(g string) bool { return strings.EqualFold(g, group) })
	if err := people.SaveUser(tx, u, ""); err != nil {
		return err
	}
	folder, err := deck.HomeOf(tx, u.Username)
	if err != nil || folder == nil {
		return err
	}
	for {
		// Decks that have become private no longer match, so the first page is read again until it is empty.
		page, err := search.Query(tx, "SELECT * FROM Deck WHERE ecm:parentId = ?"+deck.Live+" AND deck:visibility = 'team'", search.Options{
			Args: []any{folder.ID()}, PageOptions: storage.PageOptions{Limit: deck.MaxPerPage, CountLimit: -1},
		})
		if err != nil || len(page.Docs) == 0 {
			return err
		}
		for _, d := range page.Docs {
			if err := d.Set("deck:visibility", "self"); err != nil {
				return err
			}
			if _, err := tx.Save(d, storage.SaveOptions{}); err != nil {
				return err
			}
		}
	}
}
