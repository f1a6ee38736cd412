package rest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// comments serves @comment and @annotation: the list without more, one comment by its id, or
// by the one another system gave it.
func comments(annotation bool) func(x *exchange, in engine.Lazy, args string) error {
	return func(x *exchange, in engine.Lazy, args string) error {
		word := "comment"
		if annotation {
			word = "annotation"
		}
		p := rawParams(nil).add("annotation", truth(annotation))
		if summary := x.options().Fetch[word]; x.reads() && slices.Contains(summary, "repliesSummary") {
			p = p.add("repliesSummary", truth(true))
		}
		switch foreign, external := strings.CutPrefix(args, "external/"); {
		case args == "":
			return x.allComments(in, p)
		case annotation && args == "comments":
			return x.repliesTo(in)
		case external:
			p = p.text("entityId", foreign)
		default:
			p = p.text("id", args)
		}
		return x.serveComment(in, p)
	}
}

func truth(v bool) json.RawMessage {
	if v {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

// allComments lists comments or adds one.
func (x *exchange) allComments(in engine.Lazy, p rawParams) error {
	switch x.r.Method {
	case http.MethodPost:
		body, err := x.readJSON()
		if err != nil {
			return err
		}
		call := engine.Call{Op: "Comment.Create", Input: in, RawParams: p.add("comment", body).close()}
		return x.run(call, reply{status: http.StatusCreated, body: body, bare: true})
	case http.MethodPut, http.MethodDelete:
		return notAllowed(x, "GET, POST")
	}
	for _, name := range [...]string{"pageSize", "currentPageIndex", "xpath"} {
		if v := x.query().Get(name); v != "" {
			p = p.text(name, v)
		}
	}
	return x.run(engine.Call{Op: "Comment.List", Input: in, RawParams: p.close()}, reply{status: http.StatusOK, bare: true})
}

// repliesTo lists the replies to annotations of a document, which the body or the query names.
func (x *exchange) repliesTo(in engine.Lazy) error {
	ids := x.query()["annotationIds"]
	switch x.r.Method {
	case http.MethodPost:
		body, err := x.readJSON()
		if err != nil {
			return err
		}
		if err := json.Unmarshal(body, &ids); err != nil {
			return fault.Invalid.Errorf("body: a list of ids of annotations expected")
		}
	case http.MethodPut, http.MethodDelete:
		return notAllowed(x, "GET, POST")
	}
	if len(ids) == 0 {
		return fault.Invalid.Errorf("annotationIds: none given").In("annotationIds")
	}
	return x.run(engine.Call{Op: "Comment.List", Input: in, Params: values{"under": ids}}, reply{status: http.StatusOK, bare: true})
}

// serveComment reads, changes or deletes a comment.
func (x *exchange) serveComment(in engine.Lazy, p rawParams) error {
	switch x.r.Method {
	case http.MethodPut:
		body, err := x.readJSON()
		if err != nil {
			return err
		}
		call := engine.Call{Op: "Comment.Update", Input: in, RawParams: p.add("comment", body).close()}
		return x.run(call, reply{status: http.StatusOK, body: body, bare: true})
	case http.MethodDelete:
		return x.run(engine.Call{Op: "Comment.Delete", Input: in, RawParams: p.close()}, reply{status: http.StatusNoContent})
	case http.MethodPost:
		return notAllowed(x, "GET, PUT, DELETE")
	}
	return x.run(engine.Call{Op: "Comment.Read", Input: in, RawParams: p.close()}, reply{status: http.StatusOK, bare: true})
}

// notAllowed answers that a method is not for this address.
func notAllowed(x *exchange, allow string) error {
	x.w.Header().Set("Allow", allow)
	return fault.Invalid.Errorf("method %s is not allowed here", x.r.Method).WithCode(fault.CodeMethodNotAllowed)
}
