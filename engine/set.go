package engine

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"catena/storage/fault"
)

// Def is an operation in a set, with what was compiled from it.
type Def struct {
	Op
	table *table
	// by is the function for an input of each kind; nil if there is none.
	by [kinds]*variant
	// direct is the same where the input needs neither a look inside nor a conversion.
	direct [kinds]*variant
}

// Signature returns the type words of the operation's functions: in, out, in, out.
func (d *Def) Signature() []string { return d.Run.Signature() }

// Params returns the parameters as documentation lists them.
func (d *Def) Params() []Param { return d.table.ordered() }

// Set is the operations that exist: immutable, so that a call keeps the set it began with.
type Set struct {
	base    map[string]*Def // what NewSet and Extend were given, by name and alias
	ops     map[string]*Def // what exists now
	names   []string
	stamp   *stamp
	secrets map[string]bool // names of parameters that are secrets
}

// stamp tells sets apart; it keeps what is derived from one.
type stamp struct{ _ byte }

// NewSet makes a set. Everything wrong with an operation is an error here, not when it is
// called: names that stand twice, what is not documented, functions with different
// parameters, and operations that nobody may call.
func NewSet(ops ...[]Op) (*Set, error) {
	s := &Set{ops: map[string]*Def{}, stamp: &stamp{}}
	var errs []error
	for _, family := range ops {
		for i := range family {
			d, err := s.compile(family[i])
			if err == nil {
				err = s.add(d)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("operation %q: %w", family[i].Name, err))
			}
		}
	}
	s.base = s.ops
	s.index()
	return s, errors.Join(errs...)
}

// With returns a copy of the set with operations added or replaced, and others removed; what
// one of those had replaced is there again.
// An operation of a text need not say who may call it: by default those who may call the one that it
// replaces and that would be there again, and otherwise everyone.
func (s *Set) With(ops []Op, remove ...string) (*Set, error) {
	n := &Set{base: s.base, ops: maps.Clone(s.ops), stamp: &stamp{}}
	var errs []error
	for _, name := range remove {
		n.remove(name)
		if d, ok := s.base[name]; ok && d != s.ops[name] && d.Name == name {
			if err := n.add(d); err != nil {
				errs = append(errs, err)
			}
		}
	}
	for i := range ops {
		d, err := n.compile(n.withCallers(ops[i]))
		if err != nil {
			errs = append(errs, fmt.Errorf("operation %q: %w", ops[i].Name, err))
			continue
		}
		n.remove(d.Name)
		if err := n.add(d); err != nil {
			errs = append(errs, fmt.Errorf("operation %q: %w", d.Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	n.index()
	return n, nil
}

// Extend returns a copy of the set with operations that every server has and that are made of texts: one that With
// replaces is there again when that is removed.
func (s *Set) Extend(ops []Op) (*Set, error) {
	n, err := s.With(ops)
	if err == nil {
		n.base = n.ops
	}
	return n, err
}

// withCallers returns an operation that With was given with those who may call it.
func (s *Set) withCallers(op Op) Op {
	if op.Callers == (Callers{}) {
		op.Callers = Anyone
		if d, ok := s.base[op.Name]; ok {
			op.Callers = d.Callers
		}
	}
	return op
}

func (s *Set) remove(name string) {
	d, ok := s.ops[name]
	if !ok || d.Name != name {
		return
	}
	delete(s.ops, name)
	for _, alias := range d.Aliases {
		if s.ops[alias] == d {
			delete(s.ops, alias)
		}
	}
}

func (s *Set) add(d *Def) error {
	for _, name := range append([]string{d.Name}, d.Aliases...) {
		if other, taken := s.ops[name]; taken {
			return fmt.Errorf("the name %q is already used by %s", name, other.Name)
		}
		s.ops[name] = d
	}
	return nil
}

func (s *Set) index() {
	for name, d := range s.ops {
		if d.Name == name {
			s.names = append(s.names, name)
		}
	}
	slices.Sort(s.names)
	s.indexSecrets()
}

// compile checks an operation and prepares the choice of its functions.
func (s *Set) compile(op Op) (*Def, error) {
	if err := op.check(); err != nil {
		return nil, err
	}
	if op.Label == "" {
		op.Label = op.Name
	}
	t, err := tableOf(op.Run)
	if err != nil {
		return nil, err
	}
	d := &Def{Op: op, table: t}
	for k := range kinds {
		best := 0
		for i := range op.Run.variants {
			v := &op.Run.variants[i]
			if score := fit(k, v.in); score > best {
				best, d.by[k] = score, v
			}
		}
		v := d.by[k]
		if t.typ != nil && v != nil && !v.each && k != kList && k != kOther && (v.in == k || v.in == kVoid || v.in == kAny) {
			d.direct[k] = v
		}
	}
	return d, nil
}

// check finds mistakes in a definition that the types of Go allow.
func (op *Op) check() error {
	switch {
	case op.Name == "":
		return errors.New("no name")
	case op.Doc == "":
		return errors.New("no documentation")
	case len(op.Run.variants) == 0:
		return errors.New("no function")
	case op.Callers == Callers{}:
		return errors.New("no callers: nobody may call it")
	case op.Deprecated != Deprecation{} && !dated(op.Deprecated):
		return fmt.Errorf("deprecated since %q, which is not a date", op.Deprecated.Since)
	case op.Run.mixed:
		return errors.New("its functions have different parameters")
	}
	return nil
}

func dated(d Deprecation) bool {
	_, ok := d.Day()
	return ok
}

// Op finds an operation by name or alias; "Chain." may stand in front of the name.
func (s *Set) Op(name string) (*Def, bool) {
	d, ok := s.ops[name]
	if !ok {
		if rest, cut := strings.CutPrefix(name, "Chain."); cut {
			d, ok = s.ops[rest]
		}
	}
	return d, ok
}

// Names returns the names of all operations in order, without aliases.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Same reports whether two sets are the same one.
func (s *Set) Same(o *Set) bool { return o != nil && s.stamp == o.stamp }

// Allowed reports whether a principal may call an operation from an entry point.
func (s *Set) Allowed(name string, p *Principal, from EntryPoint) bool {
	d, ok := s.Op(name)
	return ok && d.Callers.allows(p, from)
}

// Accepts returns an error unless an operation of the name exists and takes an input of the type that a word names.
func (s *Set) Accepts(name, word string) error {
	d, ok := s.Op(name)
	if !ok {
		return fault.Invalid.Errorf("unknown operation %s%s", name, fault.Perhaps(name, s.All())).WithCode(fault.CodeUnknownOperation)
	}
	if k := kindOfWord(word); k != kAny && d.by[k] == nil {
		return fault.Invalid.Errorf("operation %s takes %s, not %s", name, d.inputs(), word)
	}
	return nil
}

// All are the names and aliases of all operations, in no order.
func (s *Set) All() iter.Seq[string] { return maps.Keys(s.ops) }

// Missing is the error of a name that no operation has, with the one that was probably meant of those that a
// principal may call from an entry point; nobody may call any.
func (s *Set) Missing(name string, p *Principal, from EntryPoint) *fault.Error {
	return fault.Missing("operation", name, func(yield func(string) bool) {
		for known := range s.All() {
			if p != nil && s.Allowed(known, p, from) && !yield(known) {
				return
			}
		}
	}).WithCode(fault.CodeUnknownOperation)
}
