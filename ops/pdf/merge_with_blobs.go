package pdf

import (
	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

var mergeWithBlobs = engine.Op{
	Name:     "PDF.MergeWithBlobs",
	Label:    "PDF: Merge with Blob(s) ",
	Category: "Conversion",
	Doc: "Joins PDF files into one: those of the input, then the file in one context variable, then those in another. It rejects protected files, " +
		"since the new file would not be protected.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.On(mergeParams.blobs), engine.On(mergeParams.blob)),
}

type mergeParams struct {
	Name string `json:"fileName,omitzero" doc:"Name of the new file; by default that of the first."`
	about

	List string `json:"toAppendListVarName,omitzero" doc:"Name of a context variable that holds the last files."`
	One  string `json:"toAppendVarName,omitzero" doc:"Name of a context variable that holds a file to append to the input."`
}

func (p mergeParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	return p.blobs(c, storage.Blobs{b})
}

func (p mergeParams) blobs(c *engine.Ctx, files storage.Blobs) (*storage.Blob, error) {
	further, err := p.further(c)
	if err != nil {
		return nil, err
	}
	// The full slice expression makes append copy: the list belongs to the caller, and its spare
	// capacity may be shared with a variable of the chain.
	return p.join(c, append(files[:len(files):len(files)], further...))
}

// further are the files in variables. The order is the platform's: the single file before the list. A
// variable that was named must hold something, since a merge that silently lacks pages looks complete.
func (p mergeParams) further(c *engine.Ctx) (files storage.Blobs, err error) {
	if p.One != "" {
		b, ok := c.Vars[p.One].(*storage.Blob)
		if !ok || b == nil {
			return nil, fault.Invalid.Errorf("variable %s: does not hold a file", p.One).In("toAppendVarName")
		}
		files = append(files, b)
	}
	if p.List != "" {
		list, ok := c.Vars[p.List].(storage.Blobs)
		if !ok {
			return nil, fault.Invalid.Errorf("variable %s: does not hold a list of files", p.List).In("toAppendListVarName")
		}
		files = append(files, list...)
	}
	return files, nil
}

func (p mergeParams) join(c *engine.Ctx, files storage.Blobs) (*storage.Blob, error) {
	if len(files) == 0 {
		return nil, fault.Invalid.Errorf("input: contains no PDF file to join").In("input")
	}
	// All files are checked before any work begins, and it is the worker that refuses protected
	// ones, as it opens them.
	for _, b := range files {
		if err := check(b); err != nil {
			return nil, err
		}
	}
	name := p.Name
	if name == "" {
		name = files[0].Name
	}
	return newFile(c, name, func(tool *pdf.Tool, take pdf.Take) error { return tool.Join(c, files, p.texts(), take) })
}
