package automation

import (
	"net/http"

	"catena/engine"
	"catena/engine/hook"
	"catena/rest"
	"catena/storage/fault"
)

// receive hands a request to the hook that the address names.
func receive(x *rest.Request) error {
	name, err := x.Param("hook")
	switch {
	case err != nil:
		return err
	case x.Server.Hooks == nil:
		return fault.NotFound.Errorf("hook %s", name)
	}
	a, err := x.Server.Hooks.Arrive(x.HTTP.Context(), name, x.HTTP.Header)
	if err != nil {
		return err
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
