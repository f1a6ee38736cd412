package collection

import (
	"encoding/json"

	"catena/engine"
	"catena/storage"
)

var suggest = engine.Op{
	Name:     "Collection.Suggestion",
	Label:    "Get collection suggestion",
	Category: "Services",
	Doc:      "Returns JSON with the collections whose title begins with the search term: displayLabel, path, icon, and id where the caller may add to it. If no title equals the term, the first entry, whose id is -999999 followed by the term, offers to create one.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(suggestParams.run),
}

type suggestParams struct {
	Index    int    `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	Language string `json:"lang,omitzero" unused:"true" doc:"Accepted but ignored."`
	PageSize int    `json:"pageSize" default:"20" doc:"Maximum number of entries."`
	Term     string `json:"searchTerm,omitzero" doc:"Prefix of the title."`
}

// suggestion is an entry of a selection widget.
type suggestion struct {
	ID    string `json:"id,omitempty"`
	Label string `json:"displayLabel"`
	Path  string `json:"path,omitempty"`
	Icon  string `json:"icon,omitempty"`
}

func (p suggestParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	params := beginning(p.Term)
	params["pageSize"], params["currentPageIndex"] = p.PageSize, p.Index
	list, err := page(c, "default_collection", params)
	if err != nil {
		return nil, err
	}
	out, exists := make([]suggestion, 0, len(list.Docs)+1), p.Term == ""
	if !exists {
		// The prefix is the platform's: its selection widget creates a collection when an id begins
		// with it.
		out = append(out, suggestion{ID: "-999999" + p.Term, Label: p.Term})
	}
	for _, d := range list.Docs {
		s := suggestion{Label: d.Title(), Path: d.Path(), Icon: "/icons/" + d.Type().Icon + ".png"}
		// Without an id the widget shows the entry but does not let it be chosen.
		if c.Tx.Can(d, "WriteProperties") {
			s.ID = d.ID()
		}
		if d.Title() == p.Term && !exists {
			out, exists = out[1:], true
		}
		out = append(out, s)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob("collections.json", "application/json", raw), nil
}
