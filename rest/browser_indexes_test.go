package rest_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"catena/storage/search"
)

// TestBrowserIndexes asks so often for what only reading many documents answers that the server makes an index, which an
// administrator finds and drops.
func TestBrowserIndexes(t *testing.T) {
	s := managed(t)
	answers(t, s.Do("POST", "/api/v1/automation/Type.Save", jsonOf(t, map[string]any{"params": map[string]any{"name": "item.yaml", "source": `schemas:
  item:
    fields:
      status: {type: string, index: true}
      rank: {type: long, index: true}
types:
  Item: {parent: File, schemas: [item]}
`}})), 200, "")
	var rows strings.Builder
	for i := range 600 {
		fmt.Fprintf(&rows, `{"name": "d%d", "type": "Item", "item:status": "%s", "item:rank": %d}`+"\n", i, []string{"open", "paid"}[i%2], i*7919%600)
	}
	if got := s.Do("POST", "/api/v1/bulk?key=name&into=/default-domain/workspaces", rows.String(), "Content-Type", "application/x-ndjson"); got.StatusCode >= 300 {
		t.Fatal(got.Text)
	}
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/admin#indexes")
	b.wait(`document.getElementById("indexes").textContent.includes("has made no index")`)
	for range 60 {
		answers(t, s.Do("GET", "/api/v1/search/lang/NXQL/execute?pageSize=10&query="+url.QueryEscape("SELECT * FROM Item WHERE item:status = 'open' ORDER BY item:rank DESC"), ""), 200, "")
	}
	if err := search.SweepIndexes(t.Context(), s.Repo); err != nil {
		t.Fatal(err)
	}
	if err := s.Repo.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.pane("figures", `true`)
	b.pane("indexes", `document.querySelector("#indexes tbody th")?.textContent === "Item" && document.querySelector("#indexes .tag.good")?.textContent === "complete"`)
	b.click(`#indexes [aria-label^="Drop the index"]`)
	b.wait(`document.querySelector("dialog[open] p")?.textContent.includes("item:status")`)
	b.press("dialog[open]", "Drop")
	b.wait(`document.getElementById("done").textContent === "Dropped." && (document.querySelector("#indexes .tag.bad")?.textContent === "dropped" || document.getElementById("indexes").textContent.includes("has made no index"))`)
	b.quiet()
}
