package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"catena/engine"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/storagetest"
)

// shelf is a repository with an engine and two kinds of text whose first line is the name of an operation that returns the rest.
type shelf struct {
	*engine.Engine
	t           *testing.T
	note, label *Kind
}

// textKind is a kind of text: "NAME", or "NAME needs OTHER", and lines that its operation returns. A line of "?" is a problem.
func textKind(family string) *Kind {
	check := func(_ *engine.Ctx, file, source string) (name string, problems []Problem, err error) {
		for i, line := range strings.Split(source, "\n") {
			if line == "?" {
				problems = append(problems, Problem{File: file, Line: i + 1, Column: 1, Message: "what", Nearest: "that"})
			}
		}
		name, _, _ = strings.Cut(source, "\n")
		name, _, _ = strings.Cut(name, " needs ")
		return name, problems, nil
	}
	compile := func(set *engine.Set, _, source string) (engine.Op, error) {
		first, rest, _ := strings.Cut(source, "\n")
		name, other, needs := strings.Cut(first, " needs ")
		if _, there := set.Op(other); needs && !there {
			return engine.Op{}, fault.NotFound.Errorf("operation %s", other)
		}
		return engine.Op{Name: name, Doc: "Says.", Effect: engine.Reads, Run: engine.On(func(noParams, *engine.Ctx, engine.Void) (string, error) { return rest, nil })}, nil
	}
	return &Kind{Family: family, Noun: strings.ToLower(family), Ext: []string{".txt"}, Check: check, Compile: compile}
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s := &shelf{t: t, note: textKind("Note"), label: textKind("Label")}
	set, err := engine.NewSet(s.note.Ops(), s.label.Ops())
	if err != nil {
		t.Fatal(err)
	}
	s.Engine = engine.New(engine.Config{Repo: storagetest.Open(t, nil), Set: set, Log: slog.New(slog.DiscardHandler)})
	return s
}

// call runs an operation; params are names and values.
func (s *shelf) call(op string, params ...any) (any, error) {
	s.t.Helper()
	all := map[string]any{}
	for i := 0; i+1 < len(params); i += 2 {
		all[params[i].(string)] = params[i+1]
	}
	r, err := s.Run(s.t.Context(), engine.Call{Op: op, As: s.System(), Params: all, EntryPoint: engine.REST})
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

// must is call, which succeeds.
func (s *shelf) must(op string, params ...any) any {
	s.t.Helper()
	v, err := s.call(op, params...)
	if err != nil {
		s.t.Fatalf("%s %v: %v", op, params, err)
	}
	return v
}

// fails expects an error of a kind that ends so.
func (s *shelf) fails(kind fault.Kind, end, op string, params ...any) {
	s.t.Helper()
	if v, err := s.call(op, params...); !fault.Is(err, kind) || !strings.HasSuffix(err.Error(), end) {
		s.t.Errorf("%s %.60v: %v, %v (%s), want %s: %s", op, params, v, err, fault.Of(err), kind, end)
	}
}

// says expects what an operation returns, "" if there is none.
func (s *shelf) says(op, want string) {
	s.t.Helper()
	if _, there := s.Set().Op(op); there != (want != "") {
		s.t.Errorf("%s is there: %t", op, there)
	} else if there {
		if got := s.must(op); got != want {
			s.t.Errorf("%s: %v, want %s", op, got, want)
		}
	}
}

// TestVersions: each text that differs is a version of its own, and all of them can be read, compared and restored.
func TestVersions(t *testing.T) {
	s := newShelf(t)
	for i, c := range []struct {
		source  string
		version int64
	}{{"A.B\none", 1}, {"A.B\none", 1}, {"\ufeffA.B\none", 1}, {"A.B\ntwo", 2}, {"A.B\none", 3}} {
		v := s.must("Note.Save", "source", c.source, "name", "f.txt", "note", fmt.Sprint("n", i)).(Version)
		if v.Version != c.version || v.Name != "A.B" || v.File != "f.txt" || v.Source != "" || v.Author != "system" {
			t.Errorf("%q: %+v", c.source, v)
		}
	}
	s.says("A.B", "one")
	for _, c := range []struct {
		version int64
		source  string
	}{{0, "A.B\none"}, {1, "A.B\none"}, {2, "A.B\ntwo"}, {3, "A.B\none"}} {
		if v := s.must("Note.Read", "name", "A.B", "version", c.version).(Version); v.Source != c.source {
			t.Errorf("version %d: %+v", c.version, v)
		}
	}
	for _, version := range []int64{-1, 4, 1_000_000_000_000, 9e18} {
		s.fails(fault.NotFound, fmt.Sprint("note A.B version ", version), "Note.Read", "name", "A.B", "version", version)
		s.fails(fault.NotFound, fmt.Sprint("note A.B version ", version), "Note.Restore", "name", "A.B", "version", version)
	}
	if all := s.must("Note.Versions", "name", "A.B").([]Version); len(all) != 3 || all[0].Version != 3 || all[2].Note != "n0" || all[1].Source != "" {
		t.Errorf("%+v", all)
	}
	if v := s.must("Note.Restore", "name", "A.B", "version", 2).(Version); v.Version != 4 || v.Note != "version 2 again" {
		t.Errorf("%+v", v)
	}
	s.says("A.B", "two")
	if v := s.must("Note.Restore", "name", "A.B", "version", 2, "note", "x").(Version); v.Version != 4 {
		t.Errorf("restoring what is deployed made %+v", v)
	}
	for _, op := range []string{"Note.Read", "Note.Versions", "Note.Delete", "Note.Diff", "Label.Read"} {
		name := map[bool]string{true: "A.B", false: "Nope"}[op == "Label.Read"]
		s.fails(fault.NotFound, strings.ToLower(op[:strings.IndexByte(op, '.')])+" "+name, op, "name", name)
	}
}

// TestDiff compares versions line by line, in either direction, and refuses what there is nothing to compare with.
func TestDiff(t *testing.T) {
	s := newShelf(t)
	for _, text := range []string{"a\nb\n", "a\nc\n", "a\nc\nd\n"} {
		s.must("Note.Save", "source", "A.B\n"+text)
	}
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 0, "-2+3: +d"},
		{1, 2, "-1+2: -b +c"},
		{2, 1, "-2+1: -c +b"},
		{1, 0, "-1+3: -b +c +d"},
		{0, 2, "-1+2: -b +c"},
		{2, 2, ""},
	} {
		var got []string
		from, to := "", ""
		for line := range strings.Lines(s.must("Note.Diff", "name", "A.B", "from", c.from, "to", c.to).(string)) {
			line = strings.TrimSpace(line)
			if name, ok := strings.CutPrefix(line, "--- A.B version "); ok {
				from = name
			} else if name, ok := strings.CutPrefix(line, "+++ A.B version "); ok {
				to = name
			} else if line != "" && strings.ContainsAny(line[:1], "+-") {
				got = append(got, line)
			}
		}
		want := c.want
		if len(got) > 0 {
			got = append([]string{"-" + from + "+" + to + ":"}, got...)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d to %d: %v, want %s", c.from, c.to, got, want)
		}
	}
	s.fails(fault.Invalid, "note A.B: there is no version before version 1", "Note.Diff", "name", "A.B", "to", 1)
	s.fails(fault.NotFound, "note A.B version 9", "Note.Diff", "name", "A.B", "from", 9)
	s.fails(fault.NotFound, "note A.B version -1", "Note.Diff", "name", "A.B", "from", -1, "to", 1)
}

// TestRefusedTexts: a text with problems is refused with all of them, placed at the first, and Check returns the same.
func TestRefusedTexts(t *testing.T) {
	s := newShelf(t)
	_, err := s.call("Note.Save", "source", "A.B\n?\nx\n?", "name", "f.txt")
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != fault.Invalid || e.Code != fault.CodeSource || e.Line != 2 || e.Column != 1 ||
		!strings.HasSuffix(e.Message, "f.txt:2:1: what, perhaps that\nf.txt:4:1: what, perhaps that") {
		t.Errorf("%+v", e)
	}
	if p := s.must("Note.Check", "source", "A.B\n?").([]Problem); len(p) != 1 || p[0].Error() != "note:2:1: what, perhaps that" {
		t.Errorf("%v", p)
	}
	if p := s.must("Note.Check", "source", "A.B\nx").([]Problem); p == nil || len(p) != 0 {
		t.Errorf("%#v", p)
	}
	big := strings.Repeat("x", declare.MaxFile+1)
	s.fails(fault.Invalid, fmt.Sprintf("at most %d are allowed", declare.MaxFile), "Note.Save", "source", big)
	if p := s.must("Note.Check", "source", big).([]Problem); len(p) != 1 {
		t.Errorf("%d problems of a text that is too long", len(p))
	}
	for _, name := range []string{"a\nb", "a\x00", "\u0085", strings.Repeat("n", maxName+1)} {
		s.fails(fault.Invalid, "at most 255 bytes without control characters", "Note.Save", "source", "A.B", "name", name)
		s.fails(fault.Invalid, "at most 255 bytes without control characters", "Note.Check", "source", "A.B", "name", name)
	}
	s.must("Note.Save", "source", "A.B", "name", strings.Repeat("n", maxName), "note", strings.Repeat("x", maxNote))
	s.fails(fault.Limit, "note: 4097 bytes, limit 4096", "Note.Save", "source", "A.B\nx", "note", strings.Repeat("x", maxNote+1))
	if all := s.must("Note.List").([]Version); len(all) != 1 || all[0].Version != 1 {
		t.Errorf("what was refused is kept: %+v", all)
	}
}

// TestNamesAreTakenOnce: no text takes the name of another operation, not even one that comes back after its name was given
// away.
func TestNamesAreTakenOnce(t *testing.T) {
	s := newShelf(t)
	s.must("Note.Save", "source", "A.B\nnote")
	s.fails(fault.Exists, "label A.B: an operation is already named A.B", "Label.Save", "source", "A.B\nlabel")
	s.fails(fault.Exists, "note Label.Save: an operation is already named Label.Save", "Note.Save", "source", "Label.Save")
	s.must("Note.Delete", "name", "A.B")
	s.says("A.B", "")
	s.must("Label.Save", "source", "A.B\nlabel")
	s.fails(fault.Exists, "note A.B: an operation is already named A.B", "Note.Restore", "name", "A.B", "version", 1)
	s.fails(fault.Exists, "note A.B: an operation is already named A.B", "Note.Save", "source", "A.B\nother")
	if p := s.must("Note.Check", "source", "A.B\nother").([]Problem); len(p) != 1 || p[0].Message != "note A.B: an operation is already named A.B" {
		t.Errorf("%v", p)
	}
	s.says("A.B", "label")
	s.must("Label.Delete", "name", "A.B")
	s.fails(fault.NotFound, "label A.B", "Label.Delete", "name", "A.B")
	s.fails(fault.NotFound, "note A.B", "Note.Read", "name", "A.B")
	if v := s.must("Note.Restore", "name", "A.B", "version", 1).(Version); v.Version != 2 {
		t.Errorf("%+v", v)
	}
	s.says("A.B", "note")
}

// TestLateDeployments: calls that follow each other may be deployed in any order; the last of them counts.
func TestLateDeployments(t *testing.T) {
	v := func(n int64) Version { return Version{Name: "A.B", Version: n, Source: fmt.Sprint("A.B\nv", n)} }
	for _, c := range []struct {
		steps string // versions deployed; with "-", removed
		want  string
	}{
		{"1 2", "v2"},
		{"2 1", "v2"},
		{"3 1 2", "v3"},
		{"1 -1", ""},
		{"-1 1", ""},
		{"1 3 -2", "v3"},
		{"-2 1 3", "v3"},
		{"3 -2 1", "v3"},
		{"1 2 -2 1", ""},
		{"1 -1 2 -2 3", "v3"},
		{"2 2", "v2"},
	} {
		s := newShelf(t)
		for step := range strings.FieldsSeq(c.steps) {
			var n int64
			_, err := fmt.Sscan(strings.TrimPrefix(step, "-"), &n)
			if err == nil && step[0] == '-' {
				err = s.note.withdraw(s.Engine, "A.B", n)
			} else if err == nil {
				err = s.note.deploy(s.Engine, v(n))
			}
			if err != nil {
				t.Errorf("%s: %s: %v", c.steps, step, err)
			}
		}
		s.says("A.B", c.want)
	}
}

// TestSavesAtOnce: callers that save, remove and restore at the same time leave the operation of the last version.
func TestSavesAtOnce(t *testing.T) {
	s := newShelf(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 4 {
				_, err := s.call("Note.Save", "source", fmt.Sprintf("A.B\n%d and %d", i, j))
				if err == nil && j == 2 && i%2 == 0 {
					_, err = s.call("Note.Delete", "name", "A.B")
				}
				if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	want := ""
	if v, err := s.call("Note.Read", "name", "A.B"); err == nil {
		want = strings.TrimPrefix(v.(Version).Source, "A.B\n")
	}
	s.says("A.B", want)
	all := s.must("Note.Versions", "name", "A.B").([]Version)
	for i, v := range all {
		if v.Version != int64(len(all)-i) {
			t.Errorf("version %d of %d at %d", v.Version, len(all), i)
		}
	}
}

// TestLoad: at the start, texts that need each other are deployed in whatever order, and one that cannot be is reported alone.
func TestLoad(t *testing.T) {
	s := newShelf(t)
	s.must("Note.Save", "source", "C.C\nc")
	s.must("Note.Save", "source", "B.B needs C.C\nb")
	s.must("Note.Save", "source", "A.A needs B.B\na")
	s.must("Note.Save", "source", "D.D needs X.X\nd")
	s.must("Note.Save", "source", "E.E\ne")
	s.must("Note.Delete", "name", "E.E")
	again := &shelf{t: t, note: textKind("Note")}
	set, err := engine.NewSet(again.note.Ops())
	if err != nil {
		t.Fatal(err)
	}
	again.Engine = engine.New(engine.Config{Repo: s.Repo(), Set: set, Log: slog.New(slog.DiscardHandler)})
	if err := again.note.Load(t.Context(), again.Engine); err == nil || err.Error() != "note D.D: operation X.X" {
		t.Errorf("got %v", err)
	}
	for op, want := range map[string]string{"A.A": "a", "B.B": "b", "C.C": "c", "D.D": "", "E.E": ""} {
		again.says(op, want)
	}
	s.must("Note.Save", "source", "C.C\nnew")
	s.must("Note.Delete", "name", "B.B")
	s.must("Note.Save", "source", "E.E\nback")
	if err := again.note.Refresh(t.Context(), again.Engine); err == nil || !strings.Contains(err.Error(), "note D.D: operation X.X") {
		t.Errorf("got %v", err)
	}
	for op, want := range map[string]string{"B.B": "", "C.C": "new", "D.D": "", "E.E": "back"} {
		again.says(op, want)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := again.note.Refresh(ended, again.Engine); err == nil {
		t.Error("a refresh that could not read succeeds")
	}
	again.says("C.C", "new")
}

// TestSync: the files of a folder are applied in whatever order they need each other, once, and refused ones are named.
func TestSync(t *testing.T) {
	s := newShelf(t)
	apply := func(dir fs.FS) string {
		changed, err := s.note.Sync(t.Context(), s.Engine, dir)
		slices.Sort(changed)
		return fmt.Sprint(strings.Join(changed, " "), ": ", err)
	}
	dir := fstest.MapFS{
		"a.txt": {Data: []byte("A.A\na")}, "b.txt": {Data: []byte("\ufeffB.B\nb")}, "c.md": {Data: []byte("C.C\nc")}, "d.txt/e.txt": {Data: []byte("E.E\ne")},
	}
	for _, want := range []string{"A.A B.B: <nil>", ": <nil>"} {
		if got := apply(dir); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	dir["a.txt"], dir["z.txt"] = &fstest.MapFile{Data: []byte("A.A\nnew")}, &fstest.MapFile{Data: []byte("Z.Z\n?")}
	if got := apply(dir); !strings.HasPrefix(got, "A.A: ") || !strings.Contains(got, "z.txt:2:1: what, perhaps that") {
		t.Errorf("got %s", got)
	}
	s.says("A.A", "new")
	s.says("Z.Z", "")
	if v := s.must("Note.Read", "name", "A.A").(Version); v.Note != "applied from a.txt" || v.File != "a.txt" || v.Version != 2 {
		t.Errorf("%+v", v)
	}
	if changed, err := s.note.Sync(t.Context(), s.Engine, missing{}); changed != nil || err != nil {
		t.Errorf("a folder that is not there: %v, %v", changed, err)
	}
}

// missing is a folder that does not exist.
type missing struct{}

func (missing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// TestSyncAtOnce: texts that become no operations are saved and deployed together, so that the time of a folder with many files grows
// with their number alone, and texts that are deployed are not looked at again; one that is saved by itself is deployed at once.
func TestSyncAtOnce(t *testing.T) {
	s := newShelf(t)
	var puts []int
	rule := textKind("Rule")
	check, checked, transactions := rule.Check, 0, map[*storage.Tx]bool{}
	rule.Check = func(c *engine.Ctx, file, source string) (string, []Problem, error) {
		checked++
		transactions[c.Tx] = true
		return check(c, file, source)
	}
	looks := 0
	rule.Works = func(*engine.Set, *schema.Registry, string, string) []Problem { looks++; return nil }
	rule.Compile, rule.Put = nil, func(all []Version) error { puts = append(puts, len(all)); return nil }
	if err := s.Swap(func(set *engine.Set) (*engine.Set, error) { return set.With(rule.Ops()) }); err != nil {
		t.Fatal(err)
	}
	dir := fstest.MapFS{"bad.txt": {Data: []byte("Z.Z\n?")}}
	for i := range 50 {
		dir[fmt.Sprintf("r%02d.txt", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "\ufeffR.R%02d\ntext", i)}
	}
	for i, want := range []string{"50 [50]", "0 [50]", "1 [50 50]"} {
		if strings.HasPrefix(want, "1") {
			dir["r07.txt"] = &fstest.MapFile{Data: []byte("R.R07\nnew")}
		}
		changed, err := rule.Sync(t.Context(), s.Engine, dir)
		if got := fmt.Sprint(len(changed), " ", puts); got != want || err == nil || !strings.Contains(err.Error(), "bad.txt:2:1") {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		lacks := rule.Lacks(s.Engine)
		got := fmt.Sprint(checked, " checked, ", len(transactions), " transactions, ", looks, " looks, ", len(lacks), " lack")
		// The file that is refused is tried once more with what was deployed since.
		if want := []string{"52 checked, 2 transactions, 50 looks, 0 lack", "2 checked, 2 transactions, 0 looks, 0 lack", "3 checked, 2 transactions, 1 looks, 0 lack"}[i]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		checked, looks, transactions = 0, 0, map[*storage.Tx]bool{}
	}
	s.must("Rule.Save", "source", "R.R51\ntext")
	if len(puts) != 3 || puts[2] != 51 {
		t.Errorf("deployed %v", puts)
	}
}

// TestChangeToken saves texts that were read before others changed them.
func TestChangeToken(t *testing.T) {
	s := newShelf(t)
	save := func(source, token string) Version {
		t.Helper()
		return s.must("Note.Save", "source", source, "changeToken", token).(Version)
	}
	refused := func(end, source, token string) {
		t.Helper()
		_, err := s.call("Note.Save", "source", source, "changeToken", token)
		storagetest.WantKind(t, err, fault.Conflict, end)
		if fault.CodeOf(err) != fault.CodePreconditionFailed {
			t.Errorf("code of %v", err)
		}
	}
	first := save("A.A\na", "")
	refused("note A.A: is there already: version 1 was saved by system at ", "A.A\nother", "")
	read := s.must("Note.Read", "name", "A.A").(Version)
	listed := s.must("Note.List").([]Version)
	if first.ChangeToken == "" || read.ChangeToken != first.ChangeToken || listed[0].ChangeToken != first.ChangeToken {
		t.Errorf("tokens %q, %q, %q", first.ChangeToken, read.ChangeToken, listed[0].ChangeToken)
	}
	second := save("A.A\nb", read.ChangeToken)
	refused("note A.A: has changed since it was read: version 2 was saved by system at ", "A.A\nc", read.ChangeToken)
	s.says("A.A", "b")
	if same := save("A.A\nb", read.ChangeToken); same.Version != 2 { // nothing is lost
		t.Errorf("saved again: %+v", same)
	}
	save("B.B\nb", second.ChangeToken) // another name that is free
	refused("note B.B: is there already: version 1 was saved by system at ", "B.B\na", second.ChangeToken)
	s.must("Note.Delete", "name", "A.A")
	refused("note A.A: has changed since it was read: it was deleted by system at ", "A.A\nc", second.ChangeToken)
	if v := save("A.A\nc", ""); v.Version != 3 {
		t.Errorf("after it was deleted: %+v", v)
	}
	s.must("Note.Save", "source", "A.A\nd") // who gives no token is not asked
	s.says("A.A", "d")

	// Restoring and deleting are asked in the same way, and the error names the text.
	for _, call := range [][]any{{"Note.Restore", "name", "A.A", "version", 1}, {"Note.Delete", "name", "A.A"}} {
		_, err := s.call(call[0].(string), append(call[1:], "changeToken", second.ChangeToken)...)
		storagetest.WantKind(t, err, fault.Conflict, "note A.A: has changed since it was read: version 4 was saved by system at ")
		if fault.CodeOf(err) != fault.CodePreconditionFailed || fault.SubjectOf(err) != "A.A" {
			t.Errorf("%v: code %v, subject %q", call, fault.CodeOf(err), fault.SubjectOf(err))
		}
	}
	s.says("A.A", "d")
	fourth := s.must("Note.Read", "name", "A.A").(Version)
	fifth := s.must("Note.Restore", "name", "A.A", "version", 1, "changeToken", fourth.ChangeToken).(Version)
	s.says("A.A", "a")
	s.must("Note.Delete", "name", "A.A", "changeToken", fifth.ChangeToken)
	_, err := s.call("Note.Restore", "name", "A.A", "version", 2, "changeToken", fifth.ChangeToken)
	storagetest.WantKind(t, err, fault.Conflict, "note A.A: has changed since it was read: it was deleted by system at ")
	s.must("Note.Restore", "name", "A.A", "version", 2, "changeToken", "")
	s.says("A.A", "b")
}
