package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const calls = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}`

// repeat posts one message again and again.
func repeat(b *testing.B, url, key, body string) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		out, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || strings.Contains(string(out), `"isError":true`) {
			b.Fatalf("%v %s %s", err, res.Status, out)
		}
	}
}

// BenchmarkTools compares tool calls with those of a server that has 300 typed tools, which
// do nothing, one that returns a deck of 40 KB from memory, and the SDK's own handler.
func BenchmarkTools(b *testing.B) {
	type empty struct{}
	sdk := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	for i := range 300 {
		mcp.AddTool(sdk, &mcp.Tool{Name: fmt.Sprintf("tool_%d", i)}, func(context.Context, *mcp.CallToolRequest, struct {
			Page int `json:"page"`
		},
		) (*mcp.CallToolResult, empty, error) {
			return nil, empty{}, nil
		})
	}
	type deck struct {
		HTML string `json:"html"`
	}
	html := strings.Repeat(`<section><h2 class="r-fit-text">A heading</h2><p style="color: red">`+strings.Repeat("lorem ipsum dolor ", 70)+"</p>\n</section>\n", 30)
	mcp.AddTool(sdk, &mcp.Tool{Name: "deck"}, func(context.Context, *mcp.CallToolRequest, struct {
		ID int `json:"id"`
	},
	) (*mcp.CallToolResult, deck, error) {
		return nil, deck{html}, nil
	})
	bare := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	defer bare.Close()
	b.Run("sdk", func(b *testing.B) { repeat(b, bare.URL, "", fmt.Sprintf(calls, "tool_7", `{"page":1}`)) })
	b.Run("sdkDeck", func(b *testing.B) { repeat(b, bare.URL, "", fmt.Sprintf(calls, "deck", `{"id":1}`)) })
	s := start(b, -1)
	key := s.Key("alice", "read_write")
	body, err := json.Marshal(map[string]string{"data": html})
	if err != nil {
		b.Fatal(err)
	}
	if a := s.Do("POST", "/v1/decks", string(body), "Authorization", "Bearer "+key); a.StatusCode != http.StatusCreated {
		b.Fatal(a.Status, a.Text)
	}
	b.Run("deck", func(b *testing.B) { repeat(b, s.URL+"/mcp", key, fmt.Sprintf(calls, "get_deck", `{"id":1}`)) })
	b.Run("decks", func(b *testing.B) { repeat(b, s.URL+"/mcp", key, fmt.Sprintf(calls, "list_decks", `{"page":1}`)) })
	b.Run("automation", func(b *testing.B) {
		repeat(b, s.URL+"/mcp/automation", key, fmt.Sprintf(calls, "run_operation", `{"operation":"Document.GetChildren","input":"/"}`))
	})
	b.Run("rest", func(b *testing.B) {
		for b.Loop() {
			s.Do("GET", "/v1/decks?page=1", "", "Authorization", "Bearer "+key)
		}
	})
}
