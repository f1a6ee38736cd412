package user

import (
	"encoding/json"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

var suggest = engine.Op{
	Name:     "UserGroup.Suggestion",
	Label:    "Get user/group suggestion",
	Category: "Services",
	Doc: "Returns JSON with the users, then the groups, any of whose names begins with the search term; for users, each of its two words may " +
		"match a different name. Each has its fields, id, displayLabel, entity-type, type, prefixed_id and displayIcon. More results than " +
		"requested are replaced by one entry whose label says so.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(suggestParams.run),
}

type suggestParams struct {
	SubGroups    bool   `json:"allowSubGroupsRestriction" default:"false" doc:"Whether to include users in subgroups of groupRestriction."`
	Email        bool   `json:"displayEmailInSuggestion" default:"false" doc:"Whether to include a user's email address in the label."`
	FirstField   string `json:"firstLabelField,omitzero" doc:"First field of the label; by default firstName for users and grouplabel for groups."`
	Restriction  string `json:"groupRestriction,omitzero" doc:"Only users in this group."`
	HideAdmins   bool   `json:"hideAdminGroups" default:"false" doc:"Whether to omit administrator groups."`
	HideFirst    bool   `json:"hideFirstLabel" default:"false" doc:"Whether to omit the first field from labels."`
	HideIcon     bool   `json:"hideIcon" default:"false" doc:"Whether to omit displayIcon."`
	HidePower    bool   `json:"hidePowerUsersGroup" default:"false" doc:"Whether to omit power user groups."`
	HideSecond   bool   `json:"hideSecondLabel" default:"false" doc:"Whether to omit the second field from labels."`
	HideThird    bool   `json:"hideThirdLabel" default:"false" doc:"Whether to omit the third field from labels."`
	Language     string `json:"lang,omitzero" unused:"true" doc:"Accepted but ignored."`
	Term         string `json:"searchTerm,omitzero" alias:"prefix" doc:"Prefix of the names; empty for all."`
	SearchType   string `json:"searchType,omitzero" doc:"USER_TYPE for users only, GROUP_TYPE for groups only."`
	SecondField  string `json:"secondLabelField,omitzero" doc:"Second field of a user's label; lastName by default."`
	ThirdField   string `json:"thirdLabelField,omitzero" doc:"Third field of a user's label; email by default."`
	MaxSuggested int    `json:"userSuggestionMaxSearchResults,omitzero" doc:"Maximum number of entries; by default, and at most, the server's page limit."`
}

// tooMany is what stands in place of a list that is too long.
const tooMany = "Too many results: type more of the name."

func (p suggestParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	items, err := p.items(c)
	// As in the platform: the widget shows the entry as a hint, which cannot be chosen because it
	// has no id. A search that reads too much gives the same hint.
	if fault.Is(err, fault.Limit) {
		items, err = []map[string]any{{"displayLabel": tooMany}}, nil
	}
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(items)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob("suggestions.json", "application/json", raw), nil
}

// items lists what is found; more than wanted are a fault of kind Limit.
func (p suggestParams) items(c *engine.Ctx) ([]map[string]any, error) {
	limit, items := c.Tx.Repo().Limits().PageSize, []map[string]any{}
	if p.MaxSuggested > 0 {
		limit = min(limit, p.MaxSuggested)
	}
	if p.SearchType != "GROUP_TYPE" {
		users, err := p.users(c, limit)
		if err != nil {
			return nil, err
		}
		for _, u := range users {
			items = append(items, p.userItem(u))
		}
	}
	if p.SearchType == "USER_TYPE" {
		return items, nil
	}
	// If the users fill the limit exactly, a single group is one too many.
	groups, more, err := people.SuggestGroups(c.Tx, p.Term, limit-len(items))
	if err != nil {
		return nil, err
	}
	if more {
		return nil, fault.Limit.New(tooMany)
	}
	for _, g := range groups {
		// The list ends at the first hidden group, and groups behind it are missing too. The
		// platform does the same.
		if p.HidePower && g.Name == storage.PowerUsers || p.HideAdmins && g.Name == "administrators" {
			break
		}
		items = append(items, p.groupItem(g))
	}
	return items, nil
}

// users finds users by the words of the term or, if nobody has both, by the whole of it.
func (p suggestParams) users(c *engine.Ctx, limit int) (users []*people.User, err error) {
	// nil does not restrict anything; an empty list, that of a group without members, finds nobody.
	var among []string
	if p.Restriction != "" {
		if among, err = people.UsersWithin(c.Tx, p.Restriction, p.SubGroups); err != nil {
			return nil, err
		}
	}
	term := strings.TrimSpace(p.Term)
	// Cut once, like the platform: with three words, the second name must begin with the last two.
	first, second, two := strings.Cut(term, " ")
	users, more, err := people.SuggestUsers(c.Tx, []string{first, second}, among, limit)
	if err == nil && two && len(users) == 0 {
		users, more, err = people.SuggestUsers(c.Tx, []string{term}, among, limit)
	}
	if more {
		return nil, fault.Limit.New(tooMany)
	}
	return users, err
}
