package page

import (
	"cmp"
	"crypto/hmac"
	"net/http"
	"net/url"
	"strings"
	"time"

	"catena/rest"
	"catena/rest/web"
	"catena/storage/credential"
	"catena/storage/fault"
)

// askSignIn is the page that asks for user and password.
func askSignIn(x *rest.Request, status int, next, name, message string) error {
	p, err := x.Site().SignIn(&web.Form{Next: next, Name: name, Message: message})
	return x.Show(status, p, err)
}

// local returns an address on this server to go on to; any other becomes where people begin. Clients of the platform name
// it with the host.
func local(x *rest.Request, next string) string {
	u, err := url.Parse(next)
	if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, x.HTTP.Host) {
		u.Scheme, u.Host, u.User = "", "", nil
		next = u.String()
	}
	if err != nil || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || u.Host != "" || u.Scheme != "" ||
		strings.ContainsAny(next, "\\\r\n\t") {
		return x.Home()
	}
	return next
}

// signInForm is the page that asks who it is.
func signInForm(x *rest.Request) error {
	next := cmp.Or(x.Query().Get("next"), x.Query().Get("requestedUrl"))
	if !x.Guest() {
		return x.See(local(x, next))
	}
	return askSignIn(x, http.StatusOK, next, "", "")
}

// openSession takes what the page asked for.
func openSession(x *rest.Request) error {
	f, err := x.Form()
	if err != nil {
		return err
	}
	user, next := cmp.Or(f.Get("user"), f.Get("user_name")), cmp.Or(f.Get("next"), f.Get("requestedUrl"))
	password := cmp.Or(f.Get("password"), f.Get("user_password"))
	token, expires, err := credential.OpenSession(x.FromClient(), x.Server.Engine.Repo(), user, password)
	switch {
	case fault.CodeOf(err) == fault.CodeTooManyAttempts:
		x.Wait(http.StatusTooManyRequests, err)
		return askSignIn(x, http.StatusTooManyRequests, next, user, "Too many failed attempts. Try again later.")
	case fault.Is(err, fault.Denied):
		return askSignIn(x, http.StatusUnauthorized, next, user, "User name or password is wrong.")
	case err != nil:
		return err
	}
	x.SetCookie(rest.SessionCookie, token, x.Prefix()+"/", expires)
	device, expires, err := credential.Device(x.HTTP.Context(), x.Server.Engine.Repo(), user)
	if err != nil {
		return err
	}
	x.SetCookie(rest.DeviceCookie, device, x.Prefix()+"/", expires)
	return x.See(local(x, next))
}

// leave signs a browser out that was led here, as clients of the platform do, and asks who is next.
func leave(x *rest.Request) error {
	if x.Session != "" {
		if err := credential.EndSession(x.HTTP.Context(), x.Server.Engine.Repo(), x.Session); err != nil {
			return err
		}
		x.SetCookie(rest.SessionCookie, "", x.Prefix()+"/", time.Time{})
	}
	return x.See("/login.jsp")
}

// closeSession signs a browser out.
func closeSession(x *rest.Request) error {
	f, err := x.Form()
	if err != nil {
		return err
	}
	if x.Session == "" {
		return x.See("/ui/login")
	}
	if !hmac.Equal([]byte(f.Get("csrf")), []byte(rest.CSRFOf(x.Session))) {
		return fault.Denied.Errorf("the page belongs to another session")
	}
	if err := credential.EndSession(x.HTTP.Context(), x.Server.Engine.Repo(), x.Session); err != nil {
		return err
	}
	x.SetCookie(rest.SessionCookie, "", x.Prefix()+"/", time.Time{})
	return x.See("/ui/login")
}
