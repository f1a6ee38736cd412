package pdf

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var mergeWithDocs = engine.Op{
	Name:     "PDF.MergeWithDocs",
	Label:    "PDF: Merge with Document(s)",
	Category: "Conversion",
	Doc: "Joins PDF files into one: those of the input documents, then the file in one context variable, those in another, and those of the documents " +
		"named in a third. Documents without a file are left out. Protected files are refused, since the new file would not be protected.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.On(mergeDocsParams.docs), engine.On(mergeDocsParams.doc)),
}

type mergeDocsParams struct {
	mergeParams

	Docs  string `json:"toAppendDocIDsVarName,omitzero" doc:"Name of a context variable that holds the ids or paths of the documents whose files come last."`
	Xpath string `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the files of documents."`
}

func (p mergeDocsParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	return p.docs(c, storage.Docs{d})
}

func (p mergeDocsParams) docs(c *engine.Ctx, docs storage.Docs) (*storage.Blob, error) {
	files, err := p.filesOf(docs)
	if err != nil {
		return nil, err
	}
	further, err := p.further(c)
	if err != nil {
		return nil, err
	}
	named, err := p.named(c)
	if err != nil {
		return nil, err
	}
	last, err := p.filesOf(named)
	if err != nil {
		return nil, err
	}
	return p.join(c, append(append(files, further...), last...))
}

// named are the documents that a variable names.
func (p mergeDocsParams) named(c *engine.Ctx) (storage.Docs, error) {
	if p.Docs == "" {
		return nil, nil
	}
	// Convert reads ids, paths and lists of them, and loads the documents as the caller: what the
	// caller may not read fails the merge.
	v, err := c.Convert(c.Vars[p.Docs], "documents")
	if err != nil {
		return nil, fault.Wrap(err, "variable %s", p.Docs).In("toAppendDocIDsVarName")
	}
	docs, ok := v.(storage.Docs)
	if !ok {
		return nil, fault.Invalid.Errorf("variable %s: does not name documents", p.Docs).In("toAppendDocIDsVarName")
	}
	return docs, nil
}

func (p mergeDocsParams) filesOf(docs storage.Docs) (files storage.Blobs, err error) {
	for _, d := range docs {
		b, err := d.Blob(p.Xpath)
		if err != nil {
			return nil, err
		}
		if b != nil {
			files = append(files, b)
		}
	}
	return files, nil
}
