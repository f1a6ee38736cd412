package declaration

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"catena/engine/library"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

const colors = `directories:
  color:
    schema: vocabulary
    entries:
      red: {en: Red, fr: Rouge}
`

// saveVocabulary deploys a text of directories, which is refused with what ends so unless that is empty.
func (s *server) saveVocabulary(file, source, refused string) {
	s.t.Helper()
	_, err := s.call("Vocabulary.Save", map[string]any{"name": file, "source": source})
	s.refused(err, refused)
}

// add creates an entry of a directory.
func (s *server) add(name string, values map[string]any) {
	s.t.Helper()
	s.update(func(tx *storage.Tx) error {
		d, err := record.In(tx, name)
		if err == nil {
			_, err = d.Create(values)
		}
		return err
	})
}

// entries are the ids of the entries of a directory that have a value, or what is wrong.
func (s *server) entries(name string, equal map[string]any) string {
	s.t.Helper()
	var ids []string
	err := s.Repo().View(s.t.Context(), s.System(), func(tx *storage.Tx) error {
		ids = nil
		d, err := record.In(tx, name)
		if err != nil {
			return err
		}
		page, err := d.Find(record.Query{Equal: equal})
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			ids = append(ids, e.ID)
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return strings.Join(ids, " ")
}

// TestVocabulary has one server deploy a directory, and another add entries to it as soon as that was acknowledged; versions are kept,
// compared and restored, and what entries have stays.
func TestVocabulary(t *testing.T) {
	all := servers(t, 2, nil)
	a, b := all[0], all[1]
	a.saveVocabulary("colors.yaml", colors, "")
	b.add("color", map[string]any{"id": "blue", "label": "Blue"}) // without having looked
	for _, s := range all {
		if err := s.types.Refresh(t.Context(), s.Engine); err != nil {
			t.Error(err)
		}
		if got := s.entries("color", nil); got != "red blue" {
			t.Errorf("entries %q", got)
		}
	}
	b.saveVocabulary("colors.yaml", colors+"      green: {en: Green}\n", "")
	a.add("color", map[string]any{"id": "black"})
	if got := a.entries("color", nil); got != "red green black blue" {
		t.Errorf("entries %q", got)
	}
	_, err := a.call("Vocabulary.Delete", map[string]any{"name": "colors"})
	a.refused(err, "colors.yaml:1:1: directory color is removed, but entries have it: black")
	diff, err := a.call("Vocabulary.Diff", map[string]any{"name": "colors"})
	if err != nil || !strings.Contains(fmt.Sprint(diff), "+      green: {en: Green}") {
		t.Errorf("%v %v", diff, err)
	}
	if _, err := b.call("Vocabulary.Restore", map[string]any{"name": "colors", "version": 1}); err != nil {
		t.Error(err)
	}
	if got := b.entries("color", nil); got != "red black blue" {
		t.Errorf("entries %q", got)
	}
	a.update(func(tx *storage.Tx) error {
		d, err := record.In(tx, "color")
		if err != nil {
			return err
		}
		if err := d.Delete("black"); err != nil {
			return err
		}
		return d.Delete("blue")
	})
	if _, err := b.call("Vocabulary.Delete", map[string]any{"name": "colors"}); err != nil {
		t.Error(err)
	}
	if got := b.entries("color", nil); !strings.Contains(got, "directory color: does not exist") {
		t.Errorf("entries of a removed directory: %s", got)
	}
}

// TestVocabularyRefused: what is wrong with a text is reported where it is, and what entries have stays as it can be read.
func TestVocabularyRefused(t *testing.T) {
	s := servers(t, 1, nil)[0]
	s.save("tint.yaml", "schemas:\n  tint:\n    fields: {id: string, label: string, hue: integer, parent: string}\n", "")
	const tints = "directories:\n  tint:\n    schema: tint\n    indexes: [hue]\n  shade:\n    schema: tint\n    parent: tint\n"
	s.saveVocabulary("tints.yaml", tints, "")
	s.save("paint.yaml", "schemas:\n  paint:\n    fields: {tint: {type: string, resolver: \"directory:shade\"}}\n", "")
	s.add("tint", map[string]any{"id": "sky", "hue": 200})
	change := func(old, now string) string { return strings.Replace(tints, old, now, 1) }
	for _, c := range []struct{ name, file, source, refused string }{
		{"unknown schema", "a.yaml", "directories:\n  a: {schema: vocabularyy}\n", `a.yaml:2:3: directory a: unknown schema "vocabularyy", perhaps vocabulary`},
		{"unknown key", "a.yaml", "directories:\n  a: {schema: vocabulary, parnt: b}\n", "a.yaml:2:27: unknown key parnt, perhaps parent"},
		{"unknown parent", "a.yaml", "directories:\n  a: {schema: xvocabulary, parent: tnt}\n", "unknown directory tnt, perhaps tint"},
		{"no field", "a.yaml", "directories:\n  a: {schema: vocabulary, entries: {x: {colour: red}}}\n", `a.yaml:2:41: entry x: there is no single-valued field "colour"`},
		{"no YAML", "a.yaml", "directories: [", "did not find expected node content"},
		{"twice", "a.yaml", tints, "tints.yaml:2:3: tint: already declared at a.yaml:2\ntints.yaml:5:3: shade: already declared at a.yaml:5"},
		{"gone", "tints.yaml", change("  tint:\n", "  tone:\n"), "unknown directory tint"},
		{"referred to", "tints.yaml", "directories:\n  tint: {schema: tint, indexes: [hue]}\n", "directory shade is removed, but field paint:tint refers to it"},
		{"a field", "tints.yaml", change("schema: tint\n    indexes: [hue]", "schema: vocabulary"), "tints.yaml:3:5: directory tint: field hue is removed, but entries have it: sky"},
		{"the ids", "tints.yaml", change("    indexes: [hue]", "    idField: label"), "directory tint: its ids would be those of field label, but entries have it: sky"},
		{"nothing of it", "tints.yaml", change("    indexes: [hue]\n", ""), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			s.saveVocabulary(c.file, c.source, c.refused)
		})
	}
	s.t = t
	s.save("tint.yaml", "schemas:\n  tint:\n    fields: {id: string, label: string, hue: string, parent: string}\n", "directory tint: field hue would be string instead of integer, but entries have it: sky")
	s.save("tint.yaml", "schemas:\n  tint:\n    fields: {id: string, label: string, hue: long, parent: string, deep: boolean}\n", "")
	s.save("tint.yaml", "schemas: {}\n", `unknown schema "tint"`)
	s.add("tint", map[string]any{"id": "sea", "hue": 190, "deep": true})
	if got := s.entries("tint", map[string]any{"hue": 200}); got != "sky" {
		t.Errorf("found %q", got)
	}
	if _, err := s.call("Vocabulary.Save", map[string]any{"source": colors}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a text without a name: %v", err)
	}
}

// TestVocabularyIndex: an index that is added finds entries that were there before. Without it, they are too many to be read.
func TestVocabularyIndex(t *testing.T) {
	s := serversWith(t, 1, nil, nil, func(c *storage.Config) { c.Limits.ScanRows = 20 })[0]
	text := func(more string) string {
		return "directories:\n  size:\n    schema: xvocabulary\n    entries: {s: {en: Small}}\n" + more
	}
	s.saveVocabulary("size.yaml", text(""), "")
	for i := range 40 {
		s.add("size", map[string]any{"id": fmt.Sprintf("n%02d", i), "label": fmt.Sprintf("L%d", i%10)})
	}
	const found, refused = "n03 n13 n23 n33", "directory size: more than 20 entries to read, filter by an indexed field"
	for _, c := range []struct{ more, want string }{
		{"", refused},
		{"    indexes: [label]\n", found},
		{"    indexes: [label, parent]\n", found},
		{"    indexes: [parent]\n", refused},
		{"    indexes: [label]\n", found},
	} {
		s.saveVocabulary("size.yaml", text(c.more), "")
		if got := s.entries("size", map[string]any{"label": "L3"}); got != c.want {
			t.Errorf("%q: %q, want %q", c.more, got, c.want)
		}
	}
}

// TestVocabularyFiles: a file counts from the start, is kept like a text that is applied, and may be replaced by one; one that does not
// fit to the types is no error before the store has been read, which may have the types.
func TestVocabularyFiles(t *testing.T) {
	files := fstest.MapFS{"colors.yaml": {Data: []byte(colors)}}
	s := serversWith(t, 1, nil, files, func(*storage.Config) {})[0]
	if got := s.entries("color", nil); got != "red" {
		t.Errorf("entries %q", got)
	}
	changed, err := s.types.Sync(t.Context(), s.Engine, fstest.MapFS{}, files)
	if err != nil || strings.Join(changed, " ") != "colors" {
		t.Errorf("%v %v", changed, err)
	}
	s.saveVocabulary("colors.yaml", strings.Replace(colors, "red:", "rose:", 1), "")
	if got := s.entries("color", nil); got != "rose" {
		t.Errorf("entries %q", got)
	}
	v, err := s.call("Vocabulary.List", nil)
	if list := v.([]library.Version); err != nil || len(list) != 1 || list[0].Version != 2 {
		t.Errorf("%v %v", v, err)
	}
	d, err := New(fstest.MapFS{}, fstest.MapFS{"tints.yaml": {Data: []byte("directories:\n  tint: {schema: tint}\n")}})
	if err == nil {
		err = d.Declare()
	}
	if err != nil || d.Unread() == nil || !strings.Contains(d.Unread().Error(), `tints.yaml:2: directory tint: unknown schema "tint"`) {
		t.Errorf("%v, %v", err, d.Unread())
	}
	if _, ok := directoriesOf(d.Base()).Directory("country"); !ok {
		t.Error("the built-in directories are missing")
	}
}
