package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"catena/decks"
	"catena/rest/resttest"
)

// TestBrowserDocuments follows the address of a document, as mails have it, through signing in to
// the document's page, up to its folder, through the pages of what lies there, and to a file.
func TestBrowserDocuments(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	made := func(in, kind, name, title string) map[string]any {
		t.Helper()
		got := s.Do("POST", "/api/v1/path"+in, fmt.Sprintf(`{"entity-type":"document","type":%q,"name":%q,"properties":{"dc:title":%q}}`, kind, name, title))
		if got.StatusCode != http.StatusCreated {
			t.Fatal(got.Text)
		}
		return got.JSON(t)
	}
	const in = "/default-domain/workspaces"
	made(in, "Workspace", "plans", "Plans & <b>more</b>")
	for i := range 231 {
		made(in+"/plans", "File", fmt.Sprintf("part-%03d", i), fmt.Sprintf("Part %03d", i))
	}
	uid := made(in+"/plans", "File", "letter", "A letter")["uid"]
	if got := s.Do("POST", "/api/v1/path"+in+"/plans/letter/@op/Document.SetProperty", `{"params":{"xpath":"dc:description","value":"Says <i>hello</i>."}}`); got.StatusCode != http.StatusOK {
		t.Fatal(got.Text)
	}
	file, typ := multi(t, "multipart/form-data", part{`form-data; name="content"; filename="letter.txt"`, "text/plain", "Dear reader"})
	if got := s.Do("PUT", "/api/v1/path"+in+"/plans/letter/@blob/file:content", file, "Content-Type", typ); got.StatusCode != http.StatusOK {
		t.Fatal(got.Status, got.Text)
	}

	b := browse(t, s)
	b.open(fmt.Sprintf("/nxdoc/default/%s", uid))
	b.write(`[name=user]`, "alice")
	b.write(`[name=password]`, resttest.Password)
	b.click(`button.primary`)
	b.wait(`document.getElementById("title")?.textContent === "A letter"`)
	b.shot("document")
	if text := eval[string](b, `document.body.innerText`); !strings.Contains(text, "Says <i>hello</i>.") || !strings.Contains(text, in+"/plans/letter") {
		t.Errorf("the page says %q", text)
	}
	file = strings.TrimPrefix(eval[string](b, `document.querySelector("#files a").href`), s.URL)
	if got := s.Do("GET", file, "", "as", "alice"); got.Text != "Dear reader" {
		t.Errorf("%s holds %q", file, got.Text)
	}
	b.click(`#crumbs li:last-child a`)
	b.wait(`document.getElementById("title").textContent === "Plans & <b>more</b>" && document.querySelectorAll("#children li").length > 8`)
	b.shot("folder")

	// The list asks for more when its end comes near, keeps few rows, and goes on from row to row by the arrow keys.
	b.wait(`(() => { const e = document.querySelector(".rows"); e.scrollTop = e.scrollHeight; return document.querySelector("#children output").textContent === "232 documents"; })()`)
	b.wait(`(() => { const e = document.querySelector(".rows"); e.scrollTop = e.scrollHeight; return true; })() && [...document.querySelectorAll("#children li a")].at(-1)?.textContent === "Part 230"`)
	if n := eval[int](b, `document.querySelectorAll("#children li").length`); n > 60 {
		t.Errorf("%d rows are in the page", n)
	}
	if got := eval[string](b, `(() => { const li = [...document.querySelectorAll("#children li")].at(-2); li.querySelector("a").focus(); return li.ariaPosInSet + " of " + li.ariaSetSize; })()`); got != "231 of 232" {
		t.Errorf("the last but one row is %s", got)
	}
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	b.wait(`document.activeElement.textContent === "Part 230"`)
	b.quiet()

	// What alice may not read is not said to be there.
	hidden := made(in, "Workspace", "hidden", "Hidden")["uid"]
	if got := s.Do("POST", "/api/v1/path"+in+"/hidden/@op/Document.BlockPermissionInheritance", `{"params":{}}`); got.StatusCode != http.StatusOK {
		t.Fatal(got.Text)
	}
	b.open(fmt.Sprintf("/ui/documents#%s", hidden))
	b.wait(`!document.getElementById("message").hidden`)
	if text := eval[string](b, `document.body.innerText`); strings.Contains(text, "Hidden") {
		t.Errorf("the page says %q", text)
	}
}

// late holds back the first answer about what an address names, and notes when it has come.
func (b *tab) late(address string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`(() => {
		const at = window.fetch;
		window.late = false;
		window.fetch = (url, ...more) => {
			if (!String(url).includes(%q)) return at(url, ...more);
			window.fetch = at;
			return new Promise((ok) => { setTimeout(ok, 300); }).then(() => at(url, ...more)).finally(() => setTimeout(() => { window.late = true; }, 200));
		};
		return true;
	})()`, address))
}

// TestBrowserLateAnswers goes on to another document or task before the server has answered about the first: its late answer
// is dropped.
func TestBrowserLateAnswers(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	const in = "/api/v1/path/default-domain/workspaces"
	uids := map[string]string{}
	for _, name := range []string{"slow", "quick"} {
		got := s.Do("POST", in, fmt.Sprintf(`{"entity-type":"document","type":"Note","name":%q,"properties":{"dc:title":%q,"note:note":"This one is %s."}}`, name, strings.ToUpper(name), name))
		if got.StatusCode != http.StatusCreated {
			t.Fatal(got.Text)
		}
		uids[name] = got.JSON(t)["uid"].(string)
	}
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/documents#default/" + s.Do("GET", in, "").JSON(t)["uid"].(string))
	b.wait(`document.querySelector("#children output").textContent === "2 documents"`)
	b.late(uids["slow"])
	b.wait(fmt.Sprintf(`(() => { location.hash = "default/%s"; setTimeout(() => { location.hash = "default/%s"; }, 50); return true; })()`, uids["slow"], uids["quick"]))
	b.wait(`document.getElementById("title").textContent === "QUICK" && document.querySelector("#preview iframe")?.srcdoc.includes("This one is quick.") && window.late`)
	if got := eval[string](b, `document.getElementById("title").textContent + document.querySelectorAll("#preview iframe").length + document.querySelector("#files a[href*=xmlExport]").href`); !strings.HasPrefix(got, "QUICK1") || !strings.Contains(got, uids["quick"]) {
		t.Errorf("the page shows %s", got)
	}
	b.quiet()

	tasks := map[string]string{}
	for name, uid := range uids {
		if got := s.Do("POST", "/api/v1/id/"+uid+"/@workflow", `{"entity-type":"workflow","workflowModelName":"SerialDocumentReview"}`); got.StatusCode != http.StatusCreated {
			t.Fatal(got.Text)
		}
		tasks[name] = s.Do("GET", "/api/v1/id/"+uid+"/@task", "").JSON(t)["entries"].([]any)[0].(map[string]any)["id"].(string)
	}
	b.open("/ui/tasks")
	b.wait(`document.querySelectorAll("#list li strong").length === 2`)
	b.late(tasks["slow"])
	b.wait(fmt.Sprintf(`(() => { location.hash = "%s"; setTimeout(() => { location.hash = "%s"; }, 50); return true; })()`, tasks["slow"], tasks["quick"]))
	b.wait(`document.getElementById("about").textContent.includes("QUICK") && window.late`)
	if got := eval[string](b, `document.getElementById("about").textContent`); !strings.Contains(got, "QUICK") {
		t.Errorf("the form is of %s", got)
	}
	b.quiet()
}
