package rest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
)

// values are the parameters of an operation.
type values = map[string]any

// byPath and byID serve everything at and below a document's address.
func byPath(x *exchange) error {
	path, hops, err := splitHops(x.ps.get("doc"))
	if err != nil {
		return err
	}
	return x.document("/"+strings.Trim(path, "/"), hops)
}

func byID(x *exchange) error {
	id, err := x.param("id")
	if err != nil {
		return err
	}
	tail, hops, err := splitHops(x.ps.get("tail"))
	if err != nil {
		return err
	}
	if tail = strings.Trim(tail, "/"); tail != "" || strings.Contains(id, "/") {
		return fault.NotFound.Errorf("%s", strings.TrimSuffix(id+"/"+tail, "/"))
	}
	return x.document(id, hops)
}

// document serves a document or, through its adapters, what they make of it.
func (x *exchange) document(ref string, hops []hop) error {
	input := documentAt(ref)
	if len(hops) == 0 {
		return x.plain(ref, x.guarded(input))
	}
	for _, h := range hops[:len(hops)-1] {
		a, err := x.adapter(http.MethodGet, h.name)
		if err != nil {
			return err
		}
		if input, err = a.after(x, input, h.args); err != nil {
			return err
		}
	}
	last := hops[len(hops)-1]
	a, err := x.adapter(x.r.Method, last.name)
	if err != nil {
		return err
	}
	x.body = a.body
	return a.serve(x, input, last.args)
}

// documentAt is the document with a path or an id as the input of a call.
func documentAt(ref string) engine.Lazy {
	return func(c *engine.Ctx) (any, error) { return c.Convert(ref, "document") }
}

// plain serves the document itself.
func (x *exchange) plain(ref string, input engine.Lazy) error {
	switch x.r.Method {
	case http.MethodPost:
		return x.runEntity(engine.Call{Op: "Resource.Create", Input: input}, http.StatusCreated, "document")
	case http.MethodPut:
		return x.runEntity(engine.Call{Op: "Resource.Update", Input: input}, http.StatusOK, "document")
	case http.MethodDelete:
		return x.run(engine.Call{Op: "Resource.Delete", Input: input}, reply{status: http.StatusNoContent})
	}
	return x.run(engine.Call{Op: "Repository.GetDocument", Params: values{"value": ref}}, reply{status: http.StatusOK, tagged: true})
}

// runEntity runs an operation on the entity in the body, which becomes one of its parameters.
// Headers that say how to save go along.
func (x *exchange) runEntity(call engine.Call, status int, name string) error {
	body, err := x.readJSON()
	if err != nil {
		return err
	}
	p := make(rawParams, 0, len(body)+256).add(name, body).text("base", x.base())
	for _, h := range saveHeaders {
		if v := x.r.Header.Get(h.header); v != "" {
			p = p.text(h.param, v)
		}
	}
	call.RawParams = p.close()
	return x.run(call, reply{status: status, body: body, tagged: true})
}

// rawParams are parameters being written as a JSON object.
type rawParams []byte

func (p rawParams) add(name string, value json.RawMessage) rawParams {
	return append(p.name(name), value...)
}

func (p rawParams) text(name, value string) rawParams {
	out, _ := entity.AppendPlain(p.name(name), value) // text has no errors
	return out
}

func (p rawParams) name(name string) rawParams {
	sep := byte(',')
	if len(p) == 0 {
		sep = '{'
	}
	return append(strconv.AppendQuote(append(p, sep), name), ':')
}

func (p rawParams) close() json.RawMessage {
	if len(p) == 0 {
		return json.RawMessage("{}")
	}
	return json.RawMessage(append(p, '}'))
}

// saveHeaders are the headers that become parameters of operations that save.
var saveHeaders = []struct{ header, param string }{
	{"Source", "source"},
	{"Update-Comment", "comment"},
	{"X-Versioning-Option", "versioning"},
}

// guarded checks the condition of a writing request, in the transaction that writes.
func (x *exchange) guarded(input engine.Lazy) engine.Lazy {
	want := x.r.Header.Values("If-Match")
	if len(want) == 0 {
		return input
	}
	return func(c *engine.Ctx) (any, error) {
		v, err := input(c)
		if err != nil {
			return nil, err
		}
		d, ok := v.(interface{ ChangeToken() string })
		if !ok || !holds(want, d.ChangeToken()) {
			return nil, fault.Conflict.Errorf("document has changed, no entity tag of If-Match is its own").WithCode(fault.CodePreconditionFailed)
		}
		return v, nil
	}
}

// holds reports whether one of the listed entity tags is of a state with this change token.
func holds(tags []string, token string) bool {
	for _, list := range tags {
		for tag := range strings.SplitSeq(list, ",") {
			tag = strings.Trim(strings.TrimSpace(tag), `"`)
			of, _, _ := strings.Cut(tag, ".")
			if tag == "*" || of == token {
				return true
			}
		}
	}
	return false
}

// seeDocument leads people to a document by its id.
func seeDocument(x *exchange) error {
	repo, err := x.param("repo")
	if err != nil {
		return err
	}
	if err := x.enter(repo); err != nil {
		return err
	}
	id, err := x.param("id")
	if err != nil {
		return err
	}
	place := url.PathEscape(id)
	if x.repo != x.s.Engine.Repo().Name() {
		place = url.PathEscape(x.repo) + "/" + place
	}
	return x.see("/ui/#!/doc/" + place)
}

// download serves a file by its download address.
func download(x *exchange) error {
	id, err := x.param("id")
	if err != nil {
		return err
	}
	tail, err := x.param("tail")
	if err != nil {
		return err
	}
	repo, err := x.param("repo")
	if err != nil {
		return err
	}
	if err := x.enter(repo); err != nil {
		return err
	}
	return x.file(documentAt(id), values{"xpath": tail, "named": true})
}

// blob sends the file at xpath of what input yields.
func (x *exchange) blob(input engine.Lazy, xpath string) error {
	return x.file(input, values{"xpath": xpath})
}

// file sends the file that parameters of Resource.Blob name.
func (x *exchange) file(input engine.Lazy, at values) error {
	var modified time.Time
	var id string
	dated := engine.Lazy(func(c *engine.Ctx) (any, error) {
		v, err := input(c)
		if d, ok := v.(interface{ ID() string }); ok && err == nil {
			id = d.ID()
		}
		if d, ok := v.(interface{ Get(string) (any, error) }); ok && err == nil {
			if t, err := d.Get("dc:modified"); err == nil {
				modified, _ = t.(time.Time)
			}
		}
		return v, err
	})
	call := engine.Call{Op: "Resource.Blob", Input: dated, Params: at}
	return x.run(call, reply{
		status: http.StatusOK, inline: x.flag("inline"), modified: &modified,
		sent: func(name string) { x.noteDownload(id, at, name) },
	})
}

// noteDownload has a download recorded once the answer is on its way. The record is the
// server's, for the key that reads need not allow writing.
func (x *exchange) noteDownload(id string, at values, name string) {
	begins := x.status == http.StatusOK || strings.HasPrefix(x.w.Header().Get("Content-Range"), "bytes 0-")
	if !begins || x.r.Method == http.MethodHead {
		return
	}
	_ = http.NewResponseController(x.w).Flush() // not every connection can
	params := maps.Clone(at)
	params["name"] = name
	as := *x.engine.System()
	as.Actor = x.as.Name
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), noteTime)
	defer cancel()
	_, err := x.engine.Run(ctx, engine.Call{
		Op: "Resource.Downloaded", Input: id, Params: params, As: &as, Door: engine.Server, RequestID: x.id,
	})
	if err != nil {
		x.report(statusOf(err), "download was not recorded", err)
	}
}

// noteTime bounds how long recording a download may take.
const noteTime = 5 * time.Second

// putBlob replaces the file at xpath by the first file of a multipart body, or by the body.
func (x *exchange) putBlob(input engine.Lazy, xpath string) error {
	_, ps, err := x.media()
	if err != nil {
		return err
	}
	_, files, err := x.readParts(ps["boundary"], false)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fault.Invalid.Errorf("body: multipart without a file").WithCode(fault.CodeBodyIncomplete)
	}
	call := engine.Call{Op: "Resource.SetBlob", Input: input, Params: values{"xpath": xpath, "file": files[0]}}
	return x.run(call, reply{status: http.StatusOK, files: files[:1], tagged: true})
}
