package document

import (
	"net/http"
	"net/url"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// conversionRoutes are the addresses of conversions in the background.
func conversionRoutes() []rest.Route {
	return []rest.Route{
		{Method: "GET", Path: "/conversions/:id/poll", Op: "Conversion.Status", Params: conversionParams, Gives: "ConversionStatus"},
		{Method: "GET", Path: "/conversions/:id/result", Op: "Conversion.Result"},
	}
}

func conversionParams(x *rest.Request) (rest.Values, error) {
	id, err := x.Param("id")
	return rest.Values{"id": id, "base": x.Base()}, err
}

func wantedOf(q url.Values) rest.Values {
	out := rest.Values{}
	rest.Pick(out, q, "converter", "type", "format")
	return out
}

// preview shows the file of a document, or one behind @blob, in the browser. It is recorded like a download, for who is shown a
// file has read it; what another adapter makes of the document is not a file of it, and is not recorded.
func preview(x *rest.Request, ref string, in engine.Lazy, hops []rest.Hop) error {
	last := len(hops) - 1
	if args := hops[last].Args; args != "" {
		return fault.NotFound.Errorf("preview %s", args)
	}
	reply := rest.Reply{Status: http.StatusOK, Inline: true}
	at := rest.Values{"xpath": "blobholder:0", "reason": "preview"}
	ofFile := last == 1 && hops[0].Name == "blob"
	if ofFile && hops[0].Args != "" {
		at["xpath"] = hops[0].Args
	}
	if last == 0 || ofFile {
		reply.Sent = func(name string) { noteDownload(x, ref, at, name) }
	}
	return x.Run(engine.Call{Op: "Resource.Preview", Input: in}, reply)
}

// scheduleConversion begins a conversion in the background, or, unless asked for that, makes
// it at once.
func scheduleConversion(x *rest.Request, in engine.Lazy, _ string) error {
	form := x.Query()
	if x.HTTP.ContentLength != 0 {
		var err error
		if form, err = x.Form(); err != nil {
			return err
		}
	}
	params := wantedOf(form)
	if form.Get("async") != "true" {
		return x.Run(engine.Call{Op: "Resource.Convert", Input: in, Params: params}, rest.Reply{Status: http.StatusOK})
	}
	params["base"] = x.Base()
	return x.Run(engine.Call{Op: "Conversion.Schedule", Input: in, Params: params}, rest.Reply{Bare: true, Choose: x.Begun("pollingURL", "")})
}
