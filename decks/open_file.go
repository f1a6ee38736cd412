package decks

import (
	"crypto/hmac"
	"encoding/base64"
	"strconv"
	"strings"
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
	Username string `json:"username" default:"" doc:"Name of the deck's owner, unless there is a token."`
	Slug     string `json:"slug" default:"" doc:"The deck's part of the address."`
	Token    string `json:"token" default:"" doc:"Token of a private link."`
	Pass     string `json:"pass" default:"" doc:"Pass of a private link that has a password."`
	Key      string `json:"key" default:"" doc:"Key from the address."`
	Address  string `json:"address" doc:"The picture, as the deck's HTML has it: files/NUMBER/NAME."`
}

func (p openFileParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	tx := c.Tx.As(behind(c))
	d, err := p.deck(c, tx)
	if err != nil {
		return nil, err
	}
	f, err := file.Find(tx, d.ID(), p.Address)
	if err != nil {
		return nil, err
	}
	return f.Load(tx), nil
}

// deck returns the deck if whoever asks may see it.
func (p openFileParams) deck(c *engine.Ctx, tx *storage.Tx) (*storage.Doc, error) {
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
	folder, err := homeOf(tx, p.Username)
	if err != nil || folder == nil {
		return nil, either(err, missing)
	}
	d, err := deckAt(tx, folder.ID(), p.Slug)
	if err != nil {
		return nil, err
	}
	as := c.As
	if name := fileKeyOf(tx, d, p.Key); name != "" {
		if as, err = tx.PrincipalOf(name); err != nil {
			return nil, either(err, missing)
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
	if prop[string](d, "deck:visibility") == "all" {
		return ""
	}
	until := strconv.FormatInt(c.Now.Add(fileKeyTime).Unix(), 10)
	return "key=" + base64.RawURLEncoding.EncodeToString([]byte(c.As.Name)) + "." + until + "." + sign(c.Tx, "file", d.ID(), c.As.Name, until)
}

// fileKeyOf returns for whom a key was made; "" if it is none of ours or has ended.
func fileKeyOf(tx *storage.Tx, d *storage.Doc, key string) string {
	parts := strings.Split(key, ".")
	if len(parts) != 3 {
		return ""
	}
	name, err := base64.RawURLEncoding.DecodeString(parts[0])
	until, bad := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || bad != nil || !hmac.Equal([]byte(parts[2]), []byte(sign(tx, "file", d.ID(), string(name), parts[1]))) ||
		!tx.Now().Before(time.Unix(until, 0)) {
		return ""
	}
	return string(name)
}
