// Package mcp serves operations to models over the Model Context Protocol: the tools of the
// deck service, which a table maps to operations, and tools to find and run any operation.
// It speaks both eras of the protocol, without sessions, in plain JSON. The caller, the site and the rate of
// requests are checked before a request comes here; what tools do is left to the operations.
//
// Tools come from two tables: those of the deck service have names and schemas of their own, made for models;
// all other operations are reached through a tool that finds operations and one that runs them, because a
// list of hundreds of tools would fill the context of a model. Results are short by default (short.go), and
// errors say what a model can do about them (failure.go).
package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"catena/decks/field"
	"catena/engine"
	"catena/engine/find"
)

// Config says what is served.
type Config struct {
	Engine  *engine.Engine
	Log     *slog.Logger
	Version string
	MaxBody int64                                                         // bytes of a request
	Context string                                                        // context path of the platform's addresses
	As      func(ctx context.Context) *engine.Principal                   // the caller, from a request's context
	Base    func(ctx context.Context) string                              // public address of the server, likewise
	From    func(ctx context.Context) (client netip.Addr, request string) // where it comes from: an address, and the id of the request
	Check   func(body []byte) error                                       // refuses JSON that readers understand differently
	Done    <-chan struct{}                                               // closed when the server is about to stop; nil: never

	// waits and find belong to one handler: Config is passed by value, and each handler fills in
	// its own copy.
	waits chan struct{} // a slot for each call that waits
	find  *find.Finder
}

// Decks serves the tools of the deck service.
func Decks(c Config) http.Handler {
	s := c.server("catena-decks", "Presentations of the signed-in user. A deck is HTML consisting of <section> elements, one per slide.")
	s.can.Prompts, s.can.Resources, s.can.Completions = &mcp.PromptCapabilities{}, &mcp.ResourceCapabilities{}, &mcp.CompletionCapabilities{}
	c.waits = make(chan struct{}, maxWaits)
	for i := range tools {
		one := tools[i].spelled(field.Fields)
		if t, err := one.declare(c.Engine.Set()); err == nil {
			s.add(t, one.waits, c.deckTool(one, t.InputSchema))
		}
	}
	c.addTexts(s)
	return s
}

// Automation serves the tools to find, describe and run operations.
func Automation(c Config) http.Handler {
	s := c.server("catena-automation", "Operations on documents. Find one with search_operations, read its parameters with describe_operation, run it with run_operation; dryRun shows what it would change.")
	c.find = find.New(c.Engine)
	c.addAutomation(s)
	return s
}

// server is one address with its tools.
type server struct {
	sdk   *mcp.Server
	can   *mcp.ServerCapabilities
	whole http.Handler // the protocol's whole, answers as JSON
	live  http.Handler // the same, answers as events: for calls that tell how far they are
	tools map[string]toolFunc
	waits map[string]bool // tools whose calls may take long
	meta  []byte          // what results say about the server in the newer era
	limit int64
	check func(body []byte) error
	log   *slog.Logger
}

// toolFunc is what a tool does.
type toolFunc func(ctx context.Context, args json.RawMessage) *result

// result is what a tool returns.
type result struct {
	texts      []string
	summary    string // in place of the texts for clients that read the structured result, if they only repeat that
	structured json.RawMessage
	failed     bool
}

func (c *Config) server(name, instructions string) *server {
	about := &mcp.Implementation{Name: name, Version: c.Version}
	s := &server{tools: map[string]toolFunc{}, waits: map[string]bool{}, limit: c.MaxBody, check: c.Check, log: c.Log, can: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}}
	s.sdk = mcp.NewServer(about, &mcp.ServerOptions{
		Instructions:      instructions,
		Capabilities:      s.can,
		CompletionHandler: c.complete,
		SetCacheable:      func(_ context.Context, _ mcp.Request, b *mcp.Cacheable) { b.CacheScope = "private" },
	})
	s.sdk.AddReceivingMiddleware(c.settling)
	handler := func(json bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.sdk }, &mcp.StreamableHTTPOptions{
			// Stateless, so that any node of several can answer any request. The protection of
			// local servers checks the Host header, which the server in front of this handler has
			// done already.
			Stateless: true, JSONResponse: json, DisableLocalhostProtection: true,
			MaxRequestBodyBytes: c.MaxBody, PropagateRequestCancellation: true,
		})
	}
	s.whole, s.live = handler(true), handler(false)
	s.meta, _ = encode(map[string]any{"io.modelcontextprotocol/serverInfo": about})
	return s
}

// structuredSince is the version of the protocol that added structured results.
const structuredSince = "2025-06-18"

// shown are the texts of a result for a client. A client of a version with structured results does not get them twice.
func (r *result) shown(h http.Header) []string {
	if r.summary != "" && h.Get("Mcp-Protocol-Version") >= structuredSince {
		return []string{r.summary}
	}
	return r.texts
}

// add adds a tool; one that waits tells callers who ask how far it is.
func (s *server) add(t *mcp.Tool, waits bool, f toolFunc) {
	s.tools[t.Name], s.waits[t.Name] = f, waits
	s.sdk.AddTool(t, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := f(withProgress(ctx, req), req.Params.Arguments)
		out := &mcp.CallToolResult{IsError: r.failed}
		for _, text := range r.shown(req.Extra.Header) {
			out.Content = append(out.Content, &mcp.TextContent{Text: text})
		}
		if r.structured != nil {
			out.StructuredContent = r.structured
		}
		return out, nil
	})
}
