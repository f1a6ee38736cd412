package document

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// comments serves @comment and @annotation: the list without more, one comment by its id, or
// by the one another system gave it.
func comments(annotation bool) func(x *rest.Request, in engine.Lazy, args string) error {
	return func(x *rest.Request, in engine.Lazy, args string) error {
		word := "comment"
		if annotation {
			word = "annotation"
		}
		p := rest.RawParams(nil).Add("annotation", truth(annotation))
		if summary := x.Options().Fetch[word]; x.Reads() && slices.Contains(summary, "repliesSummary") {
			p = p.Add("repliesSummary", truth(true))
		}
		switch foreign, external := strings.CutPrefix(args, "external/"); {
		case args == "":
			return allComments(x, in, p)
		case annotation && args == "comments":
			return repliesTo(x, in)
		case external:
			p = p.Text("entityId", foreign)
		default:
			p = p.Text("id", args)
		}
		return serveComment(x, in, p)
	}
}

func truth(v bool) json.RawMessage {
	if v {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

// allComments lists comments or adds one.
func allComments(x *rest.Request, in engine.Lazy, p rest.RawParams) error {
	switch x.HTTP.Method {
	case http.MethodPost:
		body, err := x.ReadJSON()
		if err != nil {
			return err
		}
		call := engine.Call{Op: "Comment.Create", Input: in, RawParams: p.Add("comment", body).Close()}
		return x.Run(call, rest.Reply{Status: http.StatusCreated, Body: body, Bare: true})
	case http.MethodPut, http.MethodDelete:
		return notAllowed(x, "GET, POST")
	}
	for _, name := range [...]string{"pageSize", "currentPageIndex", "xpath"} {
		if v := x.Query().Get(name); v != "" {
			p = p.Text(name, v)
		}
	}
	return x.Run(engine.Call{Op: "Comment.List", Input: in, RawParams: p.Close()}, rest.Reply{Status: http.StatusOK, Bare: true})
}

// repliesTo lists the replies to annotations of a document, which the body or the query names.
func repliesTo(x *rest.Request, in engine.Lazy) error {
	ids := x.Query()["annotationIds"]
	switch x.HTTP.Method {
	case http.MethodPost:
		body, err := x.ReadJSON()
		if err != nil {
			return err
		}
		if err := json.Unmarshal(body, &ids); err != nil {
			return fault.Invalid.Errorf("body: must be a list of annotation ids")
		}
	case http.MethodPut, http.MethodDelete:
		return notAllowed(x, "GET, POST")
	}
	if len(ids) == 0 {
		return fault.Invalid.Errorf("annotationIds: must not be empty").In("annotationIds")
	}
	return x.Run(engine.Call{Op: "Comment.List", Input: in, Params: rest.Values{"under": ids}}, rest.Reply{Status: http.StatusOK, Bare: true})
}

// serveComment reads, changes or deletes a comment.
func serveComment(x *rest.Request, in engine.Lazy, p rest.RawParams) error {
	switch x.HTTP.Method {
	case http.MethodPut:
		body, err := x.ReadJSON()
		if err != nil {
			return err
		}
		call := engine.Call{Op: "Comment.Update", Input: in, RawParams: p.Add("comment", body).Close()}
		return x.Run(call, rest.Reply{Status: http.StatusOK, Body: body, Bare: true})
	case http.MethodDelete:
		return x.Run(engine.Call{Op: "Comment.Delete", Input: in, RawParams: p.Close()}, rest.Reply{Status: http.StatusNoContent})
	case http.MethodPost:
		return notAllowed(x, "GET, PUT, DELETE")
	}
	return x.Run(engine.Call{Op: "Comment.Read", Input: in, RawParams: p.Close()}, rest.Reply{Status: http.StatusOK, Bare: true})
}

// notAllowed answers that a method is not for this address.
func notAllowed(x *rest.Request, allow string) error {
	x.Writer.Header().Set("Allow", allow)
	return fault.Invalid.Errorf("method %s is not allowed here", x.HTTP.Method).WithCode(fault.CodeMethodNotAllowed)
}
