package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage/storagetest"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
)

func TestDryRunChangesNothing(t *testing.T) {
	e := testEngine(t)
	after := false
	op := Op{Name: "Test.All", Doc: "d", Callers: Anyone, Run: On(func(_ none, c *Ctx, _ Void) (*storage.Doc, error) {
		c.After(func(context.Context) error { after = true; return nil })
		if err := c.Enqueue("mail", map[string]any{"to": "bob"}); err != nil {
			return nil, err
		}
		root, err := c.Tx.Root()
		if err != nil {
			return nil, err
		}
		return c.Tx.Create(root, "Folder", "dry", nil)
	})}
	if err := e.Swap(func(s *Set) (*Set, error) { return s.With([]Op{op}) }); err != nil {
		t.Fatal(err)
	}
	encode := func(_ *Ctx, v any) ([]byte, error) { return []byte(show(v)), nil }
	res, err := e.Run(context.Background(), Call{Op: "Test.All", As: e.System(), DryRun: true, Encode: encode})
	if err != nil || string(res.Body) != "/dry" || after {
		t.Fatalf("got %v, %v, after %v", res, err, after)
	}
	var kinds []string
	for _, c := range res.Changes {
		kinds = append(kinds, c.Kind+" "+c.Path+c.Note)
	}
	if got := strings.Join(kinds, ", "); !strings.Contains(got, "create /dry") || !strings.Contains(got, "job") {
		t.Errorf("changes: got %s", got)
	}
	if got := outcome(e, Call{Op: "Test.One", Input: "/dry", As: e.System()}); got != "! notfound: Test.One: /dry" {
		t.Errorf("after the dry run: got %s", got)
	}
	if _, err := e.Run(context.Background(), Call{Op: "Test.All", As: e.System()}); err != nil || !after {
		t.Errorf("real run: %v, after %v", err, after)
	}
}

func TestIdempotency(t *testing.T) {
	e := testEngine(t)
	encode := func(_ *Ctx, v any) ([]byte, error) { return []byte(show(v)), nil }
	call := func(user, key, print string) (*Result, error) {
		return e.Run(context.Background(), Call{
			Op: "Test.Create", Input: "/", As: &Principal{Name: user, Admin: true, Groups: []string{"administrators"}},
			Params: map[string]any{"name": "k"}, IdempotencyKey: key, Fingerprint: print, Encode: encode,
		})
	}
	first, err := call("ann", "1", "a")
	if err != nil || first.Replayed || string(first.Body) != "/k" {
		t.Fatalf("first: %v, %v", first, err)
	}
	again, err := call("ann", "1", "a")
	if err != nil || !again.Replayed || string(again.Body) != "/k" {
		t.Errorf("again: %v, %v", again, err)
	}
	var f *fault.Error
	if _, err = call("ann", "1", "b"); !errors.As(err, &f) || f.Code != fault.CodeIdempotencyMismatch {
		t.Errorf("another request: %v", err)
	}
	other, err := call("bea", "1", "a")
	if err != nil || other.Replayed || string(other.Body) == "/k" {
		t.Errorf("another user: %s, %v", other.Body, err)
	}
}

// TestIdempotencySecret makes sure that an answer shown once is not kept for a repetition.
func TestIdempotencySecret(t *testing.T) {
	made := 0
	e := testEngine(t, Op{
		Name: "Test.Secret", Doc: "Makes a secret.", Callers: Anyone, Secret: true,
		Run: On(func(_ struct{}, _ *Ctx, _ Void) (string, error) {
			made++
			return "secret", nil
		}),
	})
	call := Call{
		Op: "Test.Secret", As: e.System(), IdempotencyKey: "k", Fingerprint: "f",
		Encode: func(_ *Ctx, v any) ([]byte, error) { return []byte(v.(string)), nil },
	}
	res, err := e.Run(context.Background(), call)
	if err != nil || string(res.Body) != "secret" {
		t.Fatalf("got %v, %v", res, err)
	}
	if _, err := e.Run(context.Background(), call); !fault.Is(err, fault.Conflict) {
		t.Errorf("the repetition: %v", err)
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
}

func TestIdempotencyInFlight(t *testing.T) {
	started, release := make(chan bool), make(chan bool)
	e := testEngine(t, Op{Name: "Test.Hold", Doc: "d", Callers: Anyone, Run: On(func(_ none, _ *Ctx, _ Void) (Void, error) {
		started <- true
		<-release
		return Void{}, nil
	})})
	call := Call{Op: "Test.Hold", As: e.System(), IdempotencyKey: "k"}
	done := make(chan error)
	go func() {
		_, err := e.Run(context.Background(), call)
		done <- err
	}()
	<-started
	_, err := e.Run(context.Background(), call)
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.CodeIdempotencyInFlight || f.Kind != fault.Conflict {
		t.Errorf("got %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestConflictsRunAgain(t *testing.T) {
	type row struct{ N int }
	e := testEngine(t, Op{Name: "Test.Add", Doc: "d", Callers: Anyone, Run: On(func(_ none, c *Ctx, _ Void) (Void, error) {
		if _, again := c.Vars["seen"]; again {
			return Void{}, errors.New("variables of an attempt before")
		}
		c.SetVar("seen", true)
		var r row
		if _, err := c.Tx.Table("test").Get("n", &r); err != nil {
			return Void{}, err
		}
		r.N++
		return Void{}, c.Tx.Table("test").Put("n", r)
	})})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 10 {
				if _, err := e.Run(context.Background(), Call{Op: "Test.Add", As: e.System()}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	var r row
	if err := e.Repo().View(context.Background(), e.System(), func(tx *storage.Tx) error {
		_, err := tx.Table("test").Get("n", &r)
		return err
	}); err != nil || r.N != 80 {
		t.Errorf("got %d, %v", r.N, err)
	}
}

func TestReadOnlyKeysWriteNothing(t *testing.T) {
	e := testEngine(t)
	reader := &Principal{Name: "Administrator", Admin: true, ReadOnly: true}
	want := "! denied: operation Test.Create writes, but the key is read-only"
	if got := outcome(e, Call{Op: "Test.Create", Input: "/", As: reader}); got != want {
		t.Errorf("got %s", got)
	}
	if got := outcome(e, Call{Op: "Test.Title", Input: "/default-domain", As: reader}); got != "Domain" {
		t.Errorf("got %s", got)
	}
}

func TestLimits(t *testing.T) {
	e := testEngine(t)
	e.limits.Ops = 50
	steps := make([]Step, 60)
	for i := range steps {
		steps[i] = Step{Op: "Test.Text"}
	}
	p, err := e.Set().Plan(steps, "", PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.RunPlan(context.Background(), p, Call{Input: "x", As: e.System()})
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.CodeOperations || f.Kind != fault.Limit {
		t.Errorf("operations: got %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	_, err = e.Run(ctx, Call{Op: "Test.Slow", As: e.System()})
	if fault.Of(err) != fault.Unavailable {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestTraces(t *testing.T) {
	e := testEngine(t, Op{Name: "Test.Secret", Doc: "d", Effect: Pure, Callers: Anyone, Run: On(func(secretParams, *Ctx, Void) (Void, error) { return Void{}, nil })})
	res, err := e.Run(context.Background(), Call{
		Op: "Test.Call", As: e.System(), Trace: true, Params: map[string]any{"op": "Test.Who"}, RequestID: "r1",
	})
	if err != nil || res.Trace == nil || len(res.Trace.Steps) != 1 || res.Trace.Steps[0].Op != "Test.Who" || len(res.Trace.ID) != 32 {
		t.Fatalf("got %+v, %v", res, err)
	}
	if e.Traces().Find(res.Trace.ID) != res.Trace || e.Traces().Latest("Test.Call") != res.Trace {
		t.Error("not kept")
	}
	if text := res.Trace.Text(); !strings.Contains(text, "\t****** Test.Call ******\n") || !strings.Contains(text, "\t\t****** Test.Who ******\n") {
		t.Errorf("text: %s", text)
	}
	res, err = e.Run(context.Background(), Call{
		Op: "Test.Secret", As: e.System(), Trace: true,
		RawParams: json.RawMessage(`{"phrase":"canary","traceKey":"seen","map":{"apiKey":"canary","phrase":"bird","a":["x",{"token":"canary"}],"text":"{\"parameters\":{\"userPwd\":\"canary\"}}"}}`),
	})
	raw, _ := json.Marshal(res.Trace)
	if err != nil || strings.Contains(string(raw), "canary") || strings.Contains(string(raw), "bird") || !strings.Contains(string(raw), `"phrase":"***","traceKey":"seen"`) {
		t.Errorf("secrets: %s, %v", raw, err)
	}
	if _, err := e.Run(context.Background(), Call{Op: "Test.Call", As: e.System(), Params: map[string]any{"op": "Test.Fail"}}); err == nil {
		t.Fatal("no error")
	}
	last := e.Traces().LastError()
	if last == nil || last.Op != "Test.Call" || last.Error != "thing: taken" || len(last.Steps) != 1 || last.Steps[0].Op != "Test.Fail" {
		t.Errorf("last error: %+v", last)
	}
	if _, err := e.Run(context.Background(), Call{Op: "Test.Call", As: e.System(), Trace: true, Params: map[string]any{"op": "Test.Fail"}}); err == nil {
		t.Fatal("no error")
	}
	if last = e.Traces().LastError(); last.Duration <= 0 || len(last.Steps) != 1 || last.Steps[0].Duration > last.Duration {
		t.Errorf("the time of a call that failed: %+v", last)
	}
	res, err = e.Run(context.Background(), Call{Op: "Test.Call", As: e.System(), Trace: true, Params: map[string]any{"op": "Test.Who", "opp": 1}})
	if err != nil || len(res.Trace.Warnings) != 1 || !strings.Contains(res.Trace.Warnings[0], `unknown parameter "opp", perhaps op`) {
		t.Errorf("a parameter that does not exist: %v, %+v", err, res.Trace)
	}
	for range 1200 {
		e.Traces().add(&Trace{ID: fmt.Sprint(time.Now().UnixNano()), Start: time.Now()})
	}
	if n := len(e.Traces().Recent()); n != 1000 {
		t.Errorf("kept %d", n)
	}
}

type secretParams struct {
	Phrase string         `json:"phrase" alias:"word" secret:"true" doc:"A secret."`
	Key    string         `json:"traceKey,omitzero" doc:"No secret, though its name has one in it."`
	Map    map[string]any `json:"map,omitzero" doc:"An object."`
}

func TestLoginsAndStacksOfSubContexts(t *testing.T) {
	e := testEngine(t)
	within(t, e, func(c *Ctx) {
		sub := c.Sub(true)
		sub.Vars["x"] = 1
		sub.Login(&Principal{Name: "eve"})
		if err := sub.Push(Document, 1); err != nil {
			t.Fatal(err)
		}
		if _, ok := c.Pop(Document); ok || c.Vars["x"] != nil || c.As.Name != "bob" {
			t.Error("the outer context has changed")
		}
		for _, v := range []int{2, 3} {
			_ = sub.Push(Document, v)
		}
		first, _ := sub.Pull(Document)
		last, _ := sub.Pop(Document)
		sub.Logout()
		if first != 1 || last != 3 || sub.As.Name != "bob" {
			t.Errorf("got %v %v %s", first, last, sub.As.Name)
		}
	})
}

func TestExit(t *testing.T) {
	e := testEngine(t, Op{Name: "Test.Exit", Doc: "d", Callers: Anyone, Run: On(func(_ none, c *Ctx, d *storage.Doc) (Void, error) {
		if _, err := c.Tx.Create(d, "Folder", "exit", nil); err != nil {
			return Void{}, err
		}
		return Void{}, c.Exit("early", true)
	})})
	p, err := e.Set().Plan([]Step{{Op: "Test.Exit"}, {Op: "Test.Fail"}}, "", PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.RunPlan(context.Background(), p, Call{Input: "/", As: e.System()})
	if err != nil || res.Value != "early" {
		t.Errorf("got %v, %v", res, err)
	}
	if got := outcome(e, Call{Op: "Test.One", Input: "/exit", As: e.System()}); got != "! notfound: Test.One: /exit" {
		t.Errorf("not rolled back: %s", got)
	}
}

func TestExpressions(t *testing.T) {
	e := testEngine(t)
	tests := []struct{ text, want string }{
		{`Document["dc:title"]`, "Domain"},
		{`Document.dc.title`, "Domain"},
		{`Document["dc:nope"]`, "nil"},
		{`Document`, "/default-domain"},
		{`Documents`, "/default-domain"},
		{`This`, "/default-domain"},
		{`[Document]`, "[/default-domain]"},
		{`Document.path + Document.type + Document.lifeCycle`, "/default-domainDomainproject"},
		{`Document[key]`, "Domain"},
		{`Document.getProperty("dc:title")`, "Domain"},
		{`Document.hasFacet("Folderish")`, "true"},
		{`CurrentUser.name`, "Administrator"},
		{`"Administrator" in [CurrentUser.name]`, "true"},
		{`CurrentDate.days(1).time - CurrentDate.time`, "86400000"},
		{`CurrentDate.format("yyyy") == string(CurrentDate.year)`, "true"},
		{`Fn.documentExists("/default-domain")`, "true"},
		{`Fn.documentExists(Session, "/nope")`, "false"},
		{`Fn.nxqlEscape("a'b")`, `a\'b`},
		{`Fn.concatenateIntoList([1], 2)`, "[1,2]"},
		{`nothing`, "nil"},
		{`expr:1 + 1`, "2"},
		{`Hello @{CurrentUser.name} {"x"} @{nothing}@{"}"}`, `Hello Administrator {"x"} }`},
		{`map(1..1000, map(1..1000, map(1..1000, #)))`, "! limit: expression: uses too much memory"},
		{`Document.ID()`, "! invalid: expression:"},
		{`Fn.exec("ls")`, "! invalid: expression:"},
		{strings.Repeat("(", 9000) + "1" + strings.Repeat(")", 9000), "! "},
	}
	op := Op{Name: "Test.Eval", Doc: "d", Callers: Anyone, Run: On(func(p textParams, c *Ctx, _ *storage.Doc) (any, error) {
		c.SetVar("key", "dc:title")
		return c.Eval(p.Text)
	})}
	if err := e.Swap(func(s *Set) (*Set, error) { return s.With([]Op{op}) }); err != nil {
		t.Fatal(err)
	}
	admin, err := credential.SignIn(context.Background(), e.Repo(), "Administrator", storagetest.Password)
	if err != nil {
		t.Fatal(err)
	}
	eval := func(text string) string {
		got := outcome(e, Call{Op: "Test.Eval", Input: "/default-domain", Params: map[string]any{"text": text}, As: admin})
		return strings.Replace(got, "Test.Eval: ", "", 1)
	}
	for _, test := range tests {
		got := eval(test.text)
		if got != test.want && (!strings.HasPrefix(test.want, "! ") || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: got %s, want %s", cut(test.text, 60), got, test.want)
		}
	}
	// A document has the same members where a program reads them by name, and is given no others, as where it may read any.
	calls := map[string]string{"hasFacet": `hasFacet("Folderish")`, "hasSchema": `hasSchema("dublincore")`, "getProperty": `getProperty("dc:title")`}
	for _, member := range append(docMemberNames, `dc.title`, `["dc:title"]`, `?.titel`, `titel`) {
		member = "." + strings.TrimPrefix(cmp.Or(calls[member], member), ".")
		if member = strings.Replace(member, ".[", "[", 1); strings.HasPrefix(member, ".?") {
			member = member[1:]
		}
		named, free := eval("Document"+member), eval("let Any = Document; Any"+member)
		if free = strings.Replace(free, "Any has", "Document has", 1); named != free {
			t.Errorf("Document%s: %s where it is named, %s where any may be", member, named, free)
		}
	}
}

// TestShownTraces: a trace has failed if it has an error, and lists show what was asked for and may be seen, newest first.
func TestShownTraces(t *testing.T) {
	s := newTraceStore(Limits{TraceRuns: 10, TraceMinute: time.Hour}, time.Now)
	ann, bob := &Principal{Name: "ann", ID: 1}, &Principal{Name: "bob", ID: 2}
	for _, x := range []*Trace{
		{ID: "1", Op: "A.B", User: "ann", Request: "r", owner: storage.OwnedBy(ann)},
		{ID: "2", Op: "A.B", User: "bob", Error: "e", owner: storage.OwnedBy(bob)},
	} {
		x.Start = time.Now()
		s.add(x)
	}
	for _, x := range []struct {
		as   *Principal
		f    TraceFilter
		want string
	}{
		{&Principal{Admin: true}, TraceFilter{}, "2 failed, 1 ok"},
		{&Principal{Admin: true}, TraceFilter{Limit: 1}, "2 failed"},
		{&Principal{Admin: true}, TraceFilter{Status: "ok"}, "1 ok"},
		{&Principal{Admin: true}, TraceFilter{Status: "failed", Op: "A.B"}, "2 failed"},
		{&Principal{Admin: true}, TraceFilter{User: "bob"}, "2 failed"},
		{&Principal{Admin: true}, TraceFilter{Op: "A.C"}, ""},
		{&Principal{Admin: true}, TraceFilter{Request: "r"}, "1 ok"},
		{&Principal{Admin: true}, TraceFilter{User: "ann", Status: "failed"}, ""},
		{ann, TraceFilter{}, "1 ok"},
		{bob, TraceFilter{Status: "ok"}, ""},
		{&Principal{Name: "ann", ID: 3}, TraceFilter{}, ""}, // another one of the name
	} {
		if x.f.Limit == 0 {
			x.f.Limit = 10
		}
		var got []string
		for _, one := range s.list(x.as, &x.f) {
			got = append(got, one.ID+" "+one.Status)
		}
		if text := strings.Join(got, ", "); text != x.want {
			t.Errorf("%s, %+v: %q, want %q", x.as.Name, x.f, text, x.want)
		}
	}
}
