package repository

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// Providers are named queries.
type Providers struct {
	byName map[string]*provider
}

// builtin returns the page providers every server has. They are read once; that the types every server
// has suit them is tested. A panic here would be a bug that the first test of the package meets.
var builtin = sync.OnceValue(func() *Providers {
	r, err := read()
	if err = cmp.Or(err, r.Err()); err != nil {
		panic(err) // the files are part of the program
	}
	return &Providers{byName: r.all}
})

// Build returns the built-in page providers and those of texts. A provider replaces the built-in one of the same name. It also tells
// everything that is wrong with the texts, such as a type or field that there is not.
func Build(types *schema.Registry, texts []declare.Source) (*Providers, []declare.Mistake, error) {
	r, err := read()
	if err != nil {
		return nil, nil, err
	}
	for _, s := range texts {
		r.Source(1, s, r.file)
	}
	for _, p := range r.all {
		r.resolve(p, types)
	}
	return &Providers{byName: r.all}, r.Mistakes(), nil
}

// Lists returns what names those parameters of a page provider that take several values; ps as for Ops.
func Lists(ps func() *Providers) func(provider string) []string {
	if ps == nil {
		ps = builtin
	}
	return func(name string) []string {
		p, ok := ps().byName[name]
		if !ok {
			return nil
		}
		var all []string
		for name, f := range p.Fields {
			if f.List {
				all = append(all, name)
			}
		}
		return all
	}
}

func read() (*reader, error) {
	r := &reader{all: map[string]*provider{}}
	return r, r.Files(r.file, declare.Folder(defaults, "defaults"))
}

func (r *reader) file(root *yaml.Node) {
	r.Each(root, declare.Keys{"providers": func(n *yaml.Node) { r.Pairs(n, r.provider) }})
}

// providers are those that there are now.
type providers func() *Providers

// known is nil for the name of a provider.
func (ps providers) known(name string) error {
	_, err := ps.find(name)
	return err
}

// find returns the provider of a name.
func (ps providers) find(name string) (*provider, error) {
	all := ps().byName
	p, ok := all[name]
	if !ok {
		return nil, fault.Missing("page provider", name, maps.Keys(all)).WithCode(fault.CodeUnknownProvider)
	}
	return p, nil
}

// reader reads declarations of providers.
type reader struct {
	declare.Reader
	all map[string]*provider
}

func (r *reader) provider(key, n *yaml.Node) {
	p := &provider{Name: key.Value, at: r.At(key), keys: map[string]declare.Position{}, Fields: map[string]field{}, Quick: map[string]quick{}, Aggregates: map[string]aggregate{}}
	r.Each(n, declare.Keys{
		"free": r.Flag(&p.Free), "select": r.placed(p, "select", r.Text(&p.Select)), "from": r.placed(p, "from", r.Text(&p.From)),
		"where": r.placed(p, "where", r.Text(&p.Where)), "sort": r.placed(p, "sort", r.Texts(&p.Sort)), "pageSize": r.Count(&p.PageSize), "count": r.count(&p.Count), "arguments": r.Texts(&p.Args),
		"fields": func(n *yaml.Node) {
			r.Pairs(n, func(key, n *yaml.Node) {
				f := field{}
				r.Each(n, declare.Keys{"path": r.Text(&f.Path), "op": r.Text(&f.Op), "list": r.Flag(&f.List)})
				p.Fields[key.Value], p.keys["field "+key.Value] = f, r.At(key)
			})
		},
		"quickFilters": func(n *yaml.Node) {
			r.Pairs(n, func(key, n *yaml.Node) {
				q := quick{}
				r.Each(n, declare.Keys{"where": r.Text(&q.Where), "sort": r.Texts(&q.Sort)})
				p.Quick[key.Value], p.keys["quick filter "+key.Value] = q, r.At(key)
			})
		},
		"aggregates": func(n *yaml.Node) {
			r.Pairs(n, func(key, n *yaml.Node) {
				p.Aggregates[key.Value], p.keys["aggregate "+key.Value] = r.aggregate(n), r.At(key)
			})
		},
	})
	// An empty declaration would be a query for all documents, which nobody means.
	if len(n.Content) == 0 {
		r.Fail(p.at, "provider %s: the declaration is empty", p.Name)
		return
	}
	if err := p.check(); err != nil {
		r.Fail(p.at, "provider %s: %s", p.Name, err)
	}
	declare.Put(&r.Reader, r.all, key, func(p *provider) declare.Position { return p.at }, p)
}

// placed notes where a key of the provider stands.
func (r *reader) placed(p *provider, key string, fn func(*yaml.Node)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		p.keys[key] = r.At(n)
		fn(n)
	}
}

// resolve tells what a provider names that there is not among the types. One that is wrong by itself has
// been told.
func (r *reader) resolve(p *provider, types *schema.Registry) {
	if p.Free || p.check() != nil {
		return
	}
	for key, part := range p.parts() {
		if err := part.resolve(types); err != nil {
			r.Fail(cmp.Or(p.keys[key], p.at), "provider %s: %s: %s", p.Name, key, withoutPosition(err))
		}
	}
}

// withoutPosition is the message of a query's error without the position in the query, which is built here.
func withoutPosition(err error) string {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return strings.TrimPrefix(strings.TrimPrefix(e.Message, "query: "), fmt.Sprintf("line %d, column %d: ", e.Line, e.Column))
}

// count reads "page" or how far to count.
func (r *reader) count(into *countTo) func(*yaml.Node) {
	return func(n *yaml.Node) {
		to, err := strconv.Atoi(n.Value)
		switch {
		case n.Value == "page":
			*into = toPage
		case err != nil || to < 1:
			r.Fail(r.At(n), "count: must be \"page\" or a number greater than 0")
		default:
			*into = countTo(to)
		}
	}
}

func (r *reader) aggregate(n *yaml.Node) (y aggregate) {
	r.Each(n, declare.Keys{
		"field": r.Text(&y.Field), "type": r.Text(&y.Type), "size": r.Count(&y.Size), "interval": r.Text(&y.Step),
		"ranges": func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				r.Fail(r.At(n), "must be a list")
			}
			for _, item := range n.Content {
				b := bound{}
				r.Each(item, declare.Keys{"key": r.Text(&b.Key), "from": r.Text(&b.From), "to": r.Text(&b.To)})
				y.Ranges = append(y.Ranges, b)
			}
		},
	})
	return y
}
