package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/engine/mail/mailtest"
	"catena/rest/resttest"
)

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

// approve accepts the one task of the user who is signed in.
func (b *tab) approve(picture string) {
	b.t.Helper()
	b.open("/ui/tasks")
	b.wait(`(() => { if (document.querySelector("#list a")) return true; const now = Date.now(); if (now - (window.loaded || 0) > 3000) { if (window.loaded) location.reload(); window.loaded = now; } return false; })()`)
	b.click("#list a")
	b.wait(`document.querySelectorAll("#actions button").length === 2`)
	b.shot(picture)
	b.narrow(picture + "-narrow")
	b.click("#actions [value=accept]")
	b.wait(`document.getElementById("done").textContent === "Approve the invoice: Accept."`)
}

// supplierList writes the list of suppliers anew on its page.
func (b *tab) supplierList(csv string) {
	b.t.Helper()
	b.walk("Domain", "Workspaces", "invoices", "suppliers.csv")
	b.press("#acts", "Edit")
	b.set(`dialog [name="note:note"]`, csv)
	b.press("dialog", "Save")
	b.wait(`!document.querySelector("dialog") && document.getElementById("done").textContent === "Saved."`)
}

// scan sends a file with the code of a supplier to a hook, as the scanner does.
func (p *programServer) scan(address, secret, name, code string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, address, bytes.NewReader(pdfOf("INVOICE 2026-17", "Supplier: "+code, "Total: 340.00 EUR")))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/pdf")
	req.Header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		p.t.Fatalf("%s: %s", name, resp.Status)
	}
}

// find returns the id of the document, or of what is published, that has a name, "" if there is none.
func (p *programServer) find(name string, published bool) string {
	p.t.Helper()
	query := "SELECT * FROM File WHERE ecm:name = '" + name + "' AND ecm:isProxy = 0 AND ecm:isVersion = 0"
	if published {
		query = "SELECT * FROM File WHERE ecm:isProxy = 1 AND ecm:path STARTSWITH '/default-domain/sections/books' AND ecm:name = '" + name + "'"
	}
	got := p.ask("GET", "/api/v1/search/lang/NXQL/execute?query="+url.QueryEscape(query), "")
	var page struct {
		Entries []struct{ UID string }
	}
	if err := json.Unmarshal([]byte(got), &page); err != nil || len(page.Entries) > 1 {
		p.t.Fatalf("%s: %s", name, got)
	}
	if len(page.Entries) == 0 {
		return ""
	}
	return page.Entries[0].UID
}

// arrived finds an invoice wherever it should have got: published with its stamp, booked once, and announced.
func (p *programServer) arrived(sink *mailtest.Sink, books *service, name, supplier string) {
	p.t.Helper()
	published := p.find(name, true)
	if published == "" {
		p.t.Fatalf("%s is not published", name)
	}
	text := p.ask("GET", "/api/v1/id/"+published+"/@blob/file:content/@convert?type=text/plain", "")
	if !strings.Contains(text, "APPROVED") || !strings.Contains(text, "Total: 340.00 EUR") {
		p.t.Errorf("%s has no stamp: %q", name, text)
	}
	want := fmt.Sprintf(`{"invoice":%q,"supplier":%s}`, p.find(name, false), jsonOf(p.t, supplier))
	booked := books.bookings()
	if n := len(booked); n == 0 || booked[n-1] != want || slices.Index(booked, want) != n-1 {
		p.t.Errorf("%s: booked %q, want %s once, and last", name, booked, want)
	}
	var mail string
	for end := time.Now().Add(time.Minute); mail == "" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if all := sink.Messages(); len(all) == len(booked) {
			mail = all[len(all)-1].Data
		}
	}
	if !strings.Contains(mail, fmt.Sprintf("Subject: Booked as B-%d", len(booked))) || !strings.Contains(mail, "The invoice Invoice of "+supplier+" is booked.") || !strings.Contains(mail, "To: <pia@example.org>") {
		p.t.Errorf("%s: the message is %q", name, mail)
	}
}

// programServer is the whole program, which runs as a process of its own.
type programServer struct {
	t    testing.TB
	base string
}

// ask asks the server as the administrator.
func (p *programServer) ask(method, path, body string) string {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.SetBasicAuth("Administrator", resttest.Password)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		p.t.Fatalf("%s %s: %s %s %v", method, path, resp.Status, text, err)
	}
	return string(text)
}
