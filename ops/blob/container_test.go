package blob_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/ops/blob"
	"catena/ops/document"
	"catena/ops/opstest"
)

func file(name, text string) string {
	return fmt.Sprintf(`{"entity-type": "blob", "name": %q, "mime-type": "text/plain", "data": %q}`, name, text)
}

func TestAttachedAndRemovedFiles(t *testing.T) {
	s := opstest.Serve(t, blob.Ops(blob.Outside{}), document.Ops)
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "File", "name": "a"}`, "/ws/a"},
		{"", "Blob.AttachOnDocument", "@ü.txt=Hello", `{"document": "/ws/a"}`, "Hello"}, // the file, not the document
		{"", "see", "/ws/a", "file:content", "ü.txt text/plain"},
		{"", "Blob.AttachOnDocument", "@b.txt=", `{"document": "/ws/a"}`, ""}, // an empty one is one
		{"", "see", "/ws/a", "file:content", "b.txt text/plain"},
		{"", "Blob.AttachOnDocument", "@c.txt=C", `{"document": "/ws/a", "xpath": "files:files"}`, "C"},
		{"", "Blob.AttachOnDocument", "@d.txt=D", `{"document": "/ws/a", "xpath": "files:files"}`, "D"},
		{"", "see", "/ws/a", "files:files/0/file files:files/1/file", "c.txt text/plain | d.txt text/plain"},
		{"", "Blob.AttachOnDocument", "@d.txt=D", `{"document": "/ws/a", "xpath": "nope:nope"}`, "! …nope…"},
		{"", "Blob.AttachOnDocument", "@d.txt=D", `{"document": "/ws/a", "xpath": "dc:title"}`, "! invalid xpath: property dc:title: must be a file, not string"},
		{"", "Blob.AttachOnDocument", "@d.txt=D", `{"document": "/ws/nope"}`, "! notfound: /ws/nope"},
		{"", "Blob.AttachOnDocument", "@d.txt=D", `{}`, `! invalid missing_parameter document: parameter "document" is missing`},
		{"", "Blob.AttachOnDocument", "", `{"document": "/ws/a"}`, "! invalid input: input: is missing, must be of type bloblist or blob"},
		{"", "Blob.AttachOnDocument", "@d.txt=D", `{"document": "/private"}`, "! notfound: /private"},
		{"bob", "Blob.AttachOnDocument", "@d.txt=D", `{"document": "/ws/a"}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "Blob.RemoveFromDocument", "/ws/a", `{}`, "! denied: Privilege 'WriteProperties' is not granted to 'bob'"},
		{"", "see", "/ws/a", "file:content", "b.txt text/plain"}, // as it was
		{"alice", "Blob.RemoveFromDocument", "/ws/a", `{"xpath": "files:files/5"}`, `! invalid xpath: xpath "files:files/5": position 5 is outside a list of 2`},
		{"", "Blob.RemoveFromDocument", "/ws/a", `{"xpath": "files:files/0"}`, "/ws/a"},
		{"", "see", "/ws/a", "files:files/0/file", "d.txt text/plain"},
		{"", "Blob.RemoveFromDocument", "/ws/a", `{"xpath": "files:files"}`, "/ws/a"},
		{"", "see", "/ws/a", "files:files", "null"},
		{"", "Blob.RemoveFromDocument", "/ws/a", `{}`, "/ws/a"},
		{"", "Blob.RemoveFromDocument", "/ws/a", `{}`, "/ws/a"}, // there is none: nothing happens
		{"", "see", "/ws/a", "file:content", "null"},
		{"", "Blob.RemoveFromDocument", "/ws/a", `{"xpath": ""}`, `! invalid: xpath "": empty`},
	})
}

func TestPackedFolders(t *testing.T) {
	s := opstest.Serve(t, blob.Ops(blob.Outside{}), document.Ops)
	pack := func(more string) string { return `{` + more + `}` }
	s.Play([]opstest.Row{
		{"alice", "Document.Create", "/ws", `{"type": "Folder", "name": "f"}`, "/ws/f"},
		{"", "Document.Create", "/ws/f", `{"type": "File", "name": "a", "properties": {"dc:title": "a", "file:content": ` + file("alpha.txt", "A") + `}}`, "/ws/f/a"},
		{"", "Document.Create", "/ws/f", `{"type": "File", "name": "b", "properties": {"dc:title": "b", "file:content": ` + file("beta.txt", "B") + `}}`, "/ws/f/b"},
		{"", "Document.Create", "/ws", `{"type": "File", "name": "none"}`, "/ws/none"},
		{"bob", "Document.GetContainerRendition", "/ws/f", pack(``), "PK…alpha.txt…beta.txt…"},
		{"", "Document.GetContainerRendition", "/ws/f", pack(`"limit": 0`), "! invalid limit: limit: must be between 1 and …"},
		{"", "Document.GetContainerRendition", "/ws/f", pack(`"limit": -1`), "! invalid limit: limit: must be between 1 and …"},
		{"", "Document.GetContainerRendition", "/ws/f", pack(`"limit": 2147483647`), "! invalid limit: limit: must be between 1 and …"},
		{"", "Document.GetContainerRendition", "/ws/f", pack(`"maxDepth": 0`), "! invalid maxDepth: maxDepth: must be between 1 and …"},
		{"", "Document.GetContainerRendition", "/ws/f", pack(`"maxDepth": 100000`), "! invalid maxDepth: maxDepth: must be between 1 and …"},
		{"", "Document.GetContainerRendition", "/ws/none", pack(``), "! invalid input: document /ws/none: neither a folder nor a collection"},
		{"", "Document.GetContainerRendition", "/private", pack(``), "! notfound: /private"},
		{"", "Blob.CreateZip", "@a.txt=Hello", `{}`, "PK…a.txt…"},
		{"", "Blob.CreateZip", "@日.txt=", `{"filename": "z.zip"}`, "PK…日.txt…"},
		{"", "Blob.CreateZip", "", `{}`, "! invalid input: input: is missing, must be of type bloblist or blob"},
		{"", "Blob.ConcatenatePDFs", "@a.txt=Hello", `{"filename": "x.pdf"}`, "! invalid input: input: must be PDF files"},
		{"", "Blob.ConcatenatePDFs", "@a.pdf=Hello", `{"filename": "x.pdf", "blob_to_append": "nothing"}`, "! invalid blob_to_append: variable nothing: does not hold a file"},
		{"", "Blob.ConcatenatePDFs", "@a.pdf=Hello", `{}`, `! invalid missing_parameter filename: parameter "filename" is missing`},
		{"", "Blob.CreateFromURL", "", `{"file": "http://example.org/"}`, "! notfound unknown_operation: operation Blob.CreateFromURL"}, // for administrators
		{"", "Blob.ExportToFS", "@a.txt=Hello", `{"directory": "x"}`, "! notfound unknown_operation: operation Blob.ExportToFS"},
	})
	one := s.Call("bob", "Document.GetContainerRendition", "/ws/f", pack(`"limit": 1`))
	if !strings.Contains(one, "alpha.txt") || strings.Contains(one, "beta.txt") {
		t.Errorf("of one document: %q", one)
	}
}

func TestImportedFiles(t *testing.T) {
	s := opstest.Serve(t, blob.Ops(blob.Outside{}), document.Ops)
	const here, into = `{} {"currentDocument": "/ws"}`, "! invalid currentDocument: variable currentDocument: must be the path or id of a folder"
	s.Play([]opstest.Row{
		{"alice", "FileManager.Import", "@a.bin=Hello", here, "/ws/a.bin"},
		{"", "see", "/ws/a.bin", "title file:content", "a.bin | a.bin …"},
		{"", "FileManager.Import", "@a.bin=Other", `{"overwite": true} {"currentDocument": "/ws"}`, "/ws/a.bin"},
		{"", "FileManager.Import", "@a.bin=Hello", `{}`, into},
		{"", "FileManager.Import", "@a.bin=Hello", `{} {"currentDocument": ""}`, into},
		{"", "FileManager.Import", "@a.bin=Hello", `{} {"currentDocument": 5}`, into},
		{"", "FileManager.Import", "@a.bin=Hello", `{} {"currentDocument": "/nope"}`, "! notfound: /nope"},
		{"", "FileManager.Import", "@a.bin=Hello", `{} {"currentDocument": "/private"}`, "! notfound: /private"},
		{"bob", "FileManager.Import", "@b.bin=Hello", here, "! denied: Privilege 'AddChildren' is not granted to 'bob'"},
		{"", "see", "/ws", "children", "a.bin"},
		{"alice", "FileManager.CreateFolder", "/ws", `{"title": "Ünï"}`, "/ws/…"},
		{"", "FileManager.CreateFolder", "/ws", `{"title": ""}`, "/ws/Untitled"},
		{"", "FileManager.CreateFolder", "/ws", `{}`, `! invalid missing_parameter title: parameter "title" is missing`},
		{"bob", "FileManager.CreateFolder", "/ws", `{"title": "Mine"}`, "! denied: Privilege 'AddChildren' is not granted to 'bob'"},
		{"", "FileManager.CreateFolder", "/private", `{"title": "Mine"}`, "! notfound: /private"},
	})
}
