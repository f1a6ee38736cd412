package repository

import (
	"bytes"
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"catena/storage/fault"
)

//go:embed defaults/providers.yaml
var defaults []byte

// maxFile bounds one file of declarations.
const maxFile = 1 << 20

// Providers are named queries.
type Providers struct {
	byName map[string]*provider
}

// builtin returns the page providers every server has. They are read once.
var builtin = sync.OnceValue(func() *Providers {
	ps := &Providers{byName: map[string]*provider{}}
	if err := ps.read("providers.yaml", defaults); err != nil {
		panic(err)
	}
	return ps
})

// Load returns the built-in page providers and those of the *.yaml files in dir, in the
// order of their names. A provider replaces the one of the same name.
func Load(dir fs.FS) (*Providers, error) {
	ps := &Providers{byName: maps.Clone(builtin().byName)}
	entries, err := fs.ReadDir(dir, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return ps, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".yaml" && path.Ext(e.Name()) != ".yml" {
			continue
		}
		src, err := readFile(dir, e.Name())
		if err != nil {
			return nil, err
		}
		if err := ps.read(e.Name(), src); err != nil {
			return nil, err
		}
	}
	return ps, nil
}

func readFile(dir fs.FS, name string) ([]byte, error) {
	src, err := fs.ReadFile(dir, name)
	if err == nil && len(src) > maxFile {
		err = fault.Limit.Errorf("%s: more than %d bytes", name, maxFile).WithCode("file-size")
	}
	return src, err
}

// read takes the declarations of one file in.
func (ps *Providers) read(file string, src []byte) error {
	var decl struct {
		Providers map[string]*provider `yaml:"providers"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	if err := dec.Decode(&decl); err != nil && !errors.Is(err, io.EOF) {
		return fault.Invalid.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	for _, name := range slices.Sorted(maps.Keys(decl.Providers)) {
		p := decl.Providers[name]
		if p == nil {
			return fault.Invalid.Errorf("%s: provider %s: declares nothing", file, name)
		}
		p.Name = name
		if err := p.check(); err != nil {
			return fault.Wrap(err, "%s: provider %s", file, name)
		}
		ps.byName[name] = p
	}
	return nil
}

// find returns the provider of a name.
func (ps *Providers) find(name string) (*provider, error) {
	p, ok := ps.byName[name]
	if !ok {
		return nil, fault.NotFound.Errorf("page provider %s", name).WithCode("unknown_provider")
	}
	return p, nil
}
