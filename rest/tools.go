package rest

import (
	"context"
	"net/http"
	"net/netip"
	"sync"

	"catena/rest/mcp"
)

// arrivalKey finds in a context how a request for a mounted handler came here.
type arrivalKey struct{}

type arrival struct {
	base   string // public address of the server
	client netip.Addr
	id     string // of the request
}

func arrivalOf(ctx context.Context) arrival {
	a, _ := ctx.Value(arrivalKey{}).(arrival)
	return a
}

// toolServers are the servers for models, also below the context path.
func toolServers(s *Handler) []Mount {
	c := mcp.Config{
		Engine: s.Engine, Log: s.Log, Version: s.Version, MaxBody: s.Limits.JSON, As: PrincipalOf, Context: s.ContextPath,
		Check: checkJSON, Done: s.Done(),
		Base: func(ctx context.Context) string { return arrivalOf(ctx).base },
		From: func(ctx context.Context) (netip.Addr, string) { a := arrivalOf(ctx); return a.client, a.id },
	}
	decks, automation := once(func() http.Handler { return mcp.Decks(c) }), once(func() http.Handler { return mcp.Automation(c) })
	out := []Mount{tools("/mcp/automation", automation), tools("/mcp", decks)}
	if s.ContextPath != "" {
		out = append(out, tools(s.ContextPath+"/mcp/automation", automation), tools(s.ContextPath+"/mcp", decks))
	}
	return out
}

func tools(path string, h http.Handler) Mount {
	return Mount{Path: path, Handler: h, Rated: true, Allow: "POST, OPTIONS"}
}

// once is a handler that is made when the first request comes: the schemas of all tools are
// more work than the rest of a server that starts.
func once(made func() http.Handler) http.Handler {
	made = sync.OnceValue(made)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { made().ServeHTTP(w, r) })
}
