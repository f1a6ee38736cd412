package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"catena/engine"
)

const (
	maxValues = 100 // of a completion, by the protocol's rule
	maxLooked = 100 // decks looked at, the newest
)

// completing lists the arguments that clients may ask to have completed: those with true are
// numbers of decks, for the others there is nothing to propose.
var completing = map[string]map[string]bool{
	"outline_to_deck": {"outline": false, "audience": false},
	"review_deck":     {"id": true},
	deckURI:           {"id": true},
}

// complete proposes values for an argument of a prompt or a resource.
func (c *Config) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	ref := r.Params.Ref.Name
	if r.Params.Ref.Type == "ref/resource" {
		ref = r.Params.Ref.URI
	}
	args, ok := completing[ref]
	if !ok {
		return nil, badParams("%s %q: does not exist", strings.TrimPrefix(r.Params.Ref.Type, "ref/"), ref)
	}
	decks, ok := args[r.Params.Argument.Name]
	if !ok {
		return nil, badParams("argument %q: %s does not have it", r.Params.Argument.Name, ref)
	}
	out := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	if !decks {
		return out, nil
	}
	var err error
	out.Completion.Values, err = c.deckNumbers(ctx, strings.ToLower(strings.TrimSpace(r.Params.Argument.Value)))
	out.Completion.Total = len(out.Completion.Values)
	return out, err
}

// deckNumbers returns the numbers of the caller's newest decks that begin with a text, or
// whose titles hold it.
func (c *Config) deckNumbers(ctx context.Context, text string) ([]string, error) {
	res, err := c.run(ctx, engine.Call{Op: "Deck.List", Params: map[string]any{"per_page": int64(maxLooked), "revision": "B"}})
	if err != nil {
		return nil, protocolError(err)
	}
	m, _ := res.Value.(map[string]any)
	list, _ := m["data"].([]any)
	out := []string{}
	for _, item := range list {
		deck, _ := item.(map[string]any)
		id, title := fmt.Sprint(deck["id"]), strings.ToLower(fmt.Sprint(deck["title"]))
		if (strings.HasPrefix(id, text) || strings.Contains(title, text)) && len(out) < maxValues {
			out = append(out, id)
		}
	}
	return out, nil
}
