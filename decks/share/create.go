package share

import (
	"errors"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
)

var createShareLink = engine.Op{
	Name: "Deck.CreateShareLink", Label: "Create Share Link", Category: deck.Category, Secret: true,
	Doc:     "Creates a private link to one of the caller's decks; everyone who has the link may see the deck. The password is not shown again.",
	Callers: engine.Anyone,
	Run:     engine.On(createShareLinkParams.run),
}

type createShareLinkParams struct {
	ID       int64          `json:"deck_id" alias:"id" doc:"Number of the deck."`
	Name     string         `json:"name" default:"API Link" doc:"Purpose of the link, at most 200 characters."`
	Password string         `json:"password,omitzero" secret:"true" doc:"Password that viewers must enter; none by default."`
	Expires  string         `json:"expires_at,omitzero" doc:"Date and time, with a time zone, at which the link expires; never by default."`
	Notify   bool           `json:"notify_on_view" default:"false" doc:"Whether the deck's owner is notified when the deck is first viewed through the link."`
	Fields   map[string]any `json:"fields,omitzero" doc:"All of these in one object; unknown members are refused."`
	Base     string         `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
}

func (p createShareLinkParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	// The plan is checked first, so a free account learns nothing about decks from this operation.
	if err := mayLink(c); err != nil {
		return nil, err
	}
	d, err := deck.Find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	problems := p.merge()
	l, more := p.check(c)
	if err := errors.Join(append(problems, more...)...); err != nil {
		return nil, err
	}
	if storage.Prop[string](d, "deck:visibility") == "all" {
		return nil, fault.Conflict.Errorf("deck %d: is public and does not need a link", p.ID).WithCode(fault.CodeDeckIsPublic)
	}
	all, err := links(c.Tx, d)
	if err != nil {
		return nil, err
	}
	// Expired links count until they are revoked, since they stay in the list.
	if len(all) >= maxLinks {
		return nil, fault.Limit.Errorf("deck %d: has %d share links, limit %d", p.ID, len(all), maxLinks).WithCode(fault.CodeTooManyLinks)
	}
	if p.Password != "" {
		// Hashing is slow on purpose, so it follows all checks that can refuse the link.
		if l.Password, err = credential.HashPassword(c, c.Tx.Repo(), p.Password); err != nil {
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
		err = c.Tx.Fire(storage.Event{Name: "share_link.created", Doc: d, Extra: map[string]any{"link": l.ID, "deck": p.ID}})
	}
	return map[string]any{"data": l.shape(c, deck.View{Base: p.Base}, d)}, err
}

func (l *link) save(c *engine.Ctx, d *storage.Doc) error {
	return c.Tx.Table(linkTable).Put(linkKey(d.ID(), l.ID), l)
}
