package rest_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"catena/storage"
)

// What differs between two answers that say the same.
var (
	anyID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime = regexp.MustCompile(`"request_?[iI]d":"[^"]*"|\\?"[a-zA-Z]*[iI]d\\?":\\?"[0-9a-f]+\\?"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?|"traceId":"[^"]*"|_nonce[^"]*|nonce-[^"' ]*|csrf[^>]*`)
)

func plainly(text string) string {
	return anyTime.ReplaceAllString(anyID.ReplaceAllString(text, "ID"), "TIME")
}

// closed makes a folder of alice's that nobody else may read.
func (e *everything) closed() {
	e.t.Helper()
	if err := e.Repo.Update(e.t.Context(), e.Repo.System(), func(tx *storage.Tx) error {
		up, err := tx.Doc("/default-domain/workspaces")
		if err != nil {
			return err
		}
		d, err := tx.Create(up, "Workspace", "closed", storage.Props{"dc:title": "Canary"})
		if err == nil {
			_, err = tx.SetACL(d, "local", []storage.ACE{{User: "alice", Permission: "Everything", Granted: true}, {User: "Everyone", Permission: "Everything"}})
		}
		return err
	}); err != nil {
		e.t.Fatal(err)
	}
}

// streams are addresses whose answers do not end.
func streams(s shot) bool {
	return s.method == http.MethodGet && (strings.HasSuffix(s.name, "/live") || strings.HasSuffix(s.name, "/events"))
}

// related are requests for what belongs to the document: its versions, proxies, comments and collections, and
// what stands beside it.
func (e *everything) related() (shots []shot) {
	own := e.id
	defer func() { e.id = own }()
	for _, kind := range []string{"version id", "proxy id", "comment id", "collection id", "trash id", "note id", "sub id"} {
		e.id = e.named[kind]
		for _, s := range e.addresses() {
			if strings.Contains(s.path, e.id) {
				s.name = kind + " " + s.name
				shots = append(shots, s)
			}
		}
		for _, name := range []string{"acls", "audit", "breadcrumb", "children", "collections", "favorites", "firstAccessibleAncestor", "hasContent", "highlight", "permissions", "preview", "publications", "renditions", "subtypes", "tags", "thumbnail"} {
			shots = append(shots, getShot(kind+" enriched by "+name, api+"/id/"+e.id+"?enrichers.document="+name+"&fetch.document=properties,lock,versionLabel&properties=*"))
		}
		for _, hops := range []string{"@children/@audit", "@children/@search?fullText=Canary", "@search/@children", "@blob/@convert?format=pdf", "@blob/file:content/@preview", "@rendition/zipTree", "@acl/@audit", "@pp/default_search/@op/Document.GetParent"} {
			shots = append(shots, getShot(kind+" "+hops, api+"/id/"+e.id+"/"+hops))
		}
	}
	return shots
}

// TestUnseenEverywhere makes something of each kind that bob may not read, and has bob send every
// request there is at it, at the things themselves by their identifiers and at their versions,
// proxies, comments and collections: no answer has anything of it.
func TestUnseenEverywhere(t *testing.T) {
	e := newEverything(t, "alice", "/default-domain/workspaces/closed")
	e.User("bob")
	e.closed()
	e.fill("Canary")
	bob := bearer(e.Key("bob", "read_write"))
	alice := bearer(e.Key("alice", "read_write"))
	shots := slices.Concat(e.addresses(), e.operations(), e.tools(), e.related())
	seen := func(s shot, text string) bool { // not counting what the request itself says
		for _, said := range []string{"deck-canary", "canarycollection\"}"} {
			text = strings.ReplaceAll(strings.ToLower(text), said, "")
		}
		if strings.Contains(s.path+s.body, "Canary") {
			return strings.Contains(text, "content canary") || strings.Contains(text, "about canary") || strings.Contains(text, "comment canary") || strings.Contains(text, "canarytag")
		}
		return strings.Contains(text, "canary")
	}
	shown, sent := tally{}, tally{}
	for _, s := range shots {
		if streams(s) {
			continue
		}
		if e.reading(s) && !strings.HasSuffix(s.name, "humbnail") { // which waits for the picture
			if a := e.send(s, alice...); seen(s, a.Text) {
				shown[s.table]++
			}
		}
		if strings.Contains(s.path+s.body, e.named["token"]) {
			continue // anyone who has the address sees it
		}
		a := e.send(s, bob...)
		sent[s.table]++
		text := a.Text
		for _, values := range a.Header {
			text += strings.Join(values, "\n")
		}
		if seen(s, text) {
			t.Errorf("%s %s: %s %.600s", s.name, s.path, a.Status, text)
		}
		e.noFault(s, a)
	}
	sent.least(t, "sent", tally{"address": 180, "adapter": 150, "operation": 350, "tool": 300, "": 120})
	shown.least(t, "show alice what is hers", tally{"address": 30, "adapter": 25, "operation": 40, "tool": 30, "": 80})
}

// questions are queries and lists in which something that is there could be seen.
func (e *everything) questions() (shots []shot) {
	for _, query := range []string{
		"SELECT * FROM Document", "SELECT * FROM Document WHERE ecm:fulltext = 'Canary'", "SELECT COUNT(ecm:uuid) FROM Document", "SELECT DISTINCT dc:subjects FROM Document", "SELECT * FROM Document WHERE ecm:isTrashed = 1",
		"SELECT * FROM Document WHERE ecm:isVersion = 1", "SELECT * FROM Document WHERE ecm:tag = 'Canarytag'", "SELECT * FROM Document WHERE dc:title LIKE 'C%' ORDER BY dc:title", "SELECT * FROM Document WHERE ecm:isProxy = 1", "SELECT * FROM Comment",
	} {
		at := strings.NewReplacer(" ", "+", "%", "%25", "'", "%27").Replace(query)
		for _, path := range []string{"/search/execute?pageSize=1&query=", "/search/execute?countLimit=-1&query=", "/search/lang/NXQL/execute?query=", "/query?query=", "/path/default-domain/@search?query="} {
			shots = append(shots, getShot("GET "+path, api+path+at))
		}
		for _, op := range []string{"Repository.ResultSetQuery", "Repository.Query"} {
			shots = append(shots, postShot("operation "+op, api+"/automation/"+op, `{"params":{"query":"`+query+`"}}`))
		}
	}
	for _, at := range []string{
		"/path/default-domain/workspaces/@children", "/path/default-domain/workspaces?enrichers.document=children,hasContent,hasFolderishChild,tags,collections,publications", "/path/default-domain/@search?fullText=Canary", "/search/pp/default_search/execute?ecm_fulltext=Canary",
		"/search/pp/tree_children/execute?queryParams=" + e.id, "/path/default-domain/@audit", "/path/default-domain/@rendition/zipTree", "/search/saved",
	} {
		shots = append(shots, getShot("GET "+at, api+at))
	}
	return shots
}

// TestUnseenLeavesNoTrace has bob read all that can be read, besides figures and the list of what he himself did, before and after something of each
// kind is made that bob may not read: every answer is the same, the counts, pages, suggestions,
// totals and records in it as well.
func TestUnseenLeavesNoTrace(t *testing.T) {
	e := newEverything(t, "alice", "/default-domain/workspaces/closed")
	e.User("bob")
	e.closed()
	e.Do("POST", "/v1/decks", `{"title":"other"}`) // for the folders that everyone's are in
	e.Do("POST", api+"/automation/User.GetUserWorkspace", `{}`)
	e.file = "/default-domain/workspaces"
	e.id, _ = e.Do("GET", api+"/path"+e.file, "").JSON(t)["uid"].(string)
	var shots []shot
	// A summary of changes and the name of a conflicting file hold the time they were made; the tests of drive check them.
	for _, s := range slices.Concat(e.addresses(), e.operations()) {
		if e.reading(s) && !streams(s) && !strings.HasSuffix(s.name, "/metrics") && !strings.HasSuffix(s.name, "/traces") && !strings.Contains(s.name, "/authentication/token") && !strings.Contains(s.name+s.body, "GetChangeSummary") && !strings.Contains(s.name+s.body, "GenerateConflictedItemName") && !strings.HasPrefix(s.typ, "multipart/") {
			shots = append(shots, s)
		}
	}
	shots = append(shots, e.questions()...)
	ask := func(as string) (out []string) {
		for _, s := range shots {
			a := e.send(s, "as", as)
			out = append(out, a.Status+" "+a.Text)
		}
		return out
	}
	_, _ = ask("bob"), ask("alice") // what they make by looking, records of downloads, is there from here on
	before, hers := ask("bob"), ask("alice")
	file, id := e.file, e.id
	e.file = e.folder + "/file"
	e.fill("Canary")
	e.file, e.id = file, id
	after, now := ask("bob"), ask("alice")
	seen := tally{}
	for i, s := range shots {
		if hers[i] != now[i] && plainly(hers[i]) != plainly(now[i]) {
			seen[s.table]++
		}
		if before[i] != after[i] && plainly(before[i]) != plainly(after[i]) {
			at := 0
			for at < min(len(before[i]), len(after[i])) && before[i][at] == after[i][at] {
				at++
			}
			at = max(0, at-80)
			t.Errorf("%s %s %.200s:\nbefore …%.300s\nafter  …%.300s", s.name, s.path, s.body, before[i][at:], after[i][min(at, len(after[i])):])
		}
	}
	tally{"all": len(shots)}.least(t, "asked", tally{"all": 300})
	seen.least(t, "show alice what has come", tally{"address": 6, "adapter": 1, "operation": 12, "tool": 10, "": 40})
}

// TestUnseenIsUnknown asks for a deck, its pages, pictures and parts as somebody who may not see it, and
// for the same of a deck that is not there: the answers are the same.
func TestUnseenIsUnknown(t *testing.T) {
	e := newEverything(t, "alice", "/default-domain/workspaces/closed")
	e.User("bob")
	e.closed()
	e.fill("Canary")
	shots := slices.Concat(e.addresses(), e.operations(), e.tools())
	unknown := strings.NewReplacer(
		"/v1/decks/1", "/v1/decks/999", `"deck_id":1`, `"deck_id":999`, `"id":1,`, `"id":999,`, `"id":1}`, `"id":999}`, e.named["slug"], "deck-unknown", e.named["token"], strings.Repeat("A", len(e.named["token"])),
	)
	known := strings.NewReplacer("999", "1", "deck-unknown", e.named["slug"])
	for _, op := range []string{"Deck.View", "Deck.OpenFile", "Deck.Thumbnail"} {
		shots = append(shots, postShot("operation "+op, api+"/automation/"+op, `{"params":{"username":"alice","slug":"`+e.named["slug"]+`"}}`))
	}
	compared, told := tally{}, tally{}
	for _, s := range shots {
		if streams(s) || strings.Contains(s.path+s.body, e.named["token"]) || !strings.Contains(s.path+s.body, "deck") && !strings.Contains(s.name, "Deck") || strings.HasPrefix(s.path, "/mcp") && strings.Contains(s.body, `"id":1,"jsonrpc"`) && !strings.Contains(s.body, "deck_id") {
			continue
		}
		other := s
		if other.path, other.body = unknown.Replace(s.path), unknown.Replace(s.body); other == s {
			continue
		}
		if e.reading(s) && e.send(s, "as", "alice").Status != e.send(other, "as", "alice").Status {
			told[s.table]++
		}
		for _, as := range []string{"bob", ""} {
			got, want := e.send(s, "as", as), e.send(other, "as", as)
			compared[s.table]++
			if got.Status != want.Status || plainly(got.Text) != known.Replace(plainly(want.Text)) {
				t.Errorf("%s %s %.100s as %q: %s %.300s\nunknown: %s %.300s", s.name, s.path, s.body, as, got.Status, got.Text, want.Status, want.Text)
			}
		}
	}
	compared.least(t, "compared", tally{"address": 60, "operation": 40, "tool": 20, "": 4})
	told.least(t, "told apart for alice", tally{"address": 12, "operation": 8, "": 1})
}
