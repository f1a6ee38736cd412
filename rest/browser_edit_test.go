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
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
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
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
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
	b.open("/ui/operations#Document.Create")
	b.wait(`document.querySelector("#one pre[aria-label=curl]")?.textContent.includes('"input":"/path/to/document","params":{"type":"…"}')`)
	b.write("#one [name=type]", "Folder")
	b.wait(`["curl", "JavaScript"].every((l) => /"type": ?"Folder"/.test(document.querySelector("#one pre[aria-label=" + l + "]").textContent))`)
	b.open("/ui/operations#Deck.OpenShare")
	b.wait(`document.querySelector("#one [name=password]")?.type === "password"`)
	b.write("#one [name=password]", "canary")
	b.wait(`((c) => c.includes('"password":"…"') && !c.includes("canary"))(document.querySelector("#one pre[aria-label=curl]").textContent)`)
	b.click(".account button")
	b.wait(`location.pathname === "/ui/login"`)
	b.quiet()
}

// TestBrowserRail has the list of slides drawn, reorders it by keys, carries slides to and from the
// clipboard, removes a picture and presents from the current slide.
func TestBrowserRail(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "Rail", "data": threeSlides})
	if got := s.Do("POST", "/v1/decks/1/files?name=dot", `<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>`, "as", "alice", "Content-Type", "image/svg+xml"); got.StatusCode != http.StatusCreated {
		t.Fatal(got.Text)
	}
	b := browse(t, s)
	b.signIn("alice")
	b.open(path + "/edit#/1")
	b.wait(`document.getElementById("state")?.textContent === "Saved" && document.querySelectorAll("#slide-list .drawn").length === 3`)
	if got := eval[string](b, `document.getElementById("which").textContent`); got != "2" {
		t.Errorf("began with slide %s", got)
	}
	b.shot("rail")
	key := func(key, more string) {
		t.Helper()
		eval[bool](b, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "`+key+`", bubbles: true, cancelable: true`+more+`}))`)
	}
	clip := func(name, text string) string {
		t.Helper()
		return eval[string](b, `(() => { const d = new DataTransfer(); d.setData("text/plain", `+quote(text)+`);
			document.activeElement.dispatchEvent(new ClipboardEvent("`+name+`", {clipboardData: d, bubbles: true, cancelable: true}));
			return d.getData("text/plain") + "|" + document.getElementById("said").textContent; })()`)
	}
	eval[bool](b, `(() => { document.querySelector("#slide-list [aria-current]").focus(); return true; })()`)
	key("ArrowDown", ``)
	key("ArrowUp", `, altKey: true`)
	if got := eval[string](b, `document.getElementById("said").textContent`); got != "Moved: slide 2 of 3" {
		t.Errorf("said %q", got)
	}
	if got := clip("cut", ""); !strings.Contains(got, "data-markdown") || !strings.HasSuffix(got, "|Deleted; now: slide 2 of 2") {
		t.Errorf("cut %q", got)
	}
	clip("paste", "<section><h2>Pasted</h2></section> <section><h2>Too</h2></section>")
	key("d", `, ctrlKey: true`)
	b.wait(`document.querySelectorAll("#slide-list .drawn").length === 5`)
	if got := eval[string](b, `[...document.querySelectorAll("#slide-list li")].map((e) => e.textContent).join("|")`); got != "First|Second (2)|Pasted|Too|Too" {
		t.Errorf("slides: %s", got)
	}

	// All slides at a glance: several are picked, moved by keys and the mouse, duplicated, deleted, and all of it undone.
	texts := func() string {
		return eval[string](b, `[...document.querySelectorAll("#slide-list li")].map((e) => e.textContent).join("|")`)
	}
	b.click("#overview")
	b.wait(`document.activeElement.closest("#slide-list li:last-child") !== null && document.querySelectorAll("#slide-list .drawn").length === 5`)
	key("ArrowLeft", `, shiftKey: true`)
	b.shot("overview")
	if got := eval[string](b, `document.getElementById("said").textContent + "|" + document.querySelectorAll("#slide-list [aria-pressed=true]").length`); got != "2 slides selected|2" {
		t.Errorf("picked: %s", got)
	}
	eval[bool](b, `(() => {
		const [from, to] = [3, 0].map((i) => document.querySelectorAll("#slide-list li")[i]);
		const dataTransfer = new DataTransfer();
		for (const [name, e] of [["dragstart", from], ["dragover", to], ["drop", to]]) e.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true, clientX: to.getBoundingClientRect().left + 5 }));
		return true;
	})()`)
	if got := texts(); got != "Too|Too|First|Second (2)|Pasted" {
		t.Errorf("moved together: %s", got)
	}
	eval[bool](b, `(() => { document.querySelector("#slide-list [aria-current]").focus(); return true; })()`)
	key("ArrowRight", `, shiftKey: true`)
	key("d", `, ctrlKey: true`)
	if got := texts(); got != "Too|Too|Too|Too|First|Second (2)|Pasted" {
		t.Errorf("duplicated: %s", got)
	}
	key("a", `, ctrlKey: true`)
	key("Delete", ``)
	if got := texts(); got != "Too|Too|Too|Too|First|Second (2)|Pasted" {
		t.Errorf("a deck without slides: %s", got)
	}
	key("Escape", ``)
	key("ArrowLeft", `, shiftKey: true`)
	key("Delete", ``)
	b.click("#undo")
	b.click("#undo")
	b.click("#undo")
	eval[bool](b, `(() => { document.querySelector("#slide-list li:last-child button").click(); document.activeElement.blur(); document.querySelector("#slide-list li:last-child button").focus(); return true; })()`)
	key("Escape", ``)
	if got := texts(); got != "First|Second (2)|Pasted|Too|Too" || eval[bool](b, `document.body.classList.contains("grid")`) {
		t.Errorf("undone: %s", got)
	}

	choose := func(what string) {
		t.Helper()
		eval[bool](b, `(() => { const e = document.getElementById("insert"); e.value = `+quote(what)+`; return e.dispatchEvent(new Event("change")); })()`)
	}
	choose("Two columns")
	choose("Quote")
	b.wait(`document.querySelectorAll("#slide-list .drawn").length === 6 && /^<section>\n  <h2>Heading<[^]*<blockquote>/.test(document.getElementById("source").value)`)
	b.shot("layout")
	b.click("#undo")
	b.click("#undo")
	b.click("#picture")
	b.wait(`document.querySelectorAll("#pictures img").length === 1 && document.querySelector("#pictures img").naturalWidth > 0`)
	b.click("#pictures .pick")
	b.wait(`document.getElementById("source").value === '<section><h2>Too</h2>\n<img class="r-stretch" src="files/1/dot.svg" alt="dot"></section>'`)
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved"`)
	b.click("#undo") // the saved deck shows the picture, this one does not
	b.click("#picture")
	b.click("#pictures .danger")
	b.wait(`document.getElementById("pictures-failed").textContent.includes("Save your changes first")`)
	eval[bool](b, `(() => { document.getElementById("pictures-dialog").close(); return true; })()`)
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved"`)
	b.click("#picture")
	b.click("#pictures .danger")
	b.wait(`!document.getElementById("no-pictures").hidden`)
	b.said = nil // the browser notes the refusal too
	b.open(path + "/edit#/2")
	b.wait(`document.getElementById("present")?.getAttribute("href").endsWith("/present#/2")`)
	b.open(path + "/present#/2")
	b.wait(`document.getElementById("number").textContent === "4 / 6" && location.hash === "#/2"`)
	b.quiet()
}
