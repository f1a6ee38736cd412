package schema

import (
	"slices"
	"strconv"
	"strings"

	"catena/storage/fault"
)

// Bounds of an xpath.
const (
	// Paths come from queries and requests; the bounds are far above what declarations allow (six
	// levels).
	MaxPathLength = 512
	MaxPathDepth  = 16
)

// Path is a parsed xpath: "dc:title", "files:files/1/file", "files:files/*/file/name".
type Path struct {
	text   string
	prefix string
	steps  []Step
}

// Step is one part of a path: a name, a position in a list, or any position.
type Step struct {
	Name  string // "" for a position; for any position what stood there: "*", "*1"
	Index int    // position from 0; NoIndex or AnyIndex otherwise
}

// Values of Step.Index that are no position.
const (
	NoIndex  = -1
	AnyIndex = -2
)

// ParsePath reads an xpath. A position may also be written as XPath does, "files/file[1]",
// where the name of the item does not matter.
func ParsePath(xpath string) (Path, error) {
	bad := Path{text: clip(xpath)}.invalid
	text := strings.TrimPrefix(xpath, "/")
	switch {
	case text == "":
		return Path{}, bad("empty")
	case len(xpath) > MaxPathLength:
		return Path{}, bad("longer than " + strconv.Itoa(MaxPathLength) + " bytes")
	case strings.Count(text, "/") >= MaxPathDepth:
		return Path{}, bad("deeper than " + strconv.Itoa(MaxPathDepth) + " steps")
	}
	p := Path{text: text}
	if head, rest, ok := strings.Cut(text, ":"); ok && !strings.Contains(head, "/") {
		if !isName(head) {
			return Path{}, bad("malformed prefix")
		}
		p.prefix, text = head, rest
	}
	p.steps = make([]Step, 0, strings.Count(text, "/")+1)
	for part := range strings.SplitSeq(text, "/") {
		steps, ok := parseStep(part, len(p.steps) == 0)
		if !ok {
			return Path{}, bad("malformed step " + strconv.Quote(clip(part)))
		}
		p.steps = append(p.steps, steps...)
	}
	return p, nil
}

// parseStep reads one part. "name[2]" is a position alone, save at the start of the
// path, where the name is the list's.
func parseStep(part string, first bool) ([]Step, bool) {
	if name, rest, ok := strings.Cut(part, "["); ok {
		digits, closed := strings.CutSuffix(rest, "]")
		step, ok := position(digits)
		if !closed || !ok || !isName(name) {
			return nil, false
		}
		if first {
			return []Step{{Name: name, Index: NoIndex}, step}, true
		}
		return []Step{step}, true
	}
	if step, ok := position(part); ok {
		return []Step{step}, !first
	}
	return []Step{{Name: part, Index: NoIndex}}, isName(part)
}

func position(s string) (Step, bool) {
	if tail, ok := strings.CutPrefix(s, "*"); ok {
		return Step{Name: s, Index: AnyIndex}, tail == "" || isNumber(tail)
	}
	if !isNumber(s) {
		return Step{}, false
	}
	n, _ := strconv.Atoi(s)
	return Step{Index: n}, true
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	// Six digits are a million items, and Atoi below cannot fail.
	return s != "" && len(s) <= 6
}

func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= 0x80:
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return s != ""
}

func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// String returns the xpath as it was written, without a leading slash.
func (p Path) String() string { return p.text }

// Prefix returns what stands before the colon, or "".
func (p Path) Prefix() string { return p.prefix }

// Steps returns the parts of the path, which must not be changed.
func (p Path) Steps() []Step { return p.steps }

// Empty reports whether the path has no steps: the rest of a path that names a whole field.
func (p Path) Empty() bool { return len(p.steps) == 0 }

// Wild reports whether the path contains "*".
func (p Path) Wild() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return s.Index == AnyIndex })
}

// Tail returns the path without its first step.
func (p Path) Tail() Path { p.steps = p.steps[1:]; return p }

func (p Path) invalid(why string) error {
	return fault.Invalid.Errorf("xpath %q: %s", p.text, why).In(p.text)
}

// Find returns the field a path starts with and what remains of the path inside it. A name
// without prefix is found if one schema has it, or else if one schema without a prefix of
// its own has it. The whole path is checked against the declaration.
func Find(schemas []*Schema, p Path) (*Field, Path, error) {
	if p.Empty() {
		return nil, Path{}, p.invalid("empty")
	}
	f, err := p.first(schemas)
	if err != nil {
		return nil, Path{}, err
	}
	rest := p.Tail()
	if _, err := f.Leaf(rest); err != nil {
		return nil, Path{}, err
	}
	return f, rest, nil
}

// first finds the field that a path begins with. With a prefix, the prefix of a schema wins over its name. Without one, a schema
// without a prefix wins, and otherwise only one schema may have the field.
func (p Path) first(schemas []*Schema) (*Field, error) {
	name := p.steps[0].Name
	if p.prefix != "" {
		byPrefix := func(s *Schema) bool { return s.Space() == p.prefix && s.Field(name) != nil }
		byName := func(s *Schema) bool { return s.Name == p.prefix && s.Field(name) != nil }
		for _, match := range []func(*Schema) bool{byPrefix, byName} {
			if i := slices.IndexFunc(schemas, match); i >= 0 {
				return schemas[i].Field(name), nil
			}
		}
		return nil, p.unknown(schemas)
	}
	var all, plain []*Field
	for _, s := range schemas {
		f := s.Field(name)
		if f == nil {
			continue
		}
		all = append(all, f)
		if s.Prefix == "" {
			plain = append(plain, f)
		}
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(plain) == 1:
		return plain[0], nil
	case len(all) == 0:
		return nil, p.unknown(schemas)
	}
	return nil, p.invalid("ambiguous, write " + all[0].Key + " or " + all[1].Key)
}

// unknown is the error of a path whose property there is not, with what was probably meant: a key like it, or
// else the one property of that name with another prefix.
func (p Path) unknown(schemas []*Schema) error {
	text, name := p.steps[0].Name, p.steps[0].Name
	if p.prefix != "" {
		text = p.prefix + ":" + name
	}
	var keys, named []string
	for _, s := range schemas {
		for _, f := range s.Fields {
			if keys = append(keys, f.Key); p.prefix == "" {
				keys = append(keys, f.Name)
			} else if f.Name == name {
				named = append(named, f.Key)
			}
		}
	}
	near := fault.Perhaps(text, slices.Values(keys))
	if near == "" && len(named) == 1 {
		near = fault.Perhaps(named[0], slices.Values(named))
	}
	return p.invalid("no such property" + near)
}

// pseudo are the fields by which a path reaches into a blob.
var pseudo = []*Field{
	{Name: "name", Kind: String},
	{Name: "mime-type", Kind: String},
	{Name: "encoding", Kind: String},
	{Name: "digestAlgorithm", Kind: String},
	{Name: "digest", Kind: String},
	{Name: "length", Kind: Long},
	{Name: "data", Kind: Blob},
}

// Leaf returns the field at the end of rest, which starts inside f: f itself, a part, or
// one of the pseudo fields of a blob. The item of a list is a field like the list's that
// is no list.
func (f *Field) Leaf(rest Path) (*Field, error) {
	for ; !rest.Empty(); rest = rest.Tail() {
		next := f.step(rest.steps[0])
		if next == nil {
			return nil, rest.invalid("no such property" + f.perhaps(rest.steps[0].Name))
		}
		f = next
	}
	return f, nil
}

// perhaps suggests the part of f, or of an item of it, that a name was probably to be.
func (f *Field) perhaps(name string) string {
	parts := f.Fields
	if f.Kind == Blob {
		parts = pseudo
	}
	return fault.Perhaps(name, namesOf(parts))
}

// step goes down one step, nil where that is not possible.
func (f *Field) step(s Step) *Field {
	switch {
	case f.List && s.Index != NoIndex:
		return f.Item()
	case f.List || s.Index != NoIndex:
		return nil
	case f.Kind == Blob:
		return byName(pseudo, s.Name)
	}
	return f.Sub(s.Name)
}

// Item returns the field that one item of the list is.
func (f *Field) Item() *Field {
	if f.item != nil {
		return f.item
	}
	return f.makeItem()
}

func (f *Field) makeItem() *Field {
	item := *f
	item.List, item.item, item.Default = false, nil, nil
	return &item
}
