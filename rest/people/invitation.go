package people

import (
	"net/http"
	"net/url"

	"catena/rest"
	"catena/rest/web"
	"catena/storage/credential"
	"catena/storage/fault"
)

// InvitationRoutes are the addresses where somebody who was invited chooses a password.
func InvitationRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/site/userInvitation/enterpassword/:id", Access: rest.Open, Handle: invitationForm},
		{Method: "POST", Path: "/site/userInvitation/enterpassword/:id", Access: rest.Open, Body: rest.FormBody, Handle: acceptInvitation},
	}
}

// invitationForm asks somebody who was invited for a password.
func invitationForm(x *rest.Request) error {
	key := x.Query().Get("key")
	name, err := credential.Invited(x.HTTP.Context(), x.Server.Engine.Repo(), x.Segments.Get("id"), key)
	if err != nil {
		return rest.FailPage(x, err)
	}
	return askNewPassword(x, http.StatusOK, name, key, "")
}

func askNewPassword(x *rest.Request, status int, name, key, message string) error {
	action := x.Prefix() + "/site/userInvitation/enterpassword/" + url.PathEscape(x.Segments.Get("id"))
	p, err := x.Site().Invitation(&web.Form{Action: action, Next: key, Name: name, Message: message})
	return x.Show(status, p, err)
}

// acceptInvitation makes a user of who was invited, and leads on to signing in.
func acceptInvitation(x *rest.Request) error {
	f, err := x.Form()
	if err != nil {
		return err
	}
	id, key := x.Segments.Get("id"), f.Get("key")
	name, err := credential.Invited(x.HTTP.Context(), x.Server.Engine.Repo(), id, key)
	if err != nil {
		return rest.FailPage(x, err)
	}
	if f.Get("password") != f.Get("again") {
		return askNewPassword(x, http.StatusBadRequest, name, key, "The two passwords differ.")
	}
	_, err = credential.Join(x.HTTP.Context(), x.Server.Engine.Repo(), id, key, f.Get("password"))
	if fault.Is(err, fault.Invalid) {
		return askNewPassword(x, http.StatusBadRequest, name, key, rest.Sentence(rest.Message(err, "")))
	}
	if err != nil {
		return rest.FailPage(x, err)
	}
	return x.See("/ui/login")
}
