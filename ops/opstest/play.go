package opstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/engine/entity"
	"catena/engine/scenario"
	"catena/storage"
	"catena/storage/fault"
)

// Row is a call and how it must end: user, operation, input, parameters, result.
//
// The user "admin" is Administrator; "" is that of the row before. The input is "" for none, a path, $NAME, @NAME=TEXT
// for a file, or JSON. The parameters are a JSON object, which the context variables may follow as another.
//
// The result of a document is its path, of a file its text, of a list its members with blanks between, of anything else
// its JSON; the end of a line is written ⏎. One that fails is "! KIND CODE FIELD: MESSAGE", in which code and field are
// left out if there are none. "…" stands for any text.
//
// Two words are no operations. "see" reads properties of the input, whose names are the parameters: xpaths, or one of
// the words of facts. "keep" stores the id of the input, or with parameters the part of the row before's JSON that they
// name, or with neither the id of the document that was returned last, as the variable that the result names; $NAME
// stands for it after that, in results too.
type Row = [5]string

// Engine runs operations by name, as clients do, on a fresh repository: alice may do everything in the workspace
// /ws, bob may read it, and neither may read the workspace /private.
type Engine struct {
	*World
	Runner *engine.Engine
	Clock  *scenario.Clock

	user string
	kept []string // NAME, id, …
	last string
	made string // id of the last document that a call returned
}

// Serve makes an engine of families of operations.
func Serve(t testing.TB, families ...[]engine.Op) *Engine {
	t.Helper()
	clock := scenario.NewClock()
	w := populate(t, func(c *storage.Config) { c.Clock, c.NewID = clock.Now, clock.NewID })
	set, err := engine.NewSet(families...)
	if err != nil {
		t.Fatal(err)
	}
	s := &Engine{World: w, Clock: clock, user: "Administrator"}
	s.Runner = engine.New(engine.Config{Repo: w.Repo, Set: set, Log: slog.New(slog.DiscardHandler), Clock: clock.Now, NewID: clock.NewID})
	w.Do("Administrator", func(c *engine.Ctx) error {
		ws := w.Make(c, "/", "Workspace", "ws", nil)
		private := w.Make(c, "/", "Workspace", "private", nil)
		if _, err := c.Tx.SetACL(private, "local", []storage.ACE{{User: "Everyone", Permission: "Everything"}}); err != nil {
			return err
		}
		_, err := c.Tx.SetACL(ws, "local", []storage.ACE{
			{User: "alice", Permission: "Everything", Granted: true}, {User: "bob", Permission: "Read", Granted: true},
		})
		return err
	})
	return s
}

// Play makes the calls, one after the other, and reports each that does not end as its row says. A second passes
// before each.
func (s *Engine) Play(rows []Row) {
	s.t.Helper()
	for i, r := range rows {
		s.Clock.Tick()
		switch {
		case r[0] == "admin":
			s.user = "Administrator"
		case r[0] != "":
			s.user = r[0]
		}
		if r[1] == "keep" {
			s.keep(r)
			continue
		}
		got := s.told(s.call(r))
		if s.last = got; !matches(got, r[4]) {
			s.t.Errorf("row %d, %s: %s %s %s\n got %s\nwant %s", i+1, s.user, r[1], r[2], r[3], got, r[4])
		}
	}
}

// Call runs an operation as one row says and returns what the row would have to say of the result.
func (s *Engine) Call(user, op, input, params string) string {
	s.t.Helper()
	s.Clock.Tick()
	s.user = user
	if user == "admin" {
		s.user = "Administrator"
	}
	s.last = s.told(s.call(Row{user, op, input, params}))
	return s.last
}

// told replaces ids by the names they were kept under.
func (s *Engine) told(text string) string {
	back := slices.Clone(s.kept)
	slices.Reverse(back)
	return strings.NewReplacer(append(back, "\r\n", "⏎", "\n", "⏎")...).Replace(text)
}

func (s *Engine) keep(r Row) {
	s.t.Helper()
	id := ""
	switch {
	case r[2] == "" && r[3] == "":
		id = s.made
	case r[3] == "":
		s.Do(s.user, func(c *engine.Ctx) error { id = s.Doc(c, storage.Ref(s.filled(r[2]))).ID(); return nil })
	default:
		var v any
		if err := json.Unmarshal([]byte(s.last), &v); err != nil {
			s.t.Fatalf("%s: %v", s.last, err)
		}
		for name := range strings.SplitSeq(r[3], ".") {
			id = fmt.Sprint(part(v, name))
			v = part(v, name)
		}
	}
	s.Keep(r[4], id)
}

// Keep has $NAME stand for a text in the rows that follow.
func (s *Engine) Keep(name, text string) { s.kept = append(s.kept, "$"+name, text) }

func part(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[name]
	case []any:
		for i := range v {
			if fmt.Sprint(i) == name {
				return v[i]
			}
		}
	}
	return nil
}

// filled replaces names by the ids that were kept under them.
func (s *Engine) filled(text string) string { return strings.NewReplacer(s.kept...).Replace(text) }

func (s *Engine) call(r Row) string {
	for i := range r[:4] {
		r[i] = s.filled(r[i])
	}
	if r[1] == "see" {
		out := ""
		err := s.Try(s.user, func(c *engine.Ctx) (err error) {
			out, err = facts(c, storage.Ref(r[2]), strings.Fields(r[3]))
			return err
		})
		if err != nil {
			return s.failure(err)
		}
		return out
	}
	ctx := context.Background()
	as, err := s.Runner.PrincipalOf(ctx, s.user)
	if err != nil {
		return s.failure(err)
	}
	call := engine.Call{Op: r[1], As: as, EntryPoint: engine.REST, Input: input(r[2])}
	dec := json.NewDecoder(strings.NewReader(r[3]))
	vars := map[string]json.RawMessage{}
	if err := errors.Join(decode(dec, &call.RawParams), decode(dec, &vars)); err != nil {
		s.t.Fatalf("%s: %v", r[3], err)
	}
	call.Vars = map[string]any{}
	for name, raw := range vars {
		call.Vars[name] = engine.Lazy(func(c *engine.Ctx) (any, error) { return entity.Decode(c, raw) })
	}
	out := ""
	call.Encode = func(c *engine.Ctx, v any) (_ []byte, err error) {
		if d, ok := v.(*storage.Doc); ok && d != nil {
			s.made = d.ID()
		}
		out, err = shown(c, v)
		return nil, err
	}
	if _, err := s.Runner.Run(ctx, call); err != nil {
		return s.failure(err)
	}
	return out
}

func decode(dec *json.Decoder, v any) error {
	if err := dec.Decode(v); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func input(text string) any {
	if name, data, ok := strings.Cut(text, "="); ok && strings.HasPrefix(name, "@") {
		f := scenario.NewFile(name[1:], []byte(data))
		return engine.NewBlob(f.Name, f.Type, f.Data)
	}
	switch {
	case text == "":
		return nil
	case strings.ContainsAny(text[:1], `{["`):
		return engine.Lazy(func(c *engine.Ctx) (any, error) { return entity.Decode(c, json.RawMessage(text)) })
	}
	return engine.Lazy(func(c *engine.Ctx) (any, error) { return c.Tx.Doc(storage.Ref(text)) })
}

// failure is an error as rows write it.
func (s *Engine) failure(err error) string {
	out := "! " + fault.Of(err).String()
	if code := fault.CodeOf(err); code != 0 {
		out += " " + code.String()
	}
	if e := (*fault.Error)(nil); errors.As(err, &e) && e.Field != "" {
		out += " " + e.Field
	}
	text := err.Error()
	// The operations in front are those that the row names.
	for {
		front, rest, ok := strings.Cut(text, ": ")
		if _, op := s.Runner.Set().Op(front); !ok || !op {
			return out + ": " + text
		}
		text = rest
	}
}

// shown is a value as rows write it.
func shown(c *engine.Ctx, v any) (string, error) {
	switch v := v.(type) {
	case nil, engine.Void:
		return "", nil
	case *storage.Doc:
		if v == nil {
			return "", nil
		}
		return v.Path(), nil
	case storage.Docs:
		return joined(len(v), func(i int) (string, error) { return v[i].Path(), nil })
	case *storage.Page:
		return shown(c, v.Docs)
	case *engine.Blob:
		if v == nil {
			return "", nil
		}
		data, err := v.Bytes(10 << 20)
		return string(data), err
	case engine.Blobs:
		return joined(len(v), func(i int) (string, error) { return shown(c, v[i]) })
	case bool, float64, int, int64, string:
		return fmt.Sprint(v), nil
	case []any:
		return joined(len(v), func(i int) (string, error) { return shown(c, v[i]) })
	}
	out, err := entity.Append(nil, c, v, &entity.Options{Base: scenario.Base})
	return string(out), err
}

func joined(n int, item func(i int) (string, error)) (string, error) {
	list := make([]string, n)
	for i := range list {
		var err error
		if list[i], err = item(i); err != nil {
			return "", err
		}
	}
	return strings.Join(list, " "), nil
}

// facts are properties of a document, and what is known of it besides.
func facts(c *engine.Ctx, ref storage.Ref, names []string) (string, error) {
	d, err := c.Tx.Doc(ref)
	if err != nil {
		return "", err
	}
	out := make([]string, len(names))
	for i, name := range names {
		if out[i], err = fact(c, d, name); err != nil {
			return "", err
		}
	}
	return strings.Join(out, " | "), nil
}

// beside are what a row may ask of a document beside its properties.
var beside = map[string]func(c *engine.Ctx, d *storage.Doc) (string, error){
	"acl":      acl,
	"children": children,
	"facets":   plain(func(d *storage.Doc) string { return strings.Join(d.Facets(), " ") }),
	"locked": plain(func(d *storage.Doc) string {
		owner, _, _ := d.Locked()
		return owner
	}),
	"path":    plain((*storage.Doc).Path),
	"state":   plain((*storage.Doc).State),
	"title":   plain((*storage.Doc).Title),
	"trashed": plain(func(d *storage.Doc) string { return fmt.Sprint(d.IsTrashed()) }),
	"type":    plain(func(d *storage.Doc) string { return d.Type().Name }),
	"version": plain((*storage.Doc).VersionLabel),
}

func plain(f func(d *storage.Doc) string) func(*engine.Ctx, *storage.Doc) (string, error) {
	return func(_ *engine.Ctx, d *storage.Doc) (string, error) { return f(d), nil }
}

func children(c *engine.Ctx, d *storage.Doc) (string, error) {
	page, err := c.Tx.Children(d, storage.PageOptions{Limit: 1000})
	if err != nil {
		return "", err
	}
	return joined(len(page.Docs), func(i int) (string, error) { return page.Docs[i].Name(), nil })
}

func fact(c *engine.Ctx, d *storage.Doc, name string) (string, error) {
	if f := beside[name]; f != nil {
		return f(c, d)
	}
	v, err := d.Get(name)
	if err != nil {
		return "", err
	}
	if b, ok := v.(*storage.Blob); ok && b != nil {
		return b.Name + " " + b.Type, nil
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339), nil
	}
	raw, err := entity.AppendPlain(nil, v)
	return string(raw), err
}

// acl is the local permissions: user:permission, with a minus before what is denied.
func acl(c *engine.Ctx, d *storage.Doc) (string, error) {
	lists, err := c.Tx.ACLs(d)
	if err != nil {
		return "", err
	}
	var out []string
	for _, l := range lists {
		for _, e := range l.Entries {
			mark := ""
			if !e.Granted {
				mark = "-"
			}
			if l.Name != "inherited" {
				out = append(out, mark+e.User+":"+e.Permission)
			}
		}
	}
	return strings.Join(out, " "), nil
}

// matches reports whether a text is what a row expects.
func matches(got, want string) bool {
	parts := strings.Split(want, "…")
	if !strings.HasPrefix(got, parts[0]) {
		return false
	}
	got = got[len(parts[0]):]
	for i, p := range parts[1:] {
		if i == len(parts)-2 {
			return strings.HasSuffix(got, p)
		}
		at := strings.Index(got, p)
		if at < 0 {
			return false
		}
		got = got[at+len(p):]
	}
	return got == ""
}
