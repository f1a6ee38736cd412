package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/query"
	"catena/storage/schema"
)

// MayExplain refuses everybody but administrators: what a query reads, and which index it chooses for that, depend on
// documents that others may not know of.
func MayExplain(t *storage.Tx) error {
	if p := t.Principal(); !p.Admin && !p.System {
		return fault.Denied.Errorf("only administrators may explain queries, not '%s': the plan depends on documents that others may not read", p.Name)
	}
	return nil
}

// Explain runs a query and says which index it used, what it read, and which index would have made it cheap. Who gets
// to see that has to pass MayExplain.
func Explain(t *storage.Tx, src string, o Options) (string, error) {
	w, err := execute(t, src, o)
	if err != nil {
		return "", err
	}
	plan := w.p.explain(w.t, w)
	err = w.run()
	plan += fmt.Sprintf("\nread: %d rows, %d documents besides those of the page", w.t.spent.rows, w.t.spent.docs)
	if fault.Is(err, fault.Limit) {
		plan += "\nrefused: " + err.Error()
	} else if err != nil {
		return "", err
	}
	advice, x := w.advice(err != nil)
	if advice == "" {
		return plan, nil
	}
	plan += "\nadvice: " + advice
	all, err := t.Internal(row.Ordered{}).EveryAutomatic()
	for i := range all {
		if a := &all[i]; a.Type == w.p.q.From[0].Text && a.String() == x.String() {
			plan += "\nautomatic: the server has declared it by itself, state " + a.State
		}
	}
	return plan, err
}

// explained returns the query behind the word EXPLAIN.
func explained(src string) (string, bool) {
	src = strings.TrimSpace(src)
	end := strings.IndexFunc(src, unicode.IsSpace)
	if end < 0 || !strings.EqualFold(src[:end], "EXPLAIN") {
		return "", false
	}
	return src[end:], true
}

// planMember is the member of a page that says how its query runs.
const planMember = "plan"

// IsPlan reports whether a page says how a query runs, and has no documents for that reason alone.
func IsPlan(p *storage.Page) bool {
	_, plan := p.Extra[planMember]
	return plan
}

// explainLines returns the lines of Explain, if the principal may see them.
func explainLines(t *storage.Tx, src string, o Options) ([]string, error) {
	if err := MayExplain(t); err != nil {
		return nil, err
	}
	plan, err := Explain(t, src, o)
	return strings.Split(plan, "\n"), err
}

// explainRows returns the lines of Explain as rows.
func explainRows(t *storage.Tx, src string, o Options) (*Rows, error) {
	lines, err := explainLines(t, src, o)
	if err != nil {
		return nil, err
	}
	rows := &Rows{Columns: []string{planMember}}
	for _, line := range lines {
		rows.Entries = append(rows.Entries, map[string]any{planMember: line})
	}
	rows.Total = len(rows.Entries)
	rows.Limit = rows.Total
	return rows, nil
}

func (p *plan) explain(t planner, w *execution) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("query: %s", p.q)
	if p.empty != "" {
		line("empty: %s", p.empty)
	}
	rows := "not counted"
	switch a := p.path; {
	case a.rows >= t.maxSorted():
		rows = fmt.Sprintf("%d or more", t.maxSorted())
	case a.rows >= 0:
		rows = fmt.Sprint(a.rows)
	}
	line("access: %s, %s; %d ranges; rows: %s", p.path.name, p.path.about, len(p.path.ranges), rows)
	if p.names != nil {
		line("types: %d of %d, from the row", len(p.names), len(t.types.Types()))
	}
	for _, note := range p.covered() {
		line("row: %s", note)
	}
	for _, e := range t.scan(p, p.path).rest {
		line("filter: %s", query.Format(e))
	}
	line("order: %s", p.ordering(t))
	if p.nulls {
		line("without %s: found by a plan of their own", p.order[0].Field.Name)
	}
	if p.fallback != nil {
		line("or: %s, %s, sorted in memory, if few documents match along the order", p.fallback.name, p.fallback.about)
	}
	if p.finders != nil {
		line("matches: collected by %s; or sorted in memory", pathNames(p.finders))
	}
	if p.countsRows() {
		line("total: counted from the rows of %s", pathNames(p.answers))
	} else if p.counter != nil {
		line("total: counted by %s, %s", p.counter.name, p.counter.about)
	}
	line("bound: %d rows, page of %d, total up to %d", t.Repo().Limits().QueryRows, w.size, w.bound)
	return strings.TrimSuffix(b.String(), "\n")
}

// ordering says where the order of the results comes from.
func (p *plan) ordering(t planner) string {
	switch {
	case len(p.order) == 0:
		return "as found"
	case p.total:
		return fmt.Sprintf("%s, from the %s", p.orderText(), p.path.source())
	case p.lead == 0:
		return p.orderText() + ", sorted in memory"
	}
	how := fmt.Sprintf("%s, the first %d from the index, the rest sorted in groups", p.orderText(), p.lead)
	if group := t.planGroup(p, nil); group != nil {
		how += ", of which large ones are found by " + group.path.name
	}
	return how
}

// covered lists the conditions that rows answer without a document.
func (p *plan) covered() []string {
	var out []string
	for _, s := range []query.System{query.SysIsVersion, query.SysIsProxy, query.SysIsTrashed, query.SysIsFolder} {
		if flag := flagFields[s]; p.mask&flag != 0 {
			out = append(out, fmt.Sprintf("%s = %t", flagNames[s], p.want&flag != 0))
		}
	}
	if p.parent != nil {
		out = append(out, "ecm:parentId = "+p.parent.String())
	}
	for _, top := range p.under {
		out = append(out, "below "+top.String())
	}
	return append(out, p.direct...)
}

var flagNames = map[query.System]string{
	query.SysIsVersion: "ecm:isVersion", query.SysIsProxy: "ecm:isProxy",
	query.SysIsTrashed: "ecm:isTrashed", query.SysIsFolder: "ecm:isFolderish",
}

// advice returns the declaration of an index that would have made the query cheap, "" if it was or none would.
func (w *execution) advice(refused bool) (declare string, x advisedIndex) {
	p := w.p
	if p.direct != nil || p.empty != "" || p.q.Correlated() || len(p.q.From) != 1 {
		return "", x
	}
	cheap := w.t.spent.docs <= 2*w.size && w.t.spent.rows <= 10*w.size+2*w.bound+100
	if !refused && cheap {
		return "", x
	}
	if x = p.advised(); !x.narrow && p.missing != nil {
		x = p.advisedFor(p.missing)
	}
	if !x.helps() || w.reads(&x) || w.t.declares(p.q.From[0].Text, &x) {
		return "", x
	}
	return adviceOf(p.q.From[0].Text, x.String()), x
}

// reads reports whether the query reads an index that is as good.
func (w *execution) reads(x *advisedIndex) bool {
	p := w.p
	return (p.path.index != nil || !x.narrow && p.everyType(w.t.types)) && p.lead >= len(p.order) && w.t.scan(p, p.path).covers()
}

func adviceOf(typ, index string) string {
	return fmt.Sprintf("declare on type %s: indexes: [%s]", typ, index)
}

// advisedIndex is the index that fits a query.
type advisedIndex struct {
	columns, include []string
	have             []*query.Field // of both
	narrow           bool           // the first columns have conditions
	left             bool           // a condition is on what it does not hold
}

// helps reports whether it may be declared, and is better than an index of the field of the order alone.
func (x *advisedIndex) helps() bool {
	return len(x.columns) > 0 && len(x.columns) <= schema.MaxColumns && len(x.include) <= schema.MaxInclude && (x.narrow || !x.left)
}

// String returns the declaration.
func (x *advisedIndex) String() string { return storage.DeclaredIndex(x.columns, x.include) }

func (x *advisedIndex) column(f *query.Field, desc string) bool {
	if x.holds(f) || !mayBeColumn(f) {
		return false
	}
	x.have, x.columns = append(x.have, f), append(x.columns, f.Name+desc)
	return true
}

func (x *advisedIndex) holds(f *query.Field) bool {
	return slices.ContainsFunc(x.have, func(h *query.Field) bool { return sameField(h, f) })
}

// declares reports whether a type has an index with these columns that includes these fields.
func (t planner) declares(typ string, x *advisedIndex) bool {
	name := func(f *query.Field) string { return f.Name }
	return slices.ContainsFunc(t.all, func(have *compound) bool {
		if have.Where != "type "+typ || len(have.columns) != len(x.columns) {
			return false
		}
		for i, column := range x.columns {
			if column, _, _ = strings.Cut(column, " "); name(have.columns[i]) != column {
				return false
			}
		}
		return !slices.ContainsFunc(x.include, func(key string) bool {
			return !slices.ContainsFunc(have.include, func(f *query.Field) bool { return name(f) == key })
		})
	})
}

// advised returns the index that fits the query. Its columns are the folder, the fields with conditions of equality, those of
// ORDER BY, and those with other conditions if there is no order that an index can have; it includes the other fields that conditions name.
func (p *plan) advised() (x advisedIndex) {
	if p.parent != nil {
		x.columns, x.narrow = append(x.columns, "ecm:parentId"), true // the condition is not among the expressions
	}
	item, sorted := x.fixed(p), false
	for _, o := range p.order {
		desc := ""
		if o.Desc {
			desc = " desc"
		}
		sorted = x.column(o.Field, desc) || sorted
	}
	for _, e := range p.exprs {
		query.Walk(e, func(c *query.Predicate) {
			switch f := c.Field; {
			case query.Expr(c) == item || !f.Many && x.holds(f):
			case !sorted && query.Expr(c) == e && !f.Many && x.column(f, ""):
				_, _, bounded := bounds(nil, c)
				x.narrow = x.narrow || bounded || c.Op == query.IsNull
			default:
				x.includes(f)
			}
		})
	}
	return x
}

// advisedFor returns the index that finds the documents of an alternative.
func (p *plan) advisedFor(e query.Expr) (x advisedIndex) {
	probe := plan{q: p.q, exprs: []query.Expr{e}}
	if l, ok := e.(*query.Logic); ok {
		probe.exprs = l.Parts
	}
	return probe.advised()
}

// fixed adds the fields with conditions of equality, and returns the one on an item of a list, of which there may be one.
func (x *advisedIndex) fixed(p *plan) (item query.Expr) {
	for _, e := range p.exprs {
		c, ok := e.(*query.Predicate)
		if !ok || c.Not || c.Op != query.Eq && (c.Op != query.In || c.Field.Many) || c.Field.Many && item != nil {
			continue
		}
		if x.column(c.Field, "") {
			if x.narrow = true; c.Field.Many {
				item = e
			}
		}
	}
	return item
}

// includes adds a field to what the index includes; a list is included as a whole.
func (x *advisedIndex) includes(f *query.Field) {
	name := f.Name
	if f.Many && f.Prop != nil {
		name = f.Prop.Key
	}
	switch {
	case f.Prop == nil || f.System != query.Property || f.Kind >= schema.Blob || f.Many && f.Prop.Kind >= schema.Blob:
		x.left = x.left || !coveredSystem(f.System)
	case !slices.Contains(x.include, name):
		if x.include = append(x.include, name); !f.Many {
			x.have = append(x.have, f)
		}
	}
}

// mayBeColumn reports whether an index may have the field as a column.
func mayBeColumn(f *query.Field) bool {
	if f.System != query.Property {
		return slices.Contains(schema.SystemColumns, f.Name)
	}
	return f.Prop != nil && f.Kind < schema.Blob
}
