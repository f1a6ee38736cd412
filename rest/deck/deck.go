// Package deck serves the deck service below /v1. Its addresses are the rows of decks/route; the handlers here are for those
// that do more than run an operation: files, pictures, downloads, and the pages on which decks are shown. The service has two
// revisions, A and B, which differ in their fields and in some statuses; a key says which one its programs use.
//
// Answers have the form of the service's specification: data, meta and, for errors, a code and the field.
// answer.go and problem.go write them; handlers never write JSON themselves.
package deck

import (
	"net/http"
	"strings"

	"catena/decks/route"
	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// handlers serve the routes that do more than run their operation.
var handlers = map[string]func(*service, *rest.Request) error{
	"addFile": (*service).addFile, "downloadExport": (*service).downloadExport, "followExport": (*service).exportEvents,
	"getFile": (*service).openFile, "getThumbnail": (*service).thumbnail,
}

// Routes are the addresses of the deck service.
func Routes() []rest.Route {
	out := []rest.Route{
		{Method: "GET", Path: "/openapi.json", Access: rest.Open, Handle: described("union")},
		{Method: "GET", Path: "/openapi-a.json", Access: rest.Open, Handle: described("A")},
		{Method: "GET", Path: "/openapi-b.json", Access: rest.Open, Handle: described("B")},
	}
	for i := range route.Routes {
		s := newService(&route.Routes[i])
		r := rest.Route{Method: s.Method, Path: pattern(s.Path), Body: bodyOf(s.Route), Handle: s.serve}
		if h := handlers[s.ID]; h != nil {
			r.Handle = func(x *rest.Request) error { return h(s, x) }
		}
		if s.Open {
			r.Access = rest.Open
		}
		out = append(out, r)
	}
	return out
}

// pattern is a path as the router takes it.
func pattern(path string) string { return strings.NewReplacer("{", ":", "}", "").Replace(path) }

// bodyOf says what is read of a body.
func bodyOf(r *route.Route) rest.Body {
	switch {
	case r.Pictures:
		return rest.PictureBody
	case r.Texts != "":
		return rest.SlidesBody
	case r.Body == "" && r.Method != http.MethodGet && r.Method != http.MethodDelete:
		return rest.NoBody
	case r.Method == http.MethodPatch:
		return rest.PatchBody
	}
	return rest.JSONBody
}

// Holds reports whether an address is of the deck service, whose errors look their own way.
func Holds(path string) bool {
	_, v1 := rest.Under(path, "/v1")
	_, mcp := rest.Under(path, "/mcp")
	return v1 || mcp
}

// described makes a handler that describes the deck service in one revision.
func described(revision string) rest.HandlerFunc {
	return func(x *rest.Request) error {
		v, err := x.DeckValue(engine.Call{Op: "Deck.Describe", Params: rest.Values{"revision": revision, "base": x.Host()}, As: x.Server.Engine.Guest()})
		if err != nil {
			return err
		}
		return x.JSON(http.StatusOK, v)
	}
}

// revisionOf is the revision asked for: by header, by the address, by the key; else both.
func revisionOf(x *rest.Request) (string, error) {
	revision := "union"
	switch {
	case x.HTTP.Header.Get("Deck-Revision") != "":
		revision = x.HTTP.Header.Get("Deck-Revision")
	case x.Query().Get("revision") != "":
		revision = x.Query().Get("revision")
	case x.As.Revision != "":
		revision = x.As.Revision
	}
	h := x.Writer.Header()
	h.Add("Vary", "Deck-Revision, Authorization")
	switch revision {
	case "a", "b":
		h.Set("Deck-Revision", strings.ToUpper(revision))
	case "A", "B", "union":
		h.Set("Deck-Revision", revision)
	default:
		return "", fault.Invalid.Errorf("revision %.40q: must be A or B", revision).In("revision").WithCode(fault.CodeUnknownRevision)
	}
	return revision, nil
}

// acceptsJSON reports whether the caller can read JSON.
func acceptsJSON(x *rest.Request) bool {
	accept := x.HTTP.Header.Values("Accept")
	if len(accept) == 0 {
		return true
	}
	for item := range strings.SplitSeq(strings.ToLower(strings.Join(accept, ",")), ",") {
		typ, ps, _ := strings.Cut(strings.TrimSpace(item), ";")
		switch typ = strings.TrimSpace(typ); {
		case rest.Refused(ps):
		case typ == "", typ == "*/*", typ == "application/*", strings.HasSuffix(typ, "json"):
			return true
		}
	}
	return false
}
