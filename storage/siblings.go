package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/lazy"
)

// A server may have several repositories. Each has a tree of documents, permissions, versions, an audit
// log, full text and jobs of its own; users, groups, directories, keys and tokens, everything in tables and the
// content of files are there once for all of them.

// common is what the repositories of one store share in memory.
type common struct {
	whole  *kv.DB // the store with what is all repositories'
	people peopleCache
	pins   pins
	memory row.Memory

	declare   Declarations // nil: there are the types of the configuration alone
	declaring sync.Mutex   // one at a time follows what is deployed

	mu    sync.Mutex
	repos []*Repo // the first one of the store is in front
}

// add enters a repository into the list of those of its store.
func (c *common) add(r *Repo) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range c.repos {
		if other.name == r.name {
			return fault.Exists.Errorf("repository %s is open", r.name)
		}
	}
	c.repos = append(c.repos, r)
	return nil
}

// all returns the repositories that are open.
func (c *common) all() []*Repo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.repos)
}

// Names returns the names of the repositories that are open, in order.
func (r *Repo) Names() []string { return r.names() }

// Sibling returns the repository of a name, if it is open on the same store; nil if there is none.
func (r *Repo) Sibling(name string) *Repo {
	if name == r.name {
		return r
	}
	return r.named(name)
}

func (c *common) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := make([]string, len(c.repos))
	for i, r := range c.repos {
		names[i] = r.name
	}
	slices.Sort(names)
	return names
}

func (c *common) named(name string) *Repo {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.repos {
		if r.name == name {
			return r
		}
	}
	return nil
}

// sharedKey reports whether a row is the same for all repositories of a store: people, directories, tables,
// contents with their text and what holds them, so that no sweep takes what another repository needs.
func sharedKey(key []byte) bool {
	switch key[0] {
	case layout.BlobSpace, layout.EntrySpace, layout.MemberSpace, layout.NameSpace, layout.SecretSpace, layout.TableSpace:
		return true
	case layout.WordsSpace:
		return len(key) > 1 && key[1] == layout.WordsContent
	case layout.IndexSpace:
		return bytes.HasPrefix(key, blobRefs)
	}
	return false
}

var blobRefs = layout.BlobRefs()

// join opens the part of the store that is this repository's, if it stands beside another one.
func (r *Repo) join(first *Repo) error {
	if first == nil {
		r.common = &common{whole: r.db}
		return r.add(r)
	}
	if !repositoryName().MatchString(r.name) {
		return fault.Invalid.Errorf("repository %q: a name must have up to 32 letters, digits, - and _, and begin with a letter", r.name)
	}
	db, err := first.whole.Part(r.name, sharedKey)
	if err != nil {
		return err
	}
	r.db, r.blobs, r.common, r.part, r.owners = db, first.blobs, first.common, true, first.owners
	return r.add(r)
}

var repositoryName = lazy.Regexp(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

const repositoryTable = "repositories"

// declared is how it is kept that a repository is to be there.
type declared struct{ Name string }

// Declare keeps the names of further repositories, and returns those that are to be opened beside this one:
// once declared they are there at every start.
func (r *Repo) Declare(ctx context.Context, names ...string) ([]string, error) {
	all := map[string]bool{}
	err := r.Update(ctx, r.System(), func(t *Tx) error {
		clear(all)
		table := t.Table(repositoryTable)
		for _, raw := range table.Scan("", "", false, 0) {
			var d declared
			if err := json.Unmarshal(raw, &d); err != nil {
				return fault.Internal.Errorf("repository: %w", err)
			}
			all[d.Name] = true
		}
		for _, name := range names {
			if !repositoryName().MatchString(name) || strings.EqualFold(name, r.name) {
				return fault.Invalid.Errorf("repository %q: a name must have up to 32 letters, digits, - and _, begin with a letter and not be %s", name, r.name)
			}
			if all[name] {
				continue
			}
			all[name] = true
			if err := table.Put(name, declared{name}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	found := make([]string, 0, len(all))
	for name := range all {
		found = append(found, name)
	}
	slices.Sort(found)
	return found, nil
}
