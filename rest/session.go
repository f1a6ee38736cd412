package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"catena/storage/fault"
)

// Browsers sign in once and then send a cookie. The cookie alone opens pages; whatever else
// it is to be good for must carry a token that only our own pages know, so that no other
// site can have a browser act for its user. Everybody else signs every request in.

const (
	sessionCookie = "catena_session"
	deviceCookie  = "catena_device" // says that somebody has signed in by a password here
	csrfHeader    = "X-Csrf-Token"
	maxForm       = 64 << 10
)

// csrfOf is the token that goes with a session.
func csrfOf(session string) string {
	m := hmac.New(sha256.New, []byte(session))
	m.Write([]byte("csrf"))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:18])
}

// signsItself reports whether a request says who asks by a header, as programs do.
func (x *exchange) signsItself() bool {
	return len(x.r.Header["Authorization"]) > 0 || len(x.r.Header["X-Authentication-Token"]) > 0
}

// cookie returns the value of a cookie; "" if it is not sent.
func (x *exchange) cookie(name string) string {
	if len(x.r.Header["Cookie"]) == 0 {
		return ""
	}
	c, err := x.r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// signInPage signs a request of our own pages' scripts in; ok is false if it is none.
func (x *exchange) signInPage() (ok bool, err error) {
	token := x.r.Header.Get(csrfHeader)
	session := x.cookie(sessionCookie)
	if token == "" || session == "" || x.signsItself() {
		return false, nil
	}
	if !hmac.Equal([]byte(token), []byte(csrfOf(session))) {
		return true, fault.Denied.Errorf("sign-in: the page is of another session").WithCode(fault.CodeNotSignedIn)
	}
	if x.as, err = x.s.Engine.SignInSession(x.r.Context(), session); fault.Is(err, fault.Denied) {
		err = fault.Denied.Errorf("sign-in: the session is over").WithCode(fault.CodeNotSignedIn)
	}
	return true, err
}

// visit finds out who looks at a page: whoever signed in, or a guest.
func (x *exchange) visit() error {
	if x.signsItself() || x.s.As != nil {
		return x.signIn()
	}
	x.as = x.s.Engine.Guest()
	session := x.cookie(sessionCookie)
	if session == "" {
		return nil
	}
	as, err := x.s.Engine.SignInSession(x.r.Context(), session)
	switch {
	case err == nil:
		x.as, x.session = as, session
	case fault.Is(err, fault.Denied):
		return nil
	}
	return err
}

// guest reports whether nobody signed in.
func (x *exchange) guest() bool { return x.as.Name == x.s.Engine.Guest().Name }

// form reads the fields of a form of ours.
func (x *exchange) form() (url.Values, error) {
	if _, _, err := x.media(); err != nil {
		return nil, err
	}
	body, err := readAll(x.r.Body, x.r.ContentLength, maxForm)
	if err != nil {
		return nil, err
	}
	x.bodyRead()
	v, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault.Invalid.Errorf("form: %v", err)
	}
	return v, nil
}

// setCookie sets a cookie that scripts cannot read and other sites cannot send along with
// what changes something. A value of "" takes it away.
func (x *exchange) setCookie(name, value, path string, expires time.Time) {
	c := &http.Cookie{
		Name: name, Value: value, Path: path, HttpOnly: true, SameSite: http.SameSiteLaxMode, Expires: expires,
		Secure: strings.HasPrefix(x.base(), "https://"),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(x.w, c)
}

// local returns an address on this server to go on to; any other becomes the console.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || u.Host != "" || u.Scheme != "" ||
		strings.ContainsAny(next, "\\\r\n\t") {
		return "/ui/"
	}
	return next
}

// see sends a browser to another page.
func (x *exchange) see(path string) error {
	x.write(&answer{status: http.StatusSeeOther, location: x.prefix() + path})
	return nil
}

// signInForm is the page that asks who it is.
func signInForm(x *exchange) error {
	if !x.guest() {
		return x.see(local(x.query().Get("next")))
	}
	return x.askSignIn(http.StatusOK, x.query().Get("next"), "", "")
}

// openSession takes what the page asked for.
func openSession(x *exchange) error {
	f, err := x.form()
	if err != nil {
		return err
	}
	token, expires, err := x.s.Engine.OpenSession(x.fromClient(), f.Get("user"), f.Get("password"))
	switch {
	case fault.CodeOf(err) == fault.CodeTooManyAttempts:
		x.wait(http.StatusTooManyRequests, err)
		return x.askSignIn(http.StatusTooManyRequests, f.Get("next"), f.Get("user"), "Too many failed attempts. Try again later.")
	case fault.Is(err, fault.Denied):
		return x.askSignIn(http.StatusUnauthorized, f.Get("next"), f.Get("user"), "User name or password is wrong.")
	case err != nil:
		return err
	}
	x.setCookie(sessionCookie, token, x.prefix()+"/", expires)
	device, expires, err := x.s.Engine.NewDevice(x.r.Context(), f.Get("user"))
	if err != nil {
		return err
	}
	x.setCookie(deviceCookie, device, x.prefix()+"/", expires)
	return x.see(local(f.Get("next")))
}

// closeSession signs a browser out.
func closeSession(x *exchange) error {
	f, err := x.form()
	if err != nil {
		return err
	}
	if x.session == "" {
		return x.see("/ui/login")
	}
	if !hmac.Equal([]byte(f.Get("csrf")), []byte(csrfOf(x.session))) {
		return fault.Denied.Errorf("the page is of another session")
	}
	if err := x.s.Engine.EndSession(x.r.Context(), x.session); err != nil {
		return err
	}
	x.setCookie(sessionCookie, "", x.prefix()+"/", time.Time{})
	return x.see("/ui/login")
}
