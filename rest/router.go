package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"
)

// handler answers one request. What it returns as an error becomes the error body.
type handler func(*exchange) error

// access says who may ask for a route.
type access uint8

const (
	signedIn access = iota // a user or key; 401 otherwise
	open                   // anybody; no sign-in is attempted
	visitor                // anybody; whoever signed in is known
)

// route is one row of the table. What it says of its operation, its answer and its parameters is what the
// description of the addresses tells; a row without a handler is served by that alone.
type route struct {
	method, path string
	access       access
	body         body    // of anything but a GET or a DELETE, which have none
	handle       handler // nil: runs op

	op     string                            // the operation it runs
	params func(x *exchange) (values, error) // of it; nil: the parts of the address and those of query
	query  string                            // parameters of the query, separated by spaces
	entity string                            // parameter of op that the JSON body becomes; "*": its members become all
	gives  string                            // schema of the answer, where the operation does not say it
	status int                               // of an answer with a body; 0: 200
	or     int                               // another status that is no error
	batch  bool                              // a batch may hold it: its handler does nothing but run one operation
	says   string                            // summary, where the operation does not say it
	parts  []route                           // addresses that the handler tells apart

	meter *meter
}

// router finds the route of an escaped path. Patterns are those of httprouter, ":name" for
// one segment and "*name" for the rest, but any two may stand side by side: what httprouter
// would refuse is folded into one entry, and the most specific row that matches wins.
type router struct {
	tree    *httprouter.Router
	methods []string
	sets    map[string][]*pattern // by method and folded pattern
}

// pattern is a route with its path taken apart.
type pattern struct {
	route *route
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

// newRouter makes a router of a table. Two rows for one address are a bug in the table.
func newRouter(table []route) *router {
	r := &router{tree: httprouter.New(), sets: map[string][]*pattern{}}
	byMethod := map[string][]*pattern{}
	for i := range table {
		p := &pattern{route: &table[i], segs: segments(table[i].path)}
		if len(p.segs) > maxSegments {
			panic(fmt.Sprintf("routes: %s has more than %d segments", table[i].path, maxSegments))
		}
		byMethod[p.route.method] = append(byMethod[p.route.method], p)
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
				panic(fmt.Sprintf("routes: %s %s and %s are the same", method, set[i-1].route.path, set[i].route.path))
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

// fold groups patterns that share the skeleton so far and registers each group once.
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
func (r *router) find(method, path string, ps *params) *route {
	if rt := r.exact(method, path, ps); rt != nil {
		return rt
	}
	if len(path) > 1 && path[len(path)-1] == '/' {
		return r.exact(method, path[:len(path)-1], ps)
	}
	return nil
}

func (r *router) exact(method, path string, ps *params) *route {
	handle, _, _ := r.tree.Lookup(method, path)
	if handle == nil {
		return nil
	}
	handle(&ps.found, nil, nil)
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
	var ps params
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

func (p *pattern) match(path string, ps *params) bool {
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

// params are the named segments of a path as they came, still escaped.
type params struct {
	n     int
	found capture
	list  [maxSegments]struct{ name, value string }
}

func (p *params) add(name, value string) {
	p.list[p.n].name, p.list[p.n].value = name, value
	p.n++
}

// get returns the escaped value of a named segment.
func (p *params) get(name string) string {
	for i := range p.n {
		if p.list[i].name == name {
			return p.list[i].value
		}
	}
	return ""
}
