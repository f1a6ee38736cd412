package search

import (
	"fmt"
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/fault"
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
	w, err := plannerOf(t).execution(src, o)
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
	if advice := w.advice(err != nil); advice != "" {
		plan += "\nadvice: " + advice
	}
	return plan, nil
}

// explained returns the query behind the word EXPLAIN.
func explained(src string) (string, bool) {
	word, rest, ok := strings.Cut(strings.TrimLeft(src, " \t\r\n"), " ")
	return rest, ok && strings.EqualFold(word, "EXPLAIN")
}

// explainRows returns the lines of Explain as rows.
func explainRows(t *storage.Tx, src string, o Options) (*Rows, error) {
	if err := MayExplain(t); err != nil {
		return nil, err
	}
	plan, err := Explain(t, src, o)
	if err != nil {
		return nil, err
	}
	rows := &Rows{Columns: []string{"plan"}}
	for line := range strings.SplitSeq(plan, "\n") {
		rows.Entries = append(rows.Entries, map[string]any{"plan": line})
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
		line("types: %d of %d, from the row", len(p.names), len(t.Repo().Types().Types()))
	}
	for _, note := range p.covered() {
		line("row: %s", note)
	}
	for _, e := range t.scan(p, p.path).rest {
		line("filter: %s", query.Format(e))
	}
	switch {
	case len(p.order) == 0:
		line("order: as found")
	case p.total:
		line("order: %s, from the index", p.orderText())
	case p.lead > 0:
		line("order: %s, the first %d from the index, the rest sorted in groups", p.orderText(), p.lead)
	default:
		line("order: %s, sorted in memory", p.orderText())
	}
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
	line("bound: %d rows, page of %d, total up to %d", t.Repo().Limits().ScanRows, w.size, w.bound)
	return strings.TrimSuffix(b.String(), "\n")
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
func (w *execution) advice(refused bool) string {
	p := w.p
	if p.direct != nil || p.empty != "" || p.q.Correlated() || len(p.q.From) != 1 {
		return ""
	}
	cheap := w.t.spent.docs <= 2*w.size && w.t.spent.rows <= 10*w.size+2*w.bound+100
	if !refused && cheap {
		return ""
	}
	columns, include := p.adviceColumns()
	if len(columns) == 0 || len(columns) > 4 || len(include) > 8 {
		return ""
	}
	index := "[" + strings.Join(columns, ", ") + "]"
	if len(include) > 0 {
		index = "{columns: " + index + ", include: [" + strings.Join(include, ", ") + "]}"
	}
	if p.path.index != nil && w.t.scan(p, p.path).covers() {
		return "" // it is used already
	}
	return fmt.Sprintf("declare on type %s: indexes: [%s]", p.q.From[0].Text, index)
}

// adviceColumns returns the columns of the index that fits the query: the folder, the fields with conditions of equality, those
// of ORDER BY, one with a range if there is no order; and the other fields that conditions name.
func (p *plan) adviceColumns() (columns, include []string) {
	var have []*query.Field
	add := func(f *query.Field, desc string) {
		if !slices.ContainsFunc(have, func(x *query.Field) bool { return sameField(x, f) }) && mayBeColumn(f) {
			have, columns = append(have, f), append(columns, f.Name+desc)
		}
	}
	many := false
	if p.parent != nil {
		columns = append(columns, "ecm:parentId") // the condition is not among the expressions
	}
	for _, e := range p.exprs {
		if x, ok := e.(*query.Predicate); ok && !x.Not && (x.Op == query.Eq || x.Op == query.In && !x.Field.Many) && (!x.Field.Many || !many) {
			many = many || x.Field.Many
			add(x.Field, "")
		}
	}
	for _, o := range p.order {
		if o.Desc {
			add(o.Field, " desc")
		} else {
			add(o.Field, "")
		}
	}
	for _, e := range p.exprs {
		query.Walk(e, func(x *query.Predicate) {
			switch f := x.Field; {
			case f.Many || slices.ContainsFunc(have, func(x *query.Field) bool { return sameField(x, f) }):
			case len(p.order) == 0 && x == e:
				add(f, "")
			case f.Prop != nil && f.Kind < schema.Blob && f.System == query.Property:
				have, include = append(have, f), append(include, f.Name)
			}
		})
	}
	return columns, include
}

// mayBeColumn reports whether an index may have the field as a column.
func mayBeColumn(f *query.Field) bool {
	if f.System != query.Property {
		return slices.Contains(schema.SystemColumns, f.Name)
	}
	return f.Prop != nil && f.Kind < schema.Blob
}
