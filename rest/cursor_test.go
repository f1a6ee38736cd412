package rest_test

import (
	"fmt"
	"net/url"
	"testing"

	"catena/rest/resttest"
)

// TestCursors follows the cursor of every list of documents that answers with one: each document comes once, and the list ends.
func TestCursors(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Single: true})
	const folder = "/api/v1/path/default-domain/workspaces/list"
	answers(t, s.Do("POST", "/api/v1/path/default-domain/workspaces", `{"entity-type":"document","type":"Folder","name":"list"}`), 201, "")
	const docs = 12
	for i := range docs {
		answers(t, s.Do("POST", folder, fmt.Sprintf(`{"entity-type":"document","type":"File","name":"d%d","properties":{"dc:title":"harbour %d"}}`, i, i)), 201, "")
	}
	uid := s.Do("GET", folder, "").JSON(t)["uid"].(string)
	for _, list := range []string{
		folder + "/@children?",
		"/api/v1/id/" + uid + "/@children?",
		folder + "/@children?sortBy=dc:title&sortOrder=asc&",
		folder + "/@search?fullText=harbour&",
		folder + "/@search?query=" + url.QueryEscape("SELECT * FROM File ORDER BY dc:title") + "&",
		"/api/v1/query?query=" + url.QueryEscape("SELECT * FROM File ORDER BY dc:title DESC") + "&",
		"/api/v1/search/lang/NXQL/execute?query=" + url.QueryEscape("SELECT * FROM File") + "&",
		"/api/v1/search/pp/advanced_document_content/execute?ecm_parentId=" + uid + "&",
		folder + "/@pp/CURRENT_DOC_CHILDREN?queryParams=" + uid + "&",
	} {
		seen, pages := map[string]bool{}, 0
		for after := ""; ; pages++ {
			page := s.Do("GET", list+"pageSize=5&after="+url.QueryEscape(after), "").JSON(t)
			entries, _ := page["entries"].([]any)
			for _, e := range entries {
				path := fmt.Sprint(e.(map[string]any)["path"])
				if seen[path] {
					t.Errorf("%s: %s comes twice", list, path)
				}
				seen[path] = true
			}
			after, _ = page["nextCursor"].(string)
			if after == "" || pages > docs {
				break
			}
		}
		if len(seen) != docs || pages != 2 {
			t.Errorf("%s: %d documents on %d pages", list, len(seen), pages+1)
		}
	}
}
