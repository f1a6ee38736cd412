package rest_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/people"
)

// pro gives a user an account whose decks may have private links.
func pro(t testing.TB, s *resttest.Server, name string) {
	t.Helper()
	if err := s.Repo.Update(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
		u, err := people.Lookup(tx, name)
		if err == nil {
			u.AccountType = "pro"
			err = people.SaveUser(tx, u, "")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// dot is a picture of one point.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// TestBrowserLooks chooses how a deck looks, puts a picture in, and looks at it as others do.
func TestBrowserLooks(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	pro(t, s, "alice")
	path := makeDeck(t, s, map[string]any{"title": "Looks", "data": "<section>\n  <h2>One</h2>\n</section>\n<section><h2>Two</h2></section>"})
	b := browse(t, s)
	b.signIn("alice")
	b.open(path + "/edit")
	b.wait(`document.getElementById("state")?.textContent === "Saved"`)

	b.click("#tab-design")
	b.click(`[name=theme_color][value=black-mint]`)
	b.click(`[name=theme_font][value=merriweather]`)
	eval[bool](b, `(() => { const f = document.getElementById("design-form").elements; f.transition.value = "zoom"; return f.transition.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	b.wait(`document.getElementById("state").textContent.startsWith("Not saved")`)
	b.click("#tab-details")
	eval[bool](b, `(() => { const f = document.getElementById("details-form").elements; f.language.value = "de"; f.language.dispatchEvent(new Event("input", {bubbles: true})); f.loop.click(); return true; })()`)

	b.click("#tab-source")
	b.setText("slide-notes", "Say <this>.")
	b.wait(`document.getElementById("source").value.includes('<aside class="notes">Say &lt;this&gt;.</aside>')`)
	eval[bool](b, `(() => {
		const e = document.getElementById("source");
		e.setSelectionRange(e.value.indexOf("</section>"), e.value.indexOf("</section>"));
		const bytes = Uint8Array.from(atob("`+dot+`"), (c) => c.charCodeAt(0));
		const data = new DataTransfer();
		data.items.add(new File([bytes], "My dot.png", {type: "image/png"}));
		return e.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
	})()`)
	b.wait(`document.getElementById("source").value.includes('<img class="r-stretch" src="files/1/My-dot.png" alt="My dot">')`)
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved"`)
	b.shot("looks")
	deck := s.Do("GET", "/v1/decks/1", "", "as", "alice").JSON(t)["data"].(map[string]any)
	for name, want := range map[string]any{"theme_color": "black-mint", "theme_font": "merriweather", "transition": "zoom", "language": "de", "loop": true, "rtl": false, "notes": "Say <this>."} {
		if deck[name] != want {
			t.Errorf("%s: %v, want %v", name, deck[name], want)
		}
	}

	// The picture is there for anyone who may see the deck, in the sandbox too, and for nobody else.
	shown := `(() => { const i = document.querySelector(".present img, section img"); return i && i.complete && i.naturalWidth === 1; })()`
	b.open(path + "/fullscreen")
	b.wait(`document.documentElement.dataset.ready === "true" && ` + shown)
	b.quiet()
	if got := s.Do("GET", path+"/files/1/My-dot.png", "", "as", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("a private picture: %s", got.Status)
	}
	if got := s.Do("GET", path+"/files/1/My-dot.png", "", "as", "alice"); got.StatusCode != http.StatusOK || base64.StdEncoding.EncodeToString([]byte(got.Text)) != dot ||
		!strings.Contains(got.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("the owner's picture: %s %v", got.Status, got.Header)
	}
	link := s.Do("POST", "/v1/decks/1/share", `{"password": "sesame"}`, "as", "alice").JSON(t)["data"].(map[string]any)
	shared := strings.TrimPrefix(link["url"].(string), s.URL)
	guest := browse(t, s)
	guest.open(shared)
	guest.write("[name=password]", "sesame")
	guest.click("button.primary")
	guest.wait(`document.getElementById("number")?.textContent === "1 / 2"`)
	guest.open(shared + "/fullscreen")
	guest.wait(`document.documentElement.dataset.ready === "true" && ` + shown)
	picture := eval[string](guest, `document.querySelector("section img").src`)
	if got := s.Do("GET", shared+"/files/1/My-dot.png", "", "as", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("a picture without the password: %s", got.Status)
	}
	s.Do("DELETE", "/v1/decks/1/share/1", "", "as", "alice")
	if got := s.Do("GET", strings.TrimPrefix(picture, s.URL), "", "as", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("a picture of a link that was revoked: %s", got.Status)
	}
}

// TestBrowserSlides works on the list of slides with keys and takes it back.
func TestBrowserSlides(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "List", "data": "<section><h2>A</h2></section>\n<section><h2>B</h2></section>\n<section><h2>C</h2></section>"})
	b := browse(t, s)
	b.signIn("alice")
	b.open(path + "/edit")
	b.wait(`document.getElementById("state")?.textContent === "Saved"`)
	titles := `[...document.querySelectorAll("#slide-list li")].map((e) => e.textContent).join("")`
	press := func(key, with, want string) {
		t.Helper()
		eval[bool](b, `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "`+key+`", bubbles: true, cancelable: true, `+with+`}))`)
		if got := eval[string](b, titles+` + document.getElementById("which").value`); got != want {
			t.Errorf("%s %s: %s, want %s", with, key, got, want)
		}
	}
	eval[bool](b, `document.querySelector("#slide-list button").focus() || true`)
	press("ArrowDown", "", "ABC2")
	press("ArrowUp", "altKey: true", "BAC1")
	press("End", "", "BAC3")
	press("Delete", "", "BA2")
	press("z", "ctrlKey: true", "BAC3")
	press("z", "ctrlKey: true", "ABC2")
	press("z", "ctrlKey: true, shiftKey: true", "BAC3")
	eval[bool](b, `(() => { // drag the last before the first
		const data = new DataTransfer();
		const [first, , last] = document.querySelectorAll("#slide-list li");
		last.dispatchEvent(new DragEvent("dragstart", {dataTransfer: data, bubbles: true}));
		first.dispatchEvent(new DragEvent("dragover", {dataTransfer: data, bubbles: true, cancelable: true}));
		return first.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
	})()`)
	if got := eval[string](b, titles); got != "CBA" {
		t.Errorf("dragged: %s", got)
	}

	// Somebody else changed it: both are shown, theirs is taken.
	if got := s.Do("PATCH", "/v1/decks/1", `{"data": "<section><h2>Theirs</h2></section>"}`, "as", "alice"); got.StatusCode != http.StatusOK {
		t.Fatal(got.Text)
	}
	b.click("#save")
	b.wait(`document.getElementById("conflict-dialog").open`)
	if got := eval[string](b, `[...document.querySelectorAll("#conflict-theirs mark")].map((e) => e.textContent).join("|")`); got != "<section><h2>Theirs</h2></section>" {
		t.Errorf("marked: %s", got)
	}
	b.shot("conflict")
	b.click(`#conflict-dialog button[value="theirs"]`)
	b.wait(titles + ` === "Theirs" && document.getElementById("state").textContent === "Saved"`)
}

// TestBrowserFind finds a text in slides that are not shown, marks it, and goes on from there.
func TestBrowserFind(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "Find", "visibility": "all", "data": `<section><h2>Apples</h2><aside class="notes">pears</aside></section>` +
		`<section><section><h2>Plums</h2></section><section><p>More apples</p></section></section><section data-markdown><script type="text/template">## Pears</script></section>`})
	b := browse(t, s)
	b.open(path)
	b.wait(`document.getElementById("number").textContent === "1 / 4" && location.hash === "#/0"`)
	find := func(text, key, found, hash string) {
		t.Helper()
		eval[bool](b, `(() => { const f = document.getElementById("find-text"); f.value = `+quote(text)+`; return f.dispatchEvent(new KeyboardEvent("keydown", {`+key+`, bubbles: true, cancelable: true})); })()`)
		b.wait(`document.getElementById("found").textContent === "` + found + `" && location.hash === "` + hash + `"`)
	}
	find("APPLES", `key: "Enter"`, "2 / 2", "#/1/1")
	find("apples", `key: "Enter"`, "1 / 2", "#/0")
	find("apples", `key: "Enter", shiftKey: true`, "2 / 2", "#/1/1")
	b.shot("find")
	find("pears", `key: "Enter"`, "1 / 1", "#/2") // not the speaker's
	find("cherries", `key: "Enter"`, "none", "#/2")
	find("", `key: "Enter"`, "", "#/2")
	b.quiet()
}

// TestBrowserFormulas draws formulas in the viewer with the built-in faces, whatever the machine has.
func TestBrowserFormulas(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	path := makeDeck(t, s, map[string]any{"title": "Formulas", "visibility": "all", "data": `<section><h2>Root</h2><p>\[\sqrt{x^2+1}\]</p>` +
		`<script type="math/tex; mode=display">\mathbb{R} < \frac{1}{2}</script><p>and \(e^x\)</p></section>`})
	b := browse(t, s)
	b.open(path + "/fullscreen")
	b.wait(`document.documentElement.dataset.ready === "true" && document.querySelectorAll(".katex-html").length === 3 && document.fonts.status === "loaded"`)
	b.shot("formulas")
	got := eval[string](b, `[...document.fonts].filter((f) => f.family.includes("KaTeX") && f.status === "loaded").map((f) => f.family.replace(/"/g, "")).sort().join(" ")`)
	for _, face := range []string{"KaTeX_AMS", "KaTeX_Main", "KaTeX_Math"} {
		if !strings.Contains(got, face) {
			t.Errorf("%s is not loaded: %s", face, got)
		}
	}
	if got := eval[int](b, `document.querySelectorAll(".katex-html .sqrt svg path, .katex-html .frac-line").length`); got != 2 {
		t.Errorf("%d roots and fractions are drawn, want 2", got)
	}
	b.quiet()
}
