package mcp

import (
	"context"
	_ "embed" // the guide
	"encoding/json"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"catena/engine"
	"catena/storage/fault"
)

//go:embed guide.md
var guide string

const (
	guideURI = "deck://guide"
	deckURI  = "deck://{id}"
	mimeHTML = "text/html"
	mimeMD   = "text/markdown"
)

// addTexts adds what models read besides calling tools: the decks themselves, a guide to
// writing them, and prompts.
func (c *Config) addTexts(s *server) {
	s.sdk.AddResource(&mcp.Resource{
		URI: guideURI, Name: "guide", Title: "Writing decks", MIMEType: mimeMD,
		Description: "How to write the HTML of a deck: sections, stacks, fragments, backgrounds, code, notes.",
	}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return content(r.Params.URI, mimeMD, guide), nil
	})
	s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: deckURI, Name: "deck", Title: "HTML of a deck", MIMEType: mimeHTML,
		Description: "The HTML of one of the user's decks by its number.",
	}, c.readDeck)
	s.sdk.AddPrompt(&mcp.Prompt{
		Name: "outline_to_deck", Title: "Create a deck from an outline",
		Description: "Turns an outline into slides and stores them as a new deck.",
		Arguments: []*mcp.PromptArgument{
			{Name: "outline", Description: "The content of the deck, point by point.", Required: true},
			{Name: "audience", Description: "The audience."},
		},
	}, outlineToDeck)
	s.sdk.AddPrompt(&mcp.Prompt{
		Name: "review_deck", Title: "Review a deck",
		Description: "Reads a deck and proposes improvements.",
		Arguments:   []*mcp.PromptArgument{{Name: "id", Description: "Number of the deck.", Required: true}},
	}, reviewDeck)
}

func content(uri, typ, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: typ, Text: text}}}
}

// readDeck returns the HTML of a deck; what is no deck of the caller's does not exist.
func (c *Config) readDeck(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := r.Params.URI
	id, err := strconv.ParseInt(strings.TrimPrefix(uri, "deck://"), 10, 64)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	res, err := c.run(ctx, engine.Call{Op: "Deck.Get", Params: map[string]any{"id": id, "revision": "B"}, Encode: htmlOf, Quotes: true})
	if fault.Is(err, fault.NotFound) {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, protocolError(err)
	}
	var text string
	if err := json.Unmarshal(res.Body, &text); err != nil {
		return nil, err
	}
	if text == "" {
		text = "<!-- no slides yet -->" // content without text is none
	}
	return content(uri, mimeHTML, text), nil
}

// htmlOf takes the HTML out of what Deck.Get returns.
func htmlOf(_ *engine.Ctx, v any) ([]byte, error) {
	m, _ := v.(map[string]any)
	data, _ := m["data"].(map[string]any)
	return encode(data["data"])
}

func outlineToDeck(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	a := r.Params.Arguments
	if a["outline"] == "" {
		return nil, badParams("argument outline: is missing")
	}
	ask := "Create a presentation from the outline below. Read " + guideURI + " first. Put one idea on each slide: a short heading and at most " +
		"five lines or one picture, code block or table; put the rest in the speaker notes. Group related slides in stacks. Then store the " +
		"deck with create_deck and tell me its url.\n\n"
	if who := a["audience"]; who != "" {
		ask += "The audience is: " + who + "\n\n"
	}
	return prompt(ask + "Outline:\n" + a["outline"]), nil
}

func reviewDeck(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if _, err := strconv.ParseInt(r.Params.Arguments["id"], 10, 64); err != nil {
		return nil, badParams("argument id: must be the number of a deck")
	}
	return prompt("Read deck " + r.Params.Arguments["id"] + " with get_deck. Say which slides contain too much, what is unclear or missing, and " +
		"which notes a speaker would need. Propose the changes, and make them with update_deck only after I agree."), nil
}

func prompt(text string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}
}
