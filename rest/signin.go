package rest

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Browsers sign in once and then send a cookie. The cookie alone opens pages; whatever else
// it is to be good for must carry a token that only our own pages know, so that no other
// site can have a browser act for its user. Everybody else signs every request in.

// Cookies that sign browsers in.
const (
	SessionCookie = "catena_session"
	DeviceCookie  = "catena_device"          // says that somebody has signed in by a password here
	ShareCookie   = "catena_share"           // holds the key that the password of a private link opens
	tokenCookie   = "X-Authentication-Token" // a device's token, as the header of that name
	csrfHeader    = "X-Csrf-Token"
	maxForm       = 64 << 10
)

// CSRFOf is the token that goes with a session.
func CSRFOf(session string) string {
	m := hmac.New(sha256.New, []byte(session))
	m.Write([]byte("csrf"))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:18])
}

// signsItself reports whether a request identifies the caller by a header, as programs do.
func (x *Request) signsItself() bool {
	return len(x.HTTP.Header["Authorization"]) > 0 || len(x.HTTP.Header["X-Authentication-Token"]) > 0
}

// Cookie returns the value of a cookie; "" if it is not sent.
func (x *Request) Cookie(name string) string {
	if len(x.HTTP.Header["Cookie"]) == 0 {
		return ""
	}
	c, err := x.HTTP.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// signInPage signs a request of our own pages' scripts in; ok is false if it is none.
func (x *Request) signInPage() (ok bool, err error) {
	token := x.HTTP.Header.Get(csrfHeader)
	session := x.Cookie(SessionCookie)
	// A request with credentials of its own is judged by these alone: a cookie that comes along must not
	// change the caller.
	if token == "" || session == "" || x.signsItself() {
		return false, nil
	}
	if !hmac.Equal([]byte(token), []byte(CSRFOf(session))) {
		return true, fault.Denied.Errorf("sign-in: the page belongs to another session").WithCode(fault.CodeNotSignedIn)
	}
	if x.As, err = x.Server.SignIn.Session(x.arriving(), session); fault.Is(err, fault.Denied) {
		err = fault.Denied.Errorf("sign-in: the session has expired").WithCode(fault.CodeNotSignedIn)
	}
	return true, err
}

// fromOwnPage reports whether a page of this server sends the request with a cookie of this name. That alone signs in to
// the addresses of the platform, whose front end sends nothing else. Another site can have a browser send the cookie along
// only by leading it to an address, which must not change anything then.
func (x *Request) fromOwnPage(cookie string) bool {
	if x.Cookie(cookie) == "" {
		return false
	}
	if s := x.Server.section(x.HTTP.URL.Path); s != nil && s.Keys {
		return false
	}
	reads := (x.HTTP.Method == http.MethodGet || x.HTTP.Method == http.MethodHead) && (x.Route == nil || !x.Route.Changes)
	switch h := x.HTTP.Header; h.Get("Sec-Fetch-Site") {
	case "same-origin":
		return true
	case "": // browsers do not send it to servers without a certificate
		from, err := url.Parse(h.Get("Origin"))
		return reads && h.Get("Origin") == "" || err == nil && from.Host != "" && strings.EqualFold(from.Host, x.HTTP.Host)
	default: // somebody typed the address or followed a link
		return reads && h.Get("Sec-Fetch-Mode") == "navigate"
	}
}

// visit finds out who looks at a page: anyone who signed in, or a guest.
func (x *Request) visit() error {
	if x.signsItself() || x.Server.As != nil {
		return x.signIn()
	}
	x.As = x.Server.Engine.Guest()
	session := x.Cookie(SessionCookie)
	if session == "" {
		return nil
	}
	as, err := x.Server.SignIn.Session(x.arriving(), session)
	switch {
	case err == nil:
		x.As, x.Session = as, session
	case fault.Is(err, fault.Denied):
		return nil
	}
	return err
}

// Guest reports whether nobody signed in.
func (x *Request) Guest() bool { return x.As.Name == x.Server.Engine.Guest().Name }

// Form reads the fields of a form of ours.
func (x *Request) Form() (url.Values, error) {
	if _, _, err := x.Media(); err != nil {
		return nil, err
	}
	body, err := readAll(x.HTTP.Body, x.HTTP.ContentLength, maxForm)
	if err != nil {
		return nil, err
	}
	x.BodyRead()
	v, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault.Invalid.Errorf("form: %v", err)
	}
	return v, nil
}

// SetCookie sets a cookie that scripts cannot read and other sites cannot send along with
// what changes something. A value of "" takes it away.
func (x *Request) SetCookie(name, value, path string, expires time.Time) {
	c := &http.Cookie{
		// Lax, not Strict: a link in a mail must open a page as the signed-in user. What changes something
		// needs the token of the page besides.
		Name: name, Value: value, Path: path, HttpOnly: true, SameSite: http.SameSiteLaxMode, Expires: expires,
		Secure: strings.HasPrefix(x.Base(), "https://"),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(x.Writer, c)
}

// See sends a browser to another page.
func (x *Request) See(path string) error {
	x.Write(&Answer{Status: http.StatusSeeOther, Location: x.Prefix() + path})
	return nil
}

// signIn identifies the caller. Why nobody is signed in is not said, except that it was tried too often.
func (x *Request) signIn() (err error) {
	switch auth := x.HTTP.Header["Authorization"]; len(auth) {
	case 0:
		x.As, err = x.unheaded()
	case 1:
		x.As, err = x.headed(auth[0])
	default:
		err = errNoCredentials
	}
	switch k := fault.Of(err); {
	case err == nil, errors.Is(err, errNoCredentials), errors.Is(err, errMalformed), fault.CodeOf(err) == fault.CodeTooManyAttempts:
		return err
	case k == fault.Denied, k == fault.NotFound, k == fault.Invalid:
		return fault.Denied.Errorf("sign-in: refused").WithCode(fault.CodeNotSignedIn)
	}
	return err
}

var (
	errNoCredentials = fault.Denied.Errorf("sign-in: user and password or a key are required").WithCode(fault.CodeNotSignedIn)
	errMalformed     = fault.Denied.Errorf("sign-in: malformed Authorization header").WithCode(fault.CodeNotSignedIn)
)

// arriving is the context in which is found out who calls. A store across a network is asked for that together with the document
// that the address names, and what such a request of the same caller was answered from before.
func (x *Request) arriving() context.Context {
	ctx, repo := x.HTTP.Context(), x.Server.Engine.Repo()
	if !repo.Shared() {
		return ctx
	}
	expect := ""
	if x.Route.Names != nil && x.Repo == repo.Name() {
		expect = x.Route.Names(x)
	}
	x.joined = new(storage.Joined)
	if x.Repo == repo.Name() {
		ctx = x.remembered(ctx)
	}
	if x.Repo != repo.Name() || x.HTTP.Method != http.MethodGet && x.HTTP.Method != http.MethodHead {
		return repo.Joining(ctx, x.joined, storage.Ref(expect))
	}
	h, at := x.HTTP.Header, x.HTTP.URL
	before, after, _ := strings.Cut(at.Path, cmp.Or(expect, "\x00"))
	x.joined.Alone = expect != "" && after == ""
	return repo.Joining(ctx, x.joined, storage.Ref(expect), before, after, at.RawQuery, h.Get("Authorization"), h.Get("X-Authentication-Token"), h.Get("Cookie"))
}

// calling is the context of the call that the request is for. The first one sees what was read to find out who calls.
func (x *Request) calling() context.Context {
	ctx, j := x.HTTP.Context(), x.joined
	if x.joined = nil; j == nil {
		return ctx
	}
	return j.Last(ctx)
}

// headed identifies the caller from the Authorization header.
func (x *Request) headed(auth string) (*engine.Principal, error) {
	switch {
	case hasScheme(auth, "Basic "):
		user, password, ok := x.HTTP.BasicAuth()
		if !ok {
			return nil, errMalformed
		}
		return x.Server.SignIn.Password(x.FromClient(), user, password)
	case hasScheme(auth, "Bearer "):
		return x.Server.SignIn.Bearer(x.arriving(), strings.TrimSpace(auth[len("Bearer "):]))
	}
	return nil, errNoCredentials
}

// unheaded identifies the caller without an Authorization header. Clients also put tokens into addresses that they
// hand to viewers; our own log leaves those parts out.
func (x *Request) unheaded() (*engine.Principal, error) {
	ctx, by := x.arriving(), x.Server.SignIn
	switch token := x.HTTP.Header["X-Authentication-Token"]; {
	case len(token) == 1:
		return by.Token(ctx, token[0])
	case x.addressed("token"):
		return by.Device(ctx, x.Query().Get("token"))
	case x.addressed("access_token"):
		return by.Bearer(ctx, x.Query().Get("access_token"))
	case x.portal():
		return x.signInPortal()
	case x.Server.As != nil:
		return x.Server.As, nil
	case x.fromOwnPage(SessionCookie):
		return by.Session(ctx, x.Cookie(SessionCookie))
	case x.fromOwnPage(tokenCookie):
		return by.Device(ctx, x.Cookie(tokenCookie))
	}
	return nil, errNoCredentials
}

// addressed reports whether the address carries a token, which is good for the platform's
// addresses only.
func (x *Request) addressed(name string) bool {
	if x.HTTP.URL.RawQuery == "" {
		return false
	}
	if s := x.Server.section(x.HTTP.URL.Path); s != nil && s.Keys {
		return false
	}
	v := x.Query().Get(name)
	return v != "" && !strings.HasPrefix(v, "cat_") // an address is no place for an API key
}

func hasScheme(header, scheme string) bool {
	return len(header) > len(scheme) && strings.EqualFold(header[:len(scheme)], scheme)
}

// portalSkew is how old what a portal signed may be.
const portalSkew = time.Minute

// portal reports whether a portal identifies the caller, and may.
func (x *Request) portal() bool { return x.Server.Portal != "" && len(x.HTTP.Header["Nx_user"]) == 1 }

// signInPortal takes a portal's word, signed with the secret shared with it.
func (x *Request) signInPortal() (*engine.Principal, error) {
	h := x.HTTP.Header
	user, ts, rd := h.Get("Nx_user"), h.Get("Nx_ts"), h.Get("Nx_rd")
	// The algorithm is given by the platform's portals. A secret that is part of the input, and the age
	// checked below, are what protects it, not the collision resistance of MD5.
	sum := md5.Sum([]byte(ts + ":" + rd + ":" + x.Server.Portal + ":" + user)) //nolint:gosec // as above
	want := base64.StdEncoding.EncodeToString(sum[:])
	ms, err := strconv.ParseInt(ts, 10, 64)
	if err != nil || subtle.ConstantTimeCompare([]byte(want), []byte(h.Get("Nx_token"))) != 1 {
		return nil, fault.Denied.Errorf("sign-in: the portal's token is wrong")
	}
	if age := time.Since(time.UnixMilli(ms)); age > portalSkew || age < -portalSkew {
		return nil, fault.Denied.Errorf("sign-in: the portal's token has expired")
	}
	return x.Engine.PrincipalOf(x.arriving(), user)
}
