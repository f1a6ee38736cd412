package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"catena/decks"
	"catena/rest/resttest"
)

// set gives a control a value as if it was typed, and tells the page.
func (b *tab) set(selector, value string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(%q)`, selector))
	eval[bool](b, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.value = %q; for (const name of ["input", "change"]) e.dispatchEvent(new Event(name, { bubbles: true })); return true; })()`, selector, value))
}

// press clicks the button with a text within an element.
func (b *tab) press(within, text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`(() => { const e = [...document.querySelectorAll(%q)].flatMap((x) => [...x.querySelectorAll("button, [role=tab]")]).find((x) => x.textContent.trim() === %q); if (!e || e.disabled) return false; setTimeout(() => e.click()); return true; })()`, within, text))
}

// narrow looks at the page as a phone shows it, in the dark, and goes back.
func (b *tab) narrow(name string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(390, 780), darkMode)
	b.shot(name)
	if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
		b.t.Errorf("%s: the page is wider than a phone", name)
	}
	if got := eval[string](b, `(() => { const w = document.createTreeWalker(document.querySelector("main") || document.body, NodeFilter.SHOW_TEXT); while (w.nextNode()) if (/^(null|undefined|NaN|\[object Object\])$/.test(w.currentNode.textContent.trim()) && !w.currentNode.parentElement.closest("pre, code, script, textarea")) return w.currentNode.textContent; return ""; })()`); got != "" {
		b.t.Errorf("%s: the page says %q", name, got)
	}
	b.do(chromedp.EmulateViewport(1280, 800), inColours("light"))
}

// TestBrowserDocumentActs creates a document, changes it by its form, locks, renames, copies, moves and trashes it, and finds
// each change on the server.
func TestBrowserDocumentActs(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	const in = "/api/v1/path/default-domain/workspaces"
	for _, name := range []string{"plans", "archive"} {
		if got := s.Do("POST", in, fmt.Sprintf(`{"entity-type":"document","type":"Workspace","name":%q,"properties":{"dc:title":%q}}`, name, strings.ToUpper(name))); got.StatusCode != http.StatusCreated {
			t.Fatal(got.Text)
		}
	}
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/documents#default/" + s.Do("GET", in+"/plans", "").JSON(t)["uid"].(string))
	b.press("#acts", "New")
	b.wait(`document.querySelector('dialog [name="dc:title"]')`)
	b.set(`dialog [name="dc:title"]`, "A letter") // stays when another type is chosen
	b.set("dialog select", "File")
	b.wait(`document.querySelector('dialog [name="file:content"]')`)
	b.click("dialog details summary")
	b.wait(`document.querySelectorAll('dialog [name="dc:nature"] option').length > 5`)
	b.set(`dialog [name="dc:nature"]`, "letter")
	b.wait(`document.querySelector('dialog [name="dc:subjects"] option[value="art/architecture"]')`)
	b.set(`dialog [name="dc:subjects"]`, "art/architecture")
	b.set(`dialog [name="dc:issued"]`, "2026-03-01T10:00")
	b.shot("document-new")
	b.narrow("document-new-narrow")
	b.press("dialog", "Create")
	b.wait(`document.getElementById("title").textContent === "A letter" && document.getElementById("done").textContent === "Created."`)
	doc := func() map[string]any {
		t.Helper()
		return s.Do("GET", in+"/plans/A%20letter", "", "properties", "*").JSON(t)
	}
	props := doc()["properties"].(map[string]any)
	if got := fmt.Sprint(props["dc:nature"], props["dc:subjects"], strings.HasPrefix(fmt.Sprint(props["dc:issued"]), "2026-0")); got != "letter[art/architecture] true" {
		t.Errorf("properties %s", got)
	}

	eval[bool](b, `[...document.querySelectorAll("#acts button")].find((e) => e.textContent === "Edit").focus() === undefined`)
	b.press("#acts", "Edit")
	b.wait(`document.querySelector('dialog [name="dc:title"]')`)
	b.set(`dialog [name="dc:title"]`, "")
	b.set(`dialog [name="dc:description"]`, "Says hello.")
	b.press("dialog", "Save")
	b.wait(`!document.querySelector("dialog") && document.getElementById("done").textContent === "Saved."`)
	b.wait(`document.activeElement.textContent === "Edit" && document.activeElement.closest("#acts")`) // the focus is where it was
	if got := doc()["properties"].(map[string]any); got["dc:title"] != nil || got["dc:description"] != "Says hello." || got["dc:nature"] != "letter" {
		t.Errorf("after the change %v", got)
	}
	b.press("#acts", "Rename")
	b.set(`dialog [name=title]`, "")
	b.press("dialog", "Rename")
	b.wait(`document.activeElement.getAttribute("aria-invalid") === "true" && document.querySelector("dialog .field .wrong:not([hidden])").textContent === "Required."`)
	b.set(`dialog [name=title]`, "The letter")
	b.shot("document-rename")
	b.press("dialog", "Rename")
	b.wait(`document.getElementById("title").textContent === "The letter"`)

	b.press("#acts", "Lock")
	b.wait(`document.getElementById("about").textContent.includes("locked by Administrator")`)
	b.press("#acts", "Unlock")
	b.wait(`!document.getElementById("about").textContent.includes("locked")`)
	b.shot("document-details")
	b.narrow("document-details-narrow")

	// Copied into another folder, which is chosen step by step.
	b.press("#acts", "Copy")
	b.press("dialog .folders", "↑ Up to Workspaces")
	b.press("dialog .folders", "ARCHIVE")
	b.wait(`document.querySelector("dialog [role=status]").textContent === "Copy to /default-domain/workspaces/archive"`)
	b.shot("document-copy")
	b.press("dialog", "Copy to")
	b.wait(`document.getElementById("done").textContent === "Copied."`)
	if got := s.Do("GET", in+"/archive/A%20letter", ""); got.StatusCode != http.StatusOK {
		t.Errorf("the copy: %s", got.Status)
	}
	b.press("#acts", "Move to trash")
	b.press("dialog", "Move to the trash")
	b.wait(`document.getElementById("title").textContent === "PLANS" && document.querySelector("#children p")?.textContent === "Nothing here."`)
	b.click("#binned")
	b.wait(`document.querySelectorAll("#children li").length === 1`)
	b.click(`#children [aria-label="Select The letter"]`)
	b.press(".chosen-bar", "Restore")
	b.wait(`document.getElementById("done").textContent === "Restored."`)
	if got := doc()["isTrashed"]; got != false {
		t.Errorf("in the trash: %v", got)
	}
	b.quiet()
}

// TestBrowserDocumentConflict has two people change the same document: the second is shown both values and chooses, and no
// change of the first is lost.
func TestBrowserDocumentConflict(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	const at = "/api/v1/path/default-domain/workspaces"
	uid := s.Do("POST", at, `{"entity-type":"document","type":"Note","name":"note","properties":{"dc:title":"First","dc:description":"Nothing"}}`).JSON(t)["uid"].(string)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/documents#default/" + uid)
	b.press("#acts", "Edit")
	b.wait(`document.querySelector('dialog [name="dc:title"]')`)
	b.set(`dialog [name="dc:title"]`, "Mine")
	b.set(`dialog [name="note:note"]`, "My text")
	if got := s.Do("PUT", at+"/note", `{"entity-type":"document","properties":{"dc:title":"Theirs","dc:description":"Theirs too"}}`); got.StatusCode != http.StatusOK {
		t.Fatal(got.Text)
	}
	b.press("dialog", "Save")
	b.wait(`document.querySelectorAll("dialog").length === 2 && document.querySelectorAll("dialog .differs").length === 1`)
	b.shot("document-conflict")
	b.narrow("document-conflict-narrow")
	b.click(`dialog [name="dc:title"][value=theirs]`)
	b.press("dialog:last-of-type", "Save")
	b.wait(`!document.querySelector("dialog") && document.getElementById("title").textContent === "Theirs"`)
	props := s.Do("GET", at+"/note", "", "properties", "*").JSON(t)["properties"].(map[string]any)
	if got := fmt.Sprint(props["dc:title"], "|", props["dc:description"], "|", props["note:note"]); got != "Theirs|Theirs too|My text" {
		t.Errorf("kept %s", got)
	}

	// Somebody who added a tag meanwhile is in nobody's way.
	b.press("#acts", "Edit")
	b.set(`dialog [name="dc:title"]`, "Second")
	s.Do("POST", at+"/note/@op/Services.TagDocument", `{"params":{"tags":"seen"}}`)
	b.press("dialog", "Save")
	b.wait(`!document.querySelector("dialog") && document.getElementById("title").textContent === "Second"`)
	b.said = slices.DeleteFunc(b.said, func(text string) bool { return strings.Contains(text, "409") })
	b.quiet()
}

// TestBrowserDocumentTabs grants a permission until a day, blocks what is inherited, comments, tags, and compares and restores
// a version.
func TestBrowserDocumentTabs(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	const at = "/api/v1/path/default-domain/workspaces"
	uid := s.Do("POST", at, `{"entity-type":"document","type":"Note","name":"note","properties":{"dc:title":"A note","note:note":"First text","note:mime_type":"text/plain"}}`).JSON(t)["uid"].(string)
	for _, step := range [][2]string{{"Document.CheckIn", `{"version":"minor"}`}, {"Document.SetProperty", `{"xpath":"note:note","value":"Second text"}`}} {
		if got := s.Do("POST", at+"/note/@op/"+step[0], `{"params":`+step[1]+`}`); got.StatusCode != http.StatusOK {
			t.Fatal(got.Text)
		}
	}
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/documents#default/" + uid)
	b.press("#tabs", "Permissions")
	b.press("#access", "Grant a permission")
	b.set("dialog [name=users]", "alice")
	b.set("dialog [name=permission]", "ReadWrite")
	b.set("dialog [name=end]", "2040-01-01T12:00")
	b.shot("permission-grant")
	b.press("dialog", "Grant")
	b.wait(`[...document.querySelectorAll("#access tbody tr")].some((r) => /alice.*ReadWrite.*until.*2040.*in effect.*here/.test(r.textContent.replace(/\s+/g, " ")))`)
	b.press("#access", "Block inheritance")
	b.press("dialog", "Block")
	b.wait(`document.querySelector("#access .soft:not(.small)")?.textContent.startsWith("Permissions of the folders above are not")`)
	b.shot("permissions")
	b.narrow("permissions-narrow")
	if got := s.Do("GET", at+"/note", "", "as", "alice"); got.StatusCode != http.StatusOK {
		t.Errorf("alice reads: %s", got.Status)
	}

	b.press("#tabs", "Comments")
	b.set("#comments textarea", "Looks good.")
	b.press("#comments", "Add comment")
	b.wait(`document.querySelector("#comments li p")?.textContent === "Looks good."`)

	b.press("#tabs", "Tags and links")
	b.set("#links [name=tags]", "urgent")
	b.press("#links", "Save tags")
	b.wait(`document.querySelector("#links .chips li")?.textContent.startsWith("urgent")`)
	b.shot("document-links")
	b.narrow("document-links-narrow")

	// A document is found by its title.
	s.Do("POST", at, `{"entity-type":"document","type":"File","name":"law-7","properties":{"dc:title":"The law of seven"}}`)
	b.press("#links", "Add a relation")
	b.set("dialog [name=predicate]", "http://purl.org/dc/terms/References")
	b.write("dialog [name=object]", "The la")
	b.wait(`[...document.getElementById(document.querySelector("dialog [name=object]").getAttribute("list")).options].some((o) => o.label === "The law of seven" && o.value === "/default-domain/workspaces/law-7")`)
	b.set("dialog [name=object]", "/default-domain/workspaces/law-7")
	b.press("dialog", "Add")
	b.wait(`document.querySelector('[aria-label="Relations"] li')?.textContent.startsWith("refers to The law of seven")`)
	b.click(`[aria-label="Remove the relation to The law of seven"]`)
	b.wait(`document.querySelector('[aria-label="Relations"] li')?.textContent === "No relations."`)

	b.press("#tabs", "Versions")
	b.click(`#versions [aria-label="Compare version 0.1 with now"]`)
	b.wait(`document.querySelector("dialog tbody")?.textContent.includes("First text")`)
	b.shot("versions-compared")
	b.press("dialog", "Close")
	b.click(`#versions [aria-label="Restore version 0.1"]`)
	b.press("dialog", "Restore")
	b.wait(`document.getElementById("done").textContent === "Restored."`)
	if got := s.Do("GET", at+"/note", "", "properties", "note").JSON(t)["properties"].(map[string]any)["note:note"]; got != "First text" {
		t.Errorf("restored %v", got)
	}
	b.press("#tabs", "History")
	b.wait(`[...document.querySelectorAll("#history li")].some((e) => e.textContent.startsWith("Version created")) && document.querySelectorAll("#history li").length > 4`)
	b.shot("history")
	b.quiet()
}

// TestBrowserSearch finds documents, narrows them, reads the plan, saves the query and edits several documents at once.
func TestBrowserSearch(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	const at = "/api/v1/path/default-domain/workspaces"
	for i, nature := range []string{"letter", "letter", "invoice"} {
		if got := s.Do("POST", at, fmt.Sprintf(`{"entity-type":"document","type":"Note","name":"n%d","properties":{"dc:title":"Plan %d","dc:nature":%q}}`, i, i, nature)); got.StatusCode != http.StatusCreated {
			t.Fatal(got.Text)
		}
	}
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/search?q=plan")
	b.wait(`document.querySelectorAll("#results li").length === 3 && document.querySelectorAll("#facets [type=checkbox]").length > 2`)
	b.shot("search")
	b.narrow("search-narrow")
	b.wait(`(() => { const e = [...document.querySelectorAll("#facets label")].find((x) => /^Letter/i.test(x.textContent)); if (!e) return false; e.querySelector("input").click(); return true; })()`)
	b.wait(`document.querySelectorAll("#results li").length === 2`)
	b.click("#all")
	b.press("#results .chosen-bar", "Edit")
	b.wait(`document.querySelector('dialog [name="dc:description"]')`)
	b.set(`dialog [name="dc:description"]`, "Together")
	b.press("dialog", "Save")
	b.wait(`document.getElementById("done").textContent === "Edit: done."`)
	for i, want := range []any{"Together", "Together", nil} {
		if got := s.Do("GET", fmt.Sprintf("%s/n%d", at, i), "", "properties", "dublincore").JSON(t)["properties"].(map[string]any)["dc:description"]; got != want {
			t.Errorf("n%d: %v, want %v", i, got, want)
		}
	}
	b.click("#editor summary")
	const noted = "SELECT * FROM Note WHERE dc:nature = 'invoice' AND ecm:isVersion = 0"
	b.set("[name=query]", noted)
	b.click("#run")
	b.wait(`document.querySelectorAll("#results li").length === 1`)
	b.click("#explain")
	b.wait(`document.getElementById("plan").textContent.includes("read: ")`)
	b.shot("search-plan")
	b.set("[name=query]", "explain SELECT * FROM Note")
	b.click("#run")
	b.wait(`document.getElementById("plan").textContent.startsWith("query: SELECT * FROM Note\naccess: ") && document.querySelectorAll("#results li").length === 1`)
	b.set("[name=query]", noted)
	b.click("#run")
	b.click("#save")
	b.set("dialog [name=title]", "Invoices")
	b.press("dialog", "Save")
	b.wait(`document.querySelector("#saved button")?.textContent === "Invoices"`)
	b.open("/ui/search")
	b.press("#saved", "Invoices")
	b.wait(`document.querySelectorAll("#results li").length === 1`)
	b.quiet()
}

// TestBrowserAdmin creates a user, changes a group and adds an entry to a vocabulary.
func TestBrowserAdmin(t *testing.T) {
	s := managed(t)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/admin")
	b.wait(`document.querySelector("#users li strong")?.textContent === "Administrator"`)
	b.press("#users", "New user")
	b.press("dialog", "Create")
	b.wait(`document.querySelector("dialog .wrong:not([hidden])")?.textContent === "Required."`)
	b.set("dialog [name=username]", "carol")
	b.set("dialog [name=firstName]", "Carol")
	b.set("dialog [name=password]", "a-secret-of-carol")
	b.set("dialog [name=groups]", "members")
	b.shot("admin-user")
	b.press("dialog", "Create")
	b.wait(`[...document.querySelectorAll("#users li")].some((e) => e.textContent.startsWith("carolCarol"))`)
	b.shot("admin")
	b.narrow("admin-narrow")
	b.look("admin")
	if got := s.Do("GET", "/api/v1/user/carol", "").JSON(t)["properties"].(map[string]any); fmt.Sprint(got["firstName"], got["groups"]) != "Carol[members]" {
		t.Errorf("carol: %v", got)
	}
	b.press("#tabs", "Groups")
	b.click(`#groups [aria-label="Change powerusers"]`)
	b.set("dialog [name=memberUsers]", "carol")
	b.press("dialog", "Save")
	b.wait(`document.getElementById("done").textContent === "Saved."`)
	if got := s.Do("GET", "/api/v1/user/carol", "").JSON(t)["properties"].(map[string]any)["groups"]; !slices.Contains(got.([]any), any("powerusers")) {
		t.Errorf("groups of carol: %v", got)
	}
	b.press("#tabs", "Vocabularies")
	b.set("#vocabularies select", "nature")
	b.press("#vocabularies", "New entry")
	b.set("dialog [name=id]", "poem")
	b.set("dialog [name=label]", "Poem")
	b.press("dialog", "Create")
	b.wait(`!document.querySelector("dialog") && document.getElementById("done").textContent === "Created."`)
	if got := s.Do("GET", "/api/v1/directory/nature/poem", ""); !strings.Contains(got.Text, `"label":"Poem"`) {
		t.Errorf("the entry: %s", got.Text)
	}
	b.press("#tabs", "Types")
	b.wait(`document.querySelectorAll("#types tbody tr").length > 20`)
	b.press("#tabs", "Server")
	b.wait(`document.querySelector("#server caption")`)
	b.shot("admin-server")
	b.quiet()
}
