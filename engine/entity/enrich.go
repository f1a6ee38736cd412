package entity

import (
	"slices"
	"strconv"
	"sync"

	"catena/engine/convert"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/subscription"
)

// enricher appends what it knows about a document.
type enricher struct {
	append func(w *writer, dst []byte, d *storage.Doc, level int) ([]byte, error)
	ahead  func(a *storage.Reads, d *storage.Doc) // gathers what it reads; nil: nothing for each document
}

// enrichers returns all by name. The table is made on first use, since enrichers write documents with enrichers.
func enrichers() map[string]enricher {
	enricherTable.once.Do(func() { enricherTable.of = allEnrichers() })
	return enricherTable.of
}

var enricherTable struct {
	once sync.Once
	of   map[string]enricher
}

// allEnrichers is the table. A further one is a line here.
func allEnrichers() map[string]enricher {
	return map[string]enricher{
		"acls":                    {append: (*writer).withACLs, ahead: (*storage.Reads).ACLs},
		"audit":                   {append: (*writer).withAudit, ahead: (*storage.Reads).Entries},
		"breadcrumb":              {append: (*writer).withBreadcrumb, ahead: (*storage.Reads).Ancestors},
		"children":                {append: (*writer).withChildren, ahead: (*storage.Reads).Children},
		"collections":             {append: (*writer).withCollections, ahead: collectionsAhead},
		"documentURL":             {append: (*writer).withDocumentURL},
		"favorites":               {append: (*writer).withFavorites},
		"firstAccessibleAncestor": {append: (*writer).withAncestor, ahead: (*storage.Reads).Ancestors},
		"hasContent":              {append: (*writer).withContent, ahead: (*storage.Reads).HasChildren},
		"hasFolderishChild":       {append: (*writer).withFolder, ahead: (*storage.Reads).HasChildren},
		"highlight":               {append: (*writer).withHighlight},
		"pendingTasks":            {append: (*writer).withTasks},
		"permissions":             {append: (*writer).withPermissions},
		"preview":                 {append: (*writer).withPreview},
		"publications":            {append: (*writer).withPublications, ahead: (*storage.Reads).Published},
		"renditions":              {append: (*writer).withRenditions},
		"runnableWorkflows":       {append: (*writer).withRunnable},
		"runningWorkflows":        {append: (*writer).withRunning},
		"subscribedNotifications": {append: (*writer).withSubscriptions, ahead: subscription.Ahead},
		"subtypes":                {append: (*writer).withSubtypes},
		"tags":                    {append: (*writer).withTags},
		"thumbnail":               {append: (*writer).withThumbnail},
		"userVisiblePermissions":  {append: (*writer).withVisible},
	}
}

// deep reports whether documents at a level have properties and enrichers.
func (w *writer) deep(level int) bool { return level <= max(w.o.Depth, 1) }

// ahead has a store across a network fetch together what will be written of documents besides their own properties.
func (w *writer) ahead(docs storage.Docs, level int) error {
	a := storage.ReadsOf(w.c.Tx)
	if a == nil {
		return nil
	}
	for _, d := range docs {
		if !d.Saved() {
			continue
		}
		a.Version(d)
		for _, name := range w.asked {
			if e := enrichers()[name]; e.ahead != nil && w.deep(level) {
				e.ahead(a, d)
			}
		}
	}
	return a.Fetch()
}

// enriched appends contextParameters, in the order asked for, and the end of the document.
// Names it does not know are ignored.
func (w *writer) enriched(dst []byte, d *storage.Doc, level int) ([]byte, error) {
	dst = append(dst, `,"contextParameters":{`...)
	first := true
	for _, name := range w.asked {
		e, ok := enrichers()[name]
		// A name that is unknown here may be one of an addon of the platform that the client would
		// like.
		if !ok || w.c.Tx == nil || !d.Saved() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(schema.AppendString(dst, name), ':')
		var err error
		if dst, err = e.append(w, dst, d, level); err != nil {
			return nil, err
		}
	}
	return append(dst, '}', '}'), nil
}

func (w *writer) withACLs(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	lists, err := w.c.Tx.ACLs(d)
	// A list of documents must not fail because the caller may not read the permissions of one of
	// them.
	if fault.Is(err, fault.Denied) {
		return append(dst, "[]"...), nil
	}
	if err != nil {
		return nil, err
	}
	return w.acls(dst, lists, "aces")
}

func (w *writer) withAudit(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	page, err := w.c.Tx.Entries(storage.EntryFilter{DocID: d.ID(), PageOptions: storage.PageOptions{Limit: 100, CountLimit: -1}})
	if err != nil {
		return nil, err
	}
	return w.logEntries(dst, page.Entries)
}

func (w *writer) withBreadcrumb(dst []byte, d *storage.Doc, level int) ([]byte, error) {
	above, err := w.c.Tx.Ancestors(d)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(append(slices.Clone(above), d), func(a *storage.Doc) bool { return a.Path() == "/" })
	return w.documents(dst, all, level+1)
}

func (w *writer) withChildren(dst []byte, d *storage.Doc, level int) ([]byte, error) {
	page, err := w.c.Tx.Children(d, storage.PageOptions{CountLimit: -1})
	if err != nil {
		return nil, err
	}
	return w.documents(dst, page.Docs, level+1)
}

func (w *writer) withDocumentURL(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	if w.o.Codec == "docid" {
		return schema.AppendString(dst, w.o.Base+"/nxdoc/"+d.Repository()+"/"+d.ID()), nil
	}
	return schema.AppendString(dst, w.o.Base+"/ui/#!/doc/"+documentPath(d)), nil
}

// documentPath is what names a document in addresses for people: its repository, unless that is the usual one, and its id.
func documentPath(d *storage.Doc) string {
	if d.Repository() == storage.DefaultRepository {
		return d.ID()
	}
	return d.Repository() + "/" + d.ID()
}

func (w *writer) withAncestor(dst []byte, d *storage.Doc, level int) ([]byte, error) {
	above, err := w.c.Tx.Ancestors(d)
	if err != nil {
		return nil, err
	}
	if len(above) == 0 {
		return append(dst, "null"...), nil
	}
	return w.document(dst, above[len(above)-1], level+1)
}

func (w *writer) withContent(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	if d.HasFacet("Collection") { // the content of a collection is its members
		v, err := d.Get("collection:documentIds")
		members, _ := v.([]any)
		return strconv.AppendBool(dst, len(members) > 0), err
	}
	has, err := w.c.Tx.HasChildren(d, false)
	return strconv.AppendBool(dst, has), err
}

func (w *writer) withFolder(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	has, err := w.c.Tx.HasChildren(d, true)
	return strconv.AppendBool(dst, has), err
}

func (w *writer) withPermissions(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	held := w.c.Tx.Permissions(d)
	if len(held) == 0 || len(w.held) != len(held) || &w.held[0] != &held[0] { // documents beside each other have the same ones
		w.held, w.heldText = held, texts(nil, held)
	}
	return append(dst, w.heldText...), nil
}

// address is where REST serves a document, below a prefix: "" or "/site".
func (w *writer) address(prefix string, d *storage.Doc) string {
	return w.o.Base + prefix + "/api/v1/repo/" + d.Repository() + "/id/" + d.ID()
}

func (w *writer) withPreview(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	// A note without text has a view too, an empty one, as on the platform, whose front end counts on an address there.
	// Of the address of a document with files it makes that of the view of each.
	files, err := d.AllBlobs()
	if err != nil || len(files) == 0 && !d.IsNote() {
		return append(dst, `{"url":null}`...), err
	}
	dst = schema.AppendString(append(dst, `{"url":`...), w.address("/site", d)+"/@preview/?changeToken="+d.ChangeToken())
	return append(dst, '}'), nil
}

func (w *writer) withPublications(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	n, err := storage.CountPublished(w.c.Tx, d)
	return append(strconv.AppendInt(append(dst, `{"resultsCount":`...), int64(n), 10), '}'), err
}

func (w *writer) withThumbnail(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	dst = schema.AppendString(append(dst, `{"url":`...), w.address("", d)+"/@rendition/thumbnail?changeToken="+d.ChangeToken()+"&sync=true")
	return append(dst, '}'), nil
}

func (w *writer) withRenditions(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	names := []string{"thumbnail"}
	b, err := d.MainBlob()
	switch {
	case err != nil:
		return nil, err
	case d.IsFolder():
		names = append(names, "xmlExport", "zipTreeExport")
	default:
		if b != nil && (b.Type == convert.PDF || w.converts(b.Type, convert.PDF)) {
			names = append(names, "pdf")
		}
		names = append(names, "xmlExport", "zipExport")
	}
	dst = append(dst, '[')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendString(append(dst, `{"name":`...), name)
		kind := ""
		if name == "thumbnail" {
			kind = "cmis:thumbnail"
		}
		dst = textOr(append(dst, `,"kind":`...), kind)
		dst = schema.AppendString(append(dst, `,"icon":`...), w.o.Base+"/icons/"+name+".png")
		dst = append(schema.AppendString(append(dst, `,"url":`...), w.address("", d)+"/@rendition/"+name), '}')
	}
	return append(dst, ']'), nil
}

// converts reports whether this server converts files of one type to another.
func (w *writer) converts(from, to string) bool {
	by := convert.Find(from, to)
	return by != nil && by.Missing(convert.Tools{Programs: w.c.Programs()}, from) == nil
}

func (w *writer) withSubscriptions(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	names, err := subscription.Find(w.c.Tx, d)
	return texts(dst, names), err
}

func (w *writer) withSubtypes(dst []byte, d *storage.Doc, _ int) ([]byte, error) {
	dst = append(dst, '[')
	first := true
	for _, name := range d.Type().SubTypes {
		t, ok := storage.TypesOf(w.c.Tx).Type(name)
		if !ok {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = schema.AppendString(append(dst, `{"type":`...), t.Name)
		dst = append(texts(append(dst, `,"facets":`...), t.Facets), '}')
	}
	return append(dst, ']'), nil
}
