package rest

import (
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"catena/rest/web"
	"catena/storage"
	"catena/storage/fault"
)

// Site is what every page knows of where it stands.
func (x *Request) Site() web.Site {
	s := web.Site{Prefix: x.Prefix(), Host: x.Host()}
	if at := Locate(x.Server.ContextPath, x.HTTP.URL.EscapedPath()); at.Path != "" {
		s.Page = at.Path
	}
	if x.As != nil && !x.Guest() {
		s.User, s.Admin = x.As.Name, x.As.Admin
		s.People = x.As.Is(storage.PowerUsers)
	}
	if x.Session != "" {
		s.CSRF = CSRFOf(x.Session)
	}
	return s
}

// Show answers with a page.
func (x *Request) Show(status int, p *web.Page, err error) error {
	if err != nil {
		return fault.Wrap(err, "page")
	}
	h := x.Writer.Header()
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Cookie")
	x.writePage(p, &Answer{Status: status})
	return nil
}

// ShowPublic answers with a page that is the same for everybody, which anybody on the way may keep for an hour.
func (x *Request) ShowPublic(p *web.Page, err error) error {
	if err != nil {
		return fault.Wrap(err, "page")
	}
	x.Writer.Header().Set("Cache-Control", "public, max-age=3600")
	x.writePage(p, &Answer{Status: http.StatusOK, Etag: fmt.Sprintf("%q", p.Tag())})
	return nil
}

func (x *Request) writePage(p *web.Page, a *Answer) {
	h := x.Writer.Header()
	h.Set("Content-Security-Policy", p.Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if p.Framed { // the policy says by whom; X-Frame-Options cannot name origins
		h.Del("X-Frame-Options")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	a.Mime, a.Body = "text/html; charset=utf-8", p.Body
	x.Write(a)
}

// FailPage says to people why a page cannot be shown.
func FailPage(x *Request, err error) error {
	status := StatusOf(err)
	problem := &web.Problem{Status: status}
	switch {
	case status == http.StatusGone:
		problem.Title, problem.Message = "This link has expired", "Ask the person who sent it to you for a new one."
	case status == http.StatusNotFound:
		problem.Title, problem.Message = "Page not found", "The address is wrong, the page was removed, or you may not see it."
		_, shared := Under(Locate(x.Server.ContextPath, x.HTTP.URL.Path).Path, "/share")
		problem.SignIn = !shared && (x.As == nil || x.Guest())
	case status >= http.StatusInternalServerError:
		problem.Title, problem.Message = http.StatusText(status), "Something went wrong on our side. Request "+x.ID+"."
		x.Report(status, "request failed", err)
	case status == http.StatusForbidden:
		problem.Title, problem.Message = "Access denied", Sentence(Message(err, ""))
	default:
		problem.Title, problem.Message = http.StatusText(status), Sentence(Message(err, ""))
	}
	if fault.CodeOf(err) == fault.CodeNotBuiltIn {
		problem.Message = Sentence(Message(err, ""))
	}
	x.Wait(status, err)
	p, err := x.Site().Fail(problem)
	return x.Show(status, p, err)
}

// Sentence makes one of an error's message.
func Sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(text[n:], ".") + "."
}
