// Package declaration has the types of documents and the directories declared on a running server: schemas, facets, life cycles and
// types are texts as those in the folder types of a data directory, vocabularies and other directories as those in the folder
// directories, kept in versions by engine/library. A text is accepted if it fits to all others and no document and no entry would
// lose anything by it. All together are the declarations of the store (storage.Declarations), which every server of it follows.
//
// What is declared beside them, such as page providers and workflows, is a Kind each, by the same mechanism.
//
// The file of a text that was never kept counts as if it were: a server that starts keeps it then.
package declaration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"catena/engine"
	"catena/engine/library"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/directory"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/typecheck"
)

// Declarations are those of one engine.
type Declarations struct {
	types, directories part
	beside             []follower       // kinds that name types
	base               storage.Declared // what is built in, and the files
	baseUnread         error            // why the directories of base are the built-in ones alone
	repo               *storage.Repo
	failed             atomic.Pointer[error] // why those of the store cannot be read here
	unread             atomic.Pointer[error] // baseUnread, of what the store has now
}

// follower is a kind of text that names types.
type follower interface {
	// misfits are what would be wrong with the texts beside other types.
	misfits(t *storage.Tx, types *schema.Registry) ([]declare.Mistake, error)
}

// Beside has kinds of texts stand against types that would not fit to them. It is called before anything is deployed.
func (d *Declarations) Beside(kinds ...follower) { d.beside = append(d.beside, kinds...) }

// New returns the declarations of an engine with the files of two folders. What they declare is for Declare to find out.
func New(types, directories fs.FS) (*Declarations, error) {
	d := &Declarations{}
	d.types.Kind = &library.Kind{Family: "Type", Noun: "type", Ext: YAML, Check: d.checker(&d.types), Put: d.put, Keep: d.keeper(&d.types)}
	d.directories.Kind = &library.Kind{Family: "Vocabulary", Noun: "vocabulary", Nouns: "vocabularies", Ext: YAML, Check: d.checker(&d.directories), Put: d.put, Keep: d.keeper(&d.directories)}
	d.unread.Store(&d.baseUnread)
	return d, errors.Join(d.types.read(types), d.directories.read(directories))
}

// Declare makes what is built in and what the files declare, before a store is open. Types that are wrong are an error. Directories
// whose files do not fit to the types are left to Unread, since the store may keep more types.
func (d *Declarations) Declare() (err error) {
	d.base, d.baseUnread, err = d.over(nil, nil)
	return err
}

// builtIn is what there is without any text, which is read once.
var builtIn = sync.OnceValues(func() (storage.Declared, error) {
	all, wrong, err := read(nil, nil)
	if err == nil {
		err = declare.ErrorOf(wrong)
	}
	return all, err
})

// build returns the types and directories of texts. Mistakes are those of the types if there are any.
func build(types, directories []declare.Source) (storage.Declared, []declare.Mistake, error) {
	if len(types)+len(directories) == 0 {
		all, err := builtIn()
		return all, nil, err
	}
	return read(types, directories)
}

func read(types, directories []declare.Source) (all storage.Declared, wrong []declare.Mistake, err error) {
	if all.Types, wrong, err = schema.Build(types); err != nil || len(wrong) > 0 {
		return storage.Declared{}, wrong, err
	}
	found, wrong, err := directory.Build(all.Types, directories)
	if err != nil || len(wrong) > 0 {
		return all, wrong, err
	}
	all.Beside = found
	return all, nil, nil
}

// over returns the declarations with texts that are kept. If the directories are wrong, which unread says, there are the built-in ones.
func (d *Declarations) over(types, directories versions) (all storage.Declared, unread, err error) {
	all, wrong, err := build(d.types.with(types, nil), d.directories.with(directories, nil))
	if err == nil {
		err = declare.ErrorOf(wrong)
	}
	if err != nil && all.Types != nil {
		unread = err
		all.Beside, err = directory.Load(all.Types, directory.Defaults())
	}
	return all, unread, err
}

// directoriesOf are those of declarations.
func directoriesOf(d storage.Declared) *directory.Registry {
	all, _ := d.Beside.(*directory.Registry)
	return all
}

// Base is what a store has that keeps nothing.
func (d *Declarations) Base() storage.Declared { return d.base }

// Unread returns what is wrong with the directories: there are only the built-in ones then.
func (d *Declarations) Unread() error { return *d.unread.Load() }

// Over returns what a store has that keeps some texts.
func (d *Declarations) Over(types, directories []declare.Source) (storage.Declared, error) {
	all, unread, err := d.over(d.types.versionsOf(types), d.directories.versionsOf(directories))
	return all, cmp.Or(err, unread)
}

// Ops are the operations that manage declarations.
func (d *Declarations) Ops() []engine.Op { return slices.Concat(d.types.Ops(), d.directories.Ops()) }

// Load deploys what is kept, at start.
func (d *Declarations) Load(ctx context.Context, e *engine.Engine) error {
	d.repo = e.Repo()
	return errors.Join(d.types.Load(ctx, e), d.directories.Load(ctx, e))
}

// Refresh follows what other servers deploy in the same store.
func (d *Declarations) Refresh(ctx context.Context, e *engine.Engine) error {
	err := d.repo.Redeclare(ctx)
	d.failed.Store(&err)
	if err != nil {
		return fault.Wrap(err, "declarations")
	}
	return errors.Join(d.types.Refresh(ctx, e), d.directories.Refresh(ctx, e))
}

// Lacks says whether this server cannot read the declarations of the store.
func (d *Declarations) Lacks(*engine.Engine) []library.Lack {
	if err := d.failed.Load(); err != nil && *err != nil {
		return []library.Lack{{Text: "types of documents", Err: *err}}
	}
	if err := d.Unread(); err != nil {
		return []library.Lack{{Text: "vocabularies", Err: err}}
	}
	return nil
}

// Sync applies the files of two folders whose text is not what is deployed.
func (d *Declarations) Sync(ctx context.Context, e *engine.Engine, types, directories fs.FS) ([]string, error) {
	first, err := d.types.Sync(ctx, e, types)
	second, err1 := d.directories.Sync(ctx, e, directories)
	return append(first, second...), errors.Join(err, err1)
}

// put has the repositories follow what was deployed.
func (d *Declarations) put([]library.Version) error {
	if d.repo == nil { // they have read it themselves
		return nil
	}
	return d.repo.Redeclare(context.Background())
}

// Declared returns the declarations of a store: what is built in, the texts that are kept, and files of texts that never were. If kept
// texts cannot be read, because another version of the program has other built-in declarations, files take the place of those of
// their names.
func (d *Declarations) Declared(t *storage.Tx) (storage.Declared, error) {
	types, err := d.types.kept(t)
	if err != nil {
		return storage.Declared{}, err
	}
	directories, err := d.directories.kept(t)
	if err != nil {
		return storage.Declared{}, err
	}
	if len(types)+len(directories) == 0 {
		d.unread.Store(&d.baseUnread)
		return d.base, nil
	}
	all, unread, err := d.over(types, directories)
	defer func() { d.unread.Store(&unread) }()
	wrong := cmp.Or(err, unread)
	if wrong == nil || !d.types.replaces(types) && !d.directories.replaces(directories) {
		return all, err
	}
	d.types.instead(types)
	d.directories.instead(directories)
	if all, unread, err = d.over(types, directories); err != nil {
		return all, wrong
	}
	t.Repo().Log().Error("deployed declarations cannot be read; files of the same names take their place", "error", wrong)
	return all, nil
}

// checker returns what finds everything that is wrong with a text of a part: with itself, with others because of it, and with what
// is kept.
func (d *Declarations) checker(of *part) func(c *engine.Ctx, file, source string) (string, []library.Problem, error) {
	return func(c *engine.Ctx, file, source string) (string, []library.Problem, error) {
		name, root, problems, err := of.named(c.Tx, file, source)
		if err != nil || len(problems) > 0 {
			return name, problems, err
		}
		next, problems, err := d.next(c.Tx, of, &declare.Source{Name: file, Text: source})
		if err != nil || len(problems) > 0 {
			return name, problems, err
		}
		at := map[string]engine.Position{}
		library.Positions(root, "", at)
		problems, err = d.obstacles(c.Tx, next, func(place string) library.Problem {
			for ; place != "." && place != "/"; place = path.Dir(place) {
				if found, ok := at[place]; ok {
					return library.Problem{File: file, Line: found.Line, Column: found.Column}
				}
			}
			return library.Problem{File: file, Line: 1, Column: 1}
		})
		return name, problems, err
	}
}

// next returns the declarations with a text of a part that is to be; nil for those that are kept.
func (d *Declarations) next(t *storage.Tx, of *part, more *declare.Source) (next storage.Declared, problems []library.Problem, err error) {
	var sources [2][]declare.Source
	for i, p := range []*part{&d.types, &d.directories} {
		kept, err := p.kept(t)
		if err != nil {
			return next, nil, err
		}
		if p == of {
			sources[i] = p.with(kept, more)
		} else {
			sources[i] = p.with(kept, nil)
		}
	}
	next, wrong, err := build(sources[0], sources[1])
	return next, problemsOf(wrong), err
}

// obstacles are the documents, in any of the repositories, and the entries of directories that would lose something, the fields
// that would refer to no directory, and what else would name what is there no longer.
func (d *Declarations) obstacles(t *storage.Tx, next storage.Declared, at func(place string) library.Problem) (problems []library.Problem, err error) {
	add := func(place, format string, args ...any) {
		p := at(place)
		p.Message = fmt.Sprintf(format, args...)
		problems = append(problems, p)
	}
	err = everywhere(t, func(t *storage.Tx) error {
		found, err := typecheck.Check(t, next.Types)
		for _, o := range found {
			add(o.Place, "%s %s, but documents have it: %s", o.What, o.Now, o.Doc.Path())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	lost, err := record.Losses(t, directoriesOf(next))
	for _, l := range lost {
		add(l.Place, "%s, but entries have it: %s", l.What, l.Entry)
	}
	for _, s := range next.Types.Schemas() {
		for _, f := range s.Fields {
			name, refers := strings.CutPrefix(f.Resolver, "directory:")
			_, before := record.Registry(t).Directory(name)
			if _, after := directoriesOf(next).Directory(name); refers && before && !after {
				add("directories/"+name, "directory %s is removed, but field %s refers to it", name, f.Key)
			}
		}
	}
	for _, k := range d.beside {
		wrong, failed := k.misfits(t, next.Types)
		err = errors.Join(err, failed)
		for _, m := range wrong {
			add("/", "%s would be wrong: %s", m.At, m.Text)
		}
	}
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

// followed refuses a text while a server is there that would not follow it, and would write documents and entries without the rows of
// their indexes. What is a file of this server, kept for the first time, changes nothing.
func (d *Declarations) followed(t *storage.Tx, of *part, v *library.Version) error {
	if v.Version == 1 && slices.Contains(of.files, declare.Source{Name: v.File, Text: v.Source}) {
		return nil
	}
	ok, err := storage.AllAble(t, storage.Follows)
	if err == nil && !ok {
		err = fault.Conflict.Errorf("%s %s: a server of an earlier version, which would not follow the change, shares the store: upgrade all servers first", of.Noun, v.Name)
	}
	return err
}

// keeper returns what has the declarations take effect from the commit on. What is removed was not checked before.
func (d *Declarations) keeper(of *part) func(t *storage.Tx, v library.Version) error {
	return func(t *storage.Tx, v library.Version) error {
		next, problems, err := d.next(t, of, nil)
		if err == nil && v.Deleted && len(problems) == 0 {
			problems, err = d.obstacles(t, next, func(string) library.Problem { return library.Problem{File: fileOf(&v), Line: 1, Column: 1} })
		}
		if err != nil {
			return err
		}
		if len(problems) > 0 {
			return library.Refused(problems, fault.CodeSource)
		}
		if err := d.followed(t, of, &v); err != nil {
			return err
		}
		if err := storage.Redeclared(t); err != nil {
			return err
		}
		if err := record.Rebuild(t, directoriesOf(next)); err != nil {
			return err
		}
		return typecheck.Rebuild(t, next.Types)
	}
}
