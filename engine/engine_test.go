package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

type none struct{}

type manyParams struct {
	Name  string         `json:"name" doc:"A name." alias:"title"`
	Count int            `json:"count" default:"3" doc:"A number."`
	Size  int64          `json:"size,omitzero" doc:"A size."`
	Ratio float64        `json:"ratio,omitzero" doc:"A ratio."`
	Save  bool           `json:"save" default:"true" doc:"A switch."`
	Kind  string         `json:"kind" default:"a" enum:"a,b" doc:"A choice."`
	When  time.Time      `json:"when,omitzero" doc:"A date."`
	Tags  []string       `json:"tags,omitzero" doc:"Words."`
	Props storage.Props  `json:"properties,omitzero" doc:"Properties."`
	Map   map[string]any `json:"map,omitzero" doc:"An object."`
	Doc   storage.Ref    `json:"document,omitzero" doc:"A document."`
	Docs  storage.Refs   `json:"documents,omitzero" doc:"Documents."`
	Any   any            `json:"any,omitzero" type:"serializable" doc:"Anything."`
}

func (p manyParams) run(_ *Ctx, _ Void) (string, error) {
	raw, err := json.Marshal(p)
	return string(raw), err
}

type textParams struct {
	Text string `json:"text" default:"." doc:"Text to append."`
}

func (p textParams) run(_ *Ctx, in string) (string, error) { return in + p.Text, nil }

type createParams struct {
	Name string `json:"name" default:"a" doc:"A name."`
}

func (p createParams) run(c *Ctx, folder *storage.Doc) (*storage.Doc, error) {
	return c.Tx.Create(folder, "Folder", p.Name, nil)
}

type setVarParams struct {
	Name  string `json:"name" doc:"The variable."`
	Value any    `json:"value" doc:"The value."`
}

func (p setVarParams) run(c *Ctx, _ Void) (Void, error) {
	c.SetVar(p.Name, p.Value)
	return Void{}, nil
}

type callParams struct {
	Op string `json:"op" doc:"The operation."`
}

func (p callParams) run(c *Ctx, _ Void) (any, error) { return c.Call(p.Op, c.Input, nil) }

type failParams struct {
	Kind string `json:"kind" default:"conflict" doc:"The kind of error."`
}

func (p failParams) run(*Ctx, Void) (Void, error) {
	switch p.Kind {
	case "panic":
		panic("boom")
	case "conflict":
		return Void{}, fault.Conflict.Errorf("thing: taken")
	}
	return Void{}, errors.New("internal")
}

func titleOf(_ none, _ *Ctx, d *storage.Doc) (string, error)      { return d.Title(), nil }
func same(_ none, _ *Ctx, in string) (string, error)              { return in, nil }
func nothing(none, *Ctx, Void) (Void, error)                      { return Void{}, nil }
func kindsOf(_ none, _ *Ctx, in any) (string, error)              { return wordOf(in), nil }
func remove(_ none, c *Ctx, d *storage.Doc) (*storage.Doc, error) { return nil, c.Tx.Delete(d) }
func blobName(_ none, _ *Ctx, b *storage.Blob) (*storage.Blob, error) {
	return b.With("x"+b.Name, b.Type), nil
}
func fromVoid(none, *Ctx, Void) (string, error)              { return "void", nil }
func fromDoc(_ none, _ *Ctx, d *storage.Doc) (string, error) { return "document", nil }
func who(_ none, c *Ctx, _ Void) (string, error)             { return c.As.Name, nil }

type loginParams struct {
	Name string `json:"name" doc:"Who to be."`
}

func (p loginParams) run(c *Ctx, _ Void) (Void, error) {
	c.Login(&storage.Principal{Name: p.Name})
	return Void{}, nil
}

func slow(_ none, c *Ctx, _ Void) (Void, error) {
	<-c.Done()
	return Void{}, c.Err()
}

func testOps() []Op {
	return []Op{
		{Name: "Test.Many", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(manyParams.run)},
		{Name: "Test.Text", Aliases: []string{"Text"}, Doc: "d", Effect: Pure, Callers: Anyone, Run: On(textParams.run)},
		{Name: "Test.Create", Doc: "d", Callers: Anyone, Run: Each(createParams.run)},
		{Name: "Test.SetVar", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(setVarParams.run)},
		{Name: "Test.Call", Doc: "d", Callers: Anyone, Run: On(callParams.run)},
		{Name: "Test.Fail", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(failParams.run)},
		{Name: "Test.Title", Doc: "d", Effect: Reads, Callers: Anyone, Run: Each(titleOf)},
		{Name: "Test.One", Doc: "d", Effect: Reads, Callers: Anyone, Run: On(titleOf)},
		{Name: "Test.Same", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(same)},
		{Name: "Test.Nothing", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(nothing)},
		{Name: "Test.Kind", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(kindsOf)},
		{Name: "Test.Remove", Doc: "d", Callers: Anyone, Run: Each(remove)},
		{Name: "Test.Blob", Doc: "d", Effect: Pure, Callers: Anyone, Run: Each(blobName)},
		{Name: "Test.Either", Doc: "d", Effect: Reads, Callers: Anyone, Run: Overload(On(fromVoid), On(fromDoc))},
		{Name: "Test.Who", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(who)},
		{Name: "Test.Login", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(loginParams.run)},
		{Name: "Test.Slow", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(slow)},
		{Name: "Test.Admin", Doc: "d", Effect: Pure, Callers: Admins, Run: On(nothing)},
		{Name: "Test.Stored", Doc: "d", Effect: Pure, Callers: Anyone.From(Chain), Run: On(nothing)},
	}
}

func testSet(t testing.TB, more ...Op) *Set {
	t.Helper()
	s, err := NewSet(testOps(), more)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func testEngine(t testing.TB, more ...Op) *Engine {
	t.Helper()
	return New(Config{Repo: storagetest.Open(t, nil), Set: testSet(t, more...), Log: slog.New(slog.DiscardHandler)})
}

// show writes a result for comparison.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case *storage.Doc:
		return v.Path()
	case storage.Docs:
		var paths []string
		for _, d := range v {
			paths = append(paths, d.Path())
		}
		return "[" + strings.Join(paths, " ") + "]"
	case *storage.Blob:
		return v.Name
	case storage.Blobs:
		var names []string
		for _, b := range v {
			names = append(names, b.Name)
		}
		return "[" + strings.Join(names, " ") + "]"
	case string:
		return v
	case []any:
		if len(v) > 0 && wordOf(v[0]) == "document" {
			return "[" + show(v[0]) + "]"
		}
	}
	raw, _ := json.Marshal(v)
	return string(raw)
}

func TestRun(t *testing.T) {
	e := testEngine(t)
	file := NewBlob("f", "text/plain", []byte("f"))
	tests := []struct {
		call Call
		want string // result, or kind and message
	}{
		{Call{Op: "Test.Nothing"}, "nil"},
		{Call{Op: "Test.Nothing", Input: "x"}, "x"},
		{Call{Op: "Test.Text", Input: "x"}, "x."},
		{Call{Op: "Text", Input: "x", Params: map[string]any{"text": 1}}, "x1"},
		{Call{Op: "Chain.Text", Input: "x"}, "x."},
		{Call{Op: "Test.Text"}, "! invalid: Test.Text: input: is missing, must be of type string"},
		{Call{Op: "Test.Nope"}, "! notfound: operation Test.Nope: does not exist, perhaps Test.One"},
		{Call{Op: "Test.Stored", EntryPoint: REST}, "! notfound: operation Test.Stored"},
		{Call{Op: "Test.Create", Input: "/", Params: map[string]any{"name": "x"}}, "/x"},
		{Call{Op: "Test.Create", Input: []any{"/", "/x"}, Params: map[string]any{"name": "y"}}, "[/y /x/y]"},
		{Call{Op: "Test.Create", Input: "/, /x", Params: map[string]any{"name": "z"}}, "! notfound: Test.Create: /, /x"},
		{Call{Op: "Test.Create", Input: "/nope"}, "! notfound: Test.Create: /nope"},
		{Call{Op: "Test.Create", Input: 7}, "! invalid: Test.Create: input: must be of type document or documents, not integer"},
		{Call{Op: "Test.Title", Input: storage.Refs{"/", "/x"}}, `["","x"]`},
		{Call{Op: "Test.One", Input: []any{"/", "/x"}}, "! invalid: Test.One: input: must be of type document, not list"},
		{Call{Op: "Test.One", Input: []any{}}, "! invalid: Test.One: input: must be of type document, not list"},
		{Call{Op: "Test.Create", Input: []any{}}, "[]"},
		{Call{Op: "Test.Remove", Input: "/y"}, "nil"},
		{Call{Op: "Test.Remove", Input: []any{"/x/y"}}, "[]"},
		{Call{Op: "Test.Blob", Input: file}, "xf"},
		{Call{Op: "Test.Blob", Input: Blobs{file, file}}, "[xf xf]"},
		{Call{Op: "Test.Blob", Input: []any{file}}, "[xf]"},
		{Call{Op: "Test.Either"}, "void"},
		{Call{Op: "Test.Either", Input: "/x"}, "document"},
		{Call{Op: "Test.Either", Input: 3}, "void"},
		{Call{Op: "Test.Kind", Input: 3}, "integer"},
		{Call{Op: "Test.Kind"}, "void"},
		{Call{Op: "Test.Kind", Input: Lazy(func(c *Ctx) (any, error) { return c.Tx.Root() })}, "document"},
		{Call{Op: "Test.Kind", Input: Lazy(func(c *Ctx) (any, error) { return c.Tx.Doc("/nope") })}, "! notfound: Test.Kind: /nope"},
		{Call{Op: "Test.Fail"}, "! conflict: Test.Fail: thing: taken"},
		{Call{Op: "Test.Fail", Params: map[string]any{"kind": "panic"}}, "! internal: Test.Fail: panic: boom"},
		{Call{Op: "Test.Call", Params: map[string]any{"op": "Test.Fail"}}, "! conflict: Test.Call: Test.Fail: thing: taken"},
		{Call{Op: "Test.Call", Params: map[string]any{"op": "Test.Call"}, Vars: map[string]any{"op": "Test.Call"}}, "! limit: depth: more than 32 calls within calls"},
		{Call{Op: "Test.Call", Params: map[string]any{"op": "Test.Stored"}, EntryPoint: REST}, "! notfound: Test.Call: operation Test.Stored"},
		{Call{Op: "Test.Slow", Timeout: 5 * time.Millisecond}, "! limit: time: the call took longer than 5ms"},
		{Call{Op: "Test.Many", Params: map[string]any{}}, `! invalid: Test.Many: parameter "name" is missing`},
		{Call{Op: "Test.Nothing", Vars: map[string]any{"ChainParameters": 1}}, "! invalid: Test.Nothing: variable ChainParameters is reserved"},
		{Call{Op: "Test.Text", Input: "x", Vars: map[string]any{"text": "v"}}, "xv"},
		{Call{Op: "Test.Text", Input: "x", RawParams: json.RawMessage(`{"text":"r"}`)}, "xr"},
	}
	for _, test := range tests {
		test.call.As = e.System()
		if got := outcome(e, test.call); got != test.want && !strings.HasSuffix(got, strings.TrimPrefix(test.want, "! limit: depth")) {
			t.Errorf("%s %v %v: got %s, want %s", test.call.Op, test.call.Input, test.call.Params, got, test.want)
		}
	}
}

func outcome(e *Engine, call Call) string {
	res, err := e.Run(context.Background(), call)
	if err != nil {
		return "! " + fault.Of(err).String() + ": " + err.Error()
	}
	return show(res.Value)
}

func TestParams(t *testing.T) {
	e := testEngine(t)
	tests := []struct{ params, want string }{
		{`{"name":"n"}`, `{"name":"n","count":3,"save":true,"kind":"a"}`},
		{`{"title":"t","count":"5","save":"False","kind":"b"}`, `{"name":"t","count":5,"save":false,"kind":"b"}`},
		{`{"title":"t","name":"n"}`, `{"name":"n","count":3,"save":true,"kind":"a"}`},
		{`{"name":"n","title":"t"}`, `{"name":"n","count":3,"save":true,"kind":"a"}`},
		{`{"name":null}`, `! parameter "name" is missing`},
		{`{"name":"n","nope":{"a":[1,{"b":null}]},"size":12345678901,"ratio":1.5}`, `{"name":"n","count":3,"size":12345678901,"ratio":1.5,"save":true,"kind":"a"}`},
		{`{"name":"\u00e9\n","when":"2024-05-02"}`, `{"name":"é\n","count":3,"save":true,"kind":"a","when":"2024-05-02T00:00:00Z"}`},
		{`{"name":"n","when":{"entity-type":"date","value":"2024-05-02T10:00:00+02:00"}}`, `{"name":"n","count":3,"save":true,"kind":"a","when":"2024-05-02T08:00:00Z"}`},
		{`{"name":"n","tags":"a, b\\,c"}`, `{"name":"n","count":3,"save":true,"kind":"a","tags":["a","b,c"]}`},
		{`{"name":"n","tags":["a",1]}`, `{"name":"n","count":3,"save":true,"kind":"a","tags":["a","1"]}`},
		{`{"name":"n","properties":"a=1\nb=2"}`, `{"name":"n","count":3,"save":true,"kind":"a","properties":{"a":"1","b":"2"}}`},
		{`{"name":"n","properties":{"a":[1],"b":null}}`, `{"name":"n","count":3,"save":true,"kind":"a","properties":{"a":[1],"b":null}}`},
		{`{"name":"n","document":{"entity-type":"document","uid":"u"},"documents":"/a,/b"}`, `{"name":"n","count":3,"save":true,"kind":"a","document":"u","documents":["/a","/b"]}`},
		{`{"name":"n","documents":["/a",{"uid":"u"}],"any":[1.5,true,{"x":"y"}]}`, `{"name":"n","count":3,"save":true,"kind":"a","documents":["/a","u"],"any":[1.5,true,{"x":"y"}]}`},
		{`{"name":"n","kind":"c"}`, `! parameter "kind": "c" is not one of a, b`},
		{`{"name":"n","count":"x"}`, `! parameter "count": must be of type integer, not text "x"`},
		{`{"name":"n","count":1.5}`, `! parameter "count": must be of type integer, not float`},
		{`{"name":"n","save":"yes"}`, `! parameter "save": must be of type boolean, not text "yes"`},
		{`{"name":["x"]}`, `! parameter "name": must be of type string, not list`},
		{`{"name":"n","name":"m"}`, `! JSON has the duplicate name "name" at byte 12`},
		{`{"Name":"n"}`, `! parameter "name" is missing; unknown parameter "Name"`},
		{`{"name":"n"`, `! JSON is missing a comma or } at byte 11`},
		{`{"name":"n"}x`, `! JSON has trailing data at byte 12`},
		{"{\"name\":\"\xff\"}", `! JSON is not valid UTF-8 at byte 10`},
		{`{"name":"n","x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`, `! JSON is nested deeper than 128 at byte 143`},
		{`[]`, `! JSON is not an object at byte 0`},
		{`{"name":01}`, `! JSON has a malformed number at byte 9`},
	}
	for _, test := range tests {
		got := strings.Replace(outcome(e, Call{Op: "Test.Many", As: e.System(), RawParams: json.RawMessage(test.params)}), "! invalid: Test.Many: ", "! ", 1)
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", cut(test.params, 100), got, test.want)
		}
	}
}

func TestSetChecks(t *testing.T) {
	type bad struct {
		X string `json:"x"`
	}
	type other struct {
		Y string `json:"y" doc:"d"`
	}
	run := On(nothing)
	tests := []struct {
		ops  []Op
		want string
	}{
		{[]Op{{Name: "Test.A", Doc: "d", Callers: Anyone, Run: run}, {Name: "Test.A", Doc: "d", Callers: Anyone, Run: run}}, `the name "Test.A" is already used by Test.A`},
		{[]Op{{Name: "Test.A", Doc: "d", Callers: Anyone, Run: run}, {Name: "Test.B", Aliases: []string{"Test.A"}, Doc: "d", Callers: Anyone, Run: run}}, `already used by Test.A`},
		{[]Op{{Name: "Test.A", Run: run}}, "no documentation"},
		{[]Op{{Name: "Test.A", Doc: "d", Callers: Anyone, Run: run, Deprecated: Deprecation{Since: "soon"}}}, "deprecated since \"soon\", which is not a date"},
		{[]Op{{Name: "Test.A", Doc: "d", Callers: Anyone}}, "no function"},
		{[]Op{{Name: "Test.A", Doc: "d", Run: run}}, "nobody may call it"},
		{[]Op{{Name: "Test.A", Doc: "d", Callers: Anyone.From(0), Run: run}}, "nobody may call it"},
		{[]Op{{Name: "Test.A", Doc: "d", Callers: Anyone, Run: On(func(bad, *Ctx, Void) (Void, error) { return Void{}, nil })}}, "no name or no doc"},
		{[]Op{{Name: "Test.A", Doc: "d", Callers: Anyone, Run: Overload(run, On(func(other, *Ctx, string) (Void, error) { return Void{}, nil }))}}, "different parameters"},
	}
	for _, test := range tests {
		_, err := NewSet(test.ops)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func TestCallers(t *testing.T) {
	s := testSet(t, Op{Name: "Test.Guarded", Doc: "d", Callers: Scripters.OrStored(), Run: On(nothing)})
	// What is deployed is everybody's, unless it replaces an operation that is not.
	s, err := s.With([]Op{{Name: "Test.Admin", Doc: "d", Run: On(nothing)}, {Name: "Test.Deployed", Doc: "d", Run: On(nothing)}})
	if err != nil {
		t.Fatal(err)
	}
	user, admin := &Principal{Name: "bob"}, &Principal{Name: "root", Admin: true}
	scripter := &Principal{Name: "sam", Groups: []string{"scripters"}}
	tests := []struct {
		op   string
		p    *Principal
		from EntryPoint
		want bool
	}{
		{"Test.Admin", user, REST, false},
		{"Test.Admin", user, Server, false},
		{"Test.Admin", admin, REST, true},
		{"Test.Deployed", user, REST, true},
		{"Test.Guarded", user, Chain, true},
		{"Test.Guarded", user, Script, false},
		{"Test.Guarded", user, 0, true},
		{"Test.Guarded", scripter, Script, true},
		{"Test.Stored", admin, REST, false},
		{"Test.Stored", user, Chain, true},
		{"Test.Text", user, MCP, true},
		{"Test.Text", nil, MCP, false},
		{"Test.None", admin, REST, false},
	}
	for _, test := range tests {
		if got := s.Allowed(test.op, test.p, test.from); got != test.want {
			t.Errorf("%s %v %s: got %v", test.op, test.p, test.from, got)
		}
	}
}

func TestErrorsNameTheOperation(t *testing.T) {
	e := testEngine(t)
	_, err := e.Run(context.Background(), Call{Op: "Test.Fail", As: e.System()})
	var got *Error
	if !errors.As(err, &got) || got.Op != "Test.Fail" || got.Stage != StageRun || got.Err.Error() != "thing: taken" {
		t.Errorf("run: got %#v", got)
	}
	_, err = e.Run(context.Background(), Call{Op: "Test.Kind", As: e.System(), Input: Lazy(func(c *Ctx) (any, error) { return c.Call("Test.One", "/nope", nil) })})
	if !errors.As(err, &got) || got.Op != "Test.Kind" || got.Stage != StageInput || got.Err.Error() != "/nope" {
		t.Errorf("input: got %#v", got)
	}
}

func TestDescribe(t *testing.T) {
	s := testSet(t)
	tests := []struct {
		op   string
		want []string
	}{
		{"Test.Create", []string{"document", "document", "documents", "documents"}},
		{"Test.Blob", []string{"blob", "blob", "bloblist", "bloblist"}},
		{"Test.Either", []string{"void", "string", "document", "string"}},
		{"Test.Nothing", []string{"void", "void"}},
	}
	for _, test := range tests {
		doc, _ := s.DescribeOp(test.op)
		if !reflect.DeepEqual(doc.Signature, test.want) {
			t.Errorf("%s: got %v", test.op, doc.Signature)
		}
	}
	doc, _ := s.DescribeOp("Test.Many")
	var got []string
	for _, p := range doc.Params {
		got = append(got, p.Name+":"+p.Type)
	}
	want := "name:string any:serializable count:integer document:document documents:documents kind:string map:map properties:properties ratio:object save:boolean size:long tags:stringlist when:date"
	if strings.Join(got, " ") != want {
		t.Errorf("got %s", strings.Join(got, " "))
	}
	r := s.Describe(func(name string) bool { return name == "Test.Text" })
	raw, err := json.Marshal(r)
	text := `"label":"Test.Text","category":"","requires":null,"description":"d","url":`
	params := `"signature":["string","string"],"params":[{"name":"text","description":"Text to append.","type":"string","required":false,"widget":null,"order":0,"values":[]}]}`
	if wantAll := `{"paths":{"login":"login"},"codecs":[],"operations":[{"id":"Test.Text","aliases":["Text"],` + text + `"Test.Text",` + params +
		`,{"id":"Text","aliases":["Text"],` + text + `"Text",` + params + `],"chains":[]}`; string(raw) != wantAll || err != nil {
		t.Errorf("got %s", raw)
	}
}

// TestExtend replaces an operation that a set was extended by, and removes what replaces it.
func TestExtend(t *testing.T) {
	s, err := testSet(t).Extend([]Op{{Name: "Test.Built", Doc: "built in", Callers: Admins, Run: On(nothing)}})
	for _, test := range []struct {
		change func() (*Set, error)
		doc    string
	}{
		{func() (*Set, error) { return s, err }, "built in"},
		{func() (*Set, error) { return s.With([]Op{{Name: "Test.Built", Doc: "mine", Run: On(nothing)}}) }, "mine"},
		{func() (*Set, error) { return s.With(nil, "Test.Built") }, "built in"},
	} {
		if s, err = test.change(); err != nil {
			t.Fatal(err)
		}
		if d, ok := s.Op("Test.Built"); !ok || d.Doc != test.doc || d.Callers != Admins {
			t.Errorf("got %+v, want %s", d, test.doc)
		}
	}
}

func TestWithReplacesAndRestores(t *testing.T) {
	s := testSet(t)
	own := Op{Name: "Test.Text", Aliases: []string{"Mine"}, Doc: "mine", Callers: Anyone, Run: On(nothing)}
	replaced, err := s.With([]Op{own})
	if err != nil {
		t.Fatal(err)
	}
	restored, err := replaced.With(nil, "Test.Text")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		set         *Set
		name, found string
	}{
		{s, "Text", "d"},
		{replaced, "Test.Text", "mine"},
		{replaced, "Mine", "mine"},
		{replaced, "Text", ""},
		{restored, "Test.Text", "d"},
		{restored, "Text", "d"},
		{restored, "Mine", ""},
	}
	for _, test := range tests {
		got := ""
		if d, ok := test.set.Op(test.name); ok {
			got = d.Doc
		}
		if got != test.found {
			t.Errorf("%s: got %q, want %q", test.name, got, test.found)
		}
	}
	if _, err := s.With([]Op{{Name: "Other", Aliases: []string{"Text"}, Doc: "d", Callers: Anyone, Run: On(nothing)}}); err == nil {
		t.Error("an alias was taken away from another operation")
	}
}
