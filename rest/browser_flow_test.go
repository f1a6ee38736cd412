package rest_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"catena/engine/mail/mailtest"
	"catena/rest/resttest"
)

// signAs signs in on the first page of a new tab.
func signAs(t *testing.T, s *programServer, user, password string) *tab {
	t.Helper()
	b := browse(t, &resttest.Server{Server: &httptest.Server{URL: s.base}})
	b.open("/ui/login")
	b.write(`[name=user]`, user)
	b.write(`[name=password]`, password)
	b.click(`button.primary`)
	b.wait(`document.querySelector(".console") !== null`)
	return b
}

// user creates a user on the page of administration.
func (b *tab) user(name, password string) {
	b.t.Helper()
	b.open("/ui/admin#users")
	b.press("#users", "New user")
	b.set("dialog [name=username]", name)
	b.set("dialog [name=email]", name+"@example.org")
	b.set("dialog [name=password]", password)
	b.press("dialog", "Create")
	b.wait(`!document.querySelector("dialog") && document.getElementById("done").textContent === "Created."`)
}

// folder creates a document in the folder that is shown.
func (b *tab) folder(kind, title string) {
	b.t.Helper()
	b.press("#acts", "New")
	b.set("dialog select", kind)
	b.set(`dialog [name="dc:title"]`, title)
	b.press("dialog", "Create")
	b.wait(`document.getElementById("title").textContent === ` + quote(title))
}

// walk opens a document by the titles on the way from the root.
func (b *tab) walk(titles ...string) {
	b.t.Helper()
	b.open("/ui/documents")
	for _, title := range titles {
		b.wait(fmt.Sprintf(`(() => { const e = [...document.querySelectorAll("#children a")].find((x) => x.textContent.trim() === %q); if (!e) return false; e.click(); return true; })()`, title))
		b.wait(`document.getElementById("title").textContent === ` + quote(title))
	}
}

// TestBrowserIntake has somebody who uses nothing but the pages build the intake of invoices: a hook takes a PDF file, its text
// names a supplier of a CSV file, somebody approves, the file is stamped and published, another service is told, and mail sent.
// It is tried, run, broken twice, understood, mended and run again.
func TestBrowserIntake(t *testing.T) {
	withFlows(t)
	sink, books := mailtest.Start(t), startBooks(t)
	s := startProgram(t, sink)
	b := signAs(t, s, "Administrator", resttest.Password)
	b.user("pia", "a-secret-of-pia")
	b.user("robot", "a-secret-of-robot")
	b.walk("Domain", "Workspaces")
	b.folder("Workspace", "invoices")
	b.choose("#upload", "suppliers.csv", "text/csv", []byte(firstSuppliers))
	b.wait(`document.getElementById("done").textContent === "1 file uploaded."`)
	b.walk("Domain", "Sections")
	b.folder("Section", "books")
	b.walk("Domain")
	for _, name := range []string{"robot", "pia"} {
		b.grant(name, "ReadWrite")
	}
	b.open("/ui/admin#credentials")
	b.press("#credentials", "New credential")
	b.set("dialog [name=name]", "books")
	b.set("dialog [name=kind]", "bearer")
	b.set("dialog [name=url]", books.URL)
	if !eval[bool](b, `document.querySelector("dialog [name=chains]").checkVisibility()`) {
		b.click("dialog details summary")
	}
	b.set("dialog [name=secret]", "a-token-of-the-books")
	b.set("dialog [name=chains]", "Invoice.Intake")
	b.shot("intake-credential")
	b.press("dialog", "Create")
	b.wait(`!document.querySelector("dialog") && document.getElementById("done").textContent === "Created."`)

	b.intakeChain(books.URL)
	b.shot("intake-chain")
	b.narrow("intake-chain-narrow")
	b.dryIntake()
	address, secret := b.hook("Invoices", "Invoice.Intake", "robot")

	// It runs once as it should.
	s.scan(address, secret, "sixteen.pdf", "S-100")
	pia := signAs(t, s, "pia", "a-secret-of-pia")
	pia.approve("intake-task")
	b.open("/ui/runs")
	b.until("#find button", `document.querySelector('#list [data-state="done"] code')?.textContent === "Invoice.Intake"`)
	s.arrived(sink, books, "sixteen.pdf", "Ada & Sons")

	// The list of suppliers comes with another column, and the next invoice fails.
	b.supplierList("number,name,approver\nS-100,Ada & Sons,pia\nS-200,Babbage Engines,pia\n")
	s.scan(address, secret, "seventeen.pdf", "S-200")
	b.failedRun("hook Invoices")
	b.shot("intake-failed")
	b.narrow("intake-failed-narrow")
	if got := eval[string](b, `document.querySelector("#one .alert").textContent`); !strings.Contains(got, "Invoice.Intake: step 6: Context.SetVar") || !strings.Contains(got, `the value has no member "code"`) {
		t.Errorf("why it failed: %q", got)
	}
	b.wait(`(() => { const e = [...document.querySelectorAll("#one .steps a")].find((x) => x.textContent === "Edit the step that failed"); if (!e) return false; e.click(); return true; })()`)
	b.wait(`location.pathname.endsWith("/ui/chains") && document.activeElement.dataset.key === "/steps/5 open"`)
	b.shot("intake-culprit")
	b.wait(`document.querySelector('[data-key="/steps/5 open"][aria-expanded=true]')`)
	b.fill("/steps/5/params/value", "expr:find(suppliers, words.getString() contains .number)")
	b.wait(`document.getElementById("source").value.includes("contains .number)")`)
	b.saved("Invoice.Intake, version 2")

	// The job is tried again, and the run waits for pia, who approves while the service of the books is out of order.
	b.open("/ui/runs")
	b.until(`#jobs [aria-label^="Retry hook."]`, `document.querySelector('#list [data-state="waiting"]')`)
	b.shot("intake-waits")
	books.breaks(true)
	pia.approve("intake-task-again")
	pia.quiet()
	b.open("/ui/runs")
	b.until("#find button", `[...document.querySelectorAll('#list [data-state="waiting"]')].some((e) => e.textContent.includes("closed for the day"))`)
	b.failedRun("Invoice.Intake")
	b.shot("intake-books")
	b.narrow("intake-books-narrow")
	if got := eval[string](b, `document.querySelector("#one .alert").textContent`); !strings.Contains(got, "step 18: Http.Request") || !strings.Contains(got, "status 500: closed for the day") {
		t.Errorf("why it failed: %q", got)
	}
	if published := s.find("seventeen.pdf", true); published != "" || len(sink.Messages()) != 1 {
		t.Errorf("published %q, and %d messages, although the books are closed", published, len(sink.Messages()))
	}

	// The service is there again, and the chain continues: because somebody says so, or by itself if that is sooner.
	books.breaks(false)
	b.open("/ui/runs")
	b.goOn("Invoice.Intake", 2)
	b.shot("intake-done")
	b.narrow("intake-done-narrow")
	s.arrived(sink, books, "seventeen.pdf", "Babbage Engines")
	b.walk("Domain", "Sections", "books", "Invoice of Babbage Engines")
	b.wait(`document.body.innerText.includes("seventeen.pdf")`)
	b.shot("intake-published")
	b.narrow("intake-published-narrow")
}

// failedRun opens the newest failed run of an operation.
func (b *tab) failedRun(op string) {
	b.t.Helper()
	b.open("/ui/runs")
	b.set("#find [name=state]", "failed")
	b.until("#find button", fmt.Sprintf(`[...document.querySelectorAll('#list [data-state="failed"] code')].some((e) => e.textContent === %q)`, op))
	b.click(`#list [data-state="failed"] button:last-child`)
	b.wait(`!document.getElementById("one").hidden && document.querySelector("#one .alert")`)
}

// goOn has a chain that waits continue on the page of runs, until so many of its runs are done and none waits. The server tries a step
// that failed again by itself: the chain may be running, or have gone on, at any moment before the click and after it. Then the page
// says so, and lists the runs again once that is read.
func (b *tab) goOn(op string, done int) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`(() => {
	const [op, now] = [%q, Date.now()];
	if (!document.querySelector('#list [data-state="waiting"], #list [data-state="running"], dialog[open]') && [...document.querySelectorAll('#list [data-state="done"] code')].filter((e) => e.textContent === op).length === %d) return true;
	if (now - (window.clicked || 0) < 500) return false;
	window.clicked = now;
	const dialog = document.querySelector("dialog[open]");
	const refused = dialog?.querySelector("[role=alert]:not([hidden])");
	if (refused && !/goes on at this moment|does not wait/.test(refused.textContent)) throw new Error(refused.textContent);
	const button = dialog ? [...dialog.querySelectorAll("button")].find((e) => e.textContent === (refused ? "Cancel" : "Continue")) : document.querySelector(`+"`#list [data-state=waiting] [aria-label=\"Continue ${op}\"]`"+`);
	(button || document.querySelector("#find button")).click();
	return false;
})()`, op, done))
}

// until clicks something again and again until what it shows is there; once it is gone, it finds runs again.
func (b *tab) until(selector, expression string) {
	b.t.Helper()
	b.wait(`(() => { if (` + expression + `) return true; const now = Date.now(); if (now - (window.clicked || 0) > 500) { window.clicked = now; (document.querySelector(` + quote(selector) + `) || document.querySelector("#find button")).click(); } return false; })()`)
}

// text writes a text of a kind on the page of administration, and saves it when no problems are found.
func (b *tab) text(kind, name, source string) {
	b.t.Helper()
	b.open("/ui/admin#" + kind + "s")
	b.press("#"+kind+"s", "New "+kind)
	b.set("#"+kind+"s textarea", source)
	b.wait(`document.querySelector("#` + kind + `s textarea").value === ` + quote(source) + ` && document.querySelector("#` + kind + `s .text-editor [role=status]").textContent === "No problems found."`)
	b.shot("intake-" + kind)
	b.press("#"+kind+"s .text-editor", "Save")
	b.wait(fmt.Sprintf(`document.querySelector("#%ss li[data-name='%s']")`, kind, name))
}

// hook creates a hook that takes a file, and returns its address and its secret.
func (b *tab) hook(name, runs, user string) (address, secret string) {
	b.t.Helper()
	b.text("hook", name, "name: "+name+"\nas: "+user+"\ninput: file\nrun: "+runs+"\n")
	b.click(fmt.Sprintf("#hooks [aria-label=%q]", "New secret of "+name))
	b.press("dialog", "Make a secret")
	b.wait(`document.querySelector("dialog .secret code")`)
	secret = eval[string](b, `document.querySelector("dialog .secret code").textContent`)
	address = b.base + "/hooks/" + name
	b.press("dialog", "Close")
	b.wait(`!document.querySelector("dialog")`)
	b.narrow("intake-hooks-narrow")
	return address, secret
}

// dryIntake saves the chain that is shown and tries it with a file.
func (b *tab) dryIntake() {
	b.t.Helper()
	b.click("#save")
	b.wait(`document.getElementById("state").textContent === "Saved Invoice.Intake, version 1."`)
	b.choose("#try-file", "one.pdf", "application/pdf", pdfOf("INVOICE 1", "Supplier: S-200"))
	b.click("#dry")
	b.wait(`document.querySelector('[data-path="/steps/7"] .did')?.textContent.includes("Invoice of Babbage Engines") || document.querySelector('[data-path="/steps/7"] .did')?.textContent.includes("one.pdf")`)
	eval[bool](b, `document.querySelector('[data-path="/steps/7"]').scrollIntoView() === undefined`)
	b.shot("intake-dry")
	b.narrow("intake-dry-narrow")
}

const firstSuppliers = "code,name,approver\nS-100,Ada & Sons,pia\nS-200,Babbage Engines,pia\n"

// intakeChain builds the chain of the intake by its cards.
func (b *tab) intakeChain(books string) {
	b.t.Helper()
	b.open("/ui/chains")
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	b.fill("/name", "Invoice.Intake")
	b.fill("/input", "blob")
	b.fill("/output", "")
	step := 0
	add := func(query, op string, params ...string) string {
		at := fmt.Sprintf("/steps/%d", step)
		b.takeStep("/steps", query, op, at)
		step++
		for i := 0; i+1 < len(params); i += 2 {
			if !eval[bool](b, fmt.Sprintf(`document.querySelector('[data-key="%s/params/%s"]').checkVisibility()`, at, params[i])) {
				b.unfold(at + " more")
			}
			b.fill(at+"/params/"+params[i], params[i+1])
		}
		return at
	}
	keep := func(at, name string) {
		b.unfold(at + " when")
		b.fill(at+"/as", name)
	}
	add("set a variable", "Context.SetVar", "name", "pdf", "value", "expr:This")
	keep(add("convert", "Blob.Convert", "mimeType", "text/plain"), "words")
	add("get a document", "Repository.GetDocument", "value", "/default-domain/workspaces/invoices/suppliers.csv")
	add("get the file of a document", "Document.GetBlob")
	keep(add("read csv", "Data.Read"), "suppliers")
	add("set a variable", "Context.SetVar", "name", "supplier", "value", "expr:find(suppliers, words.getString() contains .code)")
	add("get a document", "Repository.GetDocument", "value", "/default-domain/workspaces/invoices")
	at := add("create a document", "Document.Create", "type", "File", "name", "@{pdf.name}")
	if eval[bool](b, fmt.Sprintf(`document.querySelector('summary[data-key="%s more"]') !== null`, at)) { // they are folded where they are many
		b.unfold(at + " more")
	}
	b.pair(at+"/params/properties", "dc:title", "Invoice of @{supplier.name}")
	b.pair(at+"/params/properties", "file:content", "expr:pdf")
	keep(at, "invoice")
	add("ask for approval", "Task.Create", "task name", "Approve the invoice", "additional list of actors prefixed ids", "@{supplier.approver}")
	at = add("wait", "wait")
	b.fill(at+"/wait/for", "7d")
	b.fill(at+"/wait/task", "true")
	at = add("condition", "if")
	b.fill(at+"/if", "WaitedAction != 'accept'")
	b.takeStep(at+"/then", "return", "return", at+"/then/0")
	add("get the file of a document", "Document.GetBlob")
	keep(add("stamp a pdf with text", "PDF.WatermarkWithText", "text", "APPROVED"), "stamped")
	add("get a document", "Repository.GetDocument", "value", "expr:invoice.id")
	add("set file", "Document.SetBlob", "file", "expr:stamped")
	add("publish to a section", "Document.PublishToSection", "target", "/default-domain/sections/books")
	keep(add("call another service", "Http.Request", "url", books+"/bookings", "method", "POST", "json", `{"supplier": "@{supplier.name}", "invoice": "@{invoice.id}"}`, "credential", "books"), "booking")
	add("get a document", "Repository.GetDocument", "value", "expr:invoice.id")
	add("send mail", "Document.Mail", "from", "intake@example.org", "to", "expr:[supplier.approver + '@example.org']", "subject", "Booked as @{booking.number}", "message", "The invoice ${Document.title} is booked.")
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
}

// now has a schedule run once, and waits until its run is recorded.
func (b *tab) now(name string) {
	b.t.Helper()
	b.open("/ui/admin#schedules")
	b.click(fmt.Sprintf("#schedules [aria-label=%q]", "Run now "+name))
	b.wait(`document.getElementById("done").textContent.startsWith(` + quote(name+" runs") + `)`)
	b.open("/ui/runs")
	b.until("#find button", `[...document.querySelectorAll('#list [data-run]')].some((e) => e.querySelector("code").textContent === `+quote("schedule "+name)+` && /done|failed/.test(e.dataset.state))`)
}

// TestBrowserCleanUp has somebody who uses nothing but the pages move old drafts to the trash every night, see in a dry run what it
// would be, break it, see why, and fix it.
func TestBrowserCleanUp(t *testing.T) {
	s := startProgram(t, mailtest.Start(t))
	b := signAs(t, s, "Administrator", resttest.Password)
	b.walk("Domain", "Workspaces")
	b.folder("Workspace", "drafts")
	for _, name := range []string{"one", "two", "three"} {
		b.walk("Domain", "Workspaces", "drafts")
		b.folder("Note", name)
	}
	b.chain("Drafts.Clean", "void")
	b.paramStep("/steps", 0, "query documents", "Repository.Query", "query", "SELECT * FROM Note WHERE ecm:path STARTSWITH '/default-domain/workspaces/drafts' AND ecm:isTrashed = 0 AND dc:titel <> 'three'")
	b.wait(`document.querySelector('[data-path="/steps/0"] .wrong')?.textContent.includes("dc:title")`)
	b.shot("clean-wrong")
	b.fill("/steps/0/params/query", "SELECT * FROM Note WHERE ecm:path STARTSWITH '/default-domain/workspaces/drafts' AND ecm:isTrashed = 0 AND dc:title <> 'three'")
	b.takeStep("/steps", "for each", "each", "/steps/1")
	b.paramStep("/steps/1/steps", 0, "move to the trash", "Document.Trash")
	b.saved("Drafts.Clean")
	b.click("#dry")
	b.wait(`document.querySelectorAll('[data-path="/steps/1/steps/0"] .did li').length >= 2`)
	b.shot("clean-dry")
	b.narrow("clean-dry-narrow")
	b.text("schedule", "Nightly", "name: Nightly\nas: Administrator\ncron: \"0 2 * * *\"\nrun: Drafts.Clean\n")
	b.shot("clean-schedule")
	b.narrow("clean-schedule-narrow")
	b.now("Nightly")
	b.walk("Domain", "Workspaces", "drafts")
	b.wait(`document.querySelectorAll("#children li").length === 1 && document.querySelector("#children li").textContent.includes("three")`)
	b.quiet()
}

// TestBrowserReport has the documents of the week on the slides of a deck, once a week.
func TestBrowserReport(t *testing.T) {
	withFlows(t)
	s := startProgram(t, mailtest.Start(t))
	b := signAs(t, s, "Administrator", resttest.Password)
	b.walk("Domain", "Workspaces")
	for _, name := range []string{"Sun", "Moon"} {
		b.walk("Domain", "Workspaces")
		b.folder("Workspace", name)
	}
	b.chain("Week.Report", "void")
	at := b.paramStep("/steps", 0, "query documents", "Repository.Query", "query", "SELECT * FROM Workspace WHERE ecm:isTrashed = 0 ORDER BY dc:title")
	b.unfold(at + " when")
	b.fill(at+"/as", "found")
	b.paramStep("/steps", 1, "create a deck", "Deck.Create", "title", "Week of @{CurrentDate.format('yyyy-MM-dd')}",
		"data", "<section><h1>@{len(found)} workspaces</h1></section><section><h2>New</h2><ul><li>@{join(map(found, .title), '</li><li>')}</li></ul></section>", "visibility", "all")
	b.saved("Week.Report")
	b.shot("report-chain")
	b.narrow("report-chain-narrow")
	b.click("#dry")
	b.wait(`document.getElementById("outcome").textContent.startsWith("Dry run")`)
	b.text("schedule", "Weekly", "name: Weekly\nas: Administrator\ncron: \"0 7 * * MON\"\nrun: Week.Report\n")
	b.now("Weekly")
	b.wait(`document.querySelector('#list [data-state="done"]')`)
	b.quiet()

	// The deck is among those of its user, and its slides have what was found.
	b.open("/ui/")
	b.wait(`[...document.querySelectorAll("#list li[data-title]")].filter((e) => e.dataset.title.startsWith("Week of ")).length === 1`)
	b.shot("report-decks")
	deck := eval[string](b, `document.querySelector('#list li[data-title^="Week of "] a').getAttribute("href")`)
	b.open(deck)
	b.wait(`document.getElementById("number").textContent === "1 / 2"`)
	b.shot("report-deck")
	b.click("#next")
	b.wait(`location.hash === "#/1"`)
	b.narrow("report-deck-narrow")
	b.quiet()
	b.open(deck + "/fullscreen")
	b.wait(`document.documentElement.dataset.ready === "true"`)
	if got := eval[string](b, `[...document.querySelectorAll(".slides > section")].map((s) => [...s.querySelectorAll("h1, h2, li")].map((e) => e.textContent).join(": ")).join("|")`); got != "2 workspaces|New: Moon: Sun" {
		t.Errorf("slides %q", got)
	}
	b.shot("report-slides")
}
