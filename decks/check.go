package decks

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"catena/engine"
	"catena/storage/fault"
)

const (
	maxTitle       = 200
	maxDescription = 10_000
)

// check reports every value that is out of bounds.
func (f *fields) check() (errs []error) {
	if f.Title != nil {
		switch n := utf8.RuneCountInString(*f.Title); {
		case strings.TrimSpace(*f.Title) == "":
			errs = append(errs, invalid("title", fault.CodeTooShort, "title: is empty"))
		case n > maxTitle:
			errs = append(errs, invalid("title", fault.CodeTooLong, "title: %d characters, limit %d", n, maxTitle))
		case strings.ContainsFunc(*f.Title, unicode.IsControl):
			errs = append(errs, invalid("title", fault.CodeInvalidText, "title: control characters are not allowed"))
		}
	}
	if f.Description != nil {
		if n := utf8.RuneCountInString(*f.Description); n > maxDescription {
			errs = append(errs, invalid("description", fault.CodeTooLong, "description: %d characters, limit %d", n, maxDescription))
		}
	}
	for name, n := range map[string]*int64{"height": f.Height, "width": f.Width} {
		if n != nil && *n < 1 {
			errs = append(errs, invalid(name, fault.CodeTooSmall, "%s: %d is less than 1", name, *n))
		}
	}
	if f.Visibility != nil && *f.Visibility != "all" && *f.Visibility != "self" && *f.Visibility != "team" {
		errs = append(errs, invalid("visibility", fault.CodeInvalidValue, "visibility: %.40q is none of all, self, team", *f.Visibility))
	}
	return errs
}

// mayShare refuses team visibility to those without a team.
func mayShare(c *engine.Ctx, visibility *string) error {
	if visibility == nil || *visibility != "team" {
		return nil
	}
	u, err := c.Tx.User(c.As.Name)
	if err == nil && (u.AccountType != "team" || u.TeamID == 0) {
		err = errNoTeam()
	}
	return err
}
