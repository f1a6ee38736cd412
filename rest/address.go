package rest

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"catena/storage/fault"
)

// decode undoes the percent-encoding of a part of a path, once. What no name can hold is refused.
func decode(escaped string) (string, error) {
	s := escaped
	if strings.IndexByte(s, '%') >= 0 {
		var err error
		if s, err = url.PathUnescape(escaped); err != nil {
			return "", fault.Invalid.Errorf("address: broken percent-encoding in %q", escaped)
		}
	}
	if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		return "", fault.Invalid.Errorf("address: %q is not text", escaped)
	}
	if strings.Contains(s, ".") && dotted(s) {
		return "", fault.Invalid.Errorf("address: %q has a segment . or ..", escaped)
	}
	return s, nil
}

// dotted reports whether a segment of s is "." or "..".
func dotted(s string) bool {
	for seg := range strings.SplitSeq(s, "/") {
		if seg == "." || seg == ".." {
			return true
		}
	}
	return false
}

// hop is one adapter of an address: "@children", "@blob/file:content".
type hop struct {
	name string
	args string // what follows the name, decoded, without the slash
}

// splitHops cuts an escaped path at its first "/@" and takes the adapters behind it apart.
// Only a raw "@" starts an adapter, so a document may be called "%40acl".
func splitHops(escaped string) (path string, hops []hop, err error) {
	if strings.HasPrefix(escaped, "@") {
		escaped = "/" + escaped
	}
	path, tail := escaped, ""
	if i := strings.Index(escaped, "/@"); i >= 0 {
		path, tail = escaped[:i], escaped[i+2:]
	}
	if path, err = decode(path); err != nil || tail == "" {
		return path, nil, err
	}
	for part := range strings.SplitSeq(tail, "/@") {
		name, args, _ := strings.Cut(part, "/")
		h := hop{}
		if h.name, err = decode(name); err != nil {
			return "", nil, err
		}
		if h.args, err = decode(strings.TrimSuffix(args, "/")); err != nil {
			return "", nil, err
		}
		hops = append(hops, h)
	}
	return path, hops, nil
}

// place is where in the tree of addresses a request points: the path below the
// interface's root, and the repository if the address names one.
type place struct {
	api  bool // below /api/v1
	path string
	repo string // escaped
}

// locate strips what may stand in front of an address: the context path, the older
// "/site" and the repository.
func locate(context, path string) place {
	if context != "" && strings.HasPrefix(path, context) && (len(path) == len(context) || path[len(context)] == '/') {
		path = path[len(context):]
	}
	if below, ok := under(path, "/site"); ok {
		if _, ok := under(below, "/automation"); ok {
			return place{api: true, path: below}
		}
		if _, ok := under(below, "/api/v1"); ok {
			path = below
		}
	}
	below, ok := under(path, "/api/v1")
	if !ok {
		return place{path: path}
	}
	p := place{api: true, path: below}
	if named, ok := under(below, "/repo"); ok && len(named) > 1 {
		p.repo, p.path = named[1:], ""
		if i := strings.IndexByte(p.repo, '/'); i >= 0 {
			p.repo, p.path = p.repo[:i], p.repo[i:]
		}
	}
	if rest, ok := strings.CutPrefix(p.path, "/bulk;"); ok {
		p.path = "/bulk/;" + rest // the older form, several documents at once
	}
	return p
}

// under returns what follows prefix when path is prefix or below it.
func under(path, prefix string) (string, bool) {
	if strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/') {
		return path[len(prefix):], true
	}
	return "", false
}
