package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest/resttest"
)

// setText replaces the text of a field as typing does.
func (b *tab) setText(id, text string) {
	b.t.Helper()
	eval[bool](b, `(() => { const e = document.getElementById("`+id+`"); e.focus(); e.value = `+quote(text)+`; return e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
}

func quote(s string) string {
	return "`" + strings.NewReplacer("`", "\\`", `\`, `\\`, "$", `\$`).Replace(s) + "`"
}

func TestBrowserEditor(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops, Repo: decks.Listen})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "Draft", "data": threeSlides})
	b := browse(t, s)
	b.open(path + "/edit")
	b.wait(`location.pathname === "/ui/login"`)
	b.write(`[name=user]`, "alice")
	b.write(`[name=password]`, resttest.Password)
	b.click(`button.primary`)
	b.wait(`document.getElementById("state")?.textContent === "Saved"`)
	if got := eval[string](b, `[...document.querySelectorAll("#slide-list li")].map((e) => e.textContent).join("|")`); got != "First|Second (2)|Third bold" {
		t.Errorf("slides: %s", got)
	}

	b.setText("source", "<section>\n<h1>Changed</h1>\n<script>alert(1)</script></section>")
	b.wait(`document.querySelector("#slide-list li").textContent === "Changed"`)
	b.click("#duplicate")
	b.click("#down")
	b.click("#slide-list li:last-child button")
	b.wait(`document.getElementById("mode").value === "markdown"`)
	b.setText("source", "## Fourth\n\n* $$x^2$$")
	b.wait(`document.getElementById("state").textContent.startsWith("Not saved")`)
	b.shot("edit")
	b.open(path + "/edit") // the changes were kept
	b.wait(`document.getElementById("draft-dialog")?.open`)
	b.shot("draft")
	b.click("#draft-dialog button.primary")
	b.wait(`document.querySelectorAll("#slide-list li").length === 4`)
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved"`)
	if got := eval[string](b, `document.getElementById("message").textContent`); !strings.Contains(got, "<script> at line 3") {
		t.Errorf("what was taken out: %q", got)
	}
	deck := s.Do("GET", "/v1/decks/1", "", "as", "alice").JSON(t)["data"].(map[string]any)
	want := "<section>\n<h1>Changed</h1>\n</section>"
	rest := strings.TrimPrefix(threeSlides, threeSlides[:strings.Index(threeSlides, "\n<section><section>")])
	rest = rest[:strings.Index(rest, "\n<section data-markdown>")]
	want += rest + "\n" + want + "\n" + `<section data-markdown><script type="text/template">` + "\n## Fourth\n\n* $$x^2$$</script></section>"
	if deck["data"] != want {
		t.Errorf("saved:\n%s\nwant:\n%s", deck["data"], want)
	}

	// Somebody else saves: the editor asks.
	if got := s.Do("PATCH", "/v1/decks/1", `{"description": "theirs"}`, "as", "alice"); got.StatusCode != http.StatusOK {
		t.Fatal(got.Text)
	}
	b.click("#add")
	b.click("#save")
	b.wait(`document.getElementById("conflict-dialog").open`)
	b.shot("conflict")
	b.click(`#conflict-dialog button[value="mine"]`)
	b.wait(`document.getElementById("state").textContent === "Saved"`)
	deck = s.Do("GET", "/v1/decks/1", "", "as", "alice").JSON(t)["data"].(map[string]any)
	if deck["slide_count"] != 6.0 || deck["description"] != "theirs" {
		t.Errorf("after overwriting: %v slides, %v", deck["slide_count"], deck["description"])
	}
}

func TestBrowserConsole(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops, Repo: decks.Listen})
	s.User("alice")
	makeDeck(t, s, map[string]any{"title": "Plans", "description": "What we will do next year."})
	makeDeck(t, s, map[string]any{"title": "<b>Not bold</b>"})
	b := browse(t, s)
	b.open("/ui/login")
	b.write(`[name=user]`, "alice")
	b.write(`[name=password]`, "wrong")
	b.click(`button.primary`)
	b.wait(`document.querySelector("[role=alert]")?.textContent === "User name or password is wrong."`)
	b.shot("login")
	b.said = nil
	b.signIn("alice")
	b.wait(`document.querySelectorAll("#list li").length === 2`)
	if got := eval[string](b, `document.querySelector("#list h2").textContent`); got != "<b>Not bold</b>" {
		t.Errorf("title %q", got)
	}
	b.shot("decks")
	b.click(`#list [data-act=trash]`)
	b.wait(`document.querySelectorAll("#list li").length === 1`)
	b.click("#trash")
	b.wait(`location.search === "?trash=1" && document.querySelector("#list h2")?.textContent === "<b>Not bold</b>"`)
	b.shot("trash")
	b.click("#list button")
	b.wait(`document.querySelector("#none h2")?.textContent === "The trash is empty"`)
	b.open("/ui/?words=next+year")
	b.wait(`document.querySelectorAll("#list li").length === 1 && document.querySelector("#list h2").textContent === "Plans"`)
	b.open("/ui/?words=nowhere")
	b.wait(`document.querySelector("#none h2")?.textContent === "Nothing found"`)
	b.open("/ui/")
	b.click("#create")
	b.wait(`document.getElementById("new-dialog").open`)
	b.write("#new [name=title]", "A & B")
	eval[string](b, `document.querySelector("#new [name=start]").value = "markdown"`)
	b.click("#new button.primary")
	b.wait(`document.getElementById("state")?.textContent === "Saved" && document.querySelectorAll("#slide-list li").length === 4`)
	b.open("/ui/keys")
	b.write(`[name=name]`, "laptop")
	eval[string](b, `document.querySelector("[name=scope]").value = "read_write"`)
	b.click(`#new button`)
	b.wait(`!document.getElementById("made").hidden && document.querySelectorAll("#list tr").length === 1`)
	b.shot("keys")
	key := eval[string](b, `document.getElementById("secret").textContent`)
	if got := s.Do("GET", "/v1/decks", "", bearer(key)...); got.StatusCode != http.StatusOK {
		t.Errorf("the key made: %s", got.Text)
	}
	b.click(`#list button.danger`)
	b.wait(`document.querySelector("#list .tag.bad")?.textContent === "revoked"`)
	if got := s.Do("GET", "/v1/decks", "", bearer(key)...); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("the key revoked: %s", got.Text)
	}

	b.open("/ui/operations#Deck.List")
	b.wait(`document.querySelector("#one h2")?.textContent === "Deck.List"`)
	b.write("#search", "deck account")
	b.wait(`document.querySelector("#names button")?.textContent === "Deck.Account"`)
	b.click("#names button")
	b.wait(`document.querySelector("#one h2")?.textContent === "Deck.Account"`)
	b.click("#one button.primary")
	b.wait(`document.querySelector("#one .result")?.textContent.includes('"username": "alice"')`)
	b.shot("operations")
	b.click(".account button")
	b.wait(`location.pathname === "/ui/login"`)
	b.quiet()
}
