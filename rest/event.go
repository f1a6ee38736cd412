package rest

import (
	"encoding/json"
	"net/http"

	"catena/engine"
	"catena/storage/fault"
)

// serviceRoutes are the addresses of what works beside requests: webhooks and jobs.
func serviceRoutes() []route {
	return []route{
		{method: "GET", path: "/job", handle: call("Job.List", picked("state", "kind", "limit"))},
		{method: "POST", path: "/job/:id/retry", handle: call("Job.Retry", addressed("id"))},
		{method: "DELETE", path: "/job/:id", handle: call("Job.Delete", addressed("id"))},
		{method: "GET", path: "/webhook", handle: call("Webhook.List", picked("owner"))},
		{method: "POST", path: "/webhook", handle: sent("Webhook.Create", http.StatusCreated)},
		{method: "GET", path: "/webhook/:id", handle: call("Webhook.Get", addressed("id"))},
		{method: "PUT", path: "/webhook/:id", handle: sent("Webhook.Update", http.StatusOK, "id")},
		{method: "DELETE", path: "/webhook/:id", handle: call("Webhook.Delete", addressed("id"))},
		{method: "GET", path: "/webhook/:id/deliveries", handle: call("Webhook.Deliveries", addressed("id"))},
		{method: "POST", path: "/webhook/:id/deliveries/:delivery/redeliver", handle: call("Webhook.Redeliver", addressed("id", "delivery"))},
	}
}

// addressed passes parts of the address on, and the paging of the query.
func addressed(names ...string) func(*exchange) (values, error) {
	return func(x *exchange) (values, error) {
		out := values{}
		pick(out, x.query(), "limit")
		for _, name := range names {
			v, err := x.param(name)
			if err != nil {
				return nil, err
			}
			out[name] = v
		}
		return out, nil
	}
}

// picked passes parameters of the query on.
func picked(names ...string) func(*exchange) (values, error) {
	return func(x *exchange) (values, error) {
		out := values{}
		pick(out, x.query(), names...)
		return out, nil
	}
}

// sent makes a handler that runs one operation with the members of the body, a JSON object, as parameters,
// and with parts of the address.
func sent(op string, status int, names ...string) handler {
	return func(x *exchange) error {
		body, err := x.readJSON()
		if err != nil {
			return err
		}
		var params map[string]json.RawMessage
		if err := json.Unmarshal(body, &params); err != nil || params == nil {
			return fault.Invalid.Errorf("body: an object expected")
		}
		for _, name := range names {
			v, err := x.param(name)
			if err != nil {
				return err
			}
			if params[name], err = json.Marshal(v); err != nil {
				return err
			}
		}
		raw, err := json.Marshal(params)
		if err != nil {
			return err
		}
		return x.run(engine.Call{Op: op, RawParams: raw}, reply{status: status, body: body, bare: true})
	}
}
