package share

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"catena/decks/deck"
	"catena/decks/field"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// maxFields is more than a link has, so that all that are unknown are named.
const maxFields = 100

// merge moves what stands in Fields to the fields themselves.
func (p *createShareLinkParams) merge() (errs []error) {
	if n := len(p.Fields); n > maxFields {
		return []error{fault.Limit.Errorf("fields: %d, limit %d", n, maxFields).In("fields")}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Fields)) {
		if err := p.take(name, p.Fields[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (p *createShareLinkParams) take(name string, value any) error {
	texts := map[string]*string{"name": &p.Name, "password": &p.Password, "expires_at": &p.Expires}
	switch into := texts[name]; {
	// JSON's null means no password and no expiry; a link always has a name.
	case into != nil && value == nil && name != "name":
		return nil
	case into != nil:
		s, ok := value.(string)
		if !ok {
			return deck.Invalid(name, fault.CodeInvalidType, "%s: must be a string", name)
		}
		if *into = s; name == "expires_at" && s == "" {
			return deck.Invalid(name, fault.CodeInvalidValue, "expires_at: must not be empty; null means never")
		}
	case name == "notify_on_view":
		b, ok := value.(bool)
		if !ok {
			return deck.Invalid(name, fault.CodeInvalidType, "%s: must be true or false", name)
		}
		p.Notify = b
	// Clients send back what they have read; that a field cannot be written
	// is a better answer than that it is unknown.
	case slices.Contains(linkFields, name):
		return deck.Invalid(name, fault.CodeReadOnlyField, "%s: is read-only", name)
	default:
		return deck.UnknownField(name, "share link")
	}
	return nil
}

// linkFields are the fields of a link that are not for writing.
var linkFields = strings.Fields("id deck_id url urls password_protected expired view_count first_viewed_at created_at")

// maxPassword, in bytes, bounds what strangers may have hashed.
const maxPassword = 1024

// check makes a link of the parameters, or reports everything that is wrong with them.
func (p *createShareLinkParams) check(c *engine.Ctx) (l *link, errs []error) {
	switch n := utf8.RuneCountInString(p.Name); {
	case strings.TrimSpace(p.Name) == "":
		errs = append(errs, deck.Invalid("name", fault.CodeTooShort, "name: must not be empty"))
	case n > field.MaxTitle:
		errs = append(errs, deck.Invalid("name", fault.CodeTooLong, "name: %d characters, limit %d", n, field.MaxTitle))
	case strings.ContainsFunc(p.Name, unicode.IsControl):
		errs = append(errs, deck.Invalid("name", fault.CodeInvalidText, "name: control characters are not allowed"))
	}
	if len(p.Password) > maxPassword {
		errs = append(errs, deck.Invalid("password", fault.CodeTooLong, "password: %d bytes, limit %d", len(p.Password), maxPassword))
	}
	var expires time.Time
	if p.Expires != "" {
		at, err := instant("expires_at", p.Expires)
		if err == nil && !at.After(c.Now) {
			err = deck.Invalid("expires_at", fault.CodeOutOfRange, "expires_at: must be in the future")
		}
		if err != nil {
			errs = append(errs, err)
		}
		expires = at
	}
	// The token depends on the nonce, so a link made again never has the address of a revoked one.
	return &link{Owned: storage.OwnedBy(c.As), Name: p.Name, Nonce: c.NewID(), Notify: p.Notify, Created: c.Now, Expires: expires}, errs
}
