package ops_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"

	"catena/engine/scenario"
	"catena/rest/resttest"
)

// restEntryPoint calls operations as clients of the REST interface do.
type restEntryPoint struct{ s *resttest.Server }

func (d *restEntryPoint) Run(ctx context.Context, user string, c scenario.Command) scenario.Outcome {
	req, err := d.request(ctx, c)
	if err != nil {
		return broken(err)
	}
	req.SetBasicAuth(user, resttest.Password)
	req.Header.Set("X-NXproperties", "*")
	req.Header.Set("X-NXfetch.document", "lock")
	client := *d.s.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		return broken(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return broken(err)
	}
	if res.StatusCode >= 400 {
		return d.failure(res, body)
	}
	var out scenario.Outcome
	if c.DryRun {
		out = d.dry(body)
	} else {
		out = d.answer(res, body)
	}
	if err := mistyped(d.s.Engine.Set(), c, out); err != nil {
		return broken(err)
	}
	return out
}

// broken is an outcome that no scenario expects.
func broken(err error) scenario.Outcome {
	return scenario.Outcome{Failure: &scenario.Failure{Kinds: []string{"broken"}, Message: err.Error()}}
}

func (d *restEntryPoint) request(ctx context.Context, c scenario.Command) (*http.Request, error) {
	head := map[string]json.RawMessage{}
	for name, raw := range map[string]json.RawMessage{"input": c.Input, "params": c.Params, "context": c.Vars} {
		if raw != nil {
			head[name] = raw
		}
	}
	body, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	typ := "application/json"
	if len(c.Files) > 0 {
		if body, typ, err = parts(body, c.Files); err != nil {
			return nil, err
		}
	}
	address := d.s.URL + "/nuxeo/api/v1/automation/" + url.PathEscape(c.Op)
	if c.DryRun {
		address += "?dryRun=true"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Content-Type", typ)
	}
	return req, err
}

// parts is a body with files after the JSON.
func parts(head []byte, files []scenario.File) (body []byte, typ string, err error) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	part := func(name, file, typ string, data []byte) error {
		h := textproto.MIMEHeader{"Content-Type": {typ}}
		params := map[string]string{"name": name}
		if file != "" {
			params["filename"] = file
		}
		h.Set("Content-Disposition", mime.FormatMediaType("form-data", params))
		w, err := m.CreatePart(h)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	if err := part("params", "", "application/json", head); err != nil {
		return nil, "", err
	}
	for i, f := range files {
		if err := part(fmt.Sprintf("input#%d", i), f.Name, f.Type, f.Data); err != nil {
			return nil, "", err
		}
	}
	if err := m.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), m.FormDataContentType(), nil
}

// statuses are the kinds of failure that an HTTP status may stand for.
var statuses = map[int][]string{
	400: {"invalid"},
	401: {"denied"},
	403: {"denied"},
	404: {"notfound"},
	405: {"invalid"},
	409: {"exists", "conflict"},
	412: {"conflict", "exists"},
	413: {"limit"},
	415: {"invalid"},
	422: {"limit", "invalid"},
	500: {"internal", "limit"},
	503: {"unavailable"},
}

func (d *restEntryPoint) failure(res *http.Response, body []byte) scenario.Outcome {
	var p struct{ Message, Code string }
	if err := json.Unmarshal(body, &p); err != nil {
		return broken(fmt.Errorf("%s: %w: %s", res.Status, err, body))
	}
	text := scenario.Cause(p.Message, isOp(d.s))
	f := &scenario.Failure{Kinds: statuses[res.StatusCode], Message: text}
	if f.Kinds == nil {
		return broken(fmt.Errorf("%s: %s", res.Status, body))
	}
	if f.Is(p.Code) {
		f.Kinds = []string{p.Code}
	}
	if res.StatusCode >= 500 {
		f.Message = ""
	}
	return scenario.Outcome{Failure: f}
}

func isOp(s *resttest.Server) func(string) bool {
	return func(name string) bool { _, ok := s.Engine.Set().Op(name); return ok }
}

// plain reads JSON with the server's address as scenarios write it.
func plain(s *resttest.Server, body []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(bytes.ReplaceAll(body, []byte(s.URL+"/nuxeo"), []byte(scenario.Base))))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func (d *restEntryPoint) dry(body []byte) scenario.Outcome {
	v, err := plain(d.s, body)
	m, ok := v.(map[string]any)
	if err != nil || !ok || m["entity-type"] != "dryRun" {
		return broken(fmt.Errorf("no dry run: %s", body))
	}
	return scenario.Outcome{Wire: m["value"], Changes: m["changes"]}
}

func (d *restEntryPoint) answer(res *http.Response, body []byte) scenario.Outcome {
	if res.StatusCode == http.StatusNoContent || res.StatusCode == http.StatusSeeOther {
		return scenario.Outcome{Empty: true}
	}
	typ, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		return broken(err)
	}
	switch {
	case typ == "multipart/mixed":
		return several(body, params["boundary"])
	case res.Header.Get("Content-Disposition") != "":
		f, err := received(res.Header.Get("Content-Disposition"), typ, body)
		if err != nil {
			return broken(err)
		}
		return scenario.Outcome{Files: []*scenario.File{f}}
	}
	v, err := plain(d.s, body)
	if err != nil {
		return broken(fmt.Errorf("%w: %s", err, body))
	}
	return scenario.Outcome{Wire: v}
}

// received is a file with the name its header gives.
func received(disposition, typ string, body []byte) (*scenario.File, error) {
	_, params, err := mime.ParseMediaType(disposition)
	if err != nil {
		return nil, err
	}
	return scenario.Received(params["filename"], typ, body), nil
}

// several reads the files of a multipart answer.
func several(body []byte, boundary string) scenario.Outcome {
	out := scenario.Outcome{List: true}
	m := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := m.NextPart()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			return broken(err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return broken(err)
		}
		f, err := received(part.Header.Get("Content-Disposition"), part.Header.Get("Content-Type"), data)
		if err != nil {
			return broken(err)
		}
		out.Files = append(out.Files, f)
	}
}
