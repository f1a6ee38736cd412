package scenario

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	long := strings.Repeat("x", 150)
	for _, c := range []struct{ in, want string }{
		{`{"a":1,"b":[true,null,"x, y: z"]}`, `{"a": 1, "b": [true, null, "x, y: z"]}`},
		{`"a\"b"`, `"a\"b"`},
		{`-1.5e3`, `-1.5e3`},
		{`{}`, `{}`},
		{`[]`, `[]`},
		{`{"a":"` + long + `","b":{"c":[]}}`, "{\n  \"a\": \"" + long + "\",\n  \"b\": {\"c\": []}\n}"},
		{`[{"a":"` + long + `"},2]`, "[\n  {\n    \"a\": \"" + long + "\"\n  },\n  2\n]"},
	} {
		if got := format([]byte(c.in)); got != c.want {
			t.Errorf("format(%s)\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestReduce(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{
			"a document",
			`{"entity-type":"document","uid":"1","path":"/a/b","type":"File","state":"project","title":"b","isTrashed":false,
			  "properties":{"dc:title":"b","dc:created":"2025-01-01T00:00:00.000Z","dc:subjects":[],"dc:description":null,"uid:major_version":0,"dc:source":"x",
			  "file:content":{"name":"l.txt","mime-type":"text/plain","encoding":null,"digest":"00","length":"9","data":"http://x"},
			  "files:files":[{"file":{"name":"m.txt","mime-type":null,"digest":"00","length":"1"}}]}}`,
			`{"path":"/a/b","type":"File","props":{"dc:source":"x","file:content":{"name":"l.txt","type":"text/plain","length":9},
			  "files:files":[{"file":{"name":"m.txt","length":1}}]}}`,
		},
		{
			"another state",
			`{"entity-type":"document","path":"/a","type":"File","state":"deleted","title":"A","isTrashed":true,"lockOwner":"bob",
			  "properties":{"dc:title":"A","uid:major_version":1}}`,
			`{"path":"/a","type":"File","title":"A","state":"deleted","trashed":true,"locked":"bob","props":{"uid:major_version":1}}`,
		},
		{"a list", `{"entity-type":"documents","entries":[]}`, `[]`},
		{
			"a page", `{"entity-type":"documents","isPaginable":true,"resultsCount":-2,"isNextPageAvailable":true,"pageSize":0,"entries":[]}`,
			`{"entries":[],"total":-2,"next":true}`,
		},
		{
			"permissions",
			`{"entity-type":"acls","acl":[{"name":"local","ace":[{"id":"bob:Read:true:::","status":"effective"},{"id":"x:Read:true::1:","status":"pending"}]}]}`,
			`[{"name":"local","ace":["bob:Read:true:::","x:Read:true::1: (pending)"]}]`,
		},
		{"a text", `{"entity-type":"string","value":"x"}`, `"x"`},
		{"a map", `{"entity-type":"map","value":{"a":{"entity-type":"boolean","value":true}}}`, `{"a":true}`},
		{"something else", `{"entity-type":"user","id":"bob"}`, `{"entity-type":"user","id":"bob"}`},
		{"nothing", `null`, `null`},
	} {
		in, err := decode([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		want, err := decode([]byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := canonical(reduce(in)), canonical(want); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.name, got, want)
		}
	}
}

func TestCause(t *testing.T) {
	isOp := func(name string) bool { return name == "A.B" || name == "C.D" }
	for _, c := range []struct{ in, want string }{
		{"A.B: document /a", "document /a"},
		{"step 2: A.B: step 1: C.D: document /a: x", "document /a: x"},
		{"Failed to invoke operation: A.B, document /a", "document /a"},
		{"Failed to invoke operation: A.B, Failed to invoke operation A.B with aliases [x, y], C.D: it, this", "it, this"},
		{"Failed to invoke operation: Other, document /a", "Failed to invoke operation: Other, document /a"},
		{"document /a: x", "document /a: x"},
	} {
		if got := Cause(c.in, isOp); got != c.want {
			t.Errorf("Cause(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// echo is an entry point that returns what it gets.
type echo struct{ users *[]string }

func (e echo) Run(_ context.Context, user string, c Command) Outcome {
	*e.users = append(*e.users, user)
	if c.Op == "Fail" {
		return Outcome{Failure: &Failure{Kinds: []string{"exists", "conflict"}, Message: "document /a"}}
	}
	out := Outcome{Wire: map[string]any{"op": c.Op, "input": raw(c.Input), "params": raw(c.Params), "vars": raw(c.Vars), "files": json.Number("0")}}
	if len(c.Files) > 0 {
		out.List = c.List
		for _, f := range c.Files {
			out.Files = append(out.Files, Received(f.Name, f.Type, f.Data))
		}
	}
	return out
}

func raw(r json.RawMessage) any {
	v, _ := decode(r)
	return v
}

const sample = `# A sentence.
run Echo /a {"x": "@f.txt",
  "y": [1]} {"z": true}
= {"files": 0, "input": "/a", "op": "Echo", "params": {"x": {"data": "text\n", "mime-type": "text/plain", "name": "f.txt"}, "y": [1]}, "vars": {"z": true}}
let k = params.y.0
as bob

run Echo ["/a", $k]
= {"files": 0, "input": ["/a", 1], "op": "Echo", "params": null, "vars": null}
run Echo @f.txt
= {"name": "f.txt", "type": "text/plain", "text": "text\n"}
run Echo [@f.txt]
= [{"name": "f.txt", "type": "text/plain", "text": "text\n"}]
dry run Echo -
= {"value": {"files": 0, "input": null, "op": "Echo", "params": null, "vars": null}, "changes": []}
run Fail
! exists: document /a
-- f.txt --
text
`

func play(t *testing.T, text string, update bool) (s *Script, users []string, err error) {
	t.Helper()
	s, err = Parse("sample.txtar", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	clock := NewClock()
	err = Play(context.Background(), s, World{EntryPoint: echo{&users}, Tick: clock.Tick}, update)
	return s, users, err
}

func TestPlay(t *testing.T) {
	s, users, err := play(t, sample, false)
	if err != nil {
		t.Error(err)
	}
	if got := strings.Join(users, " "); got != "Administrator bob bob bob bob bob" {
		t.Errorf("users %s", got)
	}
	if got := string(s.Text()); got != sample {
		t.Errorf("written differently:\n%s", got)
	}
}

func TestPlayNotices(t *testing.T) {
	for _, c := range []struct{ old, new string }{
		{`"y": [1]}, "vars"`, `"y": [2]}, "vars"`},
		{`! exists: document /a`, `! denied: document /a`},
		{`! exists: document /a`, `! exists: document /b`},
		{`! exists: document /a`, `= null`},
		{"! exists: document /a\n", ""},
		{`"text": "text\n"}` + "\nrun", `"text": "other"}` + "\nrun"},
	} {
		text := strings.Replace(sample, c.old, c.new, 1)
		if text == sample {
			t.Fatalf("the sample has no %s", c.old)
		}
		if _, _, err := play(t, text, false); err == nil {
			t.Errorf("%q in the place of %q goes unnoticed", c.new, c.old)
		}
	}
}

func TestUpdate(t *testing.T) {
	var bare strings.Builder
	for line := range strings.Lines(sample) {
		if line[0] != '=' && line[0] != '!' {
			bare.WriteString(line)
		}
	}
	s, _, err := play(t, bare.String(), true)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := play(t, string(s.Text()), false)
	if err != nil && !strings.Contains(err.Error(), "exists|conflict") {
		t.Error(err)
	}
	if string(again.Text()) != string(s.Text()) {
		t.Errorf("not stable:\n%s", again.Text())
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"= 1\n", "as bob\n= 1\n", "run A\n= 1\n= 2\n", "fly A\n", "dry as bob\n", "run\n"} {
		if _, err := Parse("x", []byte(text)); err == nil {
			t.Errorf("%q is no scenario", text)
		}
	}
}

// FuzzFormat writes any JSON for people: it must read as the same value, however it is broken
// into lines, and a script that holds it must be read whole.
func FuzzFormat(f *testing.F) {
	f.Add(`{"a":["` + strings.Repeat("long ", 40) + `",{"b\\\"}":"[{"}],"c":-1e5}`)
	f.Add(`["# no comment","= 1",{}]`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := decode([]byte(text))
		if err != nil {
			return
		}
		written := format(encode(v))
		again, err := decode([]byte(written))
		if err != nil {
			t.Fatalf("%v: %s", err, written)
		}
		if canonical(again) != canonical(v) {
			t.Errorf("%s became %s", text, written)
		}
		s, err := Parse("x", []byte("run A\n= "+written+"\nrun B\n"))
		if err != nil || len(s.steps) != 2 || s.steps[0].expect != written {
			t.Errorf("a script does not hold %s: %v", written, err)
		}
	})
}
