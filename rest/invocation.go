package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
)

// invocation is the body of an automation call.
type invocation struct {
	input      json.RawMessage
	params     json.RawMessage
	vars       map[string]any
	context    json.RawMessage
	properties []string // an old way to ask for schemas
	files      []*engine.Blob
	body       []byte
}

// Invoke runs an operation as the body says; input, if any, goes before that of the body.
func (x *Request) Invoke(name string, input engine.Lazy) error {
	call, re, err := x.ReadCall(name, input)
	if err != nil {
		return err
	}
	return x.Run(call, re)
}

// ReadCall reads the request as a call of an operation.
func (x *Request) ReadCall(name string, input engine.Lazy) (engine.Call, Reply, error) {
	if !x.Engine.Set().Allowed(name, x.As, x.EntryPoint()) {
		return engine.Call{}, Reply{}, x.Engine.Set().Missing(name, x.As, x.EntryPoint())
	}
	x.Invoked = name
	inv, err := readInvocation(x)
	if err != nil {
		return engine.Call{}, Reply{}, err
	}
	return callOf(x, name, inv, input)
}

// CallAgain returns the call of an operation that a body says, which is not that of the request.
func (x *Request) CallAgain(name string, body []byte) (engine.Call, Reply, error) {
	if !x.Engine.Set().Allowed(name, x.As, x.EntryPoint()) {
		return engine.Call{}, Reply{}, x.Engine.Set().Missing(name, x.As, x.EntryPoint())
	}
	x.Invoked = name
	inv := &invocation{body: body}
	if err := inv.parse(); err != nil {
		return engine.Call{}, Reply{}, err
	}
	return callOf(x, name, inv, nil)
}

// callOf makes a call of an operation of what its body says.
func callOf(x *Request, name string, inv *invocation, input engine.Lazy) (engine.Call, Reply, error) {
	call := engine.Call{Op: name, RawParams: inv.params, Vars: inv.vars, Asked: &engine.Asked{Context: inv.context}}
	switch {
	case input != nil:
		call.Input = input
	case len(inv.files) == 1:
		call.Input = inv.files[0]
	case len(inv.files) > 1:
		call.Input = engine.Blobs(inv.files)
	case inv.input != nil:
		var err error
		if call.Input, err = entity.Given(inv.input); err != nil {
			return call, Reply{}, err
		}
		call.Asked.Input = inv.input
	}
	if d, ok := x.Engine.Set().Op(name); ok {
		deprecated(x, d)
	}
	o := x.Options()
	o.Properties = AppendItems(o.Properties, inv.properties)
	return call, Reply{Status: http.StatusOK, Body: inv.body, Files: inv.files, Options: o}, nil
}

// readInvocation reads the body of a call, in any of its content types.
func readInvocation(x *Request) (*invocation, error) {
	inv := &invocation{}
	if err := readCall(x, inv); err != nil {
		return nil, err
	}
	if len(inv.body) == 0 {
		return nil, fault.Invalid.Errorf("body: is empty").WithCode(fault.CodeBodyEmpty)
	}
	return inv, inv.parse()
}

// readCall reads the JSON of a call, and its files.
func readCall(x *Request, inv *invocation) error {
	if x.Bodyless() {
		return nil
	}
	typ, ps, err := x.Media()
	switch {
	case err != nil:
	case IsJSON(typ):
		inv.body, err = x.ReadBody()
	case typ == MIMEForm:
		inv.body, err = readForm(x)
	default:
		inv.body, inv.files, err = x.ReadParts(ps["boundary"], true)
		if err == nil && len(inv.files) == 0 {
			err = fault.Invalid.Errorf("body: multipart contains no file").WithCode(fault.CodeBodyIncomplete)
		}
	}
	return err
}

// readForm reads JSON from the field jsondata of a form.
func readForm(x *Request) ([]byte, error) {
	body, err := x.ReadBody()
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, fault.Invalid.Errorf("body: malformed form")
	}
	return []byte(form.Get("jsondata")), nil
}

// parse takes the JSON body apart. Members it does not know are ignored.
func (inv *invocation) parse() error {
	if err := CheckJSON(inv.body); err != nil {
		return err
	}
	return Members(inv.body, func(name string, value json.RawMessage) error {
		if string(value) == "null" {
			return nil // as if it was absent
		}
		switch name {
		case "input":
			inv.input = value
		case "params":
			if value[0] != '{' {
				return fault.Invalid.Errorf("body: params must be an object").In("params")
			}
			inv.params = value
		case "context":
			inv.context = value
			return inv.variables(value)
		case "documentProperties":
			var s string
			if json.Unmarshal(value, &s) == nil {
				inv.properties = []string{s}
			}
		}
		return nil
	})
}

// variables takes the variables of a call in.
func (inv *invocation) variables(raw json.RawMessage) error {
	if raw[0] != '{' {
		return fault.Invalid.Errorf("body: context must be an object").In("context")
	}
	inv.vars = map[string]any{}
	return Members(raw, func(name string, value json.RawMessage) error {
		switch {
		case string(value) == "null":
			return nil // as if it was absent
		case name == "ChainParameters":
			return fault.Invalid.Errorf("body: context variable ChainParameters is reserved").In("context/ChainParameters")
		}
		v, err := entity.Given(value)
		inv.vars[name] = v
		return err
	})
}

// deprecated tells in the head of the answer that the operation called is better not used any longer (RFC 9745), where
// that is explained, and what to use instead. Nothing is removed on a day that is known, so there is no Sunset.
func deprecated(x *Request, d *engine.Def) {
	since, ok := d.Deprecated.Day()
	if !ok {
		return
	}
	h := x.Writer.Header()
	h.Set("Deprecation", fmt.Sprintf("@%d", since.Unix()))
	h.Add("Link", fmt.Sprintf(`<%s/site/automation/doc#op-%s>; rel="deprecation"; type="text/html"`, x.Prefix(), url.PathEscape(d.Name)))
	if instead := d.Deprecated.Instead; instead != "" {
		h.Add("Link", fmt.Sprintf(`<%s/api/v1/automation/%s>; rel="successor-version"`, x.Prefix(), url.PathEscape(instead)))
	}
}
