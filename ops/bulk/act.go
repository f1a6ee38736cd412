package bulk

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var act = engine.Op{
	Name:     "Bulk.Documents",
	Label:    "Get, Update or Delete Several Documents",
	Category: "Services",
	Doc:      "Returns several documents by their ids, changes properties of all of them, or deletes them, in one transaction.",
	Callers:  engine.Anyone,
	Run:      engine.On(actParams.run),
}

type actParams struct {
	IDs        []string      `json:"ids" doc:"Identifiers of the documents."`
	Action     string        `json:"action" default:"get" enum:"delete,get,update" doc:"What to do with the documents."`
	Properties storage.Props `json:"properties,omitzero" doc:"For update: properties by xpath."`
}

func (p actParams) run(c *engine.Ctx, _ engine.Void) (storage.Docs, error) {
	// All ids are handled in this one transaction, so the bound is that of one page of a query;
	// more than that is work for a command (Bulk.RunAction).
	if len(p.IDs) == 0 || len(p.IDs) > page {
		return nil, fault.Invalid.Errorf("ids: must name between 1 and %d documents", page).In("ids")
	}
	refs := make(storage.Refs, len(p.IDs))
	for i, id := range p.IDs {
		refs[i] = storage.Ref(id)
	}
	// One id that the caller cannot read fails the call. Unlike a command, which skips it, this
	// operation is all or nothing.
	docs, err := c.Tx.Docs(refs)
	if err != nil || p.Action == "get" {
		return docs, err
	}
	for i, d := range docs {
		// A document below another one of the list may be gone when its turn comes; that is an
		// error of Delete like any other.
		if p.Action == "delete" {
			err = c.Tx.Delete(d)
		} else if err = setProperties(c, d, p.Properties); err == nil {
			docs[i], err = c.Tx.Reload(d)
		}
		if err != nil {
			return nil, err
		}
	}
	if p.Action == "delete" {
		return nil, nil
	}
	return docs, nil
}
