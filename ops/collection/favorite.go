package collection

import (
	"catena/engine"
	"catena/storage"
)

var addFavorite = engine.Op{
	Name:     "Document.AddToFavorites",
	Aliases:  []string{"Collection.AddToFavorites"},
	Label:    "Add document to favorites",
	Category: "Document",
	Doc:      "Adds the document to the caller's favorites and returns it.",
	Callers:  engine.Anyone,
	Run:      several(favoriteParams.add),
}

var removeFavorite = engine.Op{
	Name:     "Document.RemoveFromFavorites",
	Aliases:  []string{"Collection.RemoveFromFavorites"},
	Label:    "Remove from favorites",
	Category: "Document",
	Doc:      "Removes the document from the caller's favorites and returns it.",
	Callers:  engine.Anyone,
	Run:      several(favoriteParams.remove),
}

var fetchFavorites = engine.Op{
	Name:     "Favorite.Fetch",
	Label:    "Fetch favorites root collection",
	Category: "Document",
	Doc:      "Returns the collection of the caller's favorites, which is created on first use.",
	Callers:  engine.Anyone,
	Run:      engine.On(favoriteParams.fetch),
}

var listFavorites = engine.Op{
	Name:     "Favorite.GetDocuments",
	Aliases:  []string{"Collection.GetElementsInFavorite"},
	Label:    "Get documents from favorites",
	Category: "Document",
	Doc:      "Returns a page of the caller's favorites, by title. The input document does not matter. Parameters of Repository.PageProvider may be given.",
	Callers:  engine.Anyone,
	Open:     true,
	Run:      engine.On(favoriteParams.list),
}

type favoriteParams struct{}

func (favoriteParams) add(c *engine.Ctx, docs storage.Docs) (storage.Docs, error) {
	list, err := favorites(c)
	if err != nil {
		return nil, err
	}
	return join(c, docs, list)
}

func (favoriteParams) remove(c *engine.Ctx, docs storage.Docs) (storage.Docs, error) {
	list, err := favorites(c)
	if err != nil {
		return nil, err
	}
	return leave(c, docs, list)
}

func (favoriteParams) fetch(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) { return favorites(c) }

func (favoriteParams) list(c *engine.Ctx, _ *storage.Doc) (*storage.Page, error) {
	list, err := favorites(c)
	if err != nil {
		return nil, err
	}
	return page(c, "user_favorites", map[string]any{"queryParams": []string{list.ID()}})
}

// favorites is the collection of the caller's favorites. It is created when it is first needed, also by
// operations that otherwise only read, which is why those are declared as writing.
func favorites(c *engine.Ctx) (*storage.Doc, error) {
	return own(c, "Favorites", "Favorites", "Favorites")
}
