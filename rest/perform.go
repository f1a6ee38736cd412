package rest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// RunBody runs an operation on the JSON object in the body, which becomes one of its parameters
// beside those of the address.
func (x *Request) RunBody(op, name string, params func(*Request) (Values, error), status int) error {
	given := Values{}
	if params != nil {
		var err error
		if given, err = params(x); err != nil {
			return err
		}
	}
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	p := RawParams{}.Add(name, body)
	for key, v := range given {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		p = p.Add(key, raw)
	}
	return x.Run(engine.Call{Op: op, RawParams: p.Close()}, Reply{Status: status, Body: body})
}

// RunMembers runs one operation with the members of the body, a JSON object, as parameters, and with parts of the address.
func (x *Request) RunMembers(op string, status int) error {
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	var params map[string]json.RawMessage
	if err := json.Unmarshal(body, &params); err != nil || params == nil {
		return fault.Invalid.Errorf("body: must be an object")
	}
	// What the address says wins over the body: logs and caches know the request by its address.
	given, err := Placed(x)
	if err != nil {
		return err
	}
	for name, v := range given {
		if params[name], err = json.Marshal(v); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return x.Run(engine.Call{Op: op, RawParams: raw}, Reply{Status: status, Body: body, Bare: true})
}

// perform serves a row by its operation alone.
func (x *Request) perform() error {
	r := x.Route
	status := cmp.Or(r.Status, http.StatusOK)
	switch {
	case r.Entity == "*":
		return x.RunMembers(r.Op, status)
	case r.Entity != "":
		return x.RunBody(r.Op, r.Entity, r.given, status)
	}
	return x.Call(r.Op, r.given, status)
}

// Call runs one operation without input, its parameters read from the request by params.
func (x *Request) Call(op string, params func(x *Request) (Values, error), status int) error {
	c := engine.Call{Op: op}
	var err error
	if c.Params, err = params(x); err != nil {
		return err
	}
	re := Reply{Status: status, Bare: true}
	if x.Route.Gives == "none" {
		re.empty = x.Route.Status
	}
	return x.Run(c, re)
}

// given reads the parameters of a row's operation.
func (r *Route) given(x *Request) (Values, error) {
	if r.Params != nil {
		return r.Params(x)
	}
	return Placed(x)
}

// Placed are the parameters that parts of the address and of the query give by their names.
func Placed(x *Request) (Values, error) {
	out := Values{}
	for i := range x.Segments.n {
		p := &x.Segments.list[i]
		v, err := Decode(p.value)
		if err != nil {
			return nil, err
		}
		out[p.name] = v
	}
	for name := range strings.FieldsSeq(x.Route.Query) {
		Pick(out, x.Query(), name)
	}
	return out, nil
}

// RunFunc answers with what fn returns, as part of a call.
func (x *Request) RunFunc(call engine.Call, fn func(c *engine.Ctx) (any, error), re Reply) error {
	re.run = func(call engine.Call) (*engine.Result, error) {
		return x.Engine.RunFunc(x.HTTP.Context(), engine.Writes, fn, call)
	}
	return x.Run(call, re)
}
