// Package share keeps private links to decks; anyone who has the link may see the deck. A link may have a password
// and an expiry time, and its views are counted. The store has only a hash of its token, so that reading the store
// does not open decks; its owner sees the address because the token can be derived again from the server's secret.
//
// Opening a link is an operation without a signed-in user: the token is the permission, and grants one deck,
// to be read. A password is checked by the code that checks sign-in passwords, with its throttling
// (storage/credential), and an accepted one is replaced by a pass, which the page keeps in a cookie for this
// link alone. The link's row counts the views; the latest of them are rows of their own, with the program and
// the referrer.
package share

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// Ops are the operations on private links and the notices that come of them.
var Ops = []engine.Op{
	createShareLink,
	listNotices,
	listShareLinks,
	listShareViews,
	openShare,
	revokeShareLink,
}

// The tables of share links. A link is a row under its deck; its token leads to it by a hash,
// and can be made again from the link's nonce and the server's secret, so that its owner may
// read its address later while nobody who reads the store may.
const (
	linkTable  = "deck-links"  // deck's id "/" number: link
	tokenTable = "deck-tokens" // hash of a token: tokenRow
	maxLinks   = 100           // of a deck, expired ones included
)

// link is a private share link.
type link struct {
	storage.Owned
	ID                   int64
	Name                 string
	Nonce                string
	Password             string `json:",omitempty"` // as a hash
	Notify               bool
	Views                int64
	Created              time.Time
	Expires, FirstViewed time.Time `json:",omitzero"`
}

// tokenRow says which link a token opens.
type tokenRow struct {
	Doc storage.Ref
	ID  int64
}

// linkKey has 19 digits, which every int64 fits in, so that keys are in the order of numbers.
func linkKey(doc string, id int64) string { return fmt.Sprintf("%s/%019d", doc, id) }

// expired is true from the very instant on. It is computed when it is asked for; nothing marks the row.
func (l *link) expired(now time.Time) bool { return !l.Expires.IsZero() && !now.Before(l.Expires) }

// token is made again from the nonce whenever the address is shown: 24 bytes that the server's secret has signed.
func (l *link) token(tx *storage.Tx, doc string) string {
	return deck.Sign(tx, "link", doc, fmt.Sprint(l.ID), l.Nonce)
}

// pass is what stands for the password once it was right, as long as there is the link.
func (l *link) pass(tx *storage.Tx, doc string) string {
	return deck.Sign(tx, "pass", doc, fmt.Sprint(l.ID), l.Nonce)
}

// tokenKey needs neither salt nor stretching: a token of 192 bits cannot be guessed from its hash.
func tokenKey(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// links returns the links of a deck, newest first.
func links(tx *storage.Tx, d *storage.Doc) ([]link, error) {
	var all []link
	// The character 0 follows the slash, so the range holds the rows of this deck and no others.
	for _, raw := range tx.Table(linkTable).Scan(d.ID()+"/", d.ID()+"0", true, maxLinks) {
		var l link
		if err := json.Unmarshal(raw, &l); err != nil {
			return nil, fault.Internal.Errorf("share link: %w", err)
		}
		all = append(all, l)
	}
	return all, nil
}

// mayLink refuses accounts whose plan has no share links.
func mayLink(c *engine.Ctx) error {
	u, err := people.Lookup(c.Tx, c.As.Name)
	if err == nil && !linksIncluded(u, c.As) {
		err = fault.Denied.Errorf("share links: require a pro or team account").WithCode(fault.CodePlanRequired)
	}
	return err
}

// linksIncluded reports whether a user, who acts as somebody, may have share links. Administrators, who set the plans, always may.
func linksIncluded(u *people.User, as *storage.Principal) bool {
	return u.AccountType == "pro" || u.AccountType == "team" || as.Admin
}
