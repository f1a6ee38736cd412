package declare_test

import (
	"embed"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
	"catena/storage/fault"
)

type thing struct {
	at   declare.Position
	text string
}

// load reads things, each a text.
func load(layers ...fs.FS) (map[string]*thing, error) {
	r, all := &declare.Reader{}, map[string]*thing{}
	err := r.Files(func(root *yaml.Node) {
		r.Pairs(root, func(key, n *yaml.Node) {
			d := &thing{at: r.At(key)}
			r.Text(&d.text)(n)
			declare.Put(r, all, key, func(d *thing) declare.Position { return d.at }, d)
		})
	}, layers...)
	if err == nil {
		err = r.Err()
	}
	return all, err
}

func file(src string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(src)} }

func TestLayers(t *testing.T) {
	all, err := load(
		fstest.MapFS{"a.yaml": file("x: built in\ny: built in"), "b.yml": file("z: built in"), "c.txt": file("]"), "d.yaml": file("# nothing")},
		fstest.MapFS{"a.yaml": file("\nx: own")},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(all)); strings.Join(got, " ") != "x y z" {
		t.Errorf("things: %v", got)
	}
	if x := *all["x"]; x.text != "own" || x.at != (declare.Position{Layer: 1, File: "a.yaml", Line: 2, Column: 1}) {
		t.Errorf("x: %+v", x)
	}
}

// TestYAML has what YAML itself forbids told with its line and what to look for; a byte order mark, carriage
// returns and a file without a value are no mistakes.
func TestYAML(t *testing.T) {
	for source, want := range map[string]string{
		"x: a\n\ty: b\n":    "a.yaml:2: found a tab character that violates indentation",
		"x: a\n  y: b\n":    "a.yaml:2: mapping values are not allowed in this context; check the indentation, look for a missing colon in the previous line, or quote the text",
		"x: a\n---\ny: b":   "a.yaml:2: a second document follows, but a file may have only one",
		"x: a\n---\n\ty: b": "a.yaml:3: found character that cannot start any token; indent with spaces, not tabs, and quote a text that begins with a special character",
		"x\n":               "a.yaml:1: must be keys with values",
	} {
		if _, err := load(fstest.MapFS{"a.yaml": file(source)}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", source, err, want)
		}
	}
	for _, source := range []string{"\ufeffx: a", "x: a\r\n", "", "# nothing", "---\nx: a"} {
		if _, err := load(fstest.MapFS{"a.yaml": file(source)}); err != nil {
			t.Errorf("%q: %v", source, err)
		}
	}
}

// TestMistakes has all of them told, in the order of layers, files and lines.
func TestMistakes(t *testing.T) {
	_, err := load(
		fstest.MapFS{"b.yaml": file("x: 1\nx: 2\ny: [1]"), "a.yaml": file("x: \"")},
		fstest.MapFS{"a.yaml": file("- list"), "b.yaml": file("n: &a 1\nm: *a"), "c.yaml": file("n: 2"), "d.yaml": file(strings.Repeat("#", 2<<20))},
	)
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("got %v", err)
	}
	for i, want := range []string{
		"a.yaml:1: ", "b.yaml:2: key x: is a duplicate", "b.yaml:3: must be a string",
		"a.yaml:1: must be keys with values", "b.yaml:2: key m: aliases are not allowed", "c.yaml:1: n: already declared at b.yaml:1", "d.yaml:1: larger than 1048576 bytes",
	} {
		if lines := strings.Split(err.Error(), "\n"); i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d: want %s in\n%v", i, want, err)
		}
	}
}

//go:embed testdata
var program embed.FS

// TestFolder reads a file of the program twice: it is parsed once, and told as what it is each time.
func TestFolder(t *testing.T) {
	var roots []*yaml.Node
	for layer := range 2 {
		var r declare.Reader
		if err := r.File(layer, declare.Folder(program, "testdata"), "things.yaml", func(root *yaml.Node) {
			roots = append(roots, root)
			if got, want := r.At(root.Content[2]), (declare.Position{Layer: layer, File: "things.yaml", Line: 2, Column: 1}); got != want {
				t.Errorf("at %+v, want %+v", got, want)
			}
		}); err != nil || r.Err() != nil {
			t.Fatal(err, r.Err())
		}
	}
	if len(roots) != 2 || roots[0] != roots[1] || roots[0].Content[1].Value != "first" {
		t.Errorf("read %v", roots)
	}
	if _, err := fs.Stat(declare.Folder(program, "testdata"), "../declare_test.go"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("outside of the folder: %v", err)
	}
}
