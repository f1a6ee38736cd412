package search

import (
	"cmp"
	"encoding/json"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/people"
	"catena/storage/query"
	"catena/storage/search"
)

// suggested is how many suggestions of a kind there are. It bounds the work of a call that is made with
// each letter typed.
const suggested = 5

var suggest = engine.Op{
	Name:     "Search.SuggestersLauncher",
	Label:    "Suggesters launcher",
	Category: "User Interface",
	Doc:      "Returns JSON with suggestions for a search box: documents whose title begins with the term or that match it in full text, then users, then groups. Each has id, label, type, icon, thumbnailUrl, url and highlights.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(suggestParams.run),
}

type suggestParams struct {
	Term string `json:"searchTerm,omitzero" doc:"The text typed so far."`
}

// suggestion is an entry of a search box.
type suggestion struct {
	ID         string      `json:"id"`
	Label      string      `json:"label"`
	Type       string      `json:"type"`
	Icon       string      `json:"icon"`
	Thumbnail  string      `json:"thumbnailUrl"`
	URL        string      `json:"url"`
	Highlights []highlight `json:"highlights"`
}

type highlight struct {
	Field    string   `json:"field"`
	Segments []string `json:"segments"`
}

func (p suggestParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	out := []suggestion{}
	if term := strings.TrimSpace(p.Term); term != "" {
		docs, err := documents(c, term)
		if err != nil {
			return nil, err
		}
		people, err := members(c, term)
		if err != nil {
			return nil, err
		}
		out = append(docs, people...)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob("suggestions.json", "application/json", raw), nil
}

// documents are those whose title begins with the term, then those that full text finds. Both queries
// run as the caller. Hidden documents, versions, proxies and what is in the trash are not what people
// look for in a search box.
func documents(c *engine.Ctx, term string) ([]suggestion, error) {
	const where = " AND ecm:mixinType != 'HiddenInNavigation' AND ecm:isVersion = 0 AND ecm:isProxy = 0 AND ecm:isTrashed = 0"
	out, seen := []suggestion{}, map[string]bool{}
	pattern := query.Literal(term) + "%"
	for _, q := range []struct{ src, arg string }{
		{"SELECT * FROM Document WHERE dc:title ILIKE ?" + where + " ORDER BY dc:title", pattern},
		// The star has the last word match its beginning, since the user may not have finished
		// typing it.
		{"SELECT * FROM Document WHERE ecm:fulltext = ?" + where, term + "*"},
	} {
		if len(out) == suggested { // looking up what begins with a letter or two takes much longer than titles
			break
		}
		page, err := search.Query(c.Tx, q.src, search.Options{Args: []any{q.arg}, PageOptions: storage.PageOptions{Limit: suggested, CountLimit: -1}})
		if err != nil {
			return nil, err
		}
		for _, d := range page.Docs {
			// A document that both queries find is shown once, as a match of its title.
			if seen[d.ID()] || len(out) == suggested {
				continue
			}
			seen[d.ID()] = true
			out = append(out, suggestion{
				ID: d.ID(), Label: d.Title(), Type: "document", Icon: "/icons/" + d.Type().Icon + ".png",
				Thumbnail: "api/v1/id/" + d.ID() + "/@rendition/thumbnail", URL: "id/" + d.ID(), Highlights: marked(d, term),
			})
		}
	}
	return out, nil
}

// marked tells where in the title the term is.
func marked(d *storage.Doc, term string) []highlight {
	segments := search.Marked(d.Title(), term)
	if segments == nil {
		return []highlight{}
	}
	return []highlight{{Field: "dc:title", Segments: segments}}
}

// members are users and groups whose names begin with the term.
func members(c *engine.Ctx, term string) ([]suggestion, error) {
	first := storage.PageOptions{Limit: suggested, CountLimit: -1}
	users, err := people.SearchUsers(c.Tx, term, first)
	if err != nil {
		return nil, err
	}
	groups, err := people.SearchGroups(c.Tx, term, first)
	if err != nil {
		return nil, err
	}
	out := []suggestion{}
	add := func(kind, id, label string) {
		out = append(out, suggestion{ID: id, Label: cmp.Or(label, id), Type: kind, Icon: "/icons/" + kind + ".png", URL: kind + "/" + id, Highlights: []highlight{}})
	}
	for _, u := range users.Users {
		add("user", u.Username, strings.TrimSpace(u.FirstName+" "+u.LastName))
	}
	for _, g := range groups.Groups {
		add("group", g.Name, g.Label)
	}
	return out, nil
}
