package conversion

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// The chains of renditions begin with what a stack holds.
var (
	blobToPDF            = popped("blobToPDF", "Converts the latest file of its stack to PDF.", engine.Files, "Blob.ToPDF", nil)
	containerContentBlob = popped("containerContentBlob", "Packs the main files of the contents of the latest document of its stack, a folder or collection, including subfolders.",
		engine.Document, "Document.GetContainerRendition", map[string]any{"reason": "download", "limit": 200, "maxDepth": 2})
	imageToPDF = popped("Image.Blob.ConvertToPDF", "Converts the latest file of its stack, a picture, to PDF.", engine.Files,
		"Blob.RunConverter", map[string]any{"converter": "pictureConvertToPDF"})
	mainFile            = popped("mainBlob", "Returns the main file of the latest document of its stack.", engine.Document, "Document.GetBlob", nil)
	xmlExportRendition  = popped("xmlExportRendition", "Exports the latest document of its stack as XML.", engine.Document, "Document.Export", nil)
	treeExportRendition = popped("zipTreeExportRendition", "Exports the latest document of its stack, and everything below it, as an archive.", engine.Document,
		"Document.Export", map[string]any{"exportAsTree": true})
)

// popped makes an operation that has another one make a file of what was put on a stack last. The
// platform ships these as automation chains, and its rendition definitions name them. Their input is
// void: what they work on is on the stack of the call (Context.PushDocument, Context.PushBlob), so a
// caller that pushes nothing gets an error instead of a file.
func popped(name, doc string, stack engine.Stack, op string, params map[string]any) engine.Op {
	return engine.Op{
		// Anyone may call them, because the operation behind each reads with the caller's rights: a
		// chain opens nothing that the caller could not fetch alone.
		Name: name, Category: "Chain", Doc: doc + " It fails if the stack is empty.", Effect: engine.Reads, Callers: engine.Anyone,
		Run: engine.On(func(_ struct{}, c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
			in, ok := c.Pop(stack)
			if !ok {
				return nil, fault.Invalid.Errorf("stack: is empty")
			}
			v, err := c.Call(op, in, params)
			if err != nil {
				return nil, err
			}
			// Nil without an error is possible: the operations may return nothing, and so does the
			// chain.
			b, _ := v.(*storage.Blob)
			return b, nil
		}),
	}
}

var suggestRendition = engine.Op{
	Name:     "RenditionDefinition.Suggestion",
	Label:    "Get rendition definition suggestion",
	Category: "Services",
	Doc:      "Returns JSON with id and displayLabel of the renditions whose names begin with the search term; without a term, an empty list.",
	Effect:   engine.Pure,
	Callers:  engine.Anyone,
	Run:      engine.On(suggestRenditionParams.run),
}

type suggestRenditionParams struct {
	Term string `json:"searchTerm,omitzero" doc:"Prefix of the names."`
}

func (p suggestRenditionParams) run(_ *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	type suggestion struct {
		ID    string `json:"id"`
		Label string `json:"displayLabel"`
	}
	out := []suggestion{}
	// Without a term nothing is suggested, not everything: the widget asks again with each letter
	// that is typed.
	if strings.TrimSpace(p.Term) != "" {
		for _, name := range slices.Sorted(maps.Keys(renditions)) {
			if strings.HasPrefix(name, p.Term) {
				out = append(out, suggestion{name, name})
			}
		}
	}
	raw, err := json.Marshal(out)
	return engine.NewBlob("renditions.json", "application/json", raw), err
}
