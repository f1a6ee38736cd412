package repository

import (
	"embed"
	"io/fs"
	"strconv"
	"sync"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
	"catena/storage/fault"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// Providers are named queries.
type Providers struct {
	byName map[string]*provider
}

// builtin returns the page providers every server has. They are read once.
var builtin = sync.OnceValue(func() *Providers {
	ps, err := Load()
	if err != nil {
		panic(err) // the files are part of the program
	}
	return ps
})

// Load returns the built-in page providers and those of the files in folders. A provider replaces
// the one of the same name; what is wrong in the files is told with file and line.
func Load(folders ...fs.FS) (*Providers, error) {
	r := &reader{all: map[string]*provider{}}
	err := r.Files(func(root *yaml.Node) {
		r.Each(root, declare.Keys{"providers": func(n *yaml.Node) { r.Pairs(n, r.provider) }})
	}, append([]fs.FS{declare.Folder(defaults, "defaults")}, folders...)...)
	if err == nil {
		err = r.Err()
	}
	return &Providers{byName: r.all}, err
}

// find returns the provider of a name.
func (ps *Providers) find(name string) (*provider, error) {
	p, ok := ps.byName[name]
	if !ok {
		return nil, fault.NotFound.Errorf("page provider %s", name).WithCode("unknown_provider")
	}
	return p, nil
}

// reader reads declarations of providers.
type reader struct {
	declare.Reader
	all map[string]*provider
}

func (r *reader) provider(key, n *yaml.Node) {
	p := &provider{Name: key.Value, at: r.At(key), Fields: map[string]field{}, Quick: map[string]quick{}, Tallies: map[string]tally{}}
	r.Each(n, declare.Keys{
		"free": r.Flag(&p.Free), "select": r.Text(&p.Select), "from": r.Text(&p.From), "where": r.Text(&p.Where),
		"sort": r.Texts(&p.Sort), "pageSize": r.Count(&p.PageSize), "count": r.count(&p.Count), "arguments": r.Texts(&p.Args),
		"fields": func(n *yaml.Node) {
			r.Pairs(n, func(key, n *yaml.Node) {
				f := field{}
				r.Each(n, declare.Keys{"path": r.Text(&f.Path), "op": r.Text(&f.Op), "list": r.Flag(&f.List)})
				p.Fields[key.Value] = f
			})
		},
		"quickFilters": func(n *yaml.Node) {
			r.Pairs(n, func(key, n *yaml.Node) {
				q := quick{}
				r.Each(n, declare.Keys{"where": r.Text(&q.Where), "sort": r.Texts(&q.Sort)})
				p.Quick[key.Value] = q
			})
		},
		"aggregates": func(n *yaml.Node) {
			r.Pairs(n, func(key, n *yaml.Node) { p.Tallies[key.Value] = r.tally(n) })
		},
	})
	if len(n.Content) == 0 {
		r.Fail(p.at, "provider %s: declares nothing", p.Name)
		return
	}
	if err := p.check(); err != nil {
		r.Fail(p.at, "provider %s: %s", p.Name, err)
	}
	declare.Put(&r.Reader, r.all, key, func(p *provider) declare.Place { return p.at }, p)
}

// count reads "page" or how far to count.
func (r *reader) count(into *countTo) func(*yaml.Node) {
	return func(n *yaml.Node) {
		to, err := strconv.Atoi(n.Value)
		switch {
		case n.Value == "page":
			*into = toPage
		case err != nil || to < 1:
			r.Fail(r.At(n), "count: \"page\" or a number above 0 expected")
		default:
			*into = countTo(to)
		}
	}
}

func (r *reader) tally(n *yaml.Node) (y tally) {
	r.Each(n, declare.Keys{
		"field": r.Text(&y.Field), "type": r.Text(&y.Type), "size": r.Count(&y.Size), "interval": r.Text(&y.Step),
		"ranges": func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				r.Fail(r.At(n), "list expected")
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
