// Package declare reads declarations: YAML files in layers, the built-in ones first. A later
// layer adds to the earlier ones or replaces what has the same name; within a layer a name
// stands once. What is wrong is collected with its file and line, so that anyone who fixes the
// files sees all of it at once.
package declare

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"catena/storage/fault"
)

// Position is where something stands.
type Position struct {
	Layer  int
	File   string
	Line   int
	Column int  // from 1; 0: not known
	Long   bool // lines are long, so that errors name the column, too
}

func (p Position) String() string {
	if p.Long && p.Column > 0 {
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Source is the text of a file.
type Source struct{ Name, Text string }

// Mistake is what is wrong at a position.
type Mistake struct {
	At   Position
	Text string
}

// Name is a text and where it stands: a reference to another declaration, for example.
type Name struct {
	Text string
	At   Position
}

// Keys says what to do with each key that a mapping may have.
type Keys map[string]func(*yaml.Node)

// Reader reads files and collects mistakes. The zero value is ready.
type Reader struct {
	here     Position // of the file that is read
	mistakes []Mistake
}

// Files reads the *.yaml and *.yml files of each layer in the order of their names and calls fn with the
// content of each. A layer that does not exist is empty.
func (r *Reader) Files(fn func(root *yaml.Node), layers ...fs.FS) error {
	for i, layer := range layers {
		entries, err := fs.ReadDir(layer, ".")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Unavailable.Errorf("declarations: %w", err)
		}
		for _, e := range entries {
			if ext := path.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
				continue
			}
			if err := r.File(i, layer, e.Name(), fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// parsed are the contents of files that are part of the program, by builtInFile. They are read again with each text that is
// checked, and no reader changes nodes.
var parsed sync.Map

// builtInFile is a file of a folder that is part of the program.
type builtInFile struct {
	folder builtInFolder
	name   string
}

// File reads one file of a layer, and calls fn with its content.
func (r *Reader) File(layer int, files fs.FS, name string, fn func(root *yaml.Node)) error {
	r.here = Position{Layer: layer, File: name, Line: 1}
	if folder, ok := files.(builtInFolder); ok {
		key := builtInFile{folder, name}
		if root, ok := parsed.Load(key); ok {
			fn(root.(*yaml.Node))
			return nil
		}
		read := fn
		fn = func(root *yaml.Node) {
			parsed.Store(key, root)
			read(root)
		}
	}
	data, err := ReadFile(files, name)
	switch {
	case fault.Is(err, fault.Invalid):
		r.Fail(r.here, "%v", err)
	case err != nil:
		return fault.Unavailable.Errorf("declarations: %w", err)
	default:
		r.read(data, fn)
	}
	return nil
}

// yamlLine is how the parser begins its messages.
var yamlLine = regexp.MustCompile(`line (\d+): `)

// advice is what to say besides about mistakes that the parser tells in its own words.
var advice = map[string]string{
	"found character that cannot start any token":    "; indent with spaces, not tabs, and quote a text that begins with a special character",
	"mapping values are not allowed in this context": "; check the indentation, look for a missing colon in the previous line, or quote the text",
}

// Explain returns the line, from 1, and the text of an error of the YAML parser.
func Explain(err error) (line int, text string) {
	line, text = 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = strings.Replace(text, m[0], "", 1)
	}
	return line, text + advice[text]
}

func (r *Reader) read(data []byte, fn func(root *yaml.Node)) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if err == nil {
		if err = dec.Decode(&more); err == nil {
			r.Fail(r.At(&more), "a second document follows, but a file may have only one")
			return
		}
	}
	if !errors.Is(err, io.EOF) {
		line, text := Explain(err)
		at := r.here
		at.Line = line
		r.Fail(at, "%s", text)
		return
	}
	if len(doc.Content) > 0 {
		fn(doc.Content[0])
	}
}

// Fail notes a mistake.
func (r *Reader) Fail(at Position, format string, args ...any) {
	r.mistakes = append(r.mistakes, Mistake{at, fmt.Sprintf(format, args...)})
}

// Unknown notes that a name of a kind ("type") stands for nothing, with the one that was probably meant;
// subject is what names it.
func (r *Reader) Unknown(subject, kind string, n Name, known iter.Seq[string]) {
	r.Fail(n.At, "%s: unknown %s %s%s", subject, kind, n.Text, fault.Perhaps(n.Text, known))
}

// Mistakes returns the mistakes in the order of layers, files and lines.
func (r *Reader) Mistakes() []Mistake {
	slices.SortStableFunc(r.mistakes, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.At.Layer, b.At.Layer), cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Line, b.At.Line))
	})
	return r.mistakes
}

// Err returns the mistakes as one Invalid error, nil if there are none.
func (r *Reader) Err() error { return ErrorOf(r.Mistakes()) }

// ErrorOf returns mistakes as one Invalid error, nil if there are none.
func ErrorOf(mistakes []Mistake) error {
	if len(mistakes) == 0 {
		return nil
	}
	lines := make([]string, len(mistakes))
	for i, m := range mistakes {
		lines[i] = fmt.Sprintf("%s: %s", m.At, m.Text)
	}
	return fault.Invalid.New(strings.Join(lines, "\n"))
}

// Source reads a text that is no file, as one of a layer, and calls fn with its content.
func (r *Reader) Source(layer int, from Source, fn func(root *yaml.Node)) {
	r.here = Position{Layer: layer, File: from.Name, Line: 1}
	r.read([]byte(from.Text), fn)
}

// Return makes a file that was read the one that nodes are of again, for what is read later.
func (r *Reader) Return(to Position) { r.here = to }

// At is the position of a node of the file that is read.
func (r *Reader) At(n *yaml.Node) Position {
	return Position{Layer: r.here.Layer, File: r.here.File, Line: n.Line, Column: n.Column}
}

// builtInFolder is a folder that is part of the program.
type builtInFolder struct {
	files embed.FS
	name  string
}

// Open opens a file of the folder, or the folder itself.
func (f builtInFolder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return f.files.Open(path.Join(f.name, name))
}

// Folder returns the folder of files that is part of the program. Reader parses each of its files once.
func Folder(files embed.FS, name string) fs.FS { return builtInFolder{files, name} }

// Pairs calls fn with each key and value of a mapping; a key stands once.
func (r *Reader) Pairs(n *yaml.Node, fn func(key, value *yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.Fail(r.At(n), "must be keys with values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			r.Fail(r.At(key), "must be a plain key")
		case seen[key.Value]:
			r.Fail(r.At(key), "key %s: is a duplicate", key.Value)
		case value.Kind == yaml.AliasNode:
			r.Fail(r.At(value), "key %s: aliases are not allowed", key.Value)
		default:
			fn(key, value)
		}
		seen[key.Value] = true
	}
}

// Each reads a mapping of known keys.
func (r *Reader) Each(n *yaml.Node, known Keys) {
	r.Pairs(n, func(key, value *yaml.Node) {
		if fn, ok := known[key.Value]; ok {
			fn(value)
			return
		}
		r.Fail(r.At(key), "unknown key %s%s", key.Value, fault.Perhaps(key.Value, maps.Keys(known)))
	})
}

// Put adds a declaration, or replaces the one of an earlier layer; at tells where one stands.
func Put[D any](r *Reader, all map[string]*D, key *yaml.Node, at func(*D) Position, d *D) {
	if old, ok := all[key.Value]; ok && at(old).Layer == r.here.Layer {
		r.Fail(r.At(key), "%s: already declared at %s:%d", key.Value, at(old).File, at(old).Line)
		return
	}
	all[key.Value] = d
}
