package tag

import (
	"encoding/json"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// Suggestions shown, and words looked at for them. Each word that is looked at costs a query, so both
// bound a call that is made with each letter typed. A word that comes after 200 others with the same
// beginning is never suggested.
const (
	shown  = 10
	looked = 200
)

var suggest = engine.Op{
	Name:     "Tag.Suggestion",
	Label:    "Get tag suggestion",
	Category: "Services",
	Doc:      "Returns JSON with id and displayLabel of up to ten existing tags that begin with the search term. With a value, it returns the tags of the document instead.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(suggestParams.run),
}

type suggestParams struct {
	Document storage.Ref `json:"document,omitzero" doc:"Document whose tags are returned if value is set."`
	Term     string      `json:"searchTerm,omitzero" doc:"Prefix of the tags."`
	Value    string      `json:"value,omitzero" doc:"Any value, to return the tags of the document."`
	Xpath    string      `json:"xpath,omitzero" unused:"true" doc:"Accepted but ignored."`
}

func (p suggestParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	var found []string
	var err error
	switch {
	case p.Value != "" && p.Document == "":
		return nil, nil //nolint:nilnil // no document, no answer
	case p.Value != "":
		found, err = p.own(c)
	default:
		found, err = inUse(c, p.Term)
	}
	if err != nil {
		return nil, err
	}
	type suggestion struct {
		ID    string `json:"id"`
		Label string `json:"displayLabel"`
	}
	out := make([]suggestion, len(found))
	for i, label := range found {
		out[i] = suggestion{label, label}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob("tags.json", "application/json", raw), nil
}

// own returns the tags of the document.
func (p suggestParams) own(c *engine.Ctx) ([]string, error) {
	d, err := engine.Named(c.Tx.Doc(p.Document))
	if err != nil || !d.HasFacet(facet) {
		return nil, err
	}
	items, err := read(d)
	labels := make([]string, len(items))
	for i, it := range items {
		labels[i] = it.label
	}
	return labels, err
}

// inUse returns the words with a beginning that are on a document the caller may read. A word that is
// only on documents the caller may not read is kept back: tags can say a lot about what they are on.
func inUse(c *engine.Ctx, term string) ([]string, error) {
	list, err := clean([]string{term})
	if err != nil {
		return nil, fault.Limit.Errorf("searchTerm: %w", err).In("searchTerm")
	}
	if len(list) == 0 {
		return []string{}, nil
	}
	found := []string{}
	for label, raw := range c.Tx.Table(words).Scan(list[0], list[0]+"\xff", false, looked) {
		if raw == nil || !strings.HasPrefix(label, list[0]) {
			break
		}
		page, err := search.Query(c.Tx, "SELECT * FROM Document WHERE ecm:tag = ?", search.Options{
			Args: []any{label}, PageOptions: storage.PageOptions{Limit: 1, CountLimit: -1},
		})
		if err != nil {
			return nil, err
		}
		if len(page.Docs) > 0 {
			found = append(found, label)
		}
		if len(found) == shown {
			break
		}
	}
	return found, nil
}
