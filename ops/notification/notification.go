// Package notification holds the operations that tell people something: mail about a document,
// subscriptions to what happens to it, and the message about a permission. Sending is
// engine/mail's business, and happens after the commit.
package notification

import (
	"catena/engine"
	"catena/engine/mail"
)

// Ops are the notification operations, with the templates that every server has.
var Ops = OpsWith(Config{})

// Config is what messages are made with.
type Config struct {
	Templates *mail.Templates // nil: those that every server has
	Base      string          // public address of the server, for links
}

// OpsWith are the notification operations of a server.
func OpsWith(c Config) []engine.Op {
	if c.Templates == nil {
		c.Templates = mail.Defaults()
	}
	return []engine.Op{
		sendMail(c),
		sendPermission,
		subscribe,
		unsubscribe,
	}
}
