package collection

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/query"
)

var listMembers = engine.Op{
	Name:     "Collection.GetDocumentsFromCollection",
	Label:    "Get documents from collection",
	Category: "Document",
	Doc:      "Returns a page of the members of the input collection, by title, without hidden and trashed ones. Parameters of Repository.PageProvider may be given.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Open:     true,
	Run:      engine.On(membersParams.run),
}

type membersParams struct{}

func (membersParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Page, error) {
	if !d.HasFacet("Collection") {
		return nil, fault.Invalid.Errorf("document %s: not a collection", d.Path()).In("input")
	}
	return page(c, "default_content_collection", map[string]any{"queryParams": []string{d.ID()}})
}

// page runs a page provider with parameters of the caller's. It is called by name; undeclared parameters
// of the call, such as pageSize, reach it because the operations are Open.
func page(c *engine.Ctx, provider string, params map[string]any) (*storage.Page, error) {
	params["providerName"] = provider
	out, err := c.Call("Repository.PageProvider", nil, params)
	if err != nil {
		return nil, err
	}
	found, _ := out.(*storage.Page)
	return found, nil
}

var listMine = engine.Op{
	Name:     "User.GetCollections",
	Aliases:  []string{"Collection.GetCollections"},
	Label:    "Get collections",
	Category: "Document",
	Doc:      "Returns a page of the collections whose title begins with the search term, by title, without favorites. Parameters of Repository.PageProvider may be given.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Open:     true,
	Run:      engine.On(mineParams.run),
}

type mineParams struct {
	Term string `json:"searchTerm" doc:"Prefix of the title."`
}

func (p mineParams) run(c *engine.Ctx, _ engine.Void) (*storage.Page, error) {
	return page(c, "user_collections", beginning(p.Term))
}

// beginning are the parameters of user_collections for the titles that begin with a term. The wildcards
// in the term are escaped, so that a term of % does not list every collection.
func beginning(term string) map[string]any {
	return map[string]any{"namedParameters": storage.Props{"searchTerm": query.Literal(term) + "%"}}
}
