// Package directory defines which directories there are: vocabularies, and tables of small entries such as OAuth 2
// clients. They are declared in YAML and fixed once loaded, with the entries and the texts that come with the
// declaration; the fields of entries are those of a schema. What users add, change and remove, and who may do so, is
// package record's.
package directory

import (
	"iter"
	"slices"
	"strings"

	"catena/storage/schema"
)

// Directory is one declared directory.
type Directory struct {
	Name     string
	Schema   *schema.Schema
	ID       *schema.Field // the field that identifies an entry
	Parent   string        // directory of the entries that field "parent" names
	Types    []string      // "system" leaves it out of lists for people
	Readers  []string      // users and groups; empty: everyone who signed in
	Writers  []string      // empty: power users; administrators always
	Password string        // field that is kept as a hash and reads as ""
	Numbered bool          // ids are numbers that the server gives
	ReadOnly bool          // it is not written here
	Shows    string        // what its entries stand for, kept elsewhere: "users", "groups", or "" for none
	Indexes  []string      // fields that are found without reading all entries

	read func() contents
}

// contents is what comes with the declaration of a directory.
type contents struct {
	entries []Entry                      // by id
	texts   map[string]map[string]string // labels by language and id
}

// Entry is an entry that comes with the declaration.
type Entry struct {
	ID     string
	Values map[string]any // by field, in the form Coerce returns

	index int // in the declaration
}

// System reports whether lists for people leave the directory out.
func (d *Directory) System() bool { return slices.Contains(d.Types, "system") }

// Indexed reports whether entries are found by a field without reading all.
func (d *Directory) Indexed(field string) bool { return slices.Contains(d.Indexes, field) }

// Entries returns the declared entries by id; they are not to be changed.
func (d *Directory) Entries() []Entry { return d.read().entries }

// Entry returns a declared entry.
func (d *Directory) Entry(id string) (Entry, bool) {
	all := d.Entries()
	i, ok := slices.BinarySearchFunc(all, id, func(e Entry, id string) int { return strings.Compare(e.ID, id) })
	if !ok {
		return Entry{}, false
	}
	return all[i], true
}

// Index is where an entry stands in the declaration; those that users added come after all declared ones.
func (d *Directory) Index(id string) int {
	if e, ok := d.Entry(id); ok {
		return e.index
	}
	return len(d.Entries())
}

// Registry holds every declaration. It never changes once loaded.
type Registry struct {
	byName map[string]*Directory
	list   []*Directory
}

// Directory returns the directory called name.
func (r *Registry) Directory(name string) (*Directory, bool) {
	d, ok := r.byName[name]
	return d, ok
}

// Directories returns the directories by name.
func (r *Registry) Directories() []*Directory { return slices.Clone(r.list) }

// Names are the names of the directories for people, in their order.
func (r *Registry) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, d := range r.list {
			if !d.System() && !yield(d.Name) {
				return
			}
		}
	}
}

// Below returns the directories whose entries name entries of this one as parents.
func (r *Registry) Below(name string) []*Directory {
	var out []*Directory
	for _, d := range r.list {
		if d.Parent == name {
			out = append(out, d)
		}
	}
	return out
}

// labels is what the keys of labels begin with. Names of a directory and of an entry follow, with a dot between.
const labels = "label.directories."

// Text returns what a label key says in a language, English if it says nothing there, or the
// key itself. The language may be as in Accept-Language: its first one counts.
func (r *Registry) Text(language, key string) string {
	for _, l := range []string{Language(language), english} {
		if s, ok := r.text(l, key); ok {
			return s
		}
	}
	return key
}

func (r *Registry) text(language, key string) (string, bool) {
	rest, ok := strings.CutPrefix(key, labels)
	if !ok {
		return "", false
	}
	for i, c := range rest { // names may have dots
		if c != '.' || r.byName[rest[:i]] == nil {
			continue
		}
		if s, ok := r.byName[rest[:i]].read().texts[language][rest[i+1:]]; ok {
			return s, true
		}
	}
	return "", false
}

const english = "en"

// Language returns the first language of a list as in Accept-Language, without its region:
// "de" of "de-CH, en;q=0.5". An empty list is English.
func Language(accepted string) string {
	first, _, _ := strings.Cut(accepted, ",")
	first, _, _ = strings.Cut(first, ";")
	first = strings.ToLower(strings.TrimSpace(first))
	if i := strings.IndexAny(first, "-_"); i >= 0 {
		first = first[:i]
	}
	if first == "" || first == "*" {
		return english
	}
	return first
}
