// Package owner lists the packages below storage that keep data about documents or users.
//
// An owner is told when a document is erased or a user is deleted, within that transaction (storage.Owner). Owners are called in the order of the list.
package owner

import (
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/directory/record"
	"catena/storage/grant"
	"catena/storage/history"
	"catena/storage/oauth"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/relation"
	"catena/storage/retention"
	"catena/storage/run"
	"catena/storage/subscription"
	"catena/storage/uisession"
	"catena/storage/vault"
	"catena/storage/webhook"
)

// All are the owners that every repository has.
var All = []storage.Owner{
	record.Owner(shown),
	outbox.Owner,
	people.Owner,
	grant.Owner,
	credential.Owner,
	history.Owner,
	oauth.Owner,
	relation.Owner,
	retention.Owner,
	run.Owner,
	subscription.Owner,
	uisession.Owner,
	vault.Owner,
	webhook.Owner,
}
