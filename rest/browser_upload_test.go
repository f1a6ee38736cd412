package rest_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/ops/bulk"
	"catena/rest/resttest"
	"catena/storage/outbox"
)

// dropped makes of [path, text] what a page is given when files and folders are dropped: the browser itself makes such entries
// only of a mouse that drags, and folders give their content in parts.
const dropped = `((files) => {
	const root = new Map();
	for (const [path, text] of files) {
		const names = path.split("/");
		let at = root;
		for (const name of names.slice(0, -1)) at = at.get(name) || at.set(name, new Map()).get(name);
		at.set(names.at(-1), text);
	}
	const entry = (name, v) => (typeof v === "string" ? { name, isFile: true, file: (ok) => ok(new File([v], name, { type: "text/plain" })) } : { name, isDirectory: true, createReader: () => {
		const left = [...v];
		return { readEntries: (ok) => ok(left.splice(0, 1).map(([n, x]) => entry(n, x))) };
	} });
	return [...root].map(([n, x]) => entry(n, x));
})`

// drop drops files on an element, with the folders they lie in.
func (b *tab) drop(selector string, files [][2]string) {
	b.t.Helper()
	eval[bool](b, fmt.Sprintf(`(() => {
		const data = { types: ["Files"], items: %s(%s).map((e) => ({ webkitGetAsEntry: () => e })) };
		for (const name of ["dragover", "drop"]) {
			const e = new DragEvent(name, { bubbles: true, cancelable: true });
			Object.defineProperty(e, "dataTransfer", { value: data });
			document.querySelector(%q).dispatchEvent(e);
			if (!e.defaultPrevented) throw new Error(name + " is left to the browser");
		}
		return true;
	})()`, dropped, jsonOf(b.t, files), selector))
}

// keepFiles has the page remember the files that it gives the browser to keep.
func (b *tab) keepFiles() {
	b.t.Helper()
	eval[bool](b, `(() => { window.kept = []; const real = URL.createObjectURL; URL.createObjectURL = (x) => { kept.push(x); return real.call(URL, x); }; return true; })()`)
}

// kept returns the only file that the page gave the browser since the last call.
func (b *tab) kept() []byte {
	b.t.Helper()
	b.wait(`window.kept.length === 1`)
	text := eval[string](b, `kept.pop().arrayBuffer().then((a) => btoa(String.fromCharCode(...new Uint8Array(a))))`)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// packed are the names of the files in a ZIP, in order.
func packed(t *testing.T, data []byte) []string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, in); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		out = append(out, f.Name)
	}
	slices.Sort(out)
	return out
}

// atDesk is a server with two workspaces and a section, and a tab that shows the first.
func atDesk(t *testing.T) (*resttest.Server, *tab) {
	t.Helper()
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	for _, d := range [][3]string{{"/default-domain/workspaces", "Workspace", "plans"}, {"/default-domain/workspaces", "Workspace", "archive"}, {"/default-domain/sections", "Section", "news"}} {
		if got := s.Do("POST", "/api/v1/path"+d[0], fmt.Sprintf(`{"entity-type":"document","type":%q,"name":%q,"properties":{"dc:title":%q}}`, d[1], d[2], strings.ToUpper(d[2]))); got.StatusCode != http.StatusCreated {
			t.Fatal(got.Text)
		}
	}
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/documents#default/" + s.Do("GET", "/api/v1/path/default-domain/workspaces/plans", "").JSON(t)["uid"].(string))
	b.wait(`document.querySelector("#children output").textContent === "0 documents"`)
	return s, b
}

const plans = "/api/v1/path/default-domain/workspaces/plans"

// TestBrowserDocumentFiles drops files and folders on a folder, chooses one, looks at previews and renditions, and takes
// everything home as ZIP files, of the folder and of a selection.
func TestBrowserDocumentFiles(t *testing.T) {
	s, b := atDesk(t)
	b.drop("#children", [][2]string{{"letter.txt", "Dear reader"}, {"trip/plan.txt", "Go."}, {"trip/maps/north.txt", "Up."}})
	b.wait(`document.getElementById("done").textContent === "3 files uploaded." && document.querySelector("#children output").textContent === "2 documents"`)
	for path, want := range map[string]string{"/letter.txt": "Dear reader", "/trip/plan.txt": "Go.", "/trip/maps/north.txt": "Up."} {
		if got := s.Do("GET", plans+path, "", "properties", "note").JSON(t)["properties"].(map[string]any)["note:note"]; got != want {
			t.Errorf("%s: %v, want %q", path, got, want)
		}
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	b.choose("#upload", "grey.png", "image/png", picture.Bytes())
	b.wait(`document.querySelector("#children output").textContent === "3 documents"`)
	b.shot("documents-dropped")
	b.narrow("documents-dropped-narrow")

	// Of a folder, and of some of what lies in it.
	b.keepFiles()
	b.press("#acts", "Download ZIP")
	got := packed(t, b.kept())
	for _, want := range []string{"letter.txt", "grey.png"} {
		if !slices.ContainsFunc(got, func(name string) bool { return strings.HasSuffix(name, want) }) {
			t.Errorf("the ZIP of the folder has %q, and not %s", got, want)
		}
	}
	for _, title := range []string{"letter.txt", "grey.png"} {
		b.click(fmt.Sprintf(`#children [aria-label="Select %s"]`, title))
	}
	b.wait(`document.querySelector(".chosen-bar [role=status]").textContent === "2 selected"`)
	b.press(".chosen-bar", "Download ZIP")
	if got := packed(t, b.kept()); !slices.Equal(got, []string{"grey.png", "letter.txt"}) {
		t.Errorf("the ZIP of two documents has %q", got)
	}

	// Pictures and texts are shown, and offered in other forms.
	b.wait(`(() => { const e = [...document.querySelectorAll("#children a")].find((x) => x.textContent === "grey.png"); e?.click(); return e; })()`)
	b.wait(`document.querySelector("#preview img")?.naturalWidth === 40`)
	b.shot("document-picture")
	b.narrow("document-picture-narrow")
	b.click("#crumbs li:last-child a")
	b.wait(`(() => { const e = [...document.querySelectorAll("#children a")].find((x) => x.textContent === "letter.txt"); e?.click(); return e; })()`)
	b.wait(`document.querySelector("#preview iframe")?.srcdoc.includes("Dear reader")`)
	if got := eval[string](b, `fetch([...document.querySelectorAll("#files a")].find((e) => e.textContent === "XML").href).then((r) => r.text())`); !strings.Contains(got, "letter.txt") {
		t.Errorf("the rendition: %.200q", got)
	}
	b.quiet()
}

// TestBrowserDocumentPlaces moves, collects, relates, publishes and follows a document, and edits, exports and erases several at
// once: what the tests above of forms, versions and permissions leave.
func TestBrowserDocumentPlaces(t *testing.T) {
	s, b := atDesk(t)
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	go func() { worked <- outbox.Run(ctx, s.Repo, outbox.Handlers{bulk.JobKind: {Do: bulk.Job(s.Engine)}}) }()
	t.Cleanup(func() {
		stop()
		if err := <-worked; err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"one", "two", "three"} {
		if got := s.Do("POST", plans, fmt.Sprintf(`{"entity-type":"document","type":"Note","name":%q,"properties":{"dc:title":"Note %s","note:note":"Text"}}`, name, name)); got.StatusCode != http.StatusCreated {
			t.Fatal(got.Text)
		}
	}
	b.do(chromedp.Navigate("about:blank"))
	b.open("/ui/documents#default/" + s.Do("GET", plans, "").JSON(t)["uid"].(string))
	b.wait(`document.querySelectorAll("#children li").length === 3`)

	// Several at once: a property, a place, the trash, and for good.
	b.press("#content", "Select all shown")
	b.press(".chosen-bar", "Edit")
	b.wait(`document.querySelector('dialog [name="dc:description"]')`)
	b.set(`dialog [name="dc:description"]`, "Of the trip")
	b.shot("documents-bulk")
	b.narrow("documents-bulk-narrow")
	b.press("dialog", "Save")
	b.wait(`!document.querySelector("dialog") && document.getElementById("done").textContent === "Saved."`)
	b.click(`#children [aria-label="Select Note three"]`)
	b.press(".chosen-bar", "Move")
	b.press("dialog .folders", "↑ Up to Workspaces")
	b.press("dialog .folders", "ARCHIVE")
	b.wait(`document.querySelector("dialog [role=status]").textContent === "Move to /default-domain/workspaces/archive"`)
	b.press("dialog", "Move to")
	b.wait(`document.getElementById("done").textContent === "Moved." && document.querySelectorAll("#children li").length === 2`)
	b.wait(`!document.querySelector(".chosen-bar button")`) // what has acted on a selection is gone with it
	for _, path := range []string{plans + "/one", plans + "/two", "/api/v1/path/default-domain/workspaces/archive/three"} {
		if got := s.Do("GET", path, "", "properties", "dublincore").JSON(t)["properties"].(map[string]any)["dc:description"]; got != "Of the trip" {
			t.Errorf("%s: %v", path, got)
		}
	}
	b.click(`#children [aria-label="Select Note two"]`)
	b.press(".chosen-bar", "Add to collection")
	b.set("dialog [name=name]", "Trips")
	b.press("dialog", "Add")
	b.wait(`document.getElementById("done").textContent === "Added."`)

	// What one document belongs to.
	b.wait(`(() => { const e = [...document.querySelectorAll("#children a")].find((x) => x.textContent === "Note two"); e?.click(); return e; })()`)
	b.press("#tabs", "Tags and links")
	b.wait(`document.querySelector('#links [aria-label="Collections"] li a')?.textContent === "Trips"`)
	b.press("#links", "Favorite")
	b.wait(`document.querySelector("#links [aria-pressed=true]")?.textContent === "Favorite"`)
	b.press("#links", "Add a relation")
	b.set("dialog [name=predicate]", "http://purl.org/dc/terms/References")
	b.set("dialog [name=object]", "/default-domain/workspaces/plans/nothing")
	b.press("dialog", "Add")
	b.wait(`document.querySelector("dialog .wrong:not([hidden]), dialog .alert:not([hidden])")`)
	b.said = nil // the server did not find it, which the browser reports
	b.set("dialog [name=object]", "/default-domain/workspaces/plans/one")
	b.press("dialog", "Add")
	b.wait(`document.querySelector('#links [aria-label="Relations"] li')?.textContent.startsWith("refers to Note one")`)
	b.click(`#links [type=checkbox][value=Modification]`)
	b.press("#links", "Save notifications")
	b.subscribed(s, "[Modification]")
	b.press("#acts", "Publish")
	b.wait(`document.querySelector("dialog [name=target] option[value]:not([value=''])")`)
	eval[bool](b, `(() => { const e = document.querySelector("dialog [name=target]"); e.value = [...e.options].find((o) => o.textContent.startsWith("NEWS")).value; e.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`)
	b.shot("document-publish")
	b.press("dialog", "Publish")
	b.wait(`document.getElementById("done").textContent === "Published."`)
	b.wait(`document.querySelector('#links [aria-label="Publications"] a')?.textContent.startsWith("/default-domain/sections/news/")`)
	b.shot("document-places")
	b.narrow("document-places-narrow")
	two := s.Do("GET", plans+"/two", "", "enrichers-document", "subscribedNotifications,favorites,collections").JSON(t)["contextParameters"].(map[string]any)
	if got := fmt.Sprint(two["subscribedNotifications"], two["favorites"].(map[string]any)["isFavorite"], len(two["collections"].([]any))); got != "[Modification] true 1" {
		t.Errorf("the server has %s", got)
	}
	b.undo(s)

	b.csv()
}

// undo takes back what a document was connected by.
func (b *tab) undo(s *resttest.Server) {
	b.t.Helper()
	for _, label := range []string{"Remove the relation to Note one", "Remove from Trips"} {
		b.click(fmt.Sprintf(`#links [aria-label=%q]`, label))
		b.wait(fmt.Sprintf(`!document.querySelector('#links [aria-label=%q]')`, label))
	}
	b.click(`#links [aria-label^="Remove the publication"]`)
	b.press("dialog", "Remove")
	b.wait(`document.querySelector('#links ul[aria-label="Publications"]')?.textContent === "Not published."`)
	if got := s.Do("GET", "/api/v1/path/default-domain/sections/news/@children", "").JSON(b.t)["entries"].([]any); len(got) != 0 {
		b.t.Errorf("published still: %v", got)
	}
	b.click(`#links [type=checkbox][value=Modification]`)
	b.press("#links", "Save notifications")
	b.wait(`document.querySelector("#links [value=Modification]")?.checked === false`)
	b.subscribed(s, "[]")
}

// subscribed waits until the server has these notifications of the document two: the page shows them before they are saved.
func (b *tab) subscribed(s *resttest.Server, want string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		two := s.Do("GET", plans+"/two", "", "enrichers-document", "subscribedNotifications").JSON(b.t)["contextParameters"].(map[string]any)
		got := fmt.Sprint(two["subscribedNotifications"])
		if got == want {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("subscribed to %s, want %s", got, want)
		}
	}
}

// csv exports what a search finds.
func (b *tab) csv() {
	b.t.Helper()
	b.open("/ui/search?q=note")
	b.wait(`document.querySelectorAll("#results li").length === 3`)
	b.keepFiles()
	b.click("#csv")
	b.press("dialog", "Export")
	b.wait(`!document.querySelector("dialog[open]")`)
	text := string(b.kept())
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 4 || !strings.Contains(lines[0], "dc:title") || !strings.Contains(text, "Of the trip") {
		b.t.Errorf("the table:\n%s", text)
	}
	b.quiet()
}
