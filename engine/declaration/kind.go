package declaration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"catena/engine"
	"catena/engine/library"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Texts says what the texts of a Kind are, and what is made of all of them.
type Texts[V any] struct {
	Family   string   // of the operations that manage them
	Noun     string   // what messages and tables call one
	Nouns    string   // several of them; "": with an s
	Ext      []string // of files
	Extended bool     // names of texts have the extensions of their files; else they are in YAML
	// Build makes a value of texts, over what is built in, and tells everything that is wrong with them.
	Build func(types *schema.Registry, texts []declare.Source) (V, []declare.Mistake, error)
	// Works tells what of a value cannot be run, because of an operation that it names, for example. May be nil.
	Works func(set *engine.Set, types *schema.Registry, v V) []declare.Mistake
	// Loses tells what is in use of a value and missing in the next one. May be nil.
	Loses func(t *storage.Tx, now, next V) ([]string, error)
}

// Kind is what the texts of one folder declare beside types and directories: page providers, for example. Every server of a store
// makes the same of all texts that are kept, again whenever one of them or the types change. A text that another version of the program
// has accepted and that is wrong here is left out.
type Kind[V any] struct {
	part
	texts Texts[V]
	repo  *storage.Repo

	making sync.Mutex // one after the other: each looks at what is kept
	now    atomic.Pointer[made[V]]

	mu      sync.Mutex
	checked *made[V] // what lacks was found of
	set     *engine.Set
	lacks   []library.Lack
}

// made is what was made of texts.
type made[V any] struct {
	value V
	types *schema.Registry
	kept  versions
	out   map[string]error // why texts were left out, by file
	err   error            // why nothing could be made; value is what was there before
}

// NewKind returns a kind of text with the files of a folder.
func NewKind[V any](x Texts[V], files fs.FS) (*Kind[V], error) {
	k := &Kind[V]{texts: x}
	k.extended = x.Extended
	k.Kind = &library.Kind{
		Family: x.Family, Noun: x.Noun, Nouns: x.Nouns, Ext: x.Ext, Check: k.check, Keep: k.keep,
		Put: func([]library.Version) error { return k.follow(context.Background()) },
	}
	return k, k.read(files)
}

// FamilyName is that of the operations that manage the texts.
func (k *Kind[V]) FamilyName() string { return k.Family }

// Value is what all texts declare.
func (k *Kind[V]) Value() V { return k.now.Load().value }

// Declare makes what the files declare, before a store is open. A file that is wrong is an error.
func (k *Kind[V]) Declare(types *schema.Registry) error { return k.make(types, versions{}) }

// Open makes what the texts of a store declare, and files whose texts were never kept. A file that is wrong is an error.
func (k *Kind[V]) Open(ctx context.Context, repo *storage.Repo) error {
	k.repo = repo
	return k.follow(ctx)
}

// Over makes what some texts declare that a store keeps.
func (k *Kind[V]) Over(types *schema.Registry, kept []declare.Source) error {
	return k.make(types, k.versionsOf(kept))
}

// Load deploys what is kept, at start.
func (k *Kind[V]) Load(ctx context.Context, e *engine.Engine) error {
	k.repo = e.Repo()
	return k.Kind.Load(ctx, e)
}

// Refresh follows what other servers deploy in the same store.
func (k *Kind[V]) Refresh(ctx context.Context, e *engine.Engine) error {
	err := k.Kind.Refresh(ctx, e)
	if now := k.now.Load(); now.types != e.Repo().Types() || now.err != nil {
		err = errors.Join(err, k.follow(ctx))
	}
	return err
}

// follow makes what the store has now.
func (k *Kind[V]) follow(ctx context.Context) error {
	if k.repo == nil { // the files of a directory are only read
		return nil
	}
	k.making.Lock()
	defer k.making.Unlock()
	var kept versions
	var types *schema.Registry
	err := k.repo.View(ctx, k.repo.System(), func(t *storage.Tx) (err error) {
		types = storage.TypesOf(t)
		kept, err = k.kept(t)
		return err
	})
	if err != nil {
		return err
	}
	return k.make(types, kept)
}

// make makes what texts declare. Of those that are kept, it leaves out what is wrong. A store that keeps nothing has what the files
// declared before it was open.
func (k *Kind[V]) make(types *schema.Registry, kept versions) error {
	if now := k.now.Load(); now != nil && now.err == nil && now.types == types && len(now.kept)+len(kept) == 0 {
		return nil
	}
	next := &made[V]{types: types, kept: kept, out: map[string]error{}}
	texts := k.with(kept, nil)
	for {
		var wrong []declare.Mistake
		if next.value, wrong, next.err = k.texts.Build(types, texts); next.err != nil || len(wrong) == 0 {
			break
		}
		left := slices.DeleteFunc(slices.Clone(texts), func(s declare.Source) bool {
			i := slices.IndexFunc(wrong, func(m declare.Mistake) bool { return isOf(m, s.Name) })
			v := kept[k.nameOf(s.Name)]
			if i >= 0 && v != nil {
				next.out[s.Name] = declare.ErrorOf(wrong[i : i+1])
			}
			return i >= 0 && v != nil
		})
		if len(left) == len(texts) {
			next.err = declare.ErrorOf(wrong)
			break
		}
		texts = left
	}
	if now := k.now.Load(); next.err != nil && now != nil {
		next.value = now.value
	}
	k.now.Store(next)
	return next.err
}

// isOf reports whether a mistake is one of a text, and not of what is built in under the same name.
func isOf(m declare.Mistake, file string) bool { return m.At.Layer > 0 && m.At.File == file }

// Lacks finds the texts that do not work on this server.
func (k *Kind[V]) Lacks(e *engine.Engine) []library.Lack {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, set := k.now.Load(), e.Set()
	if k.checked == now && k.set == set {
		return k.lacks
	}
	k.lacks, k.checked, k.set = nil, now, set
	if now.err != nil {
		k.lacks = []library.Lack{{Text: cmp.Or(k.Nouns, k.Noun+"s"), Err: now.err}}
		return k.lacks
	}
	why := maps.Clone(now.out)
	if k.texts.Works != nil {
		for _, m := range k.texts.Works(set, now.types, now.value) {
			if isOf(m, m.At.File) && why[m.At.File] == nil {
				why[m.At.File] = declare.ErrorOf([]declare.Mistake{m})
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(why)) {
		if v := now.kept[k.nameOf(file)]; v != nil { // others are built in, or files that are kept soon
			k.lacks = append(k.lacks, library.Lack{Text: fmt.Sprintf("%s %s version %d", k.Noun, v.Name, v.Version), Err: why[file]})
		}
	}
	return k.lacks
}

// check finds everything that is wrong with a text: with itself, with others because of it, and what would miss what it had.
func (k *Kind[V]) check(c *engine.Ctx, file, source string) (string, []library.Problem, error) {
	name, _, problems, err := k.named(c.Tx, file, source)
	if err != nil || len(problems) > 0 {
		return name, problems, err
	}
	next, wrong, err := k.next(c.Tx, storage.TypesOf(c.Tx), &declare.Source{Name: file, Text: source})
	if err != nil || len(wrong) > 0 {
		return name, problemsOf(wrong), err
	}
	if k.texts.Works != nil {
		wrong = slices.DeleteFunc(k.texts.Works(c.Set(), storage.TypesOf(c.Tx), next), func(m declare.Mistake) bool { return !isOf(m, file) })
	}
	problems, err = k.lost(c.Tx, file, next)
	return name, append(problemsOf(wrong), problems...), err
}

// next is what texts would declare, with one that is to be, nil for none, and what is wrong with that: not with texts that are left
// out here already.
func (k *Kind[V]) next(t *storage.Tx, types *schema.Registry, more *declare.Source) (next V, wrong []declare.Mistake, err error) {
	kept, err := k.kept(t)
	if err != nil {
		return next, nil, err
	}
	out := k.now.Load().out
	texts := slices.DeleteFunc(k.with(kept, more), func(s declare.Source) bool { return out[s.Name] != nil && (more == nil || s.Name != more.Name) })
	return k.texts.Build(types, texts)
}

// lost is what the next value lacks and is in use.
func (k *Kind[V]) lost(t *storage.Tx, file string, next V) (problems []library.Problem, err error) {
	if k.texts.Loses == nil {
		return nil, nil
	}
	err = everywhere(t, func(t *storage.Tx) error {
		lost, err := k.texts.Loses(t, k.Value(), next)
		for _, text := range lost {
			problems = append(problems, library.Problem{File: file, Line: 1, Column: 1, Message: text})
		}
		return err
	})
	return problems, err
}

// keep refuses that something is removed which others need. What is saved was checked.
func (k *Kind[V]) keep(t *storage.Tx, v library.Version) error {
	if !v.Deleted {
		return nil
	}
	next, wrong, err := k.next(t, storage.TypesOf(t), nil)
	if err != nil {
		return err
	}
	problems := problemsOf(wrong)
	if len(problems) == 0 {
		if problems, err = k.lost(t, v.File, next); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return library.Refused(problems, fault.CodeSource)
	}
	return nil
}

func (k *Kind[V]) misfits(t *storage.Tx, types *schema.Registry) ([]declare.Mistake, error) {
	_, wrong, err := k.next(t, types, nil)
	return wrong, err
}
