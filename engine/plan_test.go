package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
)

func TestPlans(t *testing.T) {
	e := testEngine(t)
	type values = map[string]any
	tests := []struct {
		name  string
		in    any
		steps []Step
		want  string
	}{
		{"nothing", "x", nil, "x"},
		{"in order", "x", []Step{{Op: "Test.Text", Params: values{"text": "1"}}, {Op: "Test.Text", Params: values{"text": "2"}}}, "x12"},
		{"void passes on", "x", []Step{{Op: "Test.Nothing"}, {Op: "Test.Text"}}, "x."},
		{"variables", "x", []Step{{Op: "Test.SetVar", Params: values{"name": "text", "value": "v"}}, {Op: "Test.Text"}}, "xv"},
		{"as", "x", []Step{{Op: "Test.Text", As: "kept"}, {Op: "Test.Text", Params: values{"text": "expr:kept"}}}, "x.x."},
		{"expression", "x", []Step{{Op: "Test.Text", Params: values{"text": "expr:This + '!'"}}}, "xx!"},
		{"template", "x", []Step{{Op: "Test.Text", Params: values{"text": "-@{This}@{nope}-"}}}, "x-x-"},
		{"evaluated once", "expr:1+1", []Step{{Op: "Test.Text", Params: values{"text": "expr:This"}}}, "expr:1+1expr:1+1"},
		{"condition", "x", []Step{{Op: "Test.Text", When: "This == 'x'"}, {Op: "Test.Text", When: "This == 'x'"}}, "x."},
		{"handler result", "x", []Step{{Op: "Test.Fail", OnError: &Handler{Result: "expr:exceptionName"}}, {Op: "Test.Text"}}, "conflict."},
		{"handler continues", "x", []Step{{Op: "Test.Fail", OnError: &Handler{Continue: true}}, {Op: "Test.Text"}}, "x."},
		{"handler chain", "x", []Step{{Op: "Test.Fail", OnError: &Handler{Chain: "Test.Text"}}}, "x."},
		{"failure", "x", []Step{{Op: "Test.Text"}, {Op: "Test.Fail"}}, "! conflict: step 2: Test.Fail: thing: taken"},
		{"undone before handled", "/", []Step{
			{Op: "Test.Both", Params: values{"name": "undone"}, OnError: &Handler{Continue: true}}, {Op: "Test.Count"},
		}, "1"},
		{"documents", "/", []Step{{Op: "Test.Create", Params: values{"name": "p"}}, {Op: "Test.Title"}, {Op: "Test.Text"}}, "p."},
		{"list", []any{"/", "/"}, []Step{{Op: "Test.Create", Params: values{"name": "expr:Fn.escapeHtml(Document.path) == '/' ? 'q' : 'r'"}}, {Op: "Test.Title"}, {Op: "Test.Kind"}}, "list"},
		{"document expression", "/", []Step{{Op: "Test.SetVar", Params: values{"name": "d", "value": "expr:This"}}, {Op: "Test.Kind", When: "d == '/'"}}, "string"},
		{"login ends with the chain", nil, []Step{{Op: "Test.Login", Params: values{"name": "bob"}}, {Op: "Test.Who"}}, "bob"},
		{"stored only", nil, []Step{{Op: "Test.Stored"}}, "nil"},
	}
	both := Op{Name: "Test.Both", Doc: "d", Callers: Anyone, Run: On(func(p createParams, c *Ctx, d *storage.Doc) (*storage.Doc, error) {
		if _, err := c.Tx.Create(d, "Folder", p.Name, nil); err != nil {
			return nil, err
		}
		return nil, fault.Conflict.Errorf("undone")
	})}
	count := Op{Name: "Test.Count", Doc: "d", Effect: Reads, Callers: Anyone, Run: On(func(_ none, c *Ctx, d *storage.Doc) (string, error) {
		n := 0
		for _, err := range c.Tx.EachChild(d) {
			if err != nil {
				return "", err
			}
			n++
		}
		return fmt.Sprint(n), nil
	})}
	if err := e.Swap(func(s *Set) (*Set, error) { return s.With([]Op{both, count}) }); err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		p, err := e.Set().Plan(test.steps, "", PlanOptions{Trusted: true})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		res, err := e.RunPlan(context.Background(), p, Call{Input: test.in, As: e.System(), DryRun: true})
		var got string
		if err == nil {
			got = show(res.Value)
		} else {
			got = "! " + fault.Of(err).String() + ": " + err.Error()
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestDeclaredOutput(t *testing.T) {
	e := testEngine(t)
	for _, test := range []struct {
		output string
		in     any
		want   string
	}{
		{"", "7", "7"},
		{"string", "7", "7"},
		{"integer", "7", "7"},
		{"void", "7", "<nil>"},
		{"integer", "x", `! invalid: output: must be of type integer, not text "x"`},
	} {
		p, err := e.Set().Plan([]Step{{Op: "Test.Same"}}, "", PlanOptions{Output: test.output})
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.RunPlan(context.Background(), p, Call{Input: test.in, As: e.System()})
		var got string
		if err != nil {
			got = "! " + fault.Of(err).String() + ": " + err.Error()
		} else {
			got = fmt.Sprint(res.Value)
		}
		if got != test.want {
			t.Errorf("%q of %v: got %s, want %s", test.output, test.in, got, test.want)
		}
	}
}

func TestUntrustedPlansEvaluateNothing(t *testing.T) {
	e := testEngine(t)
	for _, text := range []string{"expr:1+1", "@{1+1}", "expr:@{This}"} {
		p, err := e.Set().Plan([]Step{{Op: "Test.Text", Params: map[string]any{"text": text}}}, "string", PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.RunPlan(context.Background(), p, Call{Input: "", As: e.System()})
		if err != nil || res.Value != text {
			t.Errorf("%s: got %v, %v", text, res, err)
		}
		if got := outcome(e, Call{Op: "Test.Text", Input: "", Params: map[string]any{"text": text}, As: e.System()}); got != text {
			t.Errorf("%s by name: got %v", text, got)
		}
	}
}

func TestPlanChecks(t *testing.T) {
	s := testSet(t)
	tests := []struct {
		in    string
		steps []Step
		want  []string
	}{
		{"", []Step{{Op: "Test.Txt", Line: 3, Column: 5}}, []string{"3:5 step 1: Test.Txt: unknown operation, perhaps Test.Text"}},
		{"", []Step{{Op: "Test.Text", Line: 3, Params: map[string]any{"txt": 1}, Positions: map[string]Position{"txt": {Line: 4, Column: 1}}}}, []string{`4:1 step 1: Test.Text: unknown parameter "txt", perhaps text`}},
		{"", []Step{{Op: "Test.Many"}}, []string{`0:0 step 1: Test.Many: parameter "name" is missing`}},
		{"", []Step{{Op: "Test.Many", Params: map[string]any{"name": "n", "count": "x"}}}, []string{`0:0 step 1: Test.Many: parameter "count": must be of type integer, not text "x"`}},
		{"", []Step{{Op: "Test.Many", Params: map[string]any{"name": "expr:1 +"}}}, []string{`parameter "name": expression: `}},
		{"", []Step{{Op: "Test.Text", When: ")"}}, []string{"expression: "}},
		{"document", []Step{{Op: "Test.Text"}}, []string{"step 1: Test.Text: input: must be of type string, not document"}},
		{"", []Step{{Op: "Test.Title"}, {Op: "Test.Text"}, {Op: "Test.Blob"}}, []string{"step 3: Test.Blob: input: must be of type blob or bloblist, not string"}},
		{"", []Step{{Op: "Test.A"}, {Op: "Test.B"}}, []string{"step 1: Test.A: unknown operation", "step 2: Test.B: unknown operation"}},
	}
	for _, test := range tests {
		_, err := s.Plan(test.steps, test.in, PlanOptions{Trusted: true})
		if fault.Of(err) != fault.Invalid {
			t.Errorf("%v: got %v", test.want, err)
			continue
		}
		var text []string
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			var f *fault.Error
			errors.As(e, &f)
			text = append(text, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message))
		}
		for i, want := range test.want {
			if i >= len(text) || !strings.Contains(text[i], want) {
				t.Errorf("got %q, want %s", text, want)
			}
		}
	}
}

func TestPlanSignature(t *testing.T) {
	s := testSet(t)
	tests := []struct {
		in    string
		steps []Step
		want  string
	}{
		{"", nil, "void void"},
		{"", []Step{{Op: "Test.Create"}}, "document document documents documents"},
		{"", []Step{{Op: "Test.Create"}, {Op: "Test.One"}}, "document string"},
		{"document", []Step{{Op: "Test.Create"}, {Op: "Test.Nothing"}}, "document document"},
		{"string", []Step{{Op: "Test.Text"}}, "string string"},
	}
	for _, test := range tests {
		p, err := s.Plan(test.steps, test.in, PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Signature(), " "); got != test.want {
			t.Errorf("%v: got %s, want %s", test.steps, got, test.want)
		}
	}
	p, _ := s.Plan([]Step{{Op: "Test.Title"}, {Op: "Test.Text"}}, "", PlanOptions{})
	if p.Effect() != Reads {
		t.Errorf("effect: got %v", p.Effect())
	}
}

func TestChainsAreOperations(t *testing.T) {
	e := testEngine(t)
	params := []Param{{Name: "word", Type: "string", Required: true}}
	p, err := e.Set().Plan([]Step{{Op: "Test.Text", Params: map[string]any{"text": "expr:word"}}}, "string", PlanOptions{Trusted: true, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	chain := Op{Name: "My.Chain", Category: "Chain", Doc: "d", Effect: p.Effect(), Callers: Anyone, Run: Dynamic(params, p.Signature(), func(c *Ctx, in any, _ map[string]any) (any, error) {
		return p.Run(c, in)
	})}
	before := e.Set()
	if err := e.Swap(func(s *Set) (*Set, error) { return s.With([]Op{chain}) }); err != nil {
		t.Fatal(err)
	}
	if _, ok := before.Op("My.Chain"); ok {
		t.Error("the set before has changed")
	}
	tests := []struct {
		params map[string]any
		want   string
	}{
		{map[string]any{"word": "w"}, "xw"},
		{map[string]any{"word": 1}, "x1"},
		{nil, `! invalid: My.Chain: parameter "word" is missing`},
	}
	for _, test := range tests {
		if got := outcome(e, Call{Op: "My.Chain", Input: "x", Params: test.params, As: e.System()}); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
	if err := e.Swap(func(s *Set) (*Set, error) { return s.With(nil, "My.Chain") }); err != nil || e.Set().Allowed("My.Chain", e.System(), REST) {
		t.Error("the chain was not removed")
	}
}
