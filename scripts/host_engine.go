package scripts

import (
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"catena/engine"
	"catena/storage/fault"
	"catena/storage/people"
)

// engineHost is the host of a script that runs within a call of the engine. The
// engine decides what a script may call, from the Script entry point.
type engineHost struct {
	c    *engine.Ctx
	r    *Runner
	file string
}

// finalError ends the script whatever it says about it: the call's own limits, its
// cancellation, and the exit of a chain.
type finalError struct{ error }

// Unwrap returns what ends the script.
func (e finalError) Unwrap() error { return e.error }

func (h *engineHost) call(op string, in any, params map[string]any, line int) (any, error) {
	v, _, err := h.prepare(op, in, params, line)
	return v, err
}

func (h *engineHost) unmade(calls []engine.StepTrace) { h.c.Unmade(calls) }

func (h *engineHost) prepare(op string, in any, params map[string]any, line int) (v any, s engine.StepTrace, err error) {
	c := h.c
	// Traces and errors of the engine show the line of the script that called.
	c.Line(line)
	input, err := h.back(in)
	if err != nil {
		return nil, s, err
	}
	args, err := h.backMap(params)
	if err != nil {
		return nil, s, err
	}
	// What a script may call is decided by the entry point, whatever called the script.
	entryPoint := c.EntryPoint
	c.EntryPoint = engine.Script
	v, s, err = c.CallStep(op, input, args)
	c.EntryPoint = entryPoint
	if err != nil {
		if engine.Ends(err) {
			return nil, s, finalError{err}
		}
		return nil, s, err
	}
	v, err = h.out(v)
	return v, s, err
}

func (h *engineHost) helper(name string, args []any) (any, error) {
	in := make([]any, len(args))
	for i, a := range args {
		v, err := h.back(a)
		if err != nil {
			return nil, err
		}
		in[i] = v
	}
	v, err := h.c.Helper(name, in)
	if err != nil {
		return nil, err
	}
	return h.out(v)
}

const chainParameters = "ChainParameters"

func (h *engineHost) variable(name string) (any, bool, error) {
	v, ok := h.c.Vars[name]
	if name == chainParameters {
		v, ok = h.c.ChainParameters(), true
	}
	if !ok {
		return nil, false, nil
	}
	// It is worked out once; the value then takes its place.
	if lazy, is := v.(engine.Lazy); is {
		var err error
		if v, err = lazy(h.c); err != nil {
			return nil, false, err
		}
		h.c.Vars[name] = v
	}
	v, err := h.out(v)
	return v, err == nil, err
}

func (h *engineHost) variables() ([]string, error) {
	return slices.Sorted(maps.Keys(h.c.Vars)), nil
}

func (h *engineHost) setVariable(name string, v any) error {
	if name == chainParameters {
		return reservedVariable(name)
	}
	if _, gone := v.(absent); gone {
		delete(h.c.Vars, name)
		return nil
	}
	x, err := h.back(v)
	if err != nil {
		return err
	}
	h.c.SetVar(name, x)
	return nil
}

func (h *engineHost) user() (map[string]any, error) {
	p := h.c.As
	groups := make([]any, len(p.Groups))
	for i, g := range p.Groups {
		groups[i] = g
	}
	u := map[string]any{
		"name": p.Name, "groups": groups, "allGroups": groups, "actingUser": p.Name,
		"originatingUser": cmp.Or(p.Actor, p.Name), "administrator": p.Admin || p.System,
		// Members without a value are null and not missing, so that scripts can test them in the same way.
		"firstName": nil, "lastName": nil, "email": nil, "company": nil,
	}
	if h.c.Tx == nil {
		return u, nil
	}
	record, err := people.Lookup(h.c.Tx, p.Name)
	if err != nil {
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
			return u, nil
		}
		return nil, err
	}
	u["firstName"], u["lastName"], u["email"], u["company"] = record.FirstName, record.LastName, record.Email, record.Company
	return u, nil
}

func (h *engineHost) now() time.Time { return h.c.Now }

func (h *engineHost) log(level, text string) {
	h.c.Printed(level + ": " + text)
	log := h.c.Log
	if log == nil {
		log = h.r.log
	}
	l := slog.LevelInfo
	switch level {
	case "debug", "trace":
		l = slog.LevelDebug
	case "warn":
		l = slog.LevelWarn
	case "error":
		l = slog.LevelError
	}
	log.Log(h.c, l, text, "script", h.file)
}

// out makes a value of the engine one that crosses.
func (h *engineHost) out(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int64, float64, time.Time:
		return v, nil
	case engine.Void:
		return nil, nil
	case *engine.Doc:
		if v == nil {
			return nil, nil
		}
		return engineDoc{h, v}, nil
	case engine.Docs:
		return h.documents(v), nil
	case *engine.Page:
		if v == nil {
			return nil, nil
		}
		return h.documents(v.Docs), nil
	case *engine.Blob:
		if v == nil {
			return nil, nil
		}
		return engineFile{v}, nil
	case engine.Blobs:
		out := make(list, len(v))
		for i, b := range v {
			out[i] = engineFile{b}
		}
		return out, nil
	case []any:
		return h.outList(v)
	case map[string]any:
		return h.outMap(v)
	case engine.Props:
		return h.outMap(v)
	}
	return h.outRare(v)
}

func (h *engineHost) documents(docs engine.Docs) list {
	// A page comes as its documents; what else it says (its number, the total) scripts do not see.
	out := make(list, len(docs))
	for i, d := range docs {
		out[i] = engineDoc{h, d}
	}
	return out
}

func (h *engineHost) outList(v []any) (any, error) {
	out := make([]any, len(v))
	// An empty list could be of anything, so it stays a plain one.
	handles := len(v) > 0
	for i, x := range v {
		var err error
		if out[i], err = h.out(x); err != nil {
			return nil, err
		}
		handles = handles && isHandle(out[i])
	}
	if handles {
		return list(out), nil
	}
	return out, nil
}

// isHandle tells what has size() and get(i) in lists: scripts of the
// older platform expect them of documents and files.
func isHandle(v any) bool {
	switch v.(type) {
	case engineDoc, engineFile:
		return true
	}
	return false
}

func (h *engineHost) outMap(v map[string]any) (any, error) {
	out := make(map[string]any, len(v))
	for k, x := range v {
		var err error
		if out[k], err = h.out(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// outRare converts what few operations return. Anything unknown is passed as its JSON.
func (h *engineHost) outRare(v any) (any, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case []string:
		return engine.List(v), nil
	case engine.Ref:
		return string(v), nil
	case engine.Refs:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = string(s)
		}
		return out, nil
	case engine.Value:
		return h.out(v.V)
	case engine.Lazy:
		x, err := v(h.c)
		if err != nil {
			return nil, err
		}
		return h.out(x)
	case *engine.Rows:
		out := make([]any, len(v.Entries))
		for i, e := range v.Entries {
			m, err := h.outMap(e)
			if err != nil {
				return nil, err
			}
			out[i] = m
		}
		return out, nil
	case json.RawMessage:
		return decodeJSON(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Internal.Errorf("script: a %T cannot be passed to a script: %w", v, err)
	}
	return decodeJSON(raw)
}

// back makes a value that crosses one of the engine: lists of documents and of files get
// their types from their elements. What crosses is a copy already, and is changed in place.
func (h *engineHost) back(v any) (any, error) {
	switch v := v.(type) {
	case engineDoc:
		return v.d, nil
	case engineFile:
		return v.b, nil
	case list:
		return h.backList(v)
	case []any:
		return h.backList(v)
	case map[string]any:
		return h.backMap(v)
	case absent:
		return nil, nil
	}
	return v, nil
}

func (h *engineHost) backMap(v map[string]any) (map[string]any, error) {
	for k, x := range v {
		switch x.(type) {
		case nil, bool, int64, float64, string, time.Time:
			continue
		}
		var err error
		if v[k], err = h.back(x); err != nil {
			return nil, err
		}
	}
	return v, nil
}

var errMixed = errors.New("a list of documents or files contains other values")

// allOf makes a list of handles a list of what they are handles of.
func allOf[L ~[]T, H, T any](handles []any, of func(H) T) (L, error) {
	out := make(L, len(handles))
	for i, x := range handles {
		h, ok := x.(H)
		if !ok {
			return nil, fault.Invalid.Errorf("script: %w", errMixed).WithCode(fault.CodeScriptValue)
		}
		out[i] = of(h)
	}
	return out, nil
}

func (h *engineHost) backList(v []any) (any, error) {
	if len(v) > 0 {
		// The first item decides: a list of documents or files must hold nothing else.
		switch v[0].(type) {
		case engineDoc:
			return allOf[engine.Docs](v, func(d engineDoc) *engine.Doc { return d.d })
		case engineFile:
			return allOf[engine.Blobs](v, func(b engineFile) *engine.Blob { return b.b })
		}
	}
	for i, x := range v {
		var err error
		if v[i], err = h.back(x); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// engineDoc is a document of the call's transaction.
type engineDoc struct {
	h *engineHost
	d *engine.Doc
}

func (d engineDoc) key() any { return d.d }

func (d engineDoc) fields(w *writer) error { //nolint:unparam // a document of a test may fail
	doc := d.d
	for _, s := range [...]string{doc.ID(), doc.Name(), doc.Path(), doc.Title(), doc.Type().Name, doc.State()} {
		w.text(s)
	}
	w.byte(tagArray)
	shared, own := doc.Type().Facets, doc.OwnFacets()
	w.uint(uint64(len(shared) + len(own)))
	for _, s := range shared {
		w.text(s)
	}
	for _, s := range own {
		w.text(s)
	}
	w.byte(tagArray)
	schemas := doc.Schemas()
	w.uint(uint64(len(schemas)))
	for _, s := range schemas {
		w.text(s.Name)
	}
	for _, s := range [...]string{doc.ParentID(), doc.VersionLabel(), doc.ChangeToken(), doc.Repository()} {
		w.text(s)
	}
	owner, since, locked := doc.Locked()
	for _, is := range [...]bool{doc.IsFolder(), doc.IsVersion(), doc.IsProxy(), doc.IsTrashed(), doc.IsCheckedOut(), locked} {
		w.truth(is)
	}
	if !locked {
		w.b = append(w.b, tagNil, tagNil)
		return nil
	}
	w.text(owner)
	w.byte(tagTime)
	w.int(since.UnixMilli())
	return nil
}

func (d engineDoc) get(xpath string) (any, error) {
	v, err := d.d.Get(xpath)
	if err != nil {
		return nil, err
	}
	return d.h.out(v)
}

func (d engineDoc) set(xpath string, v any) error {
	x, err := d.h.back(v)
	if err != nil {
		return err
	}
	return d.d.Set(xpath, x)
}

func (d engineDoc) json(dst []byte) ([]byte, error) { //nolint:unparam // a worker's document may fail
	b := append(dst, '{')
	b = d.d.AppendProperties(b, nil, func(dst []byte, _ string, _ *engine.Blob) []byte { return dst })
	return append(b, '}'), nil
}

// engineFile is a file's content.
type engineFile struct{ b *engine.Blob }

func (f engineFile) key() any { return f.b }

func (f engineFile) info() fileInfo {
	return fileInfo{name: f.b.Name, typ: f.b.Type, encoding: f.b.Encoding, digest: f.b.Digest, size: f.b.Size}
}

func (f engineFile) text(max int) (string, error) {
	b, err := f.b.Bytes(int64(max))
	return string(b), err
}
