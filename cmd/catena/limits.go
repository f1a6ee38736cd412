package main

import (
	"slices"

	"catena/decks/export"
	"catena/engine"
	"catena/engine/pdf"
	"catena/engine/workflow"
	"catena/ops/collection"
	"catena/ops/drive"
	"catena/rest"
	"catena/scripts"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/limit"
	"catena/storage/relation"
	"catena/storage/subscription"
	"catena/storage/uisession"
	"catena/storage/upload"
)

// limits are those of all packages. Each package declares its own.
type limits struct {
	rest       rest.Limits
	storage    storage.Limits
	engine     engine.Limits
	pdf        pdf.Limits
	scripts    scripts.Limits
	collection collection.Limits
	credential credential.Limits
	drive      drive.Limits
	export     export.Limits
	relation   relation.Limits
	subscribe  subscription.Limits
	uisession  uisession.Limits
	upload     upload.Limits
	workflow   workflow.Limits
}

// all lists the limits, each of which has its default from then on.
func (l *limits) all() []*limit.Limit {
	var all []*limit.Limit
	for _, of := range []any{
		&l.rest, &l.storage, &l.engine, &l.pdf, &l.scripts,
		&l.collection, &l.credential, &l.drive, &l.export, &l.relation, &l.subscribe, &l.uisession, &l.upload, &l.workflow,
	} {
		limit.Fill(of)
		all = slices.Concat(all, limit.All(of))
	}
	return all
}

// bounds are the limits of packages that stand on storage.
func (l *limits) bounds() limit.Set {
	return limit.Set{}.With(l.collection, l.credential, l.drive, l.export, l.relation, l.subscribe, l.uisession, l.upload, l.workflow)
}
