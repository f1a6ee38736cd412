package user

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"catena/storage/fault"
	"catena/storage/people"
)

// texts are the fields of a user that hold text.
func texts(u *people.User) map[string]*string {
	return map[string]*string{
		"accountType":   &u.AccountType,
		"billingPeriod": &u.BillingPeriod,
		"company":       &u.Company,
		"description":   &u.Description,
		"email":         &u.Email,
		"firstName":     &u.FirstName,
		"lastName":      &u.LastName,
		"teamRole":      &u.TeamRole,
		"thumbnailUrl":  &u.ThumbnailURL,
		"twitterHandle": &u.TwitterHandle,
		"websiteUrl":    &u.WebsiteURL,
	}
}

// words are what fields with a choice may hold.
var words = map[string][]string{
	// "team" is set by the team and not by User.SetAccount. "" is what users have who never had an
	// account.
	"accountType":   {"", "free", "lite", "pro", "team"},
	"billingPeriod": {"", "none", "monthly", "yearly"},
}

// setField sets a field by its name, which may have the prefix of the directory's schema.
// Null clears a text field. That the fields of the account are only for administrators and power
// users is checked when the user is saved.
func setField(u *people.User, name string, v any) error {
	name = strings.TrimPrefix(name, "user:")
	text := ""
	if v != nil {
		text = fmt.Sprint(v)
	}
	// 0, and with it an empty text, means that the user is in no team.
	if name == "teamId" {
		n, err := strconv.ParseInt(text, 10, 64)
		if text != "" && (err != nil || n < 0) {
			return fault.Invalid.Errorf("teamId: %q is not a number", text).In("properties")
		}
		u.TeamID = n
		return nil
	}
	into, ok := texts(u)[name]
	if !ok {
		return fault.Invalid.Errorf("properties: users have no field %q%s", name, fault.Perhaps(name, maps.Keys(texts(u)))).In("properties")
	}
	if list := words[name]; list != nil && !slices.Contains(list, text) {
		return fault.Invalid.Errorf("%s %q: must be one of %s", name, text, strings.Join(list[1:], ", ")).In("properties")
	}
	*into = text
	return nil
}
