package decks

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var createShareLink = engine.Op{
	Name: "Deck.CreateShareLink", Label: "Create Share Link", Category: category, Secret: true,
	Doc: "Makes a private link to one of the caller's decks, through which anybody who has it may see the deck. A password is not shown again.",
	Run: engine.On(createShareLinkParams.run),
}

type createShareLinkParams struct {
	ID       int64          `json:"deck_id" alias:"id" doc:"Number of the deck."`
	Name     string         `json:"name" default:"API Link" doc:"What the link is for, at most 200 characters."`
	Password string         `json:"password,omitzero" doc:"What viewers must enter; none unless given."`
	Expires  string         `json:"expires_at,omitzero" doc:"Moment with its zone from which the link opens nothing; never unless given."`
	Notify   bool           `json:"notify_on_view" default:"false" doc:"Whether the deck's owner is told when the deck is first viewed through the link."`
	Fields   map[string]any `json:"fields,omitzero" doc:"All of these in one object; anything else in it is refused."`
	Base     string         `json:"base" default:"" doc:"Public address that stands in front of the addresses in the result."`
}

func (p createShareLinkParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := mayLink(c); err != nil {
		return nil, err
	}
	d, err := find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	problems := p.merge()
	l, more := p.check(c)
	if err := errors.Join(append(problems, more...)...); err != nil {
		return nil, err
	}
	if prop[string](d, "deck:visibility") == "all" {
		return nil, fault.Conflict.Errorf("deck %d: is public, its address needs no link", p.ID).WithCode("deck_is_public")
	}
	all, err := links(c.Tx, d)
	if err != nil {
		return nil, err
	}
	if len(all) >= maxLinks {
		return nil, fault.Limit.Errorf("deck %d: has %d share links, limit %d", p.ID, len(all), maxLinks).WithCode("too_many_links")
	}
	if p.Password != "" {
		if l.Password, err = c.Tx.Repo().HashPassword(c, p.Password); err != nil {
			return nil, err
		}
	}
	if l.ID, err = c.Tx.Next("deck-links"); err != nil {
		return nil, err
	}
	if err := l.save(c, d); err != nil {
		return nil, err
	}
	err = c.Tx.Table(tokenTable).Create(tokenKey(l.token(c.Tx, d.ID())), tokenRow{d.Ref(), l.ID})
	if err == nil {
		err = c.Tx.Fire("share_link.created", d, map[string]any{"link": l.ID, "deck": p.ID})
	}
	return map[string]any{"data": l.shape(c, view{Base: p.Base}, d)}, err
}

func (l *link) save(c *engine.Ctx, d *storage.Doc) error {
	return c.Tx.Table(linkTable).Put(linkKey(d.ID(), l.ID), l)
}

// merge moves what stands in Fields to the fields themselves.
func (p *createShareLinkParams) merge() (errs []error) {
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
	case into != nil && value == nil && name != "name":
		return nil
	case into != nil:
		s, ok := value.(string)
		if !ok {
			return invalid(name, "invalid_type", "%s: is not text", name)
		}
		if *into = s; name == "expires_at" && s == "" {
			return invalid(name, "invalid_value", "expires_at: is empty; null stands for never")
		}
	case name == "notify_on_view":
		b, ok := value.(bool)
		if !ok {
			return invalid(name, "invalid_type", "%s: is neither true nor false", name)
		}
		p.Notify = b
	case linkFields[name]:
		return invalid(name, "read_only_field", "%s: is read-only", name)
	default:
		return unknownField(name, "share link")
	}
	return nil
}

// linkFields are the fields of a link that are not for writing.
var linkFields = words("id deck_id url urls password_protected expired view_count first_viewed_at created_at")

const maxPassword = 1024

// check makes a link of the parameters, or reports everything that is wrong with them.
func (p *createShareLinkParams) check(c *engine.Ctx) (l *link, errs []error) {
	switch n := utf8.RuneCountInString(p.Name); {
	case strings.TrimSpace(p.Name) == "":
		errs = append(errs, invalid("name", "too_short", "name: is empty"))
	case n > maxTitle:
		errs = append(errs, invalid("name", "too_long", "name: %d characters, limit %d", n, maxTitle))
	case strings.ContainsFunc(p.Name, unicode.IsControl):
		errs = append(errs, invalid("name", "invalid_text", "name: control characters are not allowed"))
	}
	if len(p.Password) > maxPassword {
		errs = append(errs, invalid("password", "too_long", "password: %d bytes, limit %d", len(p.Password), maxPassword))
	}
	var expires time.Time
	if p.Expires != "" {
		at, err := instant("expires_at", p.Expires)
		if err == nil && !at.After(c.Now) {
			err = invalid("expires_at", "out_of_range", "expires_at: is past")
		}
		if err != nil {
			errs = append(errs, err)
		}
		expires = at
	}
	return &link{Owner: c.As.Name, Name: p.Name, Nonce: c.NewID(), Notify: p.Notify, Created: c.Now, Expires: expires}, errs
}
