package share

import (
	"cmp"
	"crypto/hmac"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

var openShare = engine.Op{
	Name: "Deck.OpenShare", Label: "Open Share Link", Category: deck.Category,
	Doc: "Returns the deck of a private link, to anyone who has the link. If the link has a password that is " +
		"missing or wrong, the result has no data but locked: password_required, wrong_password or too_many_tries with retry_after " +
		"in seconds; after a correct password it has a pass that may be used instead. An expired link fails with code link_expired; " +
		"a revoked one does not exist.",
	Callers: engine.Anyone,
	Run:     engine.On(openShareParams.run),
}

type openShareParams struct {
	Token    string `json:"token" secret:"true" doc:"Token from the link's address."`
	Password string `json:"password,omitzero" secret:"true" doc:"The link's password."`
	Pass     string `json:"pass,omitzero" secret:"true" doc:"Pass from an earlier result, instead of the password."`
	Count    bool   `json:"count" default:"false" doc:"Whether this is a view of the deck's page, which is counted unless the viewer is the owner or a program."`
	Agent    string `json:"agent,omitzero" doc:"User agent of the viewer; previews by programs are not counted."`
	Referrer string `json:"referrer,omitzero" doc:"Page the viewer came from, for the log of views."`
	Probe    bool   `json:"probe" default:"false" doc:"Whether to return only that the caller may see the deck, without its fields."`
	Base     string `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
}

func (p openShareParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	// The token is the permission, so the server reads in place of the caller, who may have no right at all.
	asked := c.Tx
	c.Tx = asked.As(deck.Behind(c))
	defer func() { c.Tx = asked }()
	d, l, err := p.find(c)
	if err != nil {
		return nil, err
	}
	locked, err := p.unlock(c, d, l)
	if err != nil || locked != nil {
		return locked, err
	}
	if p.Probe {
		return deck.Probed(d), nil
	}
	if p.Count && !l.Is(c.As) && !automatic(p.Agent) {
		if err := p.count(c, d, l); err != nil {
			return nil, err
		}
	}
	// Slides are shown without cookies, so the addresses of their pictures have to carry the pass.
	files := ""
	if l.Password != "" {
		files = "pass=" + l.pass(c.Tx, d.ID())
	}
	out, err := deck.View{Base: p.Base}.Page(c, d, l.Owner, files)
	if err != nil {
		return nil, err
	}
	out["link"] = map[string]any{
		"id": l.ID, "name": l.Name, "password_protected": l.Password != "", "expires_at": deck.StampOrNone(l.Expires),
	}
	if l.Password != "" {
		out["pass"] = l.pass(c.Tx, d.ID())
	}
	return out, nil
}

// find looks up the link of the token and its deck, which who made the link must still be able
// to read. What ended in any way does not exist, except for what only its time ended.
func (p openShareParams) find(c *engine.Ctx) (*storage.Doc, *link, error) {
	missing := fault.NotFound.Errorf("share link: does not exist")
	var at tokenRow
	ok, err := c.Tx.Table(tokenTable).Get(tokenKey(p.Token), &at)
	if err != nil || !ok {
		return nil, nil, cmp.Or[error](err, missing)
	}
	var l link
	if ok, err = c.Tx.Table(linkTable).Get(linkKey(string(at.Doc), at.ID), &l); err != nil || !ok {
		return nil, nil, cmp.Or[error](err, missing)
	}
	d, err := c.Tx.Doc(at.Doc)
	if fault.Is(err, fault.NotFound) || err == nil && d.IsTrashed() {
		return nil, nil, missing
	}
	if err != nil {
		return nil, nil, err
	}
	owner, err := people.Lookup(c.Tx, l.Owner)
	if err == nil {
		err = l.may(c.Tx, owner, d)
	}
	if fault.Is(err, fault.NotFound) {
		return nil, nil, missing
	}
	// Expiry comes last: it has an answer of its own (410), which must not tell of a deck that is gone.
	if err == nil && l.expired(c.Now) {
		err = fault.NotFound.Errorf("share link: has expired").WithCode(fault.CodeLinkExpired)
	}
	return d, &l, err
}

// may fails unless the owner of a link may still have links and read the deck.
func (l *link) may(tx *storage.Tx, owner *people.User, d *storage.Doc) error {
	p, err := l.Principal(tx)
	if err == nil && (!linksIncluded(owner, p) || !tx.As(p).Can(d, "Read")) {
		err = fault.NotFound.Errorf("share link: has ended")
	}
	return err
}

// Deck returns the deck that a link leads to, if it has no password or the pass stands for it.
// It serves the pictures of a page that was counted when it was opened, so it counts no view. A wrong pass
// is answered with the error missing, as if there were no such deck.
func Deck(c *engine.Ctx, token, pass string, missing error) (*storage.Doc, error) {
	d, l, err := openShareParams{Token: token}.find(c)
	if err == nil && l.Password != "" && !hmac.Equal([]byte(pass), []byte(l.pass(c.Tx, d.ID()))) {
		err = missing
	}
	return d, err
}
