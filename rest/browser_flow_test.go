package rest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/engine/mail/mailtest"
	"catena/rest/resttest"
)

// signAs signs in on the first page of a new tab.
func signAs(t *testing.T, s *resttest.Server, user, password string) *tab {
	t.Helper()
	b := browse(t, s)
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
// It is tried, run, broken, understood, mended and run again, up to the approval.
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

	// An invoice of a supplier that the list does not have.
	scan := func(name, code string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(pdfOf("INVOICE 2026-17", "Supplier: "+code, "Total: 340.00 EUR")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		req.Header.Set("Content-Type", "application/pdf")
		req.Header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusAccepted {
			t.Fatalf("%s: %s", name, resp.Status)
		}
	}
	scan("seventeen.pdf", "S-300")
	b.failedRun("hook Invoices")
	b.shot("intake-failed")
	b.narrow("intake-failed-narrow")
	if got := eval[string](b, `document.querySelector("#one .alert").textContent`); !strings.Contains(got, "Invoice.Intake: step 8: Document.Create") {
		t.Errorf("why it failed: %q", got)
	}
	b.wait(`(() => { const e = [...document.querySelectorAll("#one .steps a")].find((x) => x.textContent === "Edit the step that failed"); if (!e) return false; e.click(); return true; })()`)
	b.wait(`location.pathname.endsWith("/ui/chains") && document.activeElement.dataset.key === "/steps/7 open"`)
	b.shot("intake-culprit")

	// The supplier is added to the list, and the job tried again.
	b.walk("Domain", "Workspaces", "invoices", "suppliers.csv")
	b.press("#acts", "Edit")
	b.set(`dialog [name="note:note"]`, firstSuppliers+"S-300,Curie Glass,pia\n")
	b.press("dialog", "Save")
	b.wait(`!document.querySelector("dialog") && document.getElementById("done").textContent === "Saved."`)
	b.open("/ui/runs")
	b.until(`#jobs [data-job] button`, `document.querySelector('#list [data-state="waiting"]')`)
	b.shot("intake-waits")

	// pia approves while the service of the books is out of order.
	books.breaks(true)
	pia := signAs(t, s, "pia", "a-secret-of-pia")
	pia.open("/ui/tasks")
	pia.click("#list a")
	pia.wait(`document.querySelectorAll("#actions button").length === 2`)
	pia.shot("intake-task")
	pia.narrow("intake-task-narrow")
	pia.click("#actions [value=accept]")
	pia.wait(`document.getElementById("done").textContent === "Approve the invoice: Accept."`)
	pia.quiet()
	if got := len(sink.Messages()); got != 0 {
		t.Errorf("%d messages, although the books are closed", got)
	}
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

// grant grants a permission on the document that is shown.
func (b *tab) grant(user, permission string) {
	b.t.Helper()
	b.press("#tabs", "Permissions")
	b.press("#access", "Grant a permission")
	b.set("dialog [name=users]", user)
	b.set("dialog [name=permission]", permission)
	b.press("dialog", "Grant")
	b.wait(fmt.Sprintf(`!document.querySelector("dialog") && [...document.querySelectorAll("#access tbody tr")].some((r) => r.textContent.startsWith(%q))`, user))
}

// pair adds a member to a map of a card.
func (b *tab) pair(key, name, value string) {
	b.t.Helper()
	field := fmt.Sprintf(`document.querySelector('[data-key="%s new"]')`, key)
	b.wait(field)
	eval[bool](b, `(() => { const e = `+field+`; e.value = `+quote(name)+`; e.closest(".row").querySelector("button").click(); return true; })()`)
	b.wait(fmt.Sprintf(`document.querySelector('[data-key="%s/%s"]')`, key, name))
	b.fill(key+"/"+name, value)
}

// unfold opens the details of a card by their summary.
func (b *tab) unfold(key string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`(() => { const e = document.querySelector('summary[data-key="%s"]'); if (!e) return false; if (!e.parentElement.open) e.click(); return true; })()`, key))
}

// takeStep adds a step at the end of a list of steps: it searches for it and takes one of what is found.
// It returns when the form of the step at a path is there.
func (b *tab) takeStep(path, query, op, at string) {
	b.t.Helper()
	b.click(fmt.Sprintf("[data-add=%q]", path))
	b.wait(`document.getElementById("finder").open`)
	b.set("#what", query)
	b.click(fmt.Sprintf("#found button[data-op=%q]", op))
	b.wait(fmt.Sprintf(`document.querySelector('[data-key="%s open"][aria-expanded=true]')`, at))
}

// intakeChain builds the chain of the intake by its cards.
func (b *tab) intakeChain(books string) {
	b.t.Helper()
	b.open("/ui/chains")
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	b.click("details.panel > summary")
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
	keep(add("convert", "Blob.Convert", "mimeType", "text/plain"), "text")
	add("get a document", "Repository.GetDocument", "value", "/default-domain/workspaces/invoices/suppliers.csv")
	add("get the file of a document", "Document.GetBlob")
	keep(add("read csv", "Data.Read"), "suppliers")
	add("set a variable", "Context.SetVar", "name", "supplier", "value", "expr:find(suppliers, text.getString() contains .code)")
	add("get a document", "Repository.GetDocument", "value", "/default-domain/workspaces/invoices")
	at := add("create a document", "Document.Create", "type", "File", "name", "@{pdf.name}")
	b.unfold(at + " more")
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
	keep(add("call another service", "Http.Request", "url", books+"/bookings", "method", "POST", "json", `{"supplier": "@{supplier.code}", "invoice": "@{invoice.id}"}`, "credential", "books"), "booking")
	add("get a document", "Repository.GetDocument", "value", "expr:invoice.id")
	add("send mail", "Document.Mail", "from", "intake@example.org", "to", "expr:[supplier.approver + '@example.org']", "subject", "Booked as @{booking.number}", "message", "The invoice ${Document.title} is booked.")
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
}

// paramStep adds a step to the chain that is shown, with values of parameters, and returns its path.
func (b *tab) paramStep(list string, n int, query, op string, params ...string) string {
	b.t.Helper()
	at := fmt.Sprintf("%s/%d", list, n)
	b.takeStep(list, query, op, at)
	for i := 0; i+1 < len(params); i += 2 {
		if !eval[bool](b, fmt.Sprintf(`document.querySelector('[data-key="%s/params/%s"]').checkVisibility()`, at, params[i])) {
			b.unfold(at + " more")
		}
		b.fill(at+"/params/"+params[i], params[i+1])
	}
	return at
}

// chain begins a chain on its page.
func (b *tab) chain(name, input string) {
	b.t.Helper()
	b.open("/ui/chains")
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	b.click("details.panel > summary")
	b.fill("/name", name)
	b.fill("/input", input)
	b.fill("/output", "")
}

// saved saves the chain that is shown.
func (b *tab) saved(name string) {
	b.t.Helper()
	b.wait(`document.getElementById("state").textContent === "No problems found."`)
	b.click("#save")
	b.wait(`document.getElementById("state").textContent.startsWith(` + quote("Saved "+name) + `)`)
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
}
