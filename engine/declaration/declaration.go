// Package declaration has the types of documents declared on a running server: schemas, facets, life cycles and types are texts as
// those in the folder types of a data directory, kept in versions by engine/library. A text is accepted if it fits to all others and
// no document would lose anything by it. All together are the declarations of the store (storage.Declarations), which every
// server of it follows.
//
// The file of a text that was never kept counts as if it were: a server that starts keeps it then.
package declaration

import (
	"context"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/engine/library"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/typecheck"
)

const noun = "type"

// extensions are those of the files.
var extensions = []string{".yaml", ".yml"}

// Declarations are those of one engine.
type Declarations struct {
	kind   *library.Kind
	files  []declare.Source // of the data directory
	base   *schema.Registry // what is built in, and the files
	repo   *storage.Repo
	failed atomic.Pointer[error] // why those of the store cannot be read here
}

// New returns the declarations of an engine: what is built in, and the files of a folder.
func New(files fs.FS) (*Declarations, error) {
	d := &Declarations{}
	d.kind = &library.Kind{Family: "Type", Noun: noun, Ext: extensions, Check: d.check, Put: d.put, Keep: d.keep}
	r := &declare.Reader{}
	err := r.Files(func(*yaml.Node) {}, files)
	if err != nil {
		return nil, err
	}
	entries, _ := fs.ReadDir(files, ".") // a folder that is missing is empty
	for _, e := range entries {
		if e.IsDir() || !slices.Contains(extensions, path.Ext(e.Name())) {
			continue
		}
		text, err := declare.ReadFile(files, e.Name())
		if err != nil {
			return nil, fault.Wrap(err, "%s", e.Name())
		}
		d.files = append(d.files, declare.Source{Name: e.Name(), Text: string(text)})
	}
	if d.base, err = build(d.files); err != nil {
		return nil, err
	}
	return d, nil
}

func build(sources []declare.Source) (*schema.Registry, error) {
	reg, wrong, err := schema.Build(sources)
	if err == nil {
		err = declare.ErrorOf(wrong)
	}
	return reg, err
}

// Base are the types of a store that keeps none.
func (d *Declarations) Base() *schema.Registry { return d.base }

// Over returns the types of a store that keeps some texts.
func (d *Declarations) Over(kept []declare.Source) (*schema.Registry, error) {
	byName := map[string]*library.Version{}
	for _, s := range kept {
		byName[nameOf(s.Name)] = &library.Version{Name: nameOf(s.Name), File: s.Name, Source: s.Text}
	}
	return build(d.with(byName, nil))
}

// Ops are the operations that manage declarations.
func (d *Declarations) Ops() []engine.Op { return d.kind.Ops() }

// Load deploys what is kept, at start.
func (d *Declarations) Load(ctx context.Context, e *engine.Engine) error {
	d.repo = e.Repo()
	return d.kind.Load(ctx, e)
}

// Refresh follows what other servers deploy in the same store.
func (d *Declarations) Refresh(ctx context.Context, e *engine.Engine) error {
	err := d.repo.Redeclare(ctx)
	d.failed.Store(&err)
	if err != nil {
		return fault.Wrap(err, "types of documents")
	}
	return d.kind.Refresh(ctx, e)
}

// Lacks says whether this server cannot read the declarations of the store.
func (d *Declarations) Lacks(*engine.Engine) []library.Lack {
	if err := d.failed.Load(); err != nil && *err != nil {
		return []library.Lack{{Text: "types of documents", Err: *err}}
	}
	return nil
}

// Sync applies the files of a folder whose text is not what is deployed.
func (d *Declarations) Sync(ctx context.Context, e *engine.Engine, dir fs.FS) ([]string, error) {
	return d.kind.Sync(ctx, e, dir)
}

// put has the repositories follow what was deployed.
func (d *Declarations) put([]library.Version) error {
	if d.repo == nil { // they have read it themselves
		return nil
	}
	return d.repo.Redeclare(context.Background())
}

// Declared returns the types of a store: what is built in, the texts that are kept, and files of texts that never were. If kept
// texts cannot be read, because another version of the program had other built-in types, files take the place of those of
// their names.
func (d *Declarations) Declared(t *storage.Tx) (*schema.Registry, error) {
	kept, err := texts(t)
	if err != nil || len(kept) == 0 {
		return d.base, err
	}
	reg, err := build(d.with(kept, nil))
	if err == nil || !slices.ContainsFunc(d.files, func(f declare.Source) bool { return kept[nameOf(f.Name)] != nil }) {
		return reg, err
	}
	for _, f := range d.files {
		kept[nameOf(f.Name)] = &library.Version{Name: nameOf(f.Name), File: f.Name, Source: f.Text}
	}
	if other, err := build(d.with(kept, nil)); err == nil {
		t.Repo().Log().Error("deployed types of documents cannot be read; files of the same names take their place", "error", err)
		return other, nil
	}
	return nil, err
}

// texts returns what is kept, by name; what was removed is there without its text.
func texts(t *storage.Tx) (map[string]*library.Version, error) {
	all := map[string]*library.Version{}
	for _, raw := range t.Table("library."+noun).Scan("", "", false, 0) {
		v := &library.Version{}
		if err := json.Unmarshal(raw, v); err != nil {
			return nil, fault.Internal.Errorf("type: %w", err)
		}
		if !v.Deleted {
			full, err := library.Kept(t, noun, v.Name, v.Version)
			if err != nil {
				return nil, err
			}
			v = full
		}
		all[v.Name] = v
	}
	return all, t.Err()
}

// with returns the texts that count, with one that is to be, nil for none, in the order of their names.
func (d *Declarations) with(kept map[string]*library.Version, more *declare.Source) (all []declare.Source) {
	for _, f := range d.files {
		if kept[nameOf(f.Name)] == nil && (more == nil || nameOf(f.Name) != nameOf(more.Name)) {
			all = append(all, f)
		}
	}
	for _, v := range kept {
		if !v.Deleted && (more == nil || v.Name != nameOf(more.Name)) {
			all = append(all, declare.Source{Name: fileOf(v), Text: v.Source})
		}
	}
	if more != nil {
		all = append(all, *more)
	}
	slices.SortFunc(all, func(a, b declare.Source) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func fileOf(v *library.Version) string {
	if v.File == "" {
		return v.Name + ".yaml"
	}
	return v.File
}

// nameOf is the name of the text of a file.
func nameOf(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// check finds everything that is wrong with a text: with itself, with others because of it, and with documents.
func (d *Declarations) check(c *engine.Ctx, file, source string) (string, []library.Problem, error) {
	if file == noun {
		return "", nil, fault.Invalid.Errorf("name: the name of the file is required, which becomes that of the text").In("name")
	}
	p := &library.Parser{File: file}
	name := nameOf(file)
	root := p.Root([]byte(source), "file")
	if root == nil {
		return name, p.Problems, nil
	}
	if p.Name(root, name); len(p.Problems) > 0 {
		return name, p.Problems, nil
	}
	if c.Tx.Repo().IsPart() {
		return name, nil, fault.Invalid.Errorf("types of documents are declared in repository %s, for all of its store", storage.DefaultRepository)
	}
	next, problems, err := d.next(c.Tx, &declare.Source{Name: file, Text: source})
	if err != nil || len(problems) > 0 {
		return name, problems, err
	}
	at := map[string]engine.Position{}
	library.Positions(root, "", at)
	problems, err = obstacles(c.Tx, next, func(place string) library.Problem {
		for ; place != "." && place != "/"; place = path.Dir(place) {
			if found, ok := at[place]; ok {
				return library.Problem{File: file, Line: found.Line, Column: found.Column}
			}
		}
		return library.Problem{File: file, Line: 1, Column: 1}
	})
	return name, problems, err
}

// next returns the declarations with a text that is to be; nil for those that are kept.
func (d *Declarations) next(t *storage.Tx, more *declare.Source) (*schema.Registry, []library.Problem, error) {
	kept, err := texts(t)
	if err != nil {
		return nil, nil, err
	}
	next, wrong, err := schema.Build(d.with(kept, more))
	var problems []library.Problem
	for _, m := range wrong {
		problems = append(problems, library.Problem{File: m.At.File, Line: m.At.Line, Column: max(m.At.Column, 1), Message: m.Text})
	}
	return next, problems, err
}

// obstacles are the documents that would lose something, in any of the repositories.
func obstacles(t *storage.Tx, next *schema.Registry, at func(place string) library.Problem) (problems []library.Problem, err error) {
	err = everywhere(t, func(t *storage.Tx) error {
		found, err := typecheck.Check(t, next)
		for _, o := range found {
			p := at(o.Place)
			p.Message = o.What + " " + o.Now + ", but documents have it: " + o.Doc.Path()
			problems = append(problems, p)
		}
		return err
	})
	return problems, err
}

// everywhere calls fn for each repository of a store as the system; in others than that of the transaction, in a view.
func everywhere(t *storage.Tx, fn func(t *storage.Tx) error) error {
	repo := t.Repo()
	if err := fn(t.As(repo.System())); err != nil {
		return err
	}
	for _, name := range repo.Names() {
		if other := repo.Sibling(name); other != nil && other != repo {
			if err := other.View(t.Context(), other.System(), fn); err != nil {
				return fault.Wrap(err, "repository %s", name)
			}
		}
	}
	return nil
}

// keep has the declarations take effect from the commit on. What is removed was not checked before.
func (d *Declarations) keep(t *storage.Tx, v library.Version) error {
	next, problems, err := d.next(t, nil)
	if err == nil && v.Deleted && len(problems) == 0 {
		problems, err = obstacles(t, next, func(string) library.Problem { return library.Problem{File: fileOf(&v), Line: 1, Column: 1} })
	}
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return library.Refused(problems, fault.CodeSource)
	}
	if err := storage.Redeclared(t); err != nil {
		return err
	}
	return typecheck.Rebuild(t, next)
}
