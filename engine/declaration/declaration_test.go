package declaration

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"catena/engine"
	"catena/engine/library"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/maintenance"
	"catena/storage/schema"
	"catena/storage/search"
	"catena/storage/storagetest"
)

// server is one of several on a store.
type server struct {
	*engine.Engine
	t     *testing.T
	types *Declarations
}

// servers are several with the same files, which lie on one store.
func servers(t *testing.T, n int, files fstest.MapFS) (all []*server) {
	t.Helper()
	return serversWith(t, n, files, nil, func(*storage.Config) {})
}

// serversWith are servers with files of directories too, whose configuration change adjusts.
func serversWith(t *testing.T, n int, files, directories fstest.MapFS, change func(*storage.Config)) (all []*server) {
	t.Helper()
	var config storage.Config
	for range n {
		d, err := New(files, directories)
		if err == nil {
			err = d.Declare()
		}
		if err != nil {
			t.Fatal(err)
		}
		var repo *storage.Repo
		if len(all) == 0 {
			repo = storagetest.Open(t, func(c *storage.Config) {
				c.Types, c.Beside, c.Declared = d.Base().Types, d.Base().Beside, d.Declared
				change(c)
				config = *c
			})
		} else {
			config.Declared = d.Declared
			if repo, err = storage.Open(t.Context(), config, ""); err != nil {
				t.Fatal(err)
			}
		}
		set, err := engine.NewSet(d.Ops())
		if err != nil {
			t.Fatal(err)
		}
		s := &server{engine.New(engine.Config{Repo: repo, Set: set, Log: slog.New(slog.DiscardHandler)}), t, d}
		if err := d.Load(t.Context(), s.Engine); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func (s *server) call(op string, params map[string]any) (any, error) {
	r, err := s.Run(s.t.Context(), engine.Call{Op: op, As: s.System(), Params: params, EntryPoint: engine.REST})
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

// save deploys a text, which is refused with what ends so unless that is empty.
func (s *server) save(file, source, refused string) {
	s.t.Helper()
	_, err := s.call("Type.Save", map[string]any{"name": file, "source": source})
	s.refused(err, refused)
}

func (s *server) remove(name, refused string) {
	s.t.Helper()
	_, err := s.call("Type.Delete", map[string]any{"name": name})
	s.refused(err, refused)
}

func (s *server) refused(err error, want string) {
	s.t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if (want == "") != (err == nil) || !strings.HasSuffix(got, want) {
		s.t.Errorf("got %q, want the end %q", got, want)
	}
}

func (s *server) update(fn func(tx *storage.Tx) error) {
	s.t.Helper()
	if err := s.Repo().Update(s.t.Context(), s.System(), fn); err != nil {
		s.t.Error(err)
	}
}

// create makes a document below the root.
func (s *server) create(typ, name string, props storage.Props) {
	s.t.Helper()
	s.update(func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err == nil {
			_, err = tx.Create(root, typ, name, props)
		}
		return err
	})
}

// found are the names of the documents that a query finds.
func (s *server) found(query string) string {
	s.t.Helper()
	var names []string
	err := s.Repo().View(s.t.Context(), s.System(), func(tx *storage.Tx) error {
		names = nil
		page, err := search.Query(tx, query, search.Options{})
		if err != nil {
			return err
		}
		for _, d := range page.Docs {
			names = append(names, d.Name())
		}
		return nil
	})
	if err != nil {
		s.t.Error(err)
	}
	return strings.Join(names, " ")
}

const contract = `schemas:
  contract:
    prefix: ct
    fields:
      sum: {type: integer, index: true}
      party: string
      parts: {type: "complex[]", fields: {code: string}}
types:
  Contract: {parent: File, label: Contract, schemas: [contract]}
`

// TestDeploy has one server deploy a type, while another writes documents of it as soon as that was acknowledged; versions are
// kept, compared and restored, and a server that starts has the type.
func TestDeploy(t *testing.T) {
	all := servers(t, 2, nil)
	a, b := all[0], all[1]
	a.save("contract.yaml", contract, "")
	b.create("Contract", "one", storage.Props{"ct:sum": 5, "ct:party": "ann"}) // without having looked
	a.create("Contract", "two", storage.Props{"ct:sum": 7})
	for _, s := range all {
		if err := s.types.Refresh(t.Context(), s.Engine); err != nil {
			t.Error(err)
		}
		if got := s.found("SELECT * FROM Contract WHERE ct:sum > 5"); got != "two" {
			t.Errorf("found %q", got)
		}
	}
	b.save("contract.yaml", strings.Replace(contract, "party: string", "party: {type: string, index: true}\n      note: string", 1), "")
	a.create("Contract", "three", storage.Props{"ct:sum": 9, "ct:note": "n"})
	if err := a.Repo().Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if got := a.found("SELECT * FROM Contract WHERE ct:party = 'ann'"); got != "one" {
		t.Errorf("found %q by a new index", got)
	}
	a.remove("contract", "type Contract is removed, but documents have it: /one")
	if _, err := a.call("Type.Restore", map[string]any{"name": "contract", "version": 1}); err == nil || !strings.HasSuffix(err.Error(), "field ct:note is removed, but documents have it: /three") {
		t.Errorf("restored although a document has more: %v", err)
	}
	a.update(func(tx *storage.Tx) error {
		d, err := tx.Doc("/three")
		if err == nil {
			err = d.Set("ct:note", nil)
		}
		if err == nil {
			_, err = tx.Save(d, storage.SaveOptions{})
		}
		return err
	})
	if _, err := a.call("Type.Restore", map[string]any{"name": "contract", "version": 1}); err != nil {
		t.Error(err)
	}
	c := servers(t, 1, nil)[0] // of another store
	if _, ok := c.Repo().Types().Type("Contract"); ok {
		t.Error("another store has the type")
	}
	verified(t, a)
}

// verified has a server write the indexes that are due, and compares all rows with what documents ask for.
func verified(t *testing.T, s *server) {
	t.Helper()
	if err := s.Repo().Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if s.Repo().IndexesDue(t.Context()) {
		t.Error("indexes are due after a sweep")
	}
	problems, err := maintenance.Verify(t.Context(), s.Repo())
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// TestRefused: what is wrong with a text is reported where it is; what documents have stays as it can be read.
func TestRefused(t *testing.T) {
	s := servers(t, 1, nil)[0]
	s.save("contract.yaml", contract, "")
	s.create("Contract", "one", storage.Props{"ct:sum": 5, "ct:parts": []any{map[string]any{"code": "x"}}})
	change := func(old, now string) string { return strings.Replace(contract, old, now, 1) }
	for _, c := range []struct{ name, file, source, refused string }{
		{"unknown parent", "a.yaml", "types:\n  A: {parent: Fil}\n", "a.yaml:2:15: type A: unknown type Fil, perhaps File"},
		{"unknown key", "a.yaml", "types:\n  A: {parent: File, schema: [x]}\n", "a.yaml:2:21: unknown key schema, perhaps schemas"},
		{"no YAML", "a.yaml", "types: [", "did not find expected node content"},
		{"a name", "a b.yaml", "types: {}", `name "a b": must contain only letters, digits and . _ - ( ), at most 100 bytes`},
		{"twice", "a.yaml", contract, "already declared at a.yaml:9"},
		{"a kind", "contract.yaml", change("type: integer", "type: string"), "contract.yaml:5:7: field ct:sum would be string instead of integer, but documents have it: /one"},
		{"a part", "contract.yaml", change("fields: {code", "fields: {kind"), "field ct:parts/*/code is removed, but documents have it: /one"},
		{"a list", "contract.yaml", change("complex[]", "complex"), "field ct:parts would be complex instead of complex[], but documents have it: /one"},
		{"a schema", "contract.yaml", change("schemas: [contract]", "schemas: []"), "field ct:sum is removed from type Contract, but documents have it: /one\ncontract.yaml:9:45: field ct:parts is removed from type Contract, but documents have it: /one"},
		{"a type", "contract.yaml", change("  Contract:", "  Contrac:"), "type Contract is removed, but documents have it: /one"},
		{"a field that nobody has", "contract.yaml", change("      party: string\n", ""), ""},
		{"a wider kind", "contract.yaml", change("type: integer", "type: long"), ""},
		{"a state", "life.yaml", "lifeCycles:\n  default: {initial: other, states: [other]}\n", "state project of life cycle default is removed from type WorkspaceRoot, but documents have it: /default-domain/workspaces"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			s.save(c.file, c.source, c.refused)
		})
	}
	s.t = t
	if got := s.found("SELECT * FROM Contract WHERE ct:sum = 5"); got != "one" {
		t.Errorf("found %q", got)
	}
	verified(t, s)
}

// TestMoved: an index of a schema has the documents of a type that gets the schema later.
func TestMoved(t *testing.T) {
	s := servers(t, 1, nil)[0]
	const text = "schemas:\n  rank: {fields: {rank: {type: long, index: true}}}\ntypes:\n  A: {parent: Document, schemas: [rank]}\n  B: {parent: Document%s}\n"
	s.save("rank.yaml", fmt.Sprintf(text, ""), "")
	s.create("A", "a", storage.Props{"rank:rank": 1})
	s.create("B", "b", nil)
	verified(t, s)
	s.save("rank.yaml", fmt.Sprintf(text, ", schemas: [rank]"), "")
	const query = "SELECT * FROM A, B ORDER BY rank:rank"
	for range 2 {
		if got := s.found(query); got != "b a" {
			t.Errorf("found %q", got)
		}
		verified(t, s)
	}
}

// TestFiles: a file counts from the start, is kept like a text that is applied, and may be replaced by one.
func TestFiles(t *testing.T) {
	files := fstest.MapFS{"contract.yaml": {Data: []byte(contract)}}
	s := servers(t, 1, files)[0]
	s.create("Contract", "one", nil)
	if changed, err := s.types.Sync(t.Context(), s.Engine, files, fstest.MapFS{}); err != nil || strings.Join(changed, " ") != "contract" {
		t.Errorf("%v %v", changed, err)
	}
	s.save("contract.yaml", strings.Replace(contract, "label: Contract", "label: Deal", 1), "")
	typ, _ := s.Repo().Types().Type("Contract")
	if typ.Label != "Deal" {
		t.Errorf("label %s", typ.Label)
	}
	v, err := s.call("Type.List", nil)
	if list := v.([]library.Version); err != nil || len(list) != 1 || list[0].Version != 2 {
		t.Errorf("%v %v", v, err)
	}
}

// TestBehind: a server that cannot read what others deploy answers nothing that it does not know, and says so.
func TestBehind(t *testing.T) {
	all := servers(t, 2, nil)
	a, b := all[0], all[1]
	b.types.types.files = append(b.types.types.files, files(t, "other.yaml", "types:\n  Contract: {parent: File}\n")...)
	a.save("contract.yaml", contract, "")
	if err := b.types.Refresh(t.Context(), b.Engine); err == nil || len(b.types.Lacks(b.Engine)) != 1 {
		t.Errorf("%v, %v", err, b.types.Lacks(b.Engine))
	}
	err := b.Repo().Update(context.Background(), b.System(), func(tx *storage.Tx) error { return nil })
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "Contract: already declared") {
		t.Errorf("wrote without knowing the types: %v", err)
	}
	a.remove("contract", "")
	if err := b.types.Refresh(t.Context(), b.Engine); err != nil || len(b.types.Lacks(b.Engine)) != 0 {
		t.Error(err)
	}
}

// TestTakenBack: a server goes on that hears of a declaration only when it has been taken back: in another transaction, or in the same
// one. What is declared then is what it knows already.
func TestTakenBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	writes := func(s *server) {
		t.Helper()
		if err := s.Repo().Update(ctx, s.System(), func(tx *storage.Tx) error { return tx.Table("test").Put("n", 1) }); err != nil {
			t.Error(err)
		}
	}
	all := servers(t, 2, nil)
	all[0].save("contract.yaml", contract, "")
	all[0].remove("contract", "")
	writes(all[1])
	_, err := all[0].RunFunc(ctx, engine.Writes, func(c *engine.Ctx) (any, error) {
		if _, err := c.Call("Type.Save", nil, map[string]any{"name": "contract.yaml", "source": contract}); err != nil {
			return nil, err
		}
		return c.Call("Type.Delete", nil, map[string]any{"name": "contract"})
	}, engine.Call{Op: "Test.TakeBack", As: all[0].System(), EntryPoint: engine.REST})
	if err != nil {
		t.Error(err)
	}
	for _, s := range all {
		writes(s)
	}
}

func files(t *testing.T, name, text string) []declare.Source {
	t.Helper()
	return []declare.Source{{Name: name, Text: text}}
}

// TestOlderServer: while a server is there that does not follow declarations, none is deployed that it would not know. If it comes
// later, indexes that it does not write are given up, and written again once it has left.
func TestOlderServer(t *testing.T) {
	const others, memo = "others", "types:\n  Memo: {parent: Note}\n"
	file := "schemas:\n  memo: {fields: {day: {type: long, index: true}}}\n"
	s := serversWith(t, 1, fstest.MapFS{"day.yaml": {Data: []byte(file)}}, nil, func(c *storage.Config) {
		c.Owners = append(slices.Clone(c.Owners), storage.Owner{Name: "nodes", Able: func(tx *storage.Tx, what storage.Ability) (bool, error) {
			there, err := tx.Table(others).Get("older", new(bool))
			return !there || what != storage.Follows, err
		}})
	})[0]
	older := func(there bool) {
		t.Helper()
		s.update(func(tx *storage.Tx) error {
			if there {
				return tx.Table(others).Put("older", true)
			}
			return tx.Table(others).Delete("older")
		})
	}
	const refused = "a server of an earlier version, which would not follow the change, shares the store: upgrade all servers first"
	older(true)
	s.save("memo.yaml", memo, refused)
	s.saveVocabulary("colors.yaml", colors, refused)
	s.save("day.yaml", file, "") // which it has as well
	older(false)
	s.save("contract.yaml", contract, "")
	s.saveVocabulary("colors.yaml", colors, "")
	s.create("Contract", "one", storage.Props{"ct:sum": 5})
	verified(t, s)
	const query = "SELECT * FROM Contract WHERE ct:sum = 5"
	indexed := func(want bool) {
		t.Helper()
		err := s.Repo().View(t.Context(), s.System(), func(tx *storage.Tx) error {
			plan, err := search.Explain(tx, query, search.Options{})
			if strings.Contains(plan, "access: ct:sum") != want {
				t.Errorf("by its index, want %t:\n%s", want, plan)
			}
			return err
		})
		if got := s.found(query); err != nil || got != "one" {
			t.Errorf("found %q, %v", got, err)
		}
	}
	indexed(true)
	older(true)
	if !s.Repo().IndexesDue(t.Context()) {
		t.Error("indexes that an older server does not write are not given up")
	}
	for range 2 {
		if err := s.Repo().Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		indexed(false)
	}
	if s.Repo().IndexesDue(t.Context()) {
		t.Error("an index is to be written although an older server is there")
	}
	s.saveVocabulary("colors.yaml", strings.Replace(colors, "Red", "Crimson", 1), refused)
	older(false)
	indexed(false)
	verified(t, s)
	indexed(true)
}

// What files declare is made once where the store keeps nothing, and again beside other types.
func TestMadeOnce(t *testing.T) {
	s := servers(t, 1, nil)[0]
	builds := 0
	k, err := NewKind(Texts[int]{Family: "Thing", Noun: "thing", Ext: YAML, Build: func(_ *schema.Registry, texts []declare.Source) (int, []declare.Mistake, error) {
		builds++
		return len(texts), nil, nil
	}}, fstest.MapFS{"one.yaml": {Data: []byte("one: {}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		do     func() error
		builds int
		texts  int
	}{
		{func() error { return k.Declare(s.types.Base().Types) }, 1, 1},
		{func() error { return k.Open(t.Context(), s.Repo()) }, 1, 1},
		{func() error {
			s.save("more.yaml", "schemas: {more: {fields: {title: string}}}\n", "")
			return k.Open(t.Context(), s.Repo())
		}, 2, 1},
		{func() error { return k.Over(s.Repo().Types(), []declare.Source{{Name: "two.yaml", Text: "two: {}\n"}}) }, 3, 2},
		{func() error { return k.Open(t.Context(), s.Repo()) }, 4, 1},
	} {
		if err := step.do(); err != nil || builds != step.builds || k.Value() != step.texts {
			t.Errorf("step %d: %v, %d builds, %d texts", i, err, builds, k.Value())
		}
	}
}
