package declaration

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/engine/library"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
)

// YAML are the extensions of files in YAML.
var YAML = []string{".yaml", ".yml"}

// part is what one folder declares.
type part struct {
	*library.Kind
	files    []declare.Source // of the data directory
	extended bool             // the names of texts have the extensions of their files
}

// read reads the files of a folder.
func (p *part) read(files fs.FS) (err error) {
	p.files, err = declare.ReadFolder(files, p.Ext...)
	return err
}

// versions are texts that are kept, by name.
type versions map[string]*library.Version

func (p *part) versionsOf(all []declare.Source) versions {
	v := versions{}
	for _, s := range all {
		name := p.nameOf(s.Name)
		v[name] = &library.Version{Name: name, File: s.Name, Source: s.Text}
	}
	return v
}

// kept returns what is kept; what was removed is there without its text.
func (p *part) kept(t *storage.Tx) (versions, error) {
	all := versions{}
	for _, raw := range t.Table("library."+p.Noun).Scan("", "", false, 0) {
		v := &library.Version{}
		if err := json.Unmarshal(raw, v); err != nil {
			return nil, fault.Internal.Errorf("%s: %w", p.Noun, err)
		}
		if !v.Deleted {
			full, err := library.Kept(t, p.Noun, v.Name, v.Version)
			if err != nil {
				return nil, err
			}
			v = full
		}
		all[v.Name] = v
	}
	return all, t.Err()
}

// replaces reports whether a text is kept in place of a file.
func (p *part) replaces(kept versions) bool {
	return slices.ContainsFunc(p.files, func(f declare.Source) bool { return kept[p.nameOf(f.Name)] != nil })
}

// instead has files take the place of the texts of their names.
func (p *part) instead(kept versions) {
	for _, f := range p.files {
		if kept[p.nameOf(f.Name)] != nil {
			kept[p.nameOf(f.Name)] = &library.Version{Name: p.nameOf(f.Name), File: f.Name, Source: f.Text}
		}
	}
}

// with returns the texts that count, with one that is to be, nil for none, in the order of their names.
func (p *part) with(kept versions, more *declare.Source) (all []declare.Source) {
	for _, f := range p.files {
		if kept[p.nameOf(f.Name)] == nil && (more == nil || p.nameOf(f.Name) != p.nameOf(more.Name)) {
			all = append(all, f)
		}
	}
	for _, v := range kept {
		if !v.Deleted && (more == nil || v.Name != p.nameOf(more.Name)) {
			all = append(all, declare.Source{Name: fileOf(v), Text: v.Source})
		}
	}
	if more != nil {
		all = append(all, *more)
	}
	slices.SortFunc(all, func(a, b declare.Source) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func fileOf(v *library.Version) string {
	if v.File == "" {
		return v.Name + ".yaml"
	}
	return v.File
}

// nameOf is the name of the text of a file.
func (p *part) nameOf(file string) string {
	if p.extended {
		return path.Base(file)
	}
	return strings.TrimSuffix(path.Base(file), path.Ext(file))
}

// named finds what is wrong with the name of a text, for any kind of text and in YAML, of which it returns the root.
func (p *part) named(t *storage.Tx, file, source string) (name string, root *yaml.Node, problems []library.Problem, err error) {
	if file == p.Noun {
		return "", nil, nil, fault.Invalid.Errorf("name: the name of the file is required, which becomes that of the text").In("name")
	}
	if t.Repo().IsPart() {
		return "", nil, nil, fault.Invalid.Errorf("declarations are kept in repository %s, for all of its store", storage.DefaultRepository)
	}
	name = p.nameOf(file)
	in := &library.Parser{File: file, Most: declare.MaxFile}
	root = &yaml.Node{Line: 1, Column: 1}
	switch {
	case !p.extended:
		root = in.Root([]byte(source), "file")
	case !slices.Contains(p.Ext, path.Ext(file)):
		in.Add(1, 1, "name %q: must end with %s", file, strings.Join(p.Ext, " or "))
	}
	if root != nil {
		in.Name(root, name)
	}
	return name, root, in.Problems, nil
}

// problemsOf are mistakes as problems of texts.
func problemsOf(wrong []declare.Mistake) (problems []library.Problem) {
	for _, m := range wrong {
		problems = append(problems, library.Problem{File: m.At.File, Line: m.At.Line, Column: max(m.At.Column, 1), Message: m.Text})
	}
	return problems
}
