package resource

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

var fileAt = engine.Op{
	Name:     "Resource.Blob",
	Label:    "File",
	Category: "Resource",
	Doc:      "Returns the file at an xpath of the document. It fails if there is no file or no such property.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(fileAtParams.run),
}

type fileAtParams struct {
	Xpath string `json:"xpath" default:"blobholder:0" names:"xpath" doc:"Xpath of the file; blobholder:0 is the main file, blobholder:1 the next."`
	Named bool   `json:"named" default:"false" doc:"As in download addresses: the name of the file, which is ignored, may follow the xpath or replace it."`
}

func (p fileAtParams) run(_ *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	if p.Named {
		p.Xpath = unnamed(d, p.Xpath)
	}
	return file(d, p.Xpath)
}

// unnamed returns the xpath of a download address without the name that may follow it, which may have
// slashes of its own. A name cannot be told from the last parts of an xpath but by what the document holds.
// It tries the longest xpath first. A name without a colon stands alone and means the main file; a
// text with one that leads to no file gives an xpath whose error the caller then reports.
func unnamed(d *storage.Doc, text string) string {
	for xpath, more := text, true; more; xpath, more = above(xpath) {
		if f, err := d.FieldAt(xpath); err == nil && f.Kind == schema.Blob && !f.List {
			return xpath
		}
	}
	xpath, named := above(text)
	switch {
	case !strings.Contains(text, ":"):
		return mainFile
	case named:
		return xpath
	}
	return text
}

// above cuts off the last part of an xpath; it reports whether there was more than one.
func above(xpath string) (string, bool) {
	i := strings.LastIndexByte(xpath, '/')
	if i <= 0 {
		return xpath, false
	}
	return xpath[:i], true
}

// mainFile is the xpath of the file that a document is about.
const mainFile = "blobholder:0"

// file returns the file at an xpath, which must be there.
// At an address, a bad xpath is a page that does not exist (404) rather than a bad parameter.
func file(d *storage.Doc, xpath string) (*storage.Blob, error) {
	b, err := d.BlobAt(xpath)
	if fault.Is(err, fault.Invalid) || err == nil && b == nil {
		return nil, fault.NotFound.Errorf("document %s: there is no file at %s", d.ID(), xpath)
	}
	return b, err
}
