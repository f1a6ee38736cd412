// Package notification holds operations that inform people: mail about a document, subscriptions to its events, and
// messages about permissions. Sending is engine/mail's business, and happens after the commit.
//
// Messages go to users by name and to addresses by mail. Recipients are resolved in the transaction, so that
// somebody who may not read the document at that time gets no message about it; texts are made from templates
// when the message is sent.
package notification

import (
	"catena/engine"
	"catena/engine/mail"
)

// Config is what messages are made with.
type Config struct {
	Templates func() *mail.Templates // nil: those that every server has
	Base      string                 // public address of the server, for links
}

// Ops returns the notification operations of a server.
func Ops(c Config) []engine.Op {
	if c.Templates == nil {
		c.Templates = mail.Defaults
	}
	return []engine.Op{
		sendMail(c),
		sendPermission,
		subscribe,
		unsubscribe,
	}
}
