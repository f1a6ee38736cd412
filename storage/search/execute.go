// Package search answers queries: it parses them, chooses the indexes to use, and reads the results that the
// principal may see. The language is package query's; which indexes exist and what their rows look like is package
// layout's.
//
// A query passes through three stages. The planner (planner.go) lists the access paths that could find its results: ranges
// of an index, the children of a folder, the documents below one, or given ids. It counts the rows of each, up to a bound,
// and takes the cheapest. A scan (scan.go) walks the rows of that path and decides about each candidate, first by what its
// row says (a covering index holds type, state, flags, parent and access list of a document), and only then by loading the
// document. At last the results are sorted, unless the path has their order, and returned as a page (execute.go, sort.go).
//
// Two rules hold for every plan. A candidate that the principal may not read is neither returned nor counted. And the
// result does not depend on the plan: the tests compare each query under several cost settings with a scan of everything.
package search

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/query"
)

// maxOffset is how far numbers reach into a list: everything before the offset has to be read for every page.
// Cursors go on.
const maxOffset = 10_000

// Query runs a query of the query language; parameters are bound, never pasted into the text, so no value can
// change the meaning of the query. Of a query behind the word EXPLAIN the page has no documents, but the lines of Explain as
// the member plan.
func Query(t *storage.Tx, src string, o Options) (*storage.Page, error) {
	if q, ok := explained(src); ok {
		lines, err := explainLines(t, q, o)
		if err != nil {
			return nil, err
		}
		return &storage.Page{Limit: o.Limit, Extra: map[string]any{planMember: lines}}, nil
	}
	w, err := execute(t, src, o)
	if err != nil {
		return nil, err
	}
	if err := w.run(); err != nil {
		return nil, err
	}
	docs, err := w.t.loadCandidates(w.candidates)
	if err != nil {
		return nil, err
	}
	w.given = given{text: src, options: o}
	w.page.Docs, w.page.Query = docs, &w.given
	return &w.page, nil
}

// loadCandidates returns the documents of candidates. What the index row says of a document's place is
// not read again.
func (t planner) loadCandidates(hits []candidate) (storage.Docs, error) {
	keys := make([][]byte, 0, len(hits)+len(hits)/2)
	for i := range hits {
		if hits[i].doc != nil {
			continue
		}
		keys = append(keys, layout.RecordKey(hits[i].id))
		// Most index rows contain the position and the name of the document; then one row less has to be read
		// for each result.
		if hits[i].Bits&layout.HasNode == 0 {
			keys = append(keys, layout.NodeKey(hits[i].id))
		}
	}
	rows, err := t.kv().GetMany(keys)
	if err != nil {
		return nil, err
	}
	docs := make(storage.Docs, 0, len(hits))
	for i := range hits {
		h := &hits[i]
		d := h.doc
		if d == nil {
			rec := rows[0]
			rows = rows[1:]
			if h.Bits&layout.HasNode != 0 {
				d, err = t.in().Covered(h.id, &h.Cover, rec)
			} else {
				d, err = t.in().Assemble(h.id, rows[0], rec)
				rows = rows[1:]
			}
			if err != nil {
				return nil, err
			}
		}
		if d != nil {
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// execution is one page of the results of a query, and the total.
type execution struct {
	t          planner
	p          *plan
	o          Options
	page       storage.Page
	given      given // where the page goes on from
	from       *cursor
	size       int // entries wanted
	most       int // results altogether; -1: no bound
	bound      int // count up to here; 0: do not count
	passed     int // results seen, those before the page included
	candidates []candidate
	last       cursor        // of the last entry of a full page
	found      int           // all matches, if they were collected; -1: they were not
	before     time.Duration // was spent on finding the matches before
}

// execution parses and plans a query and applies the limits of its page. A cursor names the access path of the pages before, because
// its position means something only in the order of that path.
func (t planner) execution(src string, o Options) (*execution, error) {
	q, err := t.prepare(src, o)
	if err != nil {
		return nil, err
	}
	w := &execution{t: t, o: o, most: -1, found: -1}
	l := t.Repo().Limits()
	w.page = storage.Page{Offset: max(0, o.Offset), Limit: max(0, o.Limit), MaxPage: l.PageSize}
	if w.size = l.PageSize; o.Limit > 0 {
		w.size = min(w.size, o.Limit)
	}
	if w.bound = max(0, o.CountLimit); o.CountLimit == 0 {
		w.bound = l.CountLimit
	}
	if q.Limit >= 0 {
		w.most = int(q.Limit)
	}
	if o.Max > 0 && (w.most < 0 || o.Max < w.most) {
		w.most = o.Max
	}
	want := ""
	if o.After != "" {
		if w.from, err = parseCursor(o.After); err != nil {
			return nil, err
		}
		want, w.passed, w.page.Offset = w.from.access, w.from.passed, w.from.passed
	} else if o := w.page.Offset; o > maxOffset || o+int(q.Offset) > maxOffset {
		return nil, fault.Invalid.Errorf("query: offset %d, limit %d; use a cursor (after) instead", max(o, o+int(q.Offset)), maxOffset)
	}
	if w.p, err = t.analyse(q); err != nil {
		return nil, err
	}
	if err := w.checkCursor(want); err != nil {
		return nil, err
	}
	// Only the first page counts; the cursor carries the total to the others.
	w.p.counted = w.bound > 0 && w.from == nil
	err = t.choosePath(w.p, want)
	t.wishes.used(w.p)
	return w, err
}

// checkCursor refuses a cursor of another query: those of ordered queries name a sort key, others a path and a row. Whether it is
// refused must not depend on the plan, which changes with the data.
func (w *execution) checkCursor(want string) error {
	switch {
	case w.from == nil:
		return nil
	case (len(w.p.order) == 0 && !w.p.byID) != (want != ""):
		return errCursor()
	case want != "":
		return nil
	}
	_, err := w.p.split(w.from.key)
	return err
}

// run fills the page and counts.
func (w *execution) run() error {
	begun := time.Now()
	err := w.fill()
	w.note(w.before+time.Since(begun), fault.Is(err, fault.Limit))
	return err
}

func (w *execution) fill() error {
	err := w.walk()
	full := len(w.candidates) == w.size && w.page.HasNext
	switch {
	case err == nil:
	case errors.Is(err, errCostly) && full:
		// The page is full, so the query has done what was asked for.
		w.page.More = true // only the total is not known
	case errors.Is(err, errCostly):
		return w.p.costly(err, w.t.Repo().Limits().QueryRows)
	default:
		return err
	}
	if err := w.total(); err != nil {
		return err
	}
	if full {
		w.last.passed, w.last.total, w.last.more = w.page.Offset+len(w.candidates), w.page.Total, w.page.More
		if w.bound == 0 {
			w.last.total = -1
		}
		w.page.Next = w.last.String()
	}
	return nil
}

// take sees one result; more says that further ones are of interest.
func (w *execution) take(m match) (more bool, err error) {
	if w.most >= 0 && w.passed >= w.most {
		return false, nil
	}
	w.passed++
	switch {
	case w.passed <= w.page.Offset:
		return true, nil
	case len(w.candidates) < w.size:
		if len(w.candidates) == w.size-1 {
			// The cursor is made of the last entry while the scan still knows it.
			if w.last, err = m.cursor(); err != nil {
				return false, err
			}
		}
		if w.candidates == nil {
			// Most pages are far smaller than what they may be.
			w.candidates = make([]candidate, 0, min(w.size, 100))
		}
		w.candidates = append(w.candidates, *m.candidate)
		return true, nil
	}
	w.page.HasNext = true
	return w.counts() && w.passed <= w.bound, nil
}

// Select runs a query and returns its columns as rows.
func Select(t *storage.Tx, src string, o Options) (*Rows, error) {
	if q, ok := explained(src); ok {
		return explainRows(t, q, o)
	}
	w, err := execute(t, src, o)
	if err != nil {
		return nil, err
	}
	columns := w.p.q.Columns
	if len(columns) == 0 {
		columns = everyColumn
	}
	rows := &Rows{}
	aggregate := false
	for _, c := range columns {
		rows.Columns = append(rows.Columns, c.String())
		aggregate = aggregate || c.Aggregate != ""
	}
	switch {
	case aggregate:
		err = w.aggregate(columns, rows)
	case w.p.q.Distinct:
		err = w.distinct(columns, rows)
	default:
		err = w.rows(columns, rows)
	}
	if err != nil {
		return nil, err
	}
	rows.Page, rows.Docs = w.page, nil
	return rows, nil
}

// everyColumn is what SELECT * means where rows are wanted.
var everyColumn = func() []query.Column {
	var out []query.Column
	for _, f := range []query.Field{
		{Name: "ecm:uuid", System: query.SysUUID},
		{Name: "ecm:primaryType", System: query.SysType},
		{Name: "ecm:path", System: query.SysPath},
		{Name: "ecm:name", System: query.SysName},
	} {
		out = append(out, query.Column{Field: &f})
	}
	return out
}()

func (w *execution) rows(columns []query.Column, rows *Rows) error {
	if err := w.run(); err != nil {
		return err
	}
	docs, err := w.t.loadCandidates(w.candidates)
	if err != nil {
		return err
	}
	for _, d := range docs {
		row, err := rowOf(columns, docSource{w.t.Tx, d})
		if err != nil {
			return err
		}
		rows.Entries = append(rows.Entries, row)
	}
	return nil
}

func rowOf(columns []query.Column, src query.Source) (map[string]any, error) {
	row := make(map[string]any, len(columns))
	for _, c := range columns {
		v, err := query.FieldValue(c.Field, src)
		if err != nil {
			return nil, err
		}
		row[c.String()] = v
	}
	return row, nil
}

// whole calls visit for every match with its values of the columns, in order.
func (w *execution) whole(columns []query.Column, visit func(id layout.ID, values []any) (more bool, err error)) error {
	r := w.t.scan(w.p, w.p.path)
	err := r.ordered(nil, func(m match) (bool, error) {
		values := make([]any, len(columns))
		for i, c := range columns {
			if c.Field == nil {
				continue
			}
			v, err := r.value(m.candidate, c.Field)
			if err != nil {
				return false, err
			}
			values[i] = v
		}
		return visit(m.id, values)
	})
	if errors.Is(err, errCostly) {
		return w.p.costly(err, w.t.Repo().Limits().QueryRows)
	}
	return err
}

// distinct returns rows that differ. Their pages are numbered: there is no cursor.
func (w *execution) distinct(columns []query.Column, rows *Rows) error {
	if w.from != nil {
		// Continuing would have to know all rows that were returned before.
		return fault.Invalid.Errorf("cursor: cannot be used with DISTINCT, use an offset")
	}
	seen, n := map[string]bool{}, -int(w.p.q.Offset)
	return w.whole(columns, func(_ layout.ID, values []any) (bool, error) {
		key := fmt.Sprintf("%q", values)
		if seen[key] {
			return true, nil
		}
		seen[key] = true
		if n++; n <= 0 {
			return true, nil
		}
		if w.most >= 0 && n > w.most {
			return false, nil
		}
		w.page.Total = n
		if n > w.page.Offset && len(rows.Entries) < w.size {
			row := make(map[string]any, len(columns))
			for i, c := range columns {
				row[c.String()] = values[i]
			}
			rows.Entries = append(rows.Entries, row)
		} else if n > w.page.Offset {
			w.page.HasNext = true
		}
		if w.bound > 0 && n > w.bound {
			w.page.Total, w.page.More = w.bound, true
		}
		return !w.page.HasNext || w.bound > 0 && !w.page.More, nil
	})
}

// aggregate returns one row of figures over all results.
func (w *execution) aggregate(columns []query.Column, rows *Rows) error {
	figures := make([]aggregate, len(columns))
	for i, c := range columns {
		if c.Aggregate == "" {
			return fault.Invalid.Errorf("query: column %s cannot be combined with %s, which aggregates all results", c, firstAggregate(columns))
		}
		figures[i] = aggregate{column: c}
	}
	// An order is meaningless for a single row, and could prevent a cheaper path.
	w.unordered()
	err := w.whole(columns, func(_ layout.ID, values []any) (bool, error) {
		for i := range figures {
			figures[i].add(values[i])
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	row := map[string]any{}
	for i, c := range columns {
		row[c.String()] = figures[i].result()
	}
	rows.Entries = []map[string]any{row}
	w.page.Total = 1
	return nil
}

// unordered drops ORDER BY and takes the access path that is best without. Where that is every document, those that were changed last
// come first: who visits only some results learns more of them than of those of the first types.
func (w *execution) unordered() {
	p := w.p
	everything := p.byID && p.path.primary || p.path.top != nil
	p.order, p.byID, p.values = nil, false, p.q.Columns
	if p.nulls || everything && p.plain != nil || p.plain != nil && p.plain.ids != nil {
		p.path = p.plain
	}
	p.usePath(firstPath(append(slices.Clone(p.finders), p.counter, p.path)...))
	if a := w.t.cheaperRows(p, p.path); a != nil {
		p.usePath(a)
	}
	if modified := w.t.modified; p.path.name == layout.TypeIndex && p.everyType(w.t.types) && w.t.usable(modified.Name) {
		p.usePath(w.t.wholePath(modified.Name, modified))
		p.reverse = true
	}
}

func firstAggregate(columns []query.Column) string {
	for _, c := range columns {
		if c.Aggregate != "" {
			return c.String()
		}
	}
	return ""
}
