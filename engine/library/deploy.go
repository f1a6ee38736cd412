package library

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"catena/engine"
)

// taken says why a text that is not deployed cannot have a name, "" if it can. The operation of a text of the same name may be
// in the set all the same: of one removed in this transaction, or saved since it began, which then runs again.
func (k *Kind) taken(c *engine.Ctx, name string) string {
	k.mu.Lock() // what is deployed and the set change together
	defer k.mu.Unlock()
	old, taken := c.Engine().Set().Op(name)
	if !taken || k.Compile == nil {
		return ""
	}
	if v, own := k.deployed[old.Name]; own && v.repo == c.Tx.Repo().Name() {
		return ""
	}
	return fmt.Sprintf("%s %s: an operation is already named %s", k.Noun, name, old.Name)
}

// numbers are the versions that are deployed, by name.
func (k *Kind) numbers() map[string]int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make(map[string]int64, len(k.deployed))
	for name, v := range k.deployed {
		all[name] = v.Version
	}
	return all
}

// deploy puts the operations of versions into the engine's set. Everything deployed before
// is compiled again, since it may use what has changed. Calls that follow each other may get here in another order: a version
// older than what was deployed or withdrawn comes too late.
func (k *Kind) deploy(e *engine.Engine, added ...Version) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.deployed == nil {
		k.deployed = map[string]Version{}
	}
	if k.unchecked == nil {
		k.unchecked = map[string]bool{}
	}
	for _, v := range added {
		v.repo = e.Repo().Name()
		old := k.deployed[v.Name]
		if late := old.repo == v.repo && old.Version > v.Version; !late && v.Version > k.withdrawn[v.place()] {
			k.deployed[v.Name] = v
			k.unchecked[v.Name] = true
		}
	}
	all := k.inOrder()
	if k.Put != nil {
		return k.Put(all)
	}
	return k.put(e, all)
}

// put compiles texts into the engine's set. What does not compile is an error, and left for compileLeft.
func (k *Kind) put(e *engine.Engine, all []Version) error {
	var wrong error
	err := e.Swap(func(s *engine.Set) (*engine.Set, error) {
		k.lacking, k.left, wrong = k.compileAll(s, all)
		return k.lacking, nil
	})
	return errors.Join(err, wrong)
}

// compileLeft tries texts again that did not compile, if operations have come or gone since: another server may have deployed
// a text and what it names, of another kind, between two looks of this one.
func (k *Kind) compileLeft(e *engine.Engine) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left = slices.DeleteFunc(k.left, func(v Version) bool { return k.deployed[v.Name].Version != v.Version })
	if len(k.left) == 0 || k.lacking == e.Set() {
		return nil
	}
	return k.put(e, k.left)
}

// place names the texts that versions count: each repository has its own.
func (v Version) place() string { return v.repo + "/" + v.Name }

// inOrder is what is deployed, by name.
func (k *Kind) inOrder() []Version {
	all := make([]Version, 0, len(k.deployed))
	for _, name := range slices.Sorted(maps.Keys(k.deployed)) {
		all = append(all, k.deployed[name])
	}
	return all
}

// withdraw takes the operation of a name out of the engine's set, unless a later version than the one that was removed is
// deployed.
func (k *Kind) withdraw(e *engine.Engine, name string, version int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.withdrawn == nil {
		k.withdrawn = map[string]int64{}
	}
	gone := Version{Name: name, Version: version, repo: e.Repo().Name()}
	k.withdrawn[gone.place()] = max(version, k.withdrawn[gone.place()])
	if v, ok := k.deployed[name]; !ok || v.repo == gone.repo && v.Version > version {
		return nil
	}
	delete(k.deployed, name)
	delete(k.lacks, name)
	k.left = slices.DeleteFunc(k.left, func(v Version) bool { return v.Name == name })
	if k.Put != nil {
		return k.Put(k.inOrder())
	}
	return e.Swap(func(s *engine.Set) (*engine.Set, error) { return s.With(nil, name) })
}

// compile makes the operation of a version, which knows of the others.
func (k *Kind) compile(s *engine.Set, v *Version) (engine.Op, error) {
	op, err := k.Compile(s, v.File, v.Source)
	name := v.Name
	op.Version = v.Version
	op.AtVersion = func(c *engine.Ctx, version int64) (engine.Op, error) {
		old, err := k.version(c, name, version)
		if err != nil {
			return engine.Op{}, err
		}
		return k.compile(c.Set(), old)
	}
	return op, err
}

// compileAll compiles until what is left does not compile: texts may name each other.
func (k *Kind) compileAll(s *engine.Set, all []Version) (*engine.Set, []Version, error) {
	for len(all) > 0 {
		var left []Version
		var errs []error
		for _, v := range all {
			op, err := k.compile(s, &v)
			if err == nil {
				var next *engine.Set
				if next, err = s.With([]engine.Op{op}); err == nil {
					s = next
					continue
				}
			}
			left, errs = append(left, v), append(errs, fmt.Errorf("%s %s: %w", k.Noun, v.Name, err))
		}
		if len(left) == len(all) {
			return s, left, errors.Join(errs...)
		}
		all = left
	}
	return s, nil, nil
}
