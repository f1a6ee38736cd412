package automation

import (
	"net/http"

	"catena/engine"
	"catena/engine/hook"
	"catena/rest"
	"catena/storage/fault"
)

// toHook has the server's hooks receive a request.
func toHook(x *rest.Request) error {
	if x.Server.Hooks == nil {
		return fault.NotFound.Errorf("hooks")
	}
	return x.Server.Hooks(x)
}

// Receive hands requests to the hooks that their addresses name.
func Receive(hooks *hook.Hooks) rest.HandlerFunc {
	return func(x *rest.Request) error { return receive(x, hooks) }
}

func receive(x *rest.Request, hooks *hook.Hooks) error {
	name, err := x.Param("hook")
	if err != nil {
		return err
	}
	a, err := hooks.Arrive(x.HTTP.Context(), name, x.HTTP.Header)
	if err != nil {
		return err
	}
	// Callers who do not know the secret must not be able to use up what the sender may send.
	if a.Verified() {
		if err := x.RateOf(a.Rate()); err != nil {
			return err
		}
	}
	var body []byte
	var file *engine.Blob
	if a.TakesFile() {
		file, err = x.SpoolFrom(hook.FileName(x.HTTP.Header), x.HTTP.Header.Get("Content-Type"), x.Moving())
	} else {
		body, err = x.ReadBody()
	}
	if err != nil {
		return err
	}
	x.BodyRead()
	call, fn, err := a.Call(x.HTTP.Method, x.HTTP.URL.Query(), body, file)
	if err != nil {
		return err
	}
	if !a.Verified() {
		if err := x.RateOf(a.Rate()); err != nil {
			return err
		}
	}
	x.As = a.As
	re := rest.Reply{Status: http.StatusAccepted, Bare: true, Body: body}
	if a.Waits() {
		re.Status, re.Bare, re.Options = http.StatusOK, false, x.Options()
	}
	if file != nil {
		re.Files = []*engine.Blob{file}
	}
	return x.RunFunc(call, fn, re)
}
