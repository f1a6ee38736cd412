package scripts

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"catena/engine"
	"catena/ops"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/owner"
	"catena/storage/schema"
)

// world is a whole server without an entry point.
type world struct {
	t testing.TB
	e *engine.Engine
	r *Runner
}

func newWorld(t testing.TB, o Options) *world {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	o.Log = log
	if o.Worker == nil {
		o.Worker = self()
	}
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open("", log)
	if err != nil {
		t.Fatal(err)
	}
	db := kv.New(memory.New(), kv.Options{})
	repo, err := storage.Open(context.Background(), storage.Config{DB: db, Blobs: blobs, Types: types, Owners: owner.All, Log: log, PasswordMemory: 64}, "secret")
	if err != nil {
		t.Fatal(err)
	}
	r := New(o)
	set, err := engine.NewSet(append(ops.All(ops.Config{}), r.Ops())...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		repo.Close()
		blobs.Close()
		db.Close()
	})
	w := &world{t: t, e: engine.New(engine.Config{Repo: repo, Set: set, Log: log}), r: r}
	w.must("Document.Create", engine.Lazy(func(c *engine.Ctx) (any, error) { return c.Tx.Root() }), map[string]any{"type": "Workspace", "name": "ws"})
	return w
}

func (w *world) call(op string, in any, params map[string]any) (*engine.Result, error) {
	return w.e.Run(context.Background(), engine.Call{Op: op, Input: in, Params: params, As: w.e.System(), EntryPoint: engine.REST})
}

func (w *world) must(op string, in any, params map[string]any) any {
	w.t.Helper()
	r, err := w.call(op, in, params)
	if err != nil {
		w.t.Fatalf("%s: %v", op, err)
	}
	return r.Value
}

// at is a document as an input.
func at(path string) engine.Lazy {
	return func(c *engine.Ctx) (any, error) { return c.Tx.Doc(engine.Ref(path)) }
}

const counter = `/**
 * @operation Test.Count
 * @description Creates files and says what it made.
 * @input document
 * @output object
 * @alias Test.Counts
 * @param {integer} [n=2] How many.
 * @param {string} type Their type.
 */
function run(input, params) {
  const made = [];
  for (let i = 0; i < params.n; i++) {
    const d = Document.Create(input, {type: params.type, name: "f" + i, properties: {"dc:title": "File " + i, "dc:source": "s"}});
    d["dc:description"] = "number " + i;
    made.push(Document.Save(d));
  }
  ctx.last = made[made.length - 1];
  return {
    names: made.map(d => d.name), titles: made.map(d => d["dc:title"] + ", " + d["dc:description"]),
    created: made[0]["dc:created"] instanceof Date, children: Document.GetChildren(input).length, user: CurrentUser.name,
    last: ctx.last.path, none: made[0]["no:such"], folder: input.isFolder,
  };
}
`

const counted = `{"children":2,"created":true,"folder":true,"last":"/ws/f1","names":["f0","f1"],"none":null,"titles":["File 0, number 0","File 1, number 1"],"user":"system"}`

// TestScriptedOperation deploys a script and calls it.
func TestScriptedOperation(t *testing.T) {
	w := newWorld(t, Options{})
	w.must("Script.Save", nil, map[string]any{"source": counter, "name": "count.js", "note": "first"})
	got, err := json.Marshal(w.must("Test.Counts", at("/ws"), map[string]any{"type": "File"}))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != counted {
		t.Errorf("got  %s\nwant %s", got, counted)
	}
	_, err = w.call("Test.Count", at("/ws"), nil)
	if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), "type") {
		t.Errorf("without a required parameter: %v", err)
	}
	_, err = w.call("Test.Count", at("/ws"), map[string]any{"type": "Nope"})
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || !strings.Contains(err.Error(), "count.js:13:") {
		t.Errorf("with an unknown type: %v", err)
	}
}

// TestRollback shows that a script that fails leaves nothing behind, however it fails.
func TestRollback(t *testing.T) {
	w := newWorld(t, Options{Limits: Limits{Wall: 500e6}})
	make := `Document.Create("/ws", {type: "File", name: "left"}); `
	for name, c := range map[string]struct{ source, code string }{
		"throws":  {"throw new Error('no')", "script_error"},
		"refused": {"Document.Create('/nowhere', {type: 'File'})", ""},
		"loops":   {"for (;;);", "script_timeout"},
		"dies":    {"new Array(1e9).fill(1)", ""},
	} {
		_, err := w.call("RunScript", nil, map[string]any{"script": make + c.source})
		var f *fault.Error
		if !errors.As(err, &f) || c.code != "" && f.Code.String() != c.code {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := w.call("Repository.GetDocument", nil, map[string]any{"value": "/ws/left"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: left a document behind: %v", name, err)
		}
	}
	w.must("RunScript", nil, map[string]any{"script": make + "try { Document.Create('/nowhere', {type: 'File'}) } catch (e) { if (e.kind !== 'notfound') throw e }"})
	w.must("Repository.GetDocument", nil, map[string]any{"value": "/ws/left"})
}

func TestRunScript(t *testing.T) {
	w := newWorld(t, Options{})
	d := w.must("RunScript", at("/ws"), map[string]any{"script": `input["dc:title"] = "Changed"; Document.Save(input)`})
	if doc, ok := d.(*engine.Doc); !ok || doc.Path() != "/ws" {
		t.Errorf("the input does not pass on: %v", d)
	}
	if d := w.must("Repository.GetDocument", nil, map[string]any{"value": "/ws"}).(*engine.Doc); d.Title() != "Changed" {
		t.Errorf("title %q", d.Title())
	}
	run := func(source string, params map[string]any) any {
		return w.must("RunInputScript", engine.NewBlob("a.js", "text/javascript", []byte(source)), params)
	}
	b, err := run(`({a: 1, d: Session.getDocument("/ws")})`, nil).(*engine.Blob).Bytes(100)
	if err != nil || string(b) != `{"a":1,"d":"/ws"}` {
		t.Errorf("result %s, %v", b, err)
	}
	if v := run(`null`, nil); v != nil && v != (*engine.Blob)(nil) {
		t.Errorf("no result is %v", v)
	}
	_, err = w.call("RunInputScript", engine.NewBlob("a", "text/plain", []byte("1")), map[string]any{"type": "groovy"})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("groovy: %v", err)
	}
}

// TestVersions is the life of a script.
func TestVersions(t *testing.T) {
	w := newWorld(t, Options{})
	text := func(n string) string {
		return "/**\n * @operation Test.Number\n * @description Gives a number.\n * @output integer\n */\nfunction run() { return " + n + " }\n"
	}
	save := func(n, note string) {
		t.Helper()
		w.must("Script.Save", nil, map[string]any{"source": text(n), "note": note})
	}
	number := func() any { t.Helper(); return w.must("Test.Number", nil, nil) }
	save("1", "one")
	save("2", "two")
	if number() != int64(2) {
		t.Errorf("got %v", number())
	}
	w.must("Script.Restore", nil, map[string]any{"name": "Test.Number", "version": int64(1)})
	if number() != int64(1) {
		t.Errorf("restored: got %v", number())
	}
	diff := w.must("Script.Diff", nil, map[string]any{"name": "Test.Number", "from": int64(1), "to": int64(2)}).(string)
	if !strings.Contains(diff, "-function run() { return 1 }") || !strings.Contains(diff, "+function run() { return 2 }") {
		t.Errorf("diff:\n%s", diff)
	}
	changed, err := w.r.Sync(context.Background(), w.e, fstest.MapFS{"number.js": {Data: []byte(text("7"))}, "bad.js": {Data: []byte("function run() {")}})
	if err == nil || len(changed) != 1 || changed[0] != "Test.Number" || number() != int64(7) {
		t.Errorf("sync: %v, %v, %v", changed, err, number())
	}
	for _, x := range []struct {
		note, name string
		kind       fault.Kind
	}{
		{strings.Repeat("n", 4<<10), strings.Repeat("f", 255), 0},
		{strings.Repeat("n", 4<<10+1), "f", fault.Limit},
		{"", strings.Repeat("f", 256), fault.Invalid},
		{"", "two\nlines.js", fault.Invalid},
	} {
		_, err := w.call("Script.Save", nil, map[string]any{"source": text("7"), "note": x.note, "name": x.name})
		if (err == nil) != (x.kind == 0) || err != nil && fault.Of(err) != x.kind {
			t.Errorf("note of %d bytes, name of %d: %v", len(x.note), len(x.name), err)
		}
	}
	other := engine.New(engine.Config{Repo: w.e.Repo(), Set: w.e.Set(), Log: slog.New(slog.DiscardHandler)})
	if err := other.Swap(func(s *engine.Set) (*engine.Set, error) { return s.With(nil, "Test.Number") }); err != nil {
		t.Fatal(err)
	}
	if err := w.r.Load(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	if _, ok := other.Set().Op("Test.Number"); !ok {
		t.Error("not loaded")
	}
	w.must("Script.Delete", nil, map[string]any{"name": "Test.Number"})
	if _, err := w.call("Test.Number", nil, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleted: %v", err)
	}
	_, err = w.call("Script.Save", nil, map[string]any{"source": strings.Repeat("[", 100_000)})
	if fault.Of(err) != fault.Invalid {
		t.Errorf("a bomb as source: %v", err)
	}
}

func TestCheck(t *testing.T) {
	names := func() []string { return []string{"Document.Create", "Document.Get", "Document.Routing.Resume"} }
	head := "/**\n * @operation Test.X\n * @description Does it.\n */\n"
	for _, c := range []struct{ source, want string }{
		{head + "function run(input) {\n  const f = () => 1;\n  return Document.Create(f(), {a: input.title.toUpperCase()}) || Document.Routing.Resume(JSON.parse('1'))\n}", ""},
		{head + "function run() {\n  return Document.Creat(1)\n}", "t.js:6:10: unknown operation Document.Creat, perhaps Document.Create"},
		{head + "const run = () => Documnt.Create(1)", "t.js:5:19: unknown operation or function Documnt.Create, perhaps Document.Create"},
		{head + "const run = () => fetch(1)", "t.js:5:19: unknown operation or function fetch"},
		{head + "function run() { Document.Create(1).getProperty('x'); ctx.x.y(); Test.X() }", ""},
		{head + "const x = 1", "t.js:4:1: function run(input, params) is missing"},
		{head + "function run() {}\n" + head + "function run() {}", "t.js:10:1: duplicate function run; a file declares one operation"},
		{head + "function run( {", "t.js:5:16: Unexpected end of input"},
		{"function run() {}", "t.js:1:1: a scripted operation must begin with a comment /** … @operation Name … */"},
		{
			"/** @operation A.B\n * @descriptio x\n * @description y\n * @input documnt\n * @param {nope} a\n * @param [b */\nfunction run() {}",
			"t.js:2:4: unknown tag @descriptio, perhaps @description\n" +
				"t.js:4:4: @input: unknown type \"documnt\", perhaps document\n" +
				"t.js:5:4: @param: unknown type \"nope\"\n" +
				"t.js:6:4: @param: ] is missing after the name",
		},
	} {
		var got []string
		for _, p := range Check("t.js", []byte(c.source), names) {
			got = append(got, p.Error())
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.source, strings.Join(got, "\n"), c.want)
		}
	}
}

func TestTypes(t *testing.T) {
	w := newWorld(t, Options{})
	b, err := w.must("Script.Types", nil, nil).(*engine.Blob).Bytes(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"declare namespace Document {\n",
		"  function Create(input: Doc | string, params: { type: string;",
		"declare function RunScript<T>(input: T, params: { script: string }): T;",
		" * Alias of RunScript.",
		" * @param params.newPassword The new password. A secret: neither shown nor stored.\n",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q", want)
		}
	}
	again, _ := Types(w.e.Set())
	if string(again) != string(b) {
		t.Error("the typings differ from one time to the next")
	}
}

// TestSecretParams reads which parameters of a script are secrets: as it says, and by their names.
func TestSecretParams(t *testing.T) {
	s, err := Parse("pin.js", []byte("/**\n * @operation Test.Pin\n * @description Takes pins.\n * @secret pin\n * @param pin\n * @param title\n * @param password\n */\nfunction run() {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, true} {
		if p := s.Params[i]; p.Secret != want {
			t.Errorf("%s: secret %v", p.Name, p.Secret)
		}
	}
}
