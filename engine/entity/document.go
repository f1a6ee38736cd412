package entity

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/search"
)

// document appends a document, its members in the order clients know.
// Level 1 is the answer itself. Documents inside others get properties and enrichers only down to
// Depth, or an enricher such as children would write the whole tree.
func (w *writer) document(dst []byte, d *storage.Doc, level int) ([]byte, error) {
	if w.among == nil { // otherwise it was said of the whole list
		if err := w.ahead(storage.Docs{d}, level); err != nil {
			return nil, err
		}
	}
	dst = append(dst, `{"entity-type":"document","repository":`...)
	dst = schema.AppendString(dst, d.Repository())
	dst = d.AppendID(append(dst, `,"uid":`...))
	path, err := w.pathOf(d)
	if err != nil {
		return nil, err
	}
	dst = textOr(append(dst, `,"path":`...), path)
	dst = schema.AppendString(append(dst, `,"type":`...), d.Type().Name)
	dst = textOr(append(dst, `,"state":`...), d.State())
	if dst = append(dst, `,"parentRef":`...); path == "/" {
		dst = append(dst, `"/"`...) // clients know the root by it
	} else {
		dst = d.AppendParentID(dst)
	}
	dst = strconv.AppendBool(append(dst, `,"isCheckedOut":`...), d.IsCheckedOut())
	dst = append(w.retention(dst, d), `,"isVersion":`...)
	dst = strconv.AppendBool(dst, d.IsVersion())
	dst = strconv.AppendBool(append(dst, `,"isProxy":`...), d.IsProxy())
	if d.IsVersion() || d.IsProxy() {
		if dst, err = w.versionOf(dst, d); err != nil {
			return nil, err
		}
	}
	dst = append(d.AppendChangeToken(append(dst, `,"changeToken":"`...)), '"')
	dst = strconv.AppendBool(append(dst, `,"isTrashed":`...), d.IsTrashed())
	dst = d.AppendTitle(append(dst, `,"title":`...))
	if len(w.fetch) > 0 {
		dst = w.onRequest(dst, d)
	}
	dst = modified(dst, d)
	deep := w.deep(level)
	if deep && len(w.o.Properties) > 0 {
		if dst, err = w.properties(append(dst, `,"properties":{`...), d); err != nil {
			return nil, err
		}
		dst = append(dst, '}')
	}
	dst = facets(append(dst, `,"facets":[`...), d)
	dst = schemas(append(dst, `,"schemas":[`...), d.Schemas())
	if deep && len(w.asked) > 0 {
		return w.enriched(dst, d, level)
	}
	return append(dst, '}'), nil
}

// pathOf is the path that clients know a document by. A version has that of its live document: front ends go there when a version
// has been restored. Without a live document that the caller may read, it is the name alone.
func (w *writer) pathOf(d *storage.Doc) (string, error) {
	if !d.HasPath() {
		return "", nil
	}
	if d.IsVersion() && w.c.Tx != nil {
		switch live, err := w.c.Tx.Live(d); {
		case err == nil:
			return live.Path(), nil
		case !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied):
			return "", err
		}
	}
	return d.Path(), nil
}

// modified appends when a document was last changed, if it says.
func modified(dst []byte, d *storage.Doc) []byte {
	if with, ok := d.AppendProperty(append(dst, `,"lastModified":`...), "dc:modified", schema.Date); ok {
		return with
	}
	return dst
}

func facets(dst []byte, d *storage.Doc) []byte {
	start := len(dst)
	for _, names := range [...][]string{d.Type().Facets, d.OwnFacets()} {
		for _, name := range names {
			if len(dst) > start {
				dst = append(dst, ',')
			}
			dst = schema.AppendString(dst, name)
		}
	}
	if d.IsImmutable() {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(dst, `"Immutable"`...)
	}
	return append(dst, ']')
}

func schemas(dst []byte, list []*schema.Schema) []byte {
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendString(append(dst, `{"name":`...), s.Name)
		dst = append(schema.AppendString(append(dst, `,"prefix":`...), s.Space()), '}')
	}
	return append(dst, ']')
}

// versionOf appends what is said of versions and proxies only.
func (w *writer) versionOf(dst []byte, d *storage.Doc) ([]byte, error) {
	dst = schema.AppendString(append(dst, `,"versionableId":`...), d.VersionableID())
	if d.IsProxy() {
		return schema.AppendString(append(dst, `,"proxyTargetId":`...), d.TargetID()), nil
	}
	if w.c.Tx == nil {
		return dst, nil
	}
	latest, major, err := w.c.Tx.IsLatest(d)
	dst = strconv.AppendBool(append(dst, `,"isLatestVersion":`...), latest)
	return strconv.AppendBool(append(dst, `,"isLatestMajorVersion":`...), major), err
}

// onRequest appends the system fields that are written only when asked for.
func (w *writer) onRequest(dst []byte, d *storage.Doc) []byte {
	if slices.Contains(w.fetch, "versionLabel") {
		dst = schema.AppendString(append(dst, `,"versionLabel":`...), d.VersionLabel())
	}
	if slices.Contains(w.fetch, "lock") {
		if owner, since, ok := d.Locked(); ok {
			dst = schema.AppendString(append(dst, `,"lockOwner":`...), owner)
			dst = schema.AppendTime(append(dst, `,"lockCreated":`...), since)
		}
	}
	return dst
}

// properties appends the members of the schemas asked for.
func (w *writer) properties(dst []byte, d *storage.Doc) ([]byte, error) {
	wanted := w.wants
	if w.all {
		wanted = nil
	}
	if w.resolves() {
		return w.resolved(dst, d, wanted)
	}
	return d.AppendProperties(dst, wanted, w.blobsOf(d)), nil
}

func (w *writer) wants(name string) bool { return slices.Contains(w.o.Properties, name) }

// retention says why a document is kept.
func (w *writer) retention(dst []byte, d *storage.Doc) []byte {
	r := d.Retention()
	if r == (storage.Retention{}) {
		return append(dst, `,"isRecord":false,"retainUntil":null,"hasLegalHold":false,"isUnderRetentionOrLegalHold":false`...)
	}
	dst = strconv.AppendBool(append(dst, `,"isRecord":`...), r.Record)
	dst = append(dst, `,"retainUntil":`...)
	if r.Until == 0 {
		dst = append(dst, "null"...)
	} else {
		dst = schema.AppendTime(dst, r.Until.Time())
	}
	dst = strconv.AppendBool(append(dst, `,"hasLegalHold":`...), r.Hold)
	return strconv.AppendBool(append(dst, `,"isUnderRetentionOrLegalHold":`...), r.Holds(w.c.Now))
}

// blobsOf says of a document's files where they can be downloaded, and what is asked for besides. It holds until it is
// called for another document: a list of documents needs one function.
func (w *writer) blobsOf(d *storage.Doc) schema.BlobFunc {
	if w.files = d; w.more == nil {
		w.more = w.ofBlob()
	}
	return w.more
}

func (w *writer) ofBlob() schema.BlobFunc {
	enrichers := w.o.Enrichers["blob"]
	return func(dst []byte, xpath string, b *storage.Blob) []byte {
		d := w.files
		// The change token makes the address differ after each save, so caches may keep what they
		// got for ever.
		u := make([]byte, 0, 192)
		u = append(append(u, w.o.Base...), "/nxfile/"...)
		u = append(append(u, url.PathEscape(d.Repository())...), '/')
		u = append(append(u, d.ID()...), '/')
		u = append(append(u, xpath...), '/')
		u = append(append(u, url.PathEscape(b.Name)...), "?changeToken="...)
		address := string(append(u, d.ChangeToken()...))
		dst = schema.AppendString(append(dst, `,"data":`...), address)
		dst = schema.AppendString(append(dst, `,"blobUrl":`...), address)
		for _, name := range enrichers {
			switch name {
			case "appLinks": // no program on a desktop is informed of files here
				dst = append(dst, `,"appLinks":[]`...)
			case "preview": // nor is there a view of a single file to embed; with the key clients would not use their own
			}
		}
		return dst
	}
}

// resolves reports whether references among the properties are to be replaced by what they
// refer to.
func (w *writer) resolves() bool {
	for _, name := range w.fetch {
		if name != "versionLabel" && name != "lock" {
			return true
		}
	}
	return false
}

// resolved appends the properties with references resolved.
func (w *writer) resolved(dst []byte, d *storage.Doc, want func(string) bool) ([]byte, error) {
	more := w.blobsOf(d)
	first := true
	for _, s := range d.Schemas() {
		if want != nil && !want(s.Name) {
			continue
		}
		for _, f := range s.Fields {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(schema.AppendString(dst, f.Key), ':')
			v, err := d.Get(f.Key)
			if err != nil {
				return nil, err
			}
			if dst, err = w.fieldResolved(dst, f, v, more); err != nil {
				return nil, err
			}
		}
	}
	return dst, nil
}

// fetches reports whether a property is asked for: all, by prefix, or itself.
func (w *writer) fetches(key string) bool {
	for _, name := range w.fetch {
		if name == "properties" || strings.HasPrefix(key, name) {
			return true
		}
	}
	return false
}

// documents appends a plain list.
func (w *writer) documents(dst []byte, docs storage.Docs, level int) ([]byte, error) {
	dst, err := w.entries(append(dst, `{"entity-type":"documents","entries":[`...), docs, level)
	return append(dst, ']', '}'), err
}

func (w *writer) entries(dst []byte, docs storage.Docs, level int) ([]byte, error) {
	// Lists nest (an enricher writes a list inside a document of a list), so the outer one is put
	// back.
	before := w.among
	w.among = &among{docs: docs}
	defer func() { w.among = before }()
	if err := w.ahead(docs, level); err != nil {
		return nil, err
	}
	start := len(dst)
	for i, d := range docs {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i == 1 {
			dst = slices.Grow(dst, room(len(dst)-start, len(docs)))
		}
		var err error
		if dst, err = w.document(dst, d, level); err != nil {
			return nil, err
		}
		if len(dst) > maxBytes {
			// value has the test of maxBytes and its error.
			return w.value(dst, nil, level)
		}
	}
	return dst, nil
}

// room is what the rest of a list takes if its documents are about as long as the first: the answer then grows in few
// steps, each of which copies what there is.
func room(first, docs int) int {
	const most = 1 << 20 // the first is long by chance, or the list as a whole is refused
	return min((first+first/8)*(docs-1), most)
}

// page appends a list with its paging figures.
func (w *writer) page(dst []byte, p *storage.Page, level int) ([]byte, error) {
	dst = appendPaging(append(dst, `{"entity-type":"documents",`...), p, len(p.Docs))
	for _, name := range slices.Sorted(maps.Keys(p.Extra)) {
		var err error
		dst = append(schema.AppendString(dst, name), ':')
		v := p.Extra[name]
		if name == "aggregations" {
			v = w.aggregations(v)
		}
		if dst, err = w.value(dst, v, level+1); err != nil {
			return nil, err
		}
		dst = append(dst, ',')
	}
	before := w.on
	w.on = p
	dst, err := w.entries(append(dst, `"entries":[`...), p.Docs, level)
	w.on = before
	return append(dst, ']', '}'), err
}

// appendPaging appends the members that tell where in a list a page is. A total that is only a
// lower bound is -2.
func appendPaging(dst []byte, p *storage.Page, entries int) []byte {
	total, pages, index := p.Total, 1, 0
	if p.Limit > 0 {
		pages, index = (p.Total+p.Limit-1)/p.Limit, p.Offset/p.Limit
	}
	if p.More {
		total, pages = -2, 0
	}
	dst = number(dst, `"isPaginable":true,"resultsCount":`, total)
	dst = number(dst, `,"pageSize":`, p.Limit)
	dst = number(dst, `,"maxPageSize":`, p.MaxPage)
	dst = number(dst, `,"resultsCountLimit":0,"currentPageSize":`, entries)
	dst = number(dst, `,"currentPageIndex":`, index)
	dst = number(dst, `,"currentPageOffset":`, p.Offset)
	dst = number(dst, `,"numberOfPages":`, pages)
	dst = strconv.AppendBool(append(dst, `,"isPreviousPageAvailable":`...), p.Offset > 0)
	dst = strconv.AppendBool(append(dst, `,"isNextPageAvailable":`...), p.HasNext)
	dst = strconv.AppendBool(append(dst, `,"isLastPageAvailable":`...), !p.More)
	dst = number(dst, `,"isSortable":true,"hasError":false,"errorMessage":null,"totalSize":`, total)
	dst = number(dst, `,"pageIndex":`, index)
	dst = number(dst, `,"pageCount":`, pages)
	if p.Next != "" {
		dst = schema.AppendString(append(dst, `,"nextCursor":`...), p.Next)
	}
	return append(dst, ',')
}

func number(dst []byte, name string, n int) []byte {
	return strconv.AppendInt(append(dst, name...), int64(n), 10)
}

// rows appends the columns of a query's results.
func (w *writer) rows(dst []byte, r *search.Rows) ([]byte, error) {
	dst = appendPaging(append(dst, `{"entity-type":"recordSet",`...), &r.Page, len(r.Entries))
	dst, err := w.value(append(dst, `"entries":`...), r.Entries, 2)
	return append(dst, '}'), err
}

// blob appends what is said about a file.
func (w *writer) blob(dst []byte, b *storage.Blob) []byte {
	start := len(dst)
	dst = schema.AppendBlob(append(dst, `{"entity-type":"blob",`...), b)
	object := start + len(`{"entity-type":"blob",`)
	return slices.Delete(dst, object, object+1) // its own brace
}

func (w *writer) blobs(dst []byte, list storage.Blobs) []byte {
	dst = append(dst, `{"entity-type":"blobs","entries":[`...)
	for i, b := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = w.blob(dst, b)
	}
	return append(dst, ']', '}')
}
