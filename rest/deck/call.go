package deck

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"catena/decks/route"
	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// service serves a route.
type service struct {
	*route.Route
	segments []route.Segment
	query    []string
	sends    []string
	members  map[string]string // parameters by the members of the body; nil: all of it is one
}

func newService(r *route.Route) *service {
	s := &service{Route: r, segments: r.Segments(), query: strings.Fields(r.Query), sends: strings.Fields(r.Sends)}
	if r.Members != "" {
		s.members = map[string]string{}
	}
	for name := range strings.FieldsSeq(r.Members) {
		name, param, ok := strings.Cut(name, ":")
		if !ok {
			param = name
		}
		s.members[name] = param
	}
	return s
}

// serve runs the operation of the route.
func (s *service) serve(x *rest.Request) error {
	p, err := s.begin(x)
	if err == nil {
		p = s.asked(x, p)
		p, err = s.body(x, p)
	}
	if err != nil {
		return err
	}
	return s.run(x, engine.Call{Op: s.Op, RawParams: p.Close()})
}

// begin counts a request whose answer is JSON, and reads the parameters that are not in its query or body.
func (s *service) begin(x *rest.Request) (rest.RawParams, error) {
	if err := x.Rate(); err != nil {
		return nil, err
	}
	if !acceptsJSON(x) {
		return nil, fault.Invalid.Errorf("responses are JSON, which Accept excludes").WithCode(fault.CodeNotAcceptable)
	}
	revision, err := revisionOf(x)
	if err != nil {
		return nil, err
	}
	var p rest.RawParams
	for _, name := range s.sends {
		switch name {
		case "base":
			p = p.Text(name, x.Host())
		case "revision":
			p = p.Text(name, revision)
		}
	}
	if p, err = s.placed(x, p); err != nil {
		return nil, err
	}
	for _, name := range s.sends {
		if tags := x.HTTP.Header.Values(conditions[name]); len(tags) > 0 {
			p = p.Text(name, strings.Join(tags, ","))
		}
	}
	return p, nil
}

// conditions are the headers that become parameters.
var conditions = map[string]string{"ifMatch": "If-Match", "ifNoneMatch": "If-None-Match"}

// placed reads the segments of the address. What is not the number that it should be is no address of anything.
func (s *service) placed(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	for i := range s.segments {
		seg := &s.segments[i]
		text, err := x.Param(seg.Name)
		if err != nil {
			return p, err
		}
		if seg.Text {
			p = p.Text(seg.Param, text)
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || text != strconv.FormatInt(n, 10) {
			return p, fault.NotFound.Errorf("number %.40q: does not exist", text)
		}
		p = p.Add(seg.Param, json.RawMessage(text))
	}
	return p, nil
}

// asked reads the query.
func (s *service) asked(x *rest.Request, p rest.RawParams) rest.RawParams {
	for _, name := range s.query {
		if !x.Query().Has(name) {
			continue
		}
		text := x.Query().Get(name)
		if name == "include_deck_html" {
			switch text {
			case "1":
				text = "true"
			case "0":
				text = "false"
			}
		}
		p = p.Text(name, text)
	}
	return p
}

// body reads the body: whole, so that the operation sees everything that is in it, or member by member.
func (s *service) body(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	if s.Body == "" {
		return p, nil
	}
	if s.Texts != "" {
		if typ, _ := rest.MediaType(x.HTTP.Header); strings.HasPrefix(typ, "text/") {
			return text(x, p)
		}
	}
	object, err := readObject(x)
	if err != nil || object == nil {
		return p, err
	}
	if s.members == nil {
		return p.Add("fields", object), nil
	}
	err = rest.Members(object, func(name string, value json.RawMessage) error {
		param, ok := s.members[name]
		if !ok {
			return fault.Invalid.Errorf("%.40s: is not a field here", name).In(name).WithCode(fault.CodeUnknownField)
		}
		p = p.Add(param, value)
		return nil
	})
	return p, err
}

// readObject reads a body that is a JSON object; nil if there is none.
func readObject(x *rest.Request) (json.RawMessage, error) {
	if x.Bodyless() {
		return nil, nil
	}
	body, err := x.ReadJSON()
	if err != nil {
		return nil, err
	}
	if body = bytes.TrimSpace(body); body[0] != '{' {
		return nil, fault.Invalid.Errorf("body: must be a JSON object").WithCode(fault.CodeMalformedJSON)
	}
	return body, nil
}

// text reads a presentation that is not JSON.
func text(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	typ, _, err := x.Media()
	if err != nil {
		return p, err
	}
	body, err := x.ReadBody()
	if err != nil {
		return p, err
	}
	format := rest.SlideFormats[typ]
	if x.Query().Has("format") {
		format = x.Query().Get("format")
	}
	if format != "" {
		p = p.Text("format", format)
	}
	p = p.Text("source", string(body))
	for _, name := range [...]string{"title", "visibility"} {
		if x.Query().Has(name) {
			p = p.Text(name, x.Query().Get(name))
		}
	}
	return p, nil
}
