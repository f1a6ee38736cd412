package decks

import (
	"cmp"
	"crypto/hmac"
	"time"

	"catena/decks/file"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var openFile = engine.Op{
	Name: "Deck.OpenFile", Label: "Open File of Deck", Category: category, Effect: engine.Reads,
	Doc: "Returns a picture of a deck for showing it to whoever may see the deck: at the deck's address or by a private link. Slides are " +
		"shown without cookies; the key in their pictures' addresses says for whom they were made, whose rights are looked at anew.",
	Run: engine.On(openFileParams.run),
}

type openFileParams struct {
	ID       int64  `json:"id" default:"0" doc:"Number of one of the caller's decks; 0: see the other parameters."`
	Number   int64  `json:"number" default:"0" doc:"Number of the picture, instead of its address."`
	Username string `json:"username" default:"" doc:"Name of the deck's owner, unless there is a token."`
	Slug     string `json:"slug" default:"" doc:"The deck's part of the address."`
	Token    string `json:"token" default:"" doc:"Token of a private link."`
	Pass     string `json:"pass" default:"" doc:"Pass of a private link that has a password."`
	Key      string `json:"key" default:"" doc:"Key from the address."`
	Address  string `json:"address" default:"" doc:"The picture, as the deck's HTML has it: files/NUMBER/NAME."`
}

func (p openFileParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	tx := c.Tx.As(behind(c))
	d, err := p.deck(c, tx)
	if err != nil {
		return nil, err
	}
	f, err := p.file(tx, d)
	if err != nil {
		return nil, err
	}
	return f.Load(tx), nil
}

func (p openFileParams) file(tx *storage.Tx, d *storage.Doc) (*file.File, error) {
	if p.Number != 0 {
		return file.Get(tx, d.ID(), p.Number)
	}
	return file.Find(tx, d.ID(), p.Address)
}

// deck returns the deck if whoever asks may see it.
func (p openFileParams) deck(c *engine.Ctx, tx *storage.Tx) (*storage.Doc, error) {
	if p.ID != 0 {
		return find(c, p.ID, false)
	}
	missing := fault.NotFound.Errorf("file %.100q: does not exist", p.Address)
	if p.Token != "" {
		asked := c.Tx
		c.Tx = tx
		defer func() { c.Tx = asked }()
		d, l, err := openShareParams{Token: p.Token}.find(c)
		if err == nil && l.Password != "" && !hmac.Equal([]byte(p.Pass), []byte(l.pass(tx, d.ID()))) {
			err = missing
		}
		return d, err
	}
	d, err := deckOf(tx, p.Username, p.Slug)
	if err != nil || d == nil {
		return nil, cmp.Or[error](err, missing)
	}
	as := c.As
	if name := keyHolder(tx, d, keyFile, p.Key); name != "" {
		if as, err = tx.PrincipalOf(name); err != nil {
			return nil, cmp.Or[error](err, missing)
		}
	}
	if d.IsTrashed() || !maySee(c.Tx.As(as), d, as, p.Username) {
		return nil, missing
	}
	return d, nil
}

const fileKeyTime = 24 * time.Hour

// fileKey is what a page of a deck that is not for everyone puts into its pictures' addresses.
func fileKey(c *engine.Ctx, d *storage.Doc) string {
	if storage.Prop[string](d, "deck:visibility") == "all" {
		return ""
	}
	return "key=" + pictureKey(c, d, keyFile, c.Now.Add(fileKeyTime))
}
