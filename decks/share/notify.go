package share

import (
	"fmt"
	"net/url"
	"time"

	"catena/decks/deck"
	"catena/engine"
	"catena/engine/mail"
	"catena/storage"
)

// notice tells an owner that a link was first used.
type notice struct {
	ID         int64
	Event      string
	Deck, Link int64
	Title      string // of the deck then
	Name       string // of the link
	At         time.Time
}

// noticePrefix escapes the name: a slash in it would reach into the rows of another user.
func noticePrefix(owner string) string { return url.PathEscape(owner) + "/" }

// notify leaves the owner a notice and, if there is an address, sends mail.
func (l *link) notify(c *engine.Ctx, d *storage.Doc, base string) error {
	n := notice{Event: "share_link.first_viewed", Deck: deck.Number(d), Link: l.ID, Title: d.Title(), Name: l.Name, At: c.Now}
	var err error
	if n.ID, err = c.Tx.Next("deck-notices"); err != nil {
		return err
	}
	notices := c.Tx.Table(noticeTable)
	prefix := noticePrefix(l.Owner)
	// With the new notice there are keptNotices. A few more are read than there should be, so that a surplus shrinks.
	count := 0
	for key := range notices.Scan(prefix, prefix+"~", true, keptNotices+10) {
		if count++; count >= keptNotices {
			if err := notices.Delete(key); err != nil {
				return err
			}
		}
	}
	if err := notices.Put(prefix+fmt.Sprintf("%019d", n.ID), n); err != nil {
		return err
	}
	// The message is a row of the outbox, so no mail tells of a view whose transaction failed.
	_, err = mail.Send(c.Tx, mail.Mail{
		To:       []string{"user:" + l.Owner},
		Template: "share_link.first_viewed",
		Data: map[string]any{
			"title": d.Title(), "name": l.Name, "time": c.Now.Format(time.RFC1123), "url": deck.View{Base: base}.Address(l.Owner, d),
		},
		Doc: d.ID(),
	})
	return err
}

// ForgetNotices removes the notices of a user who is gone.
func ForgetNotices(tx *storage.Tx, user string) error {
	notices, prefix := tx.Table(noticeTable), noticePrefix(user)
	for key := range notices.Scan(prefix, prefix+"~", false, 0) {
		if err := notices.Delete(key); err != nil {
			return err
		}
	}
	return nil
}
