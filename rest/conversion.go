package rest

import (
	"net/http"
	"net/url"

	"catena/engine"
	"catena/storage/fault"
)

// conversionRoutes are the addresses of conversions in the background.
func conversionRoutes() []route {
	return []route{
		{method: "GET", path: "/conversions/:id/poll", op: "Conversion.Status", params: conversionParams},
		{method: "GET", path: "/conversions/:id/result", op: "Conversion.Result"},
	}
}

func conversionParams(x *exchange) (values, error) {
	id, err := x.param("id")
	return values{"id": id, "base": x.base()}, err
}

func wantedOf(q url.Values) values {
	out := values{}
	pick(out, q, "converter", "type", "format")
	return out
}

// preview shows the file of a document, or one behind @blob, in the browser.
func preview(x *exchange, in engine.Lazy, args string) error {
	if args != "" {
		return fault.NotFound.Errorf("preview %s", args)
	}
	return x.run(engine.Call{Op: "Resource.Preview", Input: in}, reply{status: http.StatusOK, inline: true})
}

// scheduleConversion begins a conversion in the background, or, unless asked for that, makes
// it at once.
func scheduleConversion(x *exchange, in engine.Lazy, _ string) error {
	form := x.query()
	if x.r.ContentLength != 0 {
		var err error
		if form, err = x.form(); err != nil {
			return err
		}
	}
	params := wantedOf(form)
	if form.Get("async") != "true" {
		return x.run(engine.Call{Op: "Resource.Convert", Input: in, Params: params}, reply{status: http.StatusOK})
	}
	params["base"] = x.base()
	return x.run(engine.Call{Op: "Conversion.Schedule", Input: in, Params: params}, reply{bare: true, choose: x.begun("pollingURL", "")})
}
