package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// HandlerFunc answers one request. What it returns as an error becomes the error body.
type HandlerFunc func(*Request) error

// access says who may ask for a route.
type access uint8

// Who may ask for a route.
const (
	SignedIn access = iota // a user or key; 401 otherwise
	Open                   // anybody; no sign-in is attempted
	Visitor                // anybody; anyone who signed in is known
)

// Route is one row of the table. What it says of its operation, its answer and its parameters is what the
// description of the addresses tells; a row without a handler is served by that alone.
type Route struct {
	Method, Path string
	Access       access
	Changes      bool        // it changes something although it is a GET: a page's session does not sign in
	Body         Body        // of anything but a GET or a DELETE, which have none
	Handle       HandlerFunc // nil: runs op

	Op     string                           // the operation it runs
	Params func(x *Request) (Values, error) // of it; nil: the parts of the address and those of query
	Query  string                           // parameters of the query, separated by spaces
	Entity string                           // parameter of op that the JSON body becomes; "*": its members become all
	Gives  string                           // schema of the answer, where the operation does not say it
	Status int                              // of an answer with a body; 0: 200
	Or     int                              // another status that is no error
	Batch  bool                             // a batch may hold it: its handler does nothing but run one operation
	Names  func(x *Request) string          // the document that the address names and the operation begins with; nil: none
	Proves bool                             // its handler calls Prove, unless Run and an operation that writes are all there is to it
	Says   string                           // summary, where the operation does not say it
	Parts  []Route                          // addresses that the handler tells apart

	meter *meter
}

// router finds the route of an escaped path. Patterns are those of httprouter, ":name" for
// one segment and "*name" for the rest, but any two may stand side by side: what httprouter
// would refuse is folded into one entry, and the most specific row that matches wins. The two
// services fix their addresses, and of their 281 rows httprouter alone refuses 43: a fixed segment
// beside a parameter (/v1/decks/trashed and /v1/decks/:id), and one parameter under two names.
type router struct {
	tree    *httprouter.Router
	methods []string
	sets    map[string][]*pattern // by method and folded pattern
}

// pattern is a route with its path taken apart.
type pattern struct {
	route *Route
	segs  []segment
}

type segment struct {
	kind segmentKind
	text string
}

type segmentKind uint8

const (
	fixed segmentKind = iota
	one
	rest
)

// maxSegments is how many segments a path may have that are named.
const maxSegments = 6

// newRouter makes a router of a table. Two rows for one address, or too many segments, are bugs in the table,
// which every start of the program meets; hence the panics.
func newRouter(table []Route) *router {
	r := &router{tree: httprouter.New(), sets: map[string][]*pattern{}}
	byMethod := map[string][]*pattern{}
	for i := range table {
		p := &pattern{route: &table[i], segs: segments(table[i].Path)}
		if len(p.segs) > maxSegments {
			panic(fmt.Sprintf("routes: %s has more than %d segments", table[i].Path, maxSegments))
		}
		byMethod[p.route.Method] = append(byMethod[p.route.Method], p)
	}
	for method, ps := range byMethod {
		r.methods = append(r.methods, method)
		r.fold(method, "", 0, ps)
	}
	slices.Sort(r.methods)
	for key, set := range r.sets {
		method, path, _ := strings.Cut(key, " ")
		slices.SortStableFunc(set, moreSpecific)
		for i := 1; i < len(set); i++ {
			if moreSpecific(set[i-1], set[i]) == 0 {
				panic(fmt.Sprintf("routes: %s %s and %s are the same", method, set[i-1].route.Path, set[i].route.Path))
			}
		}
		r.tree.Handle(method, path, found(set))
	}
	return r
}

// capture carries a set of patterns out of httprouter's handle.
type capture struct {
	http.ResponseWriter
	set []*pattern
}

func found(set []*pattern) httprouter.Handle {
	return func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		w.(*capture).set = set
	}
}

// fold groups patterns that share the skeleton so far and registers each group once. httprouter refuses
// "/a/:b" beside "/a/c", which the platform's addresses need; here both become "/a/:w1", and exact tells them
// apart afterwards.
func (r *router) fold(method, skeleton string, depth int, ps []*pattern) {
	var ends, more []*pattern
	kinds := [3]bool{}
	for _, p := range ps {
		if len(p.segs) == depth {
			ends = append(ends, p)
			continue
		}
		more = append(more, p)
		kinds[p.segs[depth].kind] = true
	}
	if len(ends) > 0 {
		r.sets[method+" "+skeleton] = append(r.sets[method+" "+skeleton], ends...)
	}
	switch {
	case len(more) == 0:
	// A wildcard takes everything below it, so the other patterns of the group have to be looked at behind it
	// too.
	case kinds[rest]:
		key := method + " " + skeleton + "/*w"
		r.sets[key] = append(r.sets[key], more...)
	case kinds[one]:
		r.fold(method, fmt.Sprintf("%s/:w%d", skeleton, depth), depth+1, more)
	default:
		groups := map[string][]*pattern{}
		for _, p := range more {
			groups[p.segs[depth].text] = append(groups[p.segs[depth].text], p)
		}
		for text, group := range groups {
			r.fold(method, skeleton+"/"+text, depth+1, group)
		}
	}
}

// find returns the route of method and escaped path and fills ps, or nil. A trailing slash
// that no row asks for is harmless.
func (r *router) find(method, path string, ps *Segments) *Route {
	if rt := r.exact(method, path, ps); rt != nil {
		return rt
	}
	// Clients of the platform build addresses by joining parts, which leaves slashes at the end.
	if len(path) > 1 && path[len(path)-1] == '/' {
		return r.exact(method, path[:len(path)-1], ps)
	}
	return nil
}

func (r *router) exact(method, path string, ps *Segments) *Route {
	handle, _, _ := r.tree.Lookup(method, path)
	if handle == nil {
		return nil
	}
	handle(&ps.found, nil, nil)
	// The set is sorted, so the first match is the most specific one.
	for _, p := range ps.found.set {
		ps.n = 0
		if p.match(path, ps) {
			return p.route
		}
	}
	return nil
}

// allowed lists the methods a path knows, for 405 and OPTIONS.
func (r *router) allowed(path string) []string {
	var out []string
	var ps Segments
	for _, m := range r.methods {
		if r.find(m, path, &ps) != nil {
			out = append(out, m)
		}
	}
	if slices.Contains(out, http.MethodGet) && !slices.Contains(out, http.MethodHead) {
		out = append(out, http.MethodHead)
	}
	return out
}

func segments(path string) []segment {
	if path == "" {
		return nil
	}
	var out []segment
	for text := range strings.SplitSeq(path[1:], "/") {
		switch {
		case strings.HasPrefix(text, ":"):
			out = append(out, segment{one, text[1:]})
		case strings.HasPrefix(text, "*"):
			out = append(out, segment{rest, text[1:]})
		default:
			out = append(out, segment{fixed, text})
		}
	}
	return out
}

// moreSpecific orders fixed segments before named ones before the rest, position by position.
func moreSpecific(a, b *pattern) int {
	for i := range min(len(a.segs), len(b.segs)) {
		x, y := a.segs[i], b.segs[i]
		if x.kind != y.kind {
			return int(x.kind) - int(y.kind)
		}
		if x.kind == fixed && x.text != y.text {
			return strings.Compare(x.text, y.text)
		}
	}
	return len(b.segs) - len(a.segs)
}

func (p *pattern) match(path string, ps *Segments) bool {
	left := path
	for _, s := range p.segs {
		if left == "" {
			return false
		}
		left = left[1:]
		if s.kind == rest {
			ps.add(s.text, left)
			return left != "" // else the row without a rest is meant
		}
		text := left
		if i := strings.IndexByte(left, '/'); i >= 0 {
			text, left = left[:i], left[i:]
		} else {
			left = ""
		}
		switch {
		case s.kind == one && text != "":
			ps.add(s.text, text)
		case s.kind == fixed && text == s.text:
		default:
			return false
		}
	}
	return left == ""
}

// Segments are the named segments of a path as they came, still escaped.
type Segments struct {
	n     int
	found capture
	list  [maxSegments]struct{ name, value string }
}

func (p *Segments) add(name, value string) {
	p.list[p.n].name, p.list[p.n].value = name, value
	p.n++
}

// Get returns the escaped value of a named segment.
func (p *Segments) Get(name string) string {
	for i := range p.n {
		if p.list[i].name == name {
			return p.list[i].value
		}
	}
	return ""
}
