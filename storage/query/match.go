package query

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"catena/storage/blob"
	"catena/storage/schema"
)

// Source gives the values of one document: nil for what is not set, []any for lists,
// otherwise what Value.V may hold.
type Source interface {
	System(f *Field) (any, error)
	Property(f *schema.Field) (any, error) // the whole top-level property

	// Work counts units of work of about a nanosecond. Its error ends the match.
	Work(n int) error
}

// truth is the outcome of a condition: what compares with nothing is unknown.
// The order no < unknown < yes makes AND the minimum, OR the maximum and NOT the mirror image, as
// SQL defines three-valued logic.
type truth int8

const (
	no truth = iota
	unknown
	yes
)

func known(b bool) truth {
	if b {
		return yes
	}
	return no
}

// maxPosition bounds what a numbered wildcard may stand for.
// Several wildcards multiply, so this bounds each of them and Work bounds the product.
const maxPosition = 1000

// Match reports whether the document satisfies the whole condition. The query has been
// bound and checked.
func (s *Select) Match(src Source) (bool, error) {
	m := matcher{src: src}
	if len(s.correlated) == 0 {
		t, err := m.expr(s.Where)
		return t == yes, err
	}
	// What has no numbered wildcard is the same at every position, and mostly decides without reading a list.
	if t, err := m.fixed(s.Where); err != nil || t != yes {
		return false, err
	}
	m.bound, m.length = map[string]int{}, map[string]int{}
	return m.positions(s.Where, s.correlated)
}

// Holds reports whether one condition is true, which has no numbered wildcards.
func Holds(e Expr, src Source) (bool, error) {
	m := matcher{src: src}
	t, err := m.expr(e)
	return t == yes, err
}

type matcher struct {
	src    Source
	bound  map[string]int // positions that numbered wildcards stand for now
	length map[string]int // longest list met at each of them
	cut    bool           // part of the condition was not looked at, since the rest had decided
}

// positions tries all positions of the wildcards.
func (m *matcher) positions(e Expr, names []string) (bool, error) {
	if len(names) == 0 {
		t, err := m.expr(e)
		return t == yes, err
	}
	for i := 0; i < maxPosition; i++ {
		m.bound[names[0]], m.length[names[0]] = i, 0
		if ok, err := m.positions(e, names[1:]); ok || err != nil {
			return ok, err
		}
		// A part that was not looked at may be about a longer list.
		if m.cut && i+1 >= m.length[names[0]] {
			if err := m.measure(e, names[1:]); err != nil {
				return false, err
			}
		}
		// Positions behind the longest list that this one reached cannot be met by an item.
		if i+1 >= m.length[names[0]] {
			break
		}
	}
	return false, nil
}

// fixed decides the parts of a conjunction that have no numbered wildcard.
func (m *matcher) fixed(e Expr) (truth, error) {
	l, ok := e.(*Logic)
	if !ok || l.Or {
		return yes, nil
	}
	for _, part := range l.Parts {
		if correlates(part) {
			continue
		}
		if t, err := m.expr(part); err != nil || t != yes {
			return t, err
		}
	}
	return yes, nil
}

// correlates reports whether a condition has a numbered wildcard.
func correlates(e Expr) (found bool) {
	Walk(e, func(p *Predicate) { found = found || slices.ContainsFunc(p.Field.Rest.Steps(), numbered) })
	return found
}

// numbered reports whether a step is a numbered wildcard; the one without a number has the name "*" or none.
func numbered(s schema.Step) bool { return s.Index == schema.AnyIndex && len(s.Name) > 1 }

// measure notes the lengths of all lists at the positions that are tried, at every position of the wildcards in free.
func (m *matcher) measure(e Expr, free []string) error {
	for _, name := range free {
		delete(m.bound, name)
	}
	var failed error
	Walk(e, func(p *Predicate) {
		if failed != nil || !p.Field.Rest.Wild() {
			return
		}
		if failed = m.src.Work(fieldWork); failed == nil {
			_, failed = m.value(p.Field)
		}
	})
	return failed
}

func (m *matcher) expr(e Expr) (truth, error) {
	switch e := e.(type) {
	case *Logic:
		return m.logic(e)
	case *Not:
		t, err := m.expr(e.X)
		return yes - t, err
	case *Predicate:
		return m.predicate(e)
	}
	return yes, nil
}

func (m *matcher) logic(l *Logic) (truth, error) {
	out := yes
	if l.Or {
		out = no
	}
	for i, part := range l.Parts {
		t, err := m.expr(part)
		if err != nil {
			return no, err
		}
		if l.Or {
			out = max(out, t)
		} else {
			out = min(out, t)
		}
		if l.Or && out == yes || !l.Or && out == no {
			m.cut = m.cut || i+1 < len(l.Parts)
			break
		}
	}
	return out, nil
}

// What a match counts as work.
const (
	// Rough figures in the unit of Source.Work. They need not be right, only never far too low: a
	// match that costs more than it counts would run past the end of its call.
	fieldWork   = 100     // reading a field
	compareWork = 20      // comparing a value with another
	searchWork  = 200_000 // looking for a phrase in a text
)

func (m *matcher) predicate(p *Predicate) (truth, error) {
	if err := m.src.Work(fieldWork); err != nil {
		return no, err
	}
	v, err := m.value(p.Field)
	if err != nil {
		return no, err
	}
	if p.Op == IsNull {
		return known(isNull(v) != p.Not), nil
	}
	list, many := v.([]any)
	if !many {
		return p.test(v, m.src.Work)
	}
	return p.testAny(list, m.src.Work)
}

func isNull(v any) bool {
	list, many := v.([]any)
	return v == nil || many && len(list) == 0
}

// testAny is for fields with any number of values.
// The negated forms are decided by the positive one: <> holds if no item is equal, not if some item
// differs. A path with a wildcard that leads to no item meets every negated form.
func (p *Predicate) testAny(list []any, work func(int) error) (truth, error) {
	positive, negated := *p, p.Not || p.Op == Ne
	if positive.Not = false; p.Op == Ne {
		positive.Op = Eq
	}
	out := no
	for _, item := range list {
		t, err := positive.test(item, work)
		if err != nil {
			return no, err
		}
		if out = max(out, t); out == yes {
			break
		}
	}
	if negated {
		return known(out != yes), nil
	}
	return out, nil
}

// test compares one value.
func (p *Predicate) test(v any, work func(int) error) (truth, error) {
	if v == nil {
		return unknown, nil
	}
	if p.Field.System == SysFulltext {
		t, ok := v.(Text)
		if !ok {
			return no, nil
		}
		found, err := p.words.match(t, work)
		return known(found), err
	}
	if err := work(p.Work()); err != nil {
		return no, err
	}
	if p.Op == Like || p.Op == ILike {
		s, _ := v.(string)
		ok, err := p.match.match(s, work)
		return known(ok != p.Not), err
	}
	return known(p.compare(v) != p.Not), nil
}

func (p *Predicate) compare(v any) bool {
	switch p.Op {
	case In:
		for i := range p.Values {
			if n, ok := Compare(v, p.Values[i].V); ok && n == 0 {
				return true
			}
		}
		return false
	case Between:
		low, ok := Collate(v, p.Values[0].V)
		high, too := Collate(v, p.Values[1].V)
		return ok && too && low >= 0 && high <= 0
	case StartsWith:
		s, _ := v.(string)
		return p.startsWith(s)
	case Eq, Ne:
		n, ok := Compare(v, p.Values[0].V)
		return ok && (n == 0) == (p.Op == Eq)
	}
	n, ok := Collate(v, p.Values[0].V)
	return ok && p.Op.admits(n)
}

// admits reports whether <, <=, > or >= is true of values that compare as n does with 0.
func (o Op) admits(n int) bool {
	switch o {
	case Lt:
		return n < 0
	case Le:
		return n <= 0
	case Gt:
		return n > 0
	}
	return n >= 0
}

// startsWith is for paths: of documents, everything below; of other values, the value
// itself and everything below.
// The slash is looked at because "/a/b" is not an ancestor of "/a/bc".
func (p *Predicate) startsWith(s string) bool {
	prefix := strings.TrimSuffix(p.Values[0].V.(string), "/")
	rest, ok := strings.CutPrefix(s, prefix)
	if p.Field.System == SysPath {
		return ok && len(rest) > 1 && rest[0] == '/'
	}
	return ok && (rest == "" || rest[0] == '/')
}

// Collate is Compare as <, >, BETWEEN and ORDER BY do it: text without regard to case.
func Collate(a, b any) (n int, ok bool) {
	if x, is := a.(string); is {
		if y, is := b.(string); is {
			return strings.Compare(strings.ToLower(x), strings.ToLower(y)), true
		}
	}
	return Compare(a, b)
}

// Test reports whether one value alone, which is short, satisfies the predicate.
func (p *Predicate) Test(v any) bool {
	t, _ := p.test(v, func(int) error { return nil })
	return t == yes
}

// Work is about what Test takes.
func (p *Predicate) Work() int { return (1 + len(p.Values)) * compareWork }

// Compare tells values of one kind apart, as = and IN do: text with regard to case. It is
// not ok for values of different kinds.
// A whole number and a floating one compare as floats, so beyond 2^53 neighbours count as equal.
func Compare(a, b any) (n int, ok bool) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), true
		}
	case int64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, b), true
		case float64:
			return cmp.Compare(float64(a), b), true
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, float64(b)), true
		case float64:
			return cmp.Compare(a, b), true
		}
	case bool:
		if b, ok := b.(bool); ok {
			return cmp.Compare(bit(a), bit(b)), true
		}
	case time.Time:
		if b, ok := b.(time.Time); ok {
			return a.Compare(b), true
		}
	}
	return 0, false
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// FieldValue reads a field of a document: nil, one value, or a list.
func FieldValue(f *Field, src Source) (any, error) {
	m := matcher{src: src}
	return m.value(f)
}

func (m *matcher) value(f *Field) (any, error) {
	if f.System != Property && f.System != SysACL {
		return m.src.System(f)
	}
	var v any
	var err error
	if f.System == SysACL {
		v, err = m.src.System(f)
	} else {
		v, err = m.src.Property(f.Prop)
	}
	if err != nil || f.Rest.Empty() {
		return v, err
	}
	steps := f.Rest.Steps()
	if !f.Rest.Wild() {
		return m.one(v, steps), nil
	}
	return m.walk([]any{}, v, steps), nil
}

// one follows steps that lead to one place.
func (m *matcher) one(v any, steps []schema.Step) any {
	for _, s := range steps {
		v = child(v, s)
	}
	return v
}

func child(v any, s schema.Step) any {
	switch v := v.(type) {
	case []any:
		if s.Index >= 0 && s.Index < len(v) {
			return v[s.Index]
		}
	case map[string]any:
		return v[s.Name]
	case *blob.Blob:
		return blobPart(v, s.Name)
	}
	return nil
}

// walk appends what the steps lead to; values that are not set count as items.
func (m *matcher) walk(dst []any, v any, steps []schema.Step) []any {
	for i, s := range steps {
		list, many := v.([]any)
		if s.Index != schema.AnyIndex {
			v = child(v, s)
			continue
		}
		if !many {
			return dst
		}
		if at, ok := m.bound[s.Name]; ok {
			m.length[s.Name] = max(m.length[s.Name], len(list))
			if at >= len(list) {
				return dst
			}
			v = list[at]
			continue
		}
		for _, item := range list {
			dst = m.walk(dst, item, steps[i+1:])
		}
		return dst
	}
	if list, many := v.([]any); many {
		return append(dst, list...)
	}
	return append(dst, v)
}

func blobPart(b *blob.Blob, name string) any {
	if b == nil {
		return nil
	}
	switch name {
	case "name":
		return orNil(b.Name)
	case "mime-type":
		return orNil(b.Type)
	case "encoding":
		return orNil(b.Encoding)
	case "digest":
		return orNil(b.Digest)
	case "digestAlgorithm":
		return "SHA-256"
	case "length":
		return b.Size
	}
	return nil
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
