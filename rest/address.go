package rest

import (
	"cmp"
	"net/url"
	"strings"
	"unicode/utf8"

	"catena/storage/fault"
)

// Decode undoes the percent-encoding of a part of a path, once. What no name can hold is refused.
func Decode(escaped string) (string, error) {
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

// Hop is one adapter of an address: "@children", "@blob/file:content".
type Hop struct {
	Name string
	Args string // what follows the name, decoded, without the slash
}

// attached are the adapters that an address may also name without a slash, as the specification does: /path/a/b@acl.
var attached = []string{"@acl", "@audit", "@bo"}

// detached puts a slash before an adapter that follows a document's name at once.
func detached(escaped string) string {
	for _, name := range attached {
		i := strings.Index(escaped, name)
		if i < 1 || escaped[i-1] == '/' {
			continue
		}
		if end := i + len(name); end == len(escaped) || escaped[end] == '/' {
			return escaped[:i] + "/" + escaped[i:]
		}
	}
	return escaped
}

// SplitHops cuts an escaped path at its first "/@" and takes the adapters behind it apart.
// Only a raw "@" starts an adapter, so a document may be called "%40acl".
func SplitHops(escaped string) (path string, hops []Hop, err error) {
	if strings.HasPrefix(escaped, "@") {
		escaped = "/" + escaped
	}
	escaped = detached(escaped)
	path, tail := escaped, ""
	if i := strings.Index(escaped, "/@"); i >= 0 {
		path, tail = escaped[:i], escaped[i+2:]
	}
	if path, err = Decode(path); err != nil || tail == "" {
		return path, nil, err
	}
	for part := range strings.SplitSeq(tail, "/@") {
		name, args, _ := strings.Cut(part, "/")
		h := Hop{}
		if h.Name, err = Decode(name); err != nil {
			return "", nil, err
		}
		if h.Args, err = Decode(strings.TrimSuffix(args, "/")); err != nil {
			return "", nil, err
		}
		hops = append(hops, h)
	}
	return path, hops, nil
}

// Location is where in the tree of addresses a request points: the path below the
// interface's root, and the repository if the address names one.
type Location struct {
	API  bool // below /api/v1
	Path string
	Repo string // escaped
}

// Locate strips what may stand in front of an address: the context path, the older
// "/site" and the repository.
func Locate(context, path string) Location {
	if context != "" && strings.HasPrefix(path, context) && (len(path) == len(context) || path[len(context)] == '/') {
		path = cmp.Or(path[len(context):], "/")
	}
	if below, ok := Under(path, "/site"); ok {
		if _, ok := Under(below, "/automation"); ok {
			return Location{API: true, Path: below}
		}
		if _, ok := Under(below, "/api/v1"); ok {
			path = below
		}
	}
	below, ok := Under(path, "/api/v1")
	if !ok {
		return Location{Path: path}
	}
	p := Location{API: true, Path: below}
	if named, ok := Under(below, "/repo"); ok && len(named) > 1 {
		p.Repo, p.Path = named[1:], ""
		if i := strings.IndexByte(p.Repo, '/'); i >= 0 {
			p.Repo, p.Path = p.Repo[:i], p.Repo[i:]
		}
	}
	if rest, ok := strings.CutPrefix(p.Path, "/bulk;"); ok {
		p.Path = "/bulk/;" + rest // the older form, several documents at once
	}
	return p
}

// Home is where people begin: the platform's front end if it is served, the console otherwise.
func (x *Request) Home() string {
	if x.Server.FrontEnd != "" {
		return x.Server.FrontEnd + "/"
	}
	return "/ui/"
}

// Under returns what follows prefix when path is prefix or below it.
func Under(path, prefix string) (string, bool) {
	if strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/') {
		return path[len(prefix):], true
	}
	return "", false
}
