package rest_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest/resttest"
)

// TestBrowserTables makes documents of a CSV file, reads which rows were rejected, and exports what is in the folder and what is
// selected.
func TestBrowserTables(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	const in = "/api/v1/path/default-domain/workspaces"
	if got := s.Do("POST", in, `{"entity-type":"document","type":"Workspace","name":"plans","properties":{"dc:title":"Plans"}}`); got.StatusCode != http.StatusCreated {
		t.Fatal(got.Text)
	}
	workThrough(t, s)
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/documents#default/" + s.Do("GET", in+"/plans", "").JSON(t)["uid"].(string))
	b.press("#acts", "Import CSV")
	b.choose("dialog [type=file]", "plans.csv", "text/csv", []byte("name,type,dc:title,dc:nature\na,Note,First,letter\nb,Nope,Second,letter\nc,Note,Third,letter\n"))
	b.look("import of CSV")
	b.press("dialog", "Import")
	b.wait(`document.querySelector("dialog h2")?.textContent === "Imported"`)
	if got := eval[string](b, `document.querySelector("dialog p").textContent + " " + [...document.querySelectorAll("dialog tbody td, dialog tbody th")].map((e) => e.textContent).join("|")`); !strings.HasPrefix(got, "2 rows imported, 0 skipped, 1 rejected. 3|rejected|") || !strings.Contains(got, "Nope") {
		t.Errorf("the import says %q", got)
	}
	b.shot("csv-imported")
	b.look("result of an import")
	b.press("dialog", "Close")
	b.wait(`document.querySelectorAll("#children li").length === 2 && document.getElementById("done").textContent === "Imported."`)

	b.keepFiles()
	b.press("#acts", "Export CSV")
	b.wait(`document.querySelector('dialog [name=scope]')`)
	b.shot("csv-export")
	b.narrow("csv-export-narrow")
	b.look("export as CSV")
	b.press("dialog", "Export")
	lines := strings.Split(strings.TrimSpace(string(b.kept())), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "dc:nature") || !strings.Contains(lines[1], "First") || !strings.Contains(lines[2], "Third") {
		t.Errorf("the table of the folder: %q", lines)
	}
	b.wait(`!document.querySelector("dialog[open]")`)
	b.click("#children li:nth-child(2) input")
	b.press("#children .chosen-bar", "Export CSV")
	b.wait(`document.querySelector("dialog h2")?.textContent === "Export 1 documents as CSV"`)
	if !eval[bool](b, `(document.querySelector("dialog .cancel").click(), document.querySelector("dialog") === null)`) {
		t.Error("a closed dialog is still there")
	}
	b.press("#children .chosen-bar", "Export CSV")
	b.press("dialog", "Export")
	if lines := strings.Split(strings.TrimSpace(string(b.kept())), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "Third") {
		t.Errorf("the table of the selection: %q", lines)
	}
	b.quiet()
}

// TestBrowserScroll goes through a folder of thousands of documents: the page keeps the elements of the rows in view and a few more,
// and has all rows in the end.
func TestBrowserScroll(t *testing.T) {
	const documents = 3000
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	var rows strings.Builder
	for i := range documents {
		fmt.Fprintf(&rows, `{"name":"d%05d","type":"Note","dc:title":"Plan %05d"}`+"\n", i, i)
	}
	if got := s.Do("POST", "/api/v1/bulk?key=name&into=/default-domain/workspaces", rows.String(), "Content-Type", "application/x-ndjson"); got.StatusCode >= 300 {
		t.Fatal(got.Text)
	}
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/documents#default/" + s.Do("GET", "/api/v1/path/default-domain/workspaces", "").JSON(t)["uid"].(string))
	b.wait(`document.querySelectorAll("#children li").length > 5`)
	// Two views a frame, as fast as somebody scrolls, until the last row is there.
	seen := eval[map[string]float64](b, `(async () => {
		const box = document.querySelector("#children .rows"), frames = [];
		let most = 0, last = performance.now();
		for (let n = 0; n < 20000; n++) {
			box.scrollTop += box.clientHeight * 2;
			await new Promise((go) => requestAnimationFrame(go));
			const now = performance.now();
			frames.push(now - last);
			last = now;
			most = Math.max(most, box.querySelectorAll("li").length);
			if ([...box.querySelectorAll("li")].at(-1)?.textContent.includes("Plan 02999")) break;
		}
		frames.sort((a, b) => a - b);
		return { most, view: Math.ceil(box.clientHeight / 60), frames: frames.length, median: frames[frames.length >> 1], slow: frames.filter((f) => f > 50).length, end: box.scrollTop };
	})()`)
	t.Logf("%.0f frames, half of them within %.1f ms, %.0f longer than 50 ms; at most %.0f rows, %.0f fit into the view", seen["frames"], seen["median"], seen["slow"], seen["most"], seen["view"])
	if seen["most"] > seen["view"]+18 || seen["view"] < 4 {
		t.Errorf("%.0f rows are kept, %.0f fit into the view", seen["most"], seen["view"])
	}
	if got := eval[string](b, `[...document.querySelectorAll("#children li")].at(-1).textContent`); !strings.Contains(got, "Plan 02999") {
		t.Errorf("the last row is %q", got)
	}

	// All of them are more than a query can name, and more than one call changes.
	workThrough(t, s)
	b.click("#all")
	b.press("#children .chosen-bar", "Export CSV")
	b.wait(`document.querySelector("dialog h2")?.textContent === "Export 3000 documents as CSV"`)
	b.keepFiles()
	b.press("dialog", "Export")
	b.wait(`window.kept.length === 1`)
	if lines := strings.Split(strings.TrimSpace(eval[string](b, `kept.pop().text()`)), "\n"); len(lines) != documents+1 || !strings.Contains(lines[0], "dc:title") || !strings.Contains(lines[documents], "Plan 02999") {
		t.Errorf("the table of all has %d lines", len(lines))
	}
	b.wait(`!document.querySelector("dialog[open]")`)
	b.press("#children .chosen-bar", "Edit")
	b.set(`dialog [name="dc:description"]`, "changed")
	b.press("dialog", "Save")
	b.wait(`!document.querySelector("dialog[open]") && document.getElementById("done").textContent === "Saved."`)
	calls := 0
	for _, address := range b.seen {
		if strings.HasSuffix(address, "/Document.Update") {
			calls++
		}
	}
	if got := s.Do("GET", "/api/v1/search/lang/NXQL/execute?pageSize=1&query="+url.QueryEscape("SELECT * FROM Note WHERE dc:description IS NULL AND ecm:isVersion = 0"), "").JSON(t)["resultsCount"]; got != 0.0 || calls != 3 {
		t.Errorf("%v documents were not changed by %d calls", got, calls)
	}
	b.quiet()
}
