package decks

import (
	"cmp"

	"catena/decks/deck"
	"catena/decks/share"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// pictureParams say of which deck a picture is wanted, and what the address has for users who may see it.
type pictureParams struct {
	ID       int64  `json:"id" default:"0" doc:"Number of one of the caller's decks; 0: see the other parameters."`
	Username string `json:"username" default:"" doc:"Name of the deck's owner, unless a token is given."`
	Slug     string `json:"slug" default:"" doc:"The deck's part of the address."`
	Token    string `json:"token" secret:"true" default:"" doc:"Token of a private link."`
	Pass     string `json:"pass" secret:"true" default:"" doc:"Pass of a private link that has a password."`
	Key      string `json:"key" secret:"true" default:"" doc:"Key from the picture's address, which identifies the viewer."`
}

// deck returns the deck if the caller may see it: the caller's own, that of a private link, or the one at an
// address, there with the rights of whom the key was given for what it opens. What may not be seen is missing.
func (p pictureParams) deck(c *engine.Ctx, opens string, missing error) (*storage.Doc, error) {
	if p.ID != 0 {
		return deck.Find(c, p.ID, false)
	}
	asked := c.Tx
	c.Tx = asked.As(deck.Behind(c))
	defer func() { c.Tx = asked }()
	if p.Token != "" {
		return share.Deck(c, p.Token, p.Pass, missing)
	}
	d, err := deck.BySlug(c.Tx, p.Username, p.Slug)
	if err != nil || d == nil {
		return nil, cmp.Or(err, missing)
	}
	as := c.As
	if holder := deck.KeyHolder(c.Tx, d, opens, p.Key); holder.Owner != "" {
		as, err = holder.Principal(c.Tx)
	}
	switch {
	case fault.Is(err, fault.NotFound): // whom the key was given
		return nil, missing
	case err != nil:
		return nil, err
	}
	binned := d.IsTrashed() && (opens != deck.KeyThumbnail || as.Name != p.Username) // its owner sees it in the trash
	if binned || !maySee(asked.As(as), d, as, p.Username) {
		return nil, missing
	}
	return d, nil
}
