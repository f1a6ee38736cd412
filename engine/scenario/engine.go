package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
)

// Base is the address of the server in what entry points answer.
const Base = "http://localhost:8080/nuxeo"

// Engine returns the entry point that calls the engine itself, with the rights of a request.
func Engine(e *engine.Engine) EntryPoint { return &direct{e} }

type direct struct{ e *engine.Engine }

func (d *direct) Run(ctx context.Context, user string, c Command) Outcome {
	as, err := d.e.PrincipalOf(ctx, user)
	if err != nil {
		return d.failed(err)
	}
	call := engine.Call{Op: c.Op, RawParams: c.Params, As: as, EntryPoint: engine.REST, DryRun: c.DryRun, Encode: write}
	call.Input = Input(c)
	if call.Vars, err = variables(c.Vars); err != nil {
		return d.failed(err)
	}
	res, err := d.e.Run(ctx, call)
	if err != nil {
		return d.failed(err)
	}
	return outcome(res)
}

func (d *direct) failed(err error) Outcome {
	text := Cause(err.Error(), func(name string) bool { _, ok := d.e.Set().Op(name); return ok })
	f := &Failure{Kinds: []string{fault.Of(err).String()}, Message: text}
	for inner := err; ; {
		var e *engine.Error
		if !errors.As(inner, &e) {
			break
		}
		f.Op, inner = e.Op, e.Err
	}
	var e *fault.Error
	if errors.As(err, &e) {
		f.Field = e.Field
	}
	return Outcome{Failure: f}
}

// Input is what the command gives to the operation.
func Input(c Command) any {
	blobs := make(engine.Blobs, len(c.Files))
	for i, f := range c.Files {
		blobs[i] = engine.NewBlob(f.Name, f.Type, f.Data)
	}
	switch {
	case len(blobs) > 1:
		return blobs
	case len(blobs) == 1:
		return blobs[0]
	case c.Input == nil:
		return nil
	}
	raw := c.Input
	return engine.Lazy(func(c *engine.Ctx) (any, error) { return entity.Decode(c, raw) })
}

// variables reads the context: what may name documents is found inside the transaction.
func variables(raw json.RawMessage) (map[string]any, error) {
	if raw == nil {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	vars := map[string]any{}
	for name, value := range members {
		if value[0] == '{' || value[0] == '[' || bytes.HasPrefix(value, []byte(`"doc`)) {
			vars[name] = engine.Lazy(func(c *engine.Ctx) (any, error) { return entity.Decode(c, value) })
			continue
		}
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			return nil, err
		}
		vars[name] = v
	}
	return vars, nil
}

// write encodes an answer inside the transaction. Files are taken as they are.
func write(c *engine.Ctx, v any) ([]byte, error) {
	switch v.(type) {
	case nil, *engine.Blob, engine.Blobs:
		return nil, nil
	}
	return entity.Append(nil, c, v, &entity.Options{
		Base: Base, Properties: []string{"*"}, Fetch: map[string][]string{"document": {"lock"}},
	})
}

// outcome reads the result of a call.
func outcome(res *engine.Result) Outcome {
	out := Outcome{Changes: changes(res)}
	switch v := res.Value.(type) {
	case *engine.Blob:
		if v != nil {
			out.Files = []*File{fileOf(v)}
		}
		return out
	case engine.Blobs:
		out.List = true
		for _, b := range v {
			out.Files = append(out.Files, fileOf(b))
		}
		return out
	}
	if len(res.Body) > 0 {
		v, err := decode(res.Body)
		if err != nil {
			v = fmt.Sprintf("no JSON: %v: %s", err, res.Body)
		}
		out.Wire = v
	}
	return out
}

func changes(res *engine.Result) any {
	v, err := decode(encode(res.Changes))
	if err != nil {
		return err.Error()
	}
	return v
}

func fileOf(b *engine.Blob) *File {
	data, err := b.Bytes(10 << 20)
	if err != nil {
		return &File{Name: b.Name, Type: err.Error()}
	}
	return Received(b.Name, b.Type, data)
}
