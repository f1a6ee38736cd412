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
		{method: "GET", path: "/conversions/:id/poll", handle: call("Conversion.Status", conversionParams)},
		{method: "GET", path: "/conversions/:id/result", handle: conversionResult},
	}
}

func conversionParams(x *exchange) (values, error) {
	id, err := x.param("id")
	return values{"id": id, "base": x.base()}, err
}

func conversionResult(x *exchange) error {
	id, err := x.param("id")
	if err != nil {
		return err
	}
	return x.run(engine.Call{Op: "Conversion.Result", Params: values{"id": id}}, reply{status: http.StatusOK})
}

// convertParams are what @convert is asked for in the address.
func convertParams(x *exchange, _ string) values { return wantedOf(x.query()) }

func wantedOf(q url.Values) values {
	out := values{}
	pick(out, q, "converter", "type", "format")
	return out
}

func nameParam(_ *exchange, args string) values { return values{"name": args} }

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
