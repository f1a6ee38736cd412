package server

import (
	"context"
	"net/http"
	"net/netip"
	"sync"

	"catena/rest"
	"catena/rest/mcp"
)

// toolServers are the servers for models, also below the context path.
func toolServers(s *rest.Handler) []rest.Mount {
	c := mcp.Config{
		Engine: s.Engine, Log: s.Log, Version: s.Version, MaxBody: s.Limits.JSON, As: rest.PrincipalOf, Context: s.ContextPath,
		Check: rest.CheckJSON, Done: s.Done(),
		Base: func(ctx context.Context) string { return rest.ArrivalOf(ctx).Base },
		From: func(ctx context.Context) (netip.Addr, string) { a := rest.ArrivalOf(ctx); return a.Client, a.ID },
	}
	decks, automation := once(func() http.Handler { return mcp.Decks(c) }), once(func() http.Handler { return mcp.Automation(c) })
	out := []rest.Mount{tools("/mcp/automation", automation), tools("/mcp", decks)}
	if s.ContextPath != "" {
		out = append(out, tools(s.ContextPath+"/mcp/automation", automation), tools(s.ContextPath+"/mcp", decks))
	}
	return out
}

func tools(path string, h http.Handler) rest.Mount {
	return rest.Mount{Path: path, Handler: h, Rated: true, Allow: "POST, OPTIONS"}
}

// once is a handler that is made when the first request comes: the schemas of all tools are
// more work than the rest of a server that starts.
func once(made func() http.Handler) http.Handler {
	made = sync.OnceValue(made)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { made().ServeHTTP(w, r) })
}
