// Package document serves documents over HTTP: by path and id, through adapters, in queries and in bulk. An adapter
// is a segment such as @children that changes what an address returns of its document. Uploads and downloads are here
// too, with ranges, conditional requests and resumable chunks.
//
// An address names a document by path or id and may continue with adapters, each of which is a row of the
// table in adapter.go: the adapter takes the document, or the result of the adapter before, and names the
// operation. Conditional requests compare the change token of the document.
package document

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// byPath and byID serve everything at and below a document's address.
func byPath(x *rest.Request) error {
	path, hops, err := rest.SplitHops(x.Segments.Get("doc"))
	if err != nil {
		return err
	}
	return document(x, "/"+strings.Trim(path, "/"), hops)
}

func byID(x *rest.Request) error {
	id, hops, err := identified(x)
	if err != nil {
		return err
	}
	if id == "" || strings.Contains(id, "/") {
		return fault.NotFound.Errorf("%s", cmp.Or(id, x.Segments.Get("id")))
	}
	return document(x, id, hops)
}

// identified takes an address below /id apart.
func identified(x *rest.Request) (id string, hops []rest.Hop, err error) {
	address := x.Segments.Get("id")
	if tail := strings.TrimPrefix(x.Segments.Get("tail"), "/"); tail != "" {
		address += "/" + tail
	}
	id, hops, err = rest.SplitHops(address)
	return strings.Trim(id, "/"), hops, err
}

// named is the document that an address names, before anything is known of it; "" if it is malformed.
func named(x *rest.Request) string {
	if x.Segments.Get("id") != "" {
		id, _, err := identified(x)
		if err != nil {
			return ""
		}
		return id
	}
	path, _, err := rest.SplitHops(x.Segments.Get("doc"))
	if err != nil {
		return ""
	}
	return "/" + strings.Trim(path, "/")
}

// document serves a document or, through its adapters, what they make of it.
func document(x *rest.Request, ref string, hops []rest.Hop) error {
	x.Expect = ref
	input := documentAt(ref)
	if len(hops) == 0 {
		return plain(x, ref, guarded(x, input))
	}
	if err := x.Prove(); err != nil {
		return err
	}
	for _, h := range hops[:len(hops)-1] {
		a, err := findAdapter(x, http.MethodGet, h.Name)
		if err != nil {
			return err
		}
		if input, err = a.after(x, input, h.Args); err != nil {
			return err
		}
	}
	last := hops[len(hops)-1]
	a, err := findAdapter(x, x.HTTP.Method, last.Name)
	if err != nil {
		return err
	}
	x.Body = a.body
	if a.whole != nil {
		return a.whole(x, ref, input, hops)
	}
	return a.serve(x, input, last.Args)
}

// documentAt is the document with a path or an id as the input of a call.
func documentAt(ref string) engine.Lazy {
	return func(c *engine.Ctx) (any, error) { return c.Convert(ref, "document") }
}

// plain serves the document itself.
func plain(x *rest.Request, ref string, input engine.Lazy) error {
	switch x.HTTP.Method {
	case http.MethodPost:
		return runEntity(x, engine.Call{Op: "Resource.Create", Input: input}, http.StatusCreated, "document")
	case http.MethodPut:
		return runEntity(x, engine.Call{Op: "Resource.Update", Input: input}, http.StatusOK, "document")
	case http.MethodDelete:
		return x.Run(engine.Call{Op: "Resource.Delete", Input: input}, rest.Reply{Status: http.StatusNoContent})
	}
	return x.Run(engine.Call{Op: "Repository.GetDocument", Params: rest.Values{"value": ref}}, rest.Reply{Status: http.StatusOK, Tagged: true})
}

// runEntity runs an operation on the entity in the body, which becomes one of its parameters.
// Headers that say how to save go along.
func runEntity(x *rest.Request, call engine.Call, status int, name string) error {
	body, err := x.ReadJSON()
	if err != nil {
		return err
	}
	p := make(rest.RawParams, 0, len(body)+256).Add(name, body).Text("base", x.Base())
	for _, h := range saveHeaders {
		if v := x.HTTP.Header.Get(h.header); v != "" {
			p = p.Text(h.param, v)
		}
	}
	call.RawParams = p.Close()
	return x.Run(call, rest.Reply{Status: status, Body: body, Tagged: true})
}

// saveHeaders are the headers that become parameters of operations that save.
var saveHeaders = []struct{ header, param string }{
	{"Source", "source"},
	{"Update-Comment", "comment"},
	{"X-Versioning-Option", "versioning"},
}

// guarded checks the condition of a writing request, in the transaction that writes.
func guarded(x *rest.Request, input engine.Lazy) engine.Lazy {
	want := x.HTTP.Header.Values("If-Match")
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
			return nil, fault.Conflict.Errorf("document has changed: no entity tag of If-Match matches").WithCode(fault.CodePreconditionFailed)
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

// SeeDocument leads people to a document by its id.
func SeeDocument(x *rest.Request) error {
	repo, err := x.Param("repo")
	if err != nil {
		return err
	}
	if err := x.Enter(repo); err != nil {
		return err
	}
	id, err := x.Param("id")
	if err != nil {
		return err
	}
	ref := url.PathEscape(id)
	if x.Repo != x.Server.Engine.Repo().Name() {
		ref = url.PathEscape(x.Repo) + "/" + ref
	}
	return x.See(x.Home() + "#!/doc/" + ref)
}

// SeePath leads people to a document by its path, behind which the name of a view may stand: "/a/b@view_documents". Anyone who
// has not signed in does that first.
func SeePath(x *rest.Request) error {
	repo, err := x.Param("repo")
	if err != nil {
		return err
	}
	at, err := x.Param("path")
	if err != nil {
		return err
	}
	if i := strings.LastIndexByte(at, '@'); i > strings.LastIndexByte(at, '/') {
		at = at[:i]
	}
	if x.Guest() {
		return x.See("/login.jsp?requestedUrl=" + url.QueryEscape(x.HTTP.URL.RequestURI()))
	}
	if err := x.Enter(repo); err != nil {
		return err
	}
	res, err := x.Engine.Run(x.HTTP.Context(), engine.Call{
		Op: "Repository.GetDocument", Params: rest.Values{"value": "/" + strings.Trim(at, "/")}, As: x.As, EntryPoint: x.EntryPoint(), RequestID: x.ID,
	})
	if err != nil {
		return err
	}
	d, ok := res.Value.(interface{ ID() string })
	if !ok {
		return fault.NotFound.Errorf("%s", at)
	}
	return x.See(x.Home() + "#!/doc/" + url.PathEscape(d.ID()))
}

// Download serves a file by its download address.
func Download(x *rest.Request) error {
	id, err := x.Param("id")
	if err != nil {
		return err
	}
	tail, err := x.Param("tail")
	if err != nil {
		return err
	}
	repo, err := x.Param("repo")
	if err != nil {
		return err
	}
	if err := x.Enter(repo); err != nil {
		return err
	}
	return file(x, documentAt(id), rest.Values{"xpath": tail, "named": true})
}

// blob sends the file at xpath of what input yields.
func blob(x *rest.Request, input engine.Lazy, xpath string) error {
	return file(x, input, rest.Values{"xpath": xpath})
}

// file sends the file that parameters of Resource.Blob name.
func file(x *rest.Request, input engine.Lazy, at rest.Values) error {
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
	return x.Run(call, rest.Reply{
		Status: http.StatusOK, Inline: x.Flag("inline"), Modified: &modified,
		Sent: func(name string) { noteDownload(x, id, at, name) },
	})
}

// noteDownload has a download or a preview recorded once the answer is on its way. The record is the
// server's, for the key that reads need not allow writing.
func noteDownload(x *rest.Request, id string, at rest.Values, name string) {
	begins := x.Status == http.StatusOK || strings.HasPrefix(x.Writer.Header().Get("Content-Range"), "bytes 0-")
	if !begins || x.HTTP.Method == http.MethodHead {
		return
	}
	_ = http.NewResponseController(x.Writer).Flush() // not every connection can
	params := maps.Clone(at)
	params["name"] = name
	if reason := x.Query().Get("clientReason"); reason != "" && len(reason) <= maxReason {
		params["clientReason"] = reason
	}
	as := *x.Engine.System()
	as.Actor = x.As.Name
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.HTTP.Context()), noteTime)
	defer cancel()
	_, err := x.Engine.Run(ctx, engine.Call{
		Op: "Resource.Downloaded", Input: id, Params: params, As: &as, EntryPoint: engine.Server, RequestID: x.ID,
	})
	if err != nil {
		x.Report(rest.StatusOf(err), "download was not recorded", err)
	}
}

// maxReason bounds, in bytes, what a client may say that it downloads a file for.
const maxReason = 100

// noteTime bounds how long recording a download may take.
const noteTime = 5 * time.Second

// putBlob replaces the file at xpath by the first file of a multipart body, or by the body.
func putBlob(x *rest.Request, input engine.Lazy, xpath string) error {
	_, ps, err := x.Media()
	if err != nil {
		return err
	}
	_, files, err := x.ReadParts(ps["boundary"], false)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fault.Invalid.Errorf("body: multipart contains no file").WithCode(fault.CodeBodyIncomplete)
	}
	call := engine.Call{Op: "Resource.SetBlob", Input: input, Params: rest.Values{"xpath": xpath, "file": files[0]}}
	return x.Run(call, rest.Reply{Status: http.StatusOK, Files: files[:1], Tagged: true})
}

// Routes are the addresses of documents and of what works on them.
func Routes() []rest.Route {
	return slices.Concat(resourceRoutes(), bulkRoutes(), searchRoutes(), uploadRoutes(), workflowRoutes())
}

// resourceRoutes are the addresses of documents; what follows one is cut off in the handler.
func resourceRoutes() []rest.Route {
	var out []rest.Route
	for _, at := range []rest.Route{
		{Method: "GET", Op: "Repository.GetDocument"},
		{Method: "POST", Op: "Resource.Create", Entity: "document", Status: http.StatusCreated},
		{Method: "PUT", Op: "Resource.Update", Entity: "document"},
		{Method: "DELETE", Op: "Resource.Delete"},
	} {
		if at.Method == http.MethodGet {
			at.Names = named
		} else {
			at.Proves = true
		}
		of := func(path string, handle rest.HandlerFunc, parts ...rest.Route) {
			r := at
			r.Path, r.Handle, r.Parts, r.Batch = path, handle, parts, true
			out = append(out, r)
		}
		single := at
		single.Path = "/path/:doc"
		of("/id/:id", byID)
		of("/id/:id/*tail", byID, adaptersOf(at.Method, "/id/:id")...)
		of("/path", byPath)
		of("/path/*doc", byPath, append(adaptersOf(at.Method, "/path/:doc"), single)...)
	}
	return out
}
