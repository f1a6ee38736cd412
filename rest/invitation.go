package rest

import (
	"net/http"
	"net/url"

	"catena/rest/web"
	"catena/storage/fault"
)

func invitationRoutes() []route {
	return []route{
		{method: "GET", path: "/site/userInvitation/enterpassword/:id", access: open, handle: invitationForm},
		{method: "POST", path: "/site/userInvitation/enterpassword/:id", access: open, body: formBody, handle: acceptInvitation},
	}
}

// invitationForm asks somebody who was invited for a password.
func invitationForm(x *exchange) error {
	key := x.query().Get("key")
	name, err := x.s.Engine.Invited(x.r.Context(), x.ps.get("id"), key)
	if err != nil {
		return x.failPage(err)
	}
	return x.askNewPassword(http.StatusOK, name, key, "")
}

func (x *exchange) askNewPassword(status int, name, key, message string) error {
	action := x.prefix() + "/site/userInvitation/enterpassword/" + url.PathEscape(x.ps.get("id"))
	p, err := x.site().Invitation(&web.Form{Action: action, Next: key, Name: name, Message: message})
	return x.page(status, p, err)
}

// acceptInvitation makes a user of who was invited, and leads on to signing in.
func acceptInvitation(x *exchange) error {
	f, err := x.form()
	if err != nil {
		return err
	}
	id, key := x.ps.get("id"), f.Get("key")
	name, err := x.s.Engine.Invited(x.r.Context(), id, key)
	if err != nil {
		return x.failPage(err)
	}
	if f.Get("password") != f.Get("again") {
		return x.askNewPassword(http.StatusBadRequest, name, key, "The two passwords differ.")
	}
	_, err = x.s.Engine.Join(x.r.Context(), id, key, f.Get("password"))
	if fault.Is(err, fault.Invalid) {
		return x.askNewPassword(http.StatusBadRequest, name, key, sentence(message(err, "")))
	}
	if err != nil {
		return x.failPage(err)
	}
	return x.see("/ui/login")
}
