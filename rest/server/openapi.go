package server

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"catena/engine"
	"catena/engine/entity"
	"catena/engine/lines"
	"catena/engine/openapi"
	"catena/rest"
	"catena/rest/people"
)

// openAPIPath is where the description of the platform's addresses is, below /api/v1.
const openAPIPath = "/openapi.json"

// Described are the rows that the description describes, with the whole of their paths; those of
// pages and of the deck service are left to themselves.
func Described() (out []rest.Route) {
	add := func(prefix string, rows []rest.Route) {
		for _, r := range rows {
			parts := r.Parts
			if parts == nil {
				parts = []rest.Route{r}
			}
			for _, p := range parts {
				p.Method, p.Access, p.Path = r.Method, r.Access, prefix+p.Path
				out = append(out, p)
			}
		}
	}
	add("/api/v1", apiRoutes())
	add("", append(people.OAuthRoutes(), serverRoutes()...))
	return out
}

// platformAPI describes the platform's addresses (OpenAPI 3.1): those of the tables, and each operation that
// the caller may run.
func platformAPI(x *rest.Request) error {
	d := describer{set: x.Engine.Set(), paths: map[string]any{}, schemas: openapi.Forms()}
	for _, r := range Described() {
		d.address(&r)
	}
	if x.As != nil && !x.Guest() {
		for _, name := range d.set.Names() {
			if d.set.Allowed(name, x.As, x.EntryPoint()) {
				d.operation(name)
			}
		}
	}
	return x.Described(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "catena", "version": cmp.Or(x.Server.Version, "1"),
			"license": map[string]any{"name": "Apache License 2.0", "identifier": "Apache-2.0"},
			"description": "Documents and related resources. Everything below /api/v1 is also below /api/v1/repo/{repository}, and all of it below the context path." +
				" A {doc} is a path and may contain slashes. With credentials, the description includes the operations that the caller may run." +
				" Schemas list the members that are always present; unless they exclude others, more may be present.",
		},
		"servers":  []any{map[string]any{"url": x.Base()}},
		"security": []any{map[string]any{"password": []any{}}, map[string]any{"key": []any{}}, map[string]any{"token": []any{}}},
		"paths":    d.paths,
		"components": map[string]any{
			"schemas": d.used(),
			"securitySchemes": map[string]any{
				"password": map[string]any{"type": "http", "scheme": "basic"},
				"key":      map[string]any{"type": "http", "scheme": "bearer"},
				"token":    map[string]any{"type": "apiKey", "in": "header", "name": "X-Authentication-Token"},
			},
		},
	})
}

// entitySchemas are the schemas of the entities in bodies, by the parameter they become.
var entitySchemas = map[string]string{
	"batch": "BatchInput", "comment": "CommentInput", "document": "DocumentInput", "entry": "DirectoryEntryInput", "group": "GroupInput",
	"search": "SavedSearchInput", "state": "UISession", "task": "TaskInput", "user": "UserInput", "workflow": "WorkflowInput",
}

// describer collects the description of addresses.
type describer struct {
	set     *engine.Set
	paths   map[string]any
	schemas map[string]any // that references lead to
}

// put adds what is said of a method at a path.
func (d *describer) put(method, path string, says map[string]any) {
	at, _ := d.paths[path].(map[string]any)
	if at == nil {
		at = map[string]any{}
		d.paths[path] = at
	}
	at[strings.ToLower(method)] = says
}

// address describes a row.
func (d *describer) address(r *rest.Route) {
	op, _ := d.set.Op(r.Op)
	path, names := template(r.Path)
	says := map[string]any{"operationId": identifier(r.Method, path), "summary": r.Says, "tags": []any{tag(path)}}
	if op != nil {
		says["summary"] = cmp.Or(r.Says, op.Label)
		says["description"] = op.Doc
	}
	var params []any
	for _, name := range names {
		params = append(params, openapi.Parameter("path", name, openapi.Type("string")))
	}
	for name := range strings.FieldsSeq(r.Query) {
		params = append(params, openapi.Parameter("query", name, parameterSchema(op, name)))
	}
	params = append(params, controlsOf(r)...)
	if params != nil {
		says["parameters"] = params
	}
	if body := requestBody(r, op, names); body != nil {
		says["requestBody"] = body
	}
	if r.Access != rest.SignedIn {
		says["security"] = []any{}
	}
	says["responses"] = responses(r, d.answer(r, op))
	d.put(r.Method, path, says)
}

// operation describes the calls of an operation, at an address of its own.
func (d *describer) operation(name string) {
	op, _ := d.set.Op(name)
	call := openapi.Object()
	call["properties"] = map[string]any{"input": inputSchema(op), "params": op.Schema(), "context": openapi.Type("object")}
	if slices.ContainsFunc(op.Params(), func(p engine.Param) bool { return p.Required }) {
		call["required"] = []any{"params"}
	}
	at := "/api/v1/automation/" + url.PathEscape(name)
	content := openapi.JSON(call)
	if takesFile(op) {
		content["multipart/related"] = map[string]any{"schema": openapi.Type("object")}
	}
	says := map[string]any{
		"operationId": name, "summary": op.Label, "description": op.Doc, "tags": []any{op.Category},
		"requestBody": map[string]any{"required": true, "content": content},
		"responses":   responses(&rest.Route{Or: http.StatusNoContent}, d.form(entity.FormOf(op, false))),
	}
	if _, deprecated := op.Deprecated.Day(); deprecated {
		says["deprecated"] = true
	}
	d.put(http.MethodPost, at, says)
}

// template writes a path as OpenAPI does, and names its parts that vary.
func template(path string) (string, []string) {
	var names []string
	parts := strings.Split(path, "/")
	for i, part := range parts {
		at := strings.IndexAny(part, ":*")
		if at < 0 {
			continue
		}
		names = append(names, part[at+1:])
		parts[i] = part[:at] + "{" + part[at+1:] + "}"
	}
	return strings.Join(parts, "/"), names
}

// identifier is a name for an address: get_path_doc_children.
func identifier(method, path string) string {
	below, ok := rest.Under(path, "/api/v1")
	if !ok {
		below = path
	}
	words := strings.FieldsFunc(below, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(append([]string{strings.ToLower(method)}, words...), "_")
}

// tag is the part of the platform that a path belongs to.
func tag(path string) string {
	below, _ := rest.Under(path, "/api/v1")
	first, _, _ := strings.Cut(strings.Trim(cmp.Or(below, path), "/"), "/")
	switch first {
	case "id", "path", "@emptyWithDefault":
		return "documents"
	case "@op":
		return "automation"
	}
	return first
}

// parameterSchema is the schema of a parameter in a query, which names one of the operation's.
func parameterSchema(op *engine.Def, name string) any {
	if op != nil {
		if s, ok := op.Schema().Properties.Get(name); ok {
			return s
		}
	}
	return openapi.Type("string")
}

// controlsOf are the headers and flags that a request may have besides.
func controlsOf(r *rest.Route) (out []any) {
	header := func(name, says string) {
		p := openapi.Parameter("header", name, openapi.Type("string"))
		p["description"] = says
		out = append(out, p)
	}
	if r.Op != "" {
		header("properties", "Schemas whose properties to include in documents, separated by commas; * for all.")
		header("enrichers.document", "Additional information to include in documents, separated by commas.")
		header("fetch.document", "Properties whose references to resolve, separated by commas.")
	}
	switch r.Method {
	case http.MethodPost:
		header("Idempotency-Key", "A request with the key of an earlier one is not executed again; it gets the same response.")
	case http.MethodPut, http.MethodDelete:
		if strings.HasSuffix(r.Path, "/id/:id") || strings.HasSuffix(r.Path, "/path/:doc") {
			header("If-Match", "ETag of the version that may be changed.")
		}
	}
	if r.Op != "" && r.Method != http.MethodGet && !slices.Contains(strings.Fields(r.Query), "dryRun") {
		p := openapi.Parameter("query", "dryRun", openapi.Type("boolean"))
		p["description"] = "Returns the result and the changes, but rolls them back."
		out = append(out, p)
	}
	return out
}

// requestBody describes the body of a request.
func requestBody(r *rest.Route, op *engine.Def, names []string) map[string]any {
	if r.Method == http.MethodGet || r.Method == http.MethodDelete || r.Body == rest.NoBody {
		return nil
	}
	content := map[string]any{}
	switch r.Body {
	case rest.CallBody:
		content = openapi.JSON(openapi.Ref("Call"))
		content["multipart/related"] = map[string]any{"schema": openapi.Type("object")}
		content[rest.MIMEForm] = map[string]any{"schema": openapi.Fields("jsondata", true)}
	case rest.FileBody:
		content["*/*"] = map[string]any{}
	case rest.FormBody:
		content[rest.MIMEForm] = map[string]any{"schema": openapi.Type("object")}
	case rest.LinesBody:
		for typ := range lines.Types {
			content[typ] = map[string]any{"schema": openapi.Type("string")}
		}
	case rest.PartsBody:
		content["multipart/form-data"] = map[string]any{"schema": openapi.Type("object")}
	case rest.JSONBody, rest.PatchBody, rest.PictureBody, rest.SlidesBody, rest.NoBody:
		content = openapi.JSON(bodySchema(r, op, names))
	}
	return map[string]any{"content": content}
}

// bodySchema is the schema of a JSON body.
func bodySchema(r *rest.Route, op *engine.Def, names []string) any {
	switch {
	case r.Entity == "*":
		s := op.Schema()
		for _, name := range names {
			s.Properties.Delete(name)
			s.Required = slices.DeleteFunc(s.Required, func(n string) bool { return n == name })
		}
		return s
	case entitySchemas[r.Entity] != "":
		return openapi.Ref(entitySchemas[r.Entity])
	}
	return openapi.Type("any")
}

// answer describes what a row answers: what it says itself, with bars between several forms, or else what its operation returns.
func (d *describer) answer(r *rest.Route, op *engine.Def) (content map[string]any) {
	if r.Gives == "" && op != nil {
		return d.form(entity.FormOf(op, true))
	}
	if typ, ok := textTypes[r.Gives]; ok {
		return map[string]any{typ: map[string]any{"schema": openapi.Type("string")}}
	}
	var f entity.Form
	for name := range strings.SplitSeq(cmp.Or(r.Gives, "any|file"), "|") {
		switch name {
		case "none":
		case "file":
			f.File = true
		case "any":
			f.Any = true
		default:
			f.Schemas = append(f.Schemas, openapi.Ref(name))
		}
	}
	return d.form(f)
}

// form describes the content of an answer; nil if it has none.
func (d *describer) form(f entity.Form) map[string]any {
	maps.Copy(d.schemas, f.Definitions)
	out := map[string]any{}
	if f.Any {
		f.Schemas = []map[string]any{openapi.Ref("Value")}
	}
	if len(f.Schemas) > 0 {
		out = openapi.JSON(openapi.AnyOf(f.Schemas...))
	}
	if f.File {
		out["*/*"] = map[string]any{"schema": openapi.Ref("File")}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// used are the schemas that what is described refers to, itself or by way of others.
func (d *describer) used() map[string]any {
	out := map[string]any{"Exception": d.schemas["Exception"]}
	for next := any(map[string]any{"paths": d.paths, "schema": d.schemas["Exception"]}); next != nil; {
		found := map[string]any{}
		openapi.Refs(next, func(name string) {
			if out[name] == nil {
				out[name] = d.schemas[name]
				found[name] = d.schemas[name]
			}
		})
		if next = found; len(found) == 0 {
			return out
		}
	}
	return out
}

// responses describes the answers of a row that has a content.
func responses(r *rest.Route, content map[string]any) map[string]any {
	ok := map[string]any{"description": "Done."}
	if content != nil {
		ok["content"] = content
	}
	status := cmp.Or(r.Status, http.StatusOK)
	if content == nil && r.Status == 0 {
		status = http.StatusNoContent
	}
	out := map[string]any{strconv.Itoa(status): ok}
	if r.Or != 0 {
		other := map[string]any{"description": http.StatusText(r.Or) + "."}
		if r.Or != http.StatusNoContent && r.Or != http.StatusSeeOther {
			other["content"] = ok["content"]
		}
		out[strconv.Itoa(r.Or)] = other
	}
	if r.Method == http.MethodGet && status == http.StatusOK {
		out["304"] = map[string]any{"description": "Not changed since the version named by If-None-Match."}
	}
	for _, status := range []string{"4XX", "default"} {
		out[status] = map[string]any{"description": "The error.", "content": openapi.JSON(openapi.Ref("Exception"))}
	}
	return out
}

// textTypes are the media types of results that are text, by what a row says that it gives.
var textTypes = map[string]string{"events": "text/event-stream", "lines": "application/x-ndjson", "page": "text/html", "text": "text/plain"}

// takesFile reports whether an operation takes files for its input.
func takesFile(op *engine.Def) bool {
	sig := op.Signature()
	for i := 0; i < len(sig); i += 2 {
		if sig[i] == "blob" || sig[i] == "bloblist" {
			return true
		}
	}
	return false
}

// inputSchema says what the input of an operation may be.
func inputSchema(op *engine.Def) map[string]any {
	var words []string
	sig := op.Signature()
	for i := 0; i < len(sig); i += 2 {
		if !slices.Contains(words, sig[i]) {
			words = append(words, sig[i])
		}
	}
	return map[string]any{"description": "One of: " + strings.Join(words, ", ") + ". Documents by their path or id, or as entities; files as parts of the body."}
}
