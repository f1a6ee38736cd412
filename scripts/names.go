package scripts

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
)

// space is one name of the tree that operations make: Document is a space, Create in it
// is an operation, and a name may be both.
type space struct {
	op   string
	kids map[string]*space
}

// names is the tree of operations a script sees, made once for each set of operations.
type names struct {
	root  *space
	all   []string          // sorted, as operations are called
	reads map[string]bool   // those that change nothing
	same  map[string]string // every name by itself, to be found without making one
	hash  [32]byte
}

// newNames makes the tree of all operations; reads are those that change nothing.
func newNames(ops []string, reads ...string) *names {
	n := &names{root: &space{}, all: slices.Clone(ops), reads: make(map[string]bool, len(reads)), same: make(map[string]string, len(ops))}
	slices.Sort(n.all)
	h := sha256.New()
	for _, op := range slices.Sorted(slices.Values(reads)) {
		n.reads[op] = true
		h.Write([]byte(op + "\r"))
	}
	for _, op := range n.all {
		h.Write([]byte(op + "\n"))
		n.same[op] = op
		s := n.root
		for _, part := range strings.Split(mangle(op), ".") {
			if s.kids == nil {
				s.kids = map[string]*space{}
			}
			kid := s.kids[part]
			if kid == nil {
				kid = &space{}
				s.kids[part] = kid
			}
			s = kid
		}
		// Where two operations become one name, the one that is spelt so gets it.
		if s.op == "" || op == mangle(op) {
			s.op = op
		}
	}
	h.Sum(n.hash[:0])
	return n
}

// mangle makes an operation's name one that JavaScript can write.
func mangle(op string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '(', ')':
			return '_'
		}
		return r
	}, op)
}

// at returns the space of a path, nil if there is none.
func (n *names) at(path string) *space {
	s := n.root
	for _, part := range strings.Split(path, ".") {
		if s = s.kids[part]; s == nil {
			return nil
		}
	}
	return s
}

// has reports whether path ("Document.Create") is how a script calls an operation.
func (n *names) has(path string) bool {
	s := n.at(path)
	return s != nil && s.op != ""
}

// below returns the names in the space of a path.
func (n *names) below(path string) []string {
	if s := n.at(path); s != nil {
		return slices.Sorted(maps.Keys(s.kids))
	}
	return nil
}
