// Package scenario plays scenario files: scripts of calls with the expected result or error of each, which serve both
// as the tests of operations and as the examples in their documentation. The same file goes through every entry point
// that calls can come in by, and each entry point must give the same. A file is a txtar archive: its comment is the
// script, its files are what the script sends.
//
//	# comment
//	as NAME                              who calls from here on; Administrator at first
//	user NAME [GROUP...]                 makes a user; alice and bob are there
//	run OP [INPUT [PARAMS [CONTEXT]]]    runs an operation
//	chain FILE [INPUT [PARAMS]]          deploys a chain and, with an input, runs it
//	script FILE [INPUT [PARAMS]]         deploys a scripted operation likewise
//	dry run ..., dry chain ...           as a dry run
//	let NAME = MEMBER.PATH               keeps a part of the last answer as $NAME
//	= JSON                               what the command above returns
//	! KIND: MESSAGE                      how the command above fails
//
// INPUT is void or - for none, a path or an id, JSON, @FILE for a file of the archive, or
// [@FILE, @FILE] for several. PARAMS and CONTEXT are JSON objects; a text "@FILE" in PARAMS
// stands for that file. JSON may go on over lines while it is open. The package leaves it to
// tests to start servers and to implement the entry points of HTTP.
package scenario

import (
	"context"
	"encoding/json"
	"mime"
	"path"
	"slices"
	"strings"

	"catena/storage/fault"
)

// EntryPoint is a way into a server.
type EntryPoint interface {
	// Run carries out one command for a user.
	Run(ctx context.Context, user string, c Command) Outcome
}

// Command is a call as a scenario writes it.
type Command struct {
	Op     string
	Input  json.RawMessage // nil: none
	Files  []File          // files as input
	List   bool            // Files are a list, even a single one
	Params json.RawMessage // an object; nil: none
	Vars   json.RawMessage // the context: an object; nil: none
	DryRun bool
}

// File is a file that a command sends or gets.
type File struct {
	Name, Type string
	Length     int64
	Data       []byte // what is sent; of what is got, the whole content if it is text of up to maxText bytes
}

// Outcome is how a command ended.
type Outcome struct {
	Wire        any     // the answer in the platform's JSON, numbers as json.Number
	Files       []*File // the answer, if it is one file or several
	List        bool    // Files are a list
	Empty       bool    // nothing, or an empty list of files: the entry point does not tell which
	Changes     any     // of a dry run
	Failure     *Failure
	Unsupported bool // the entry point cannot carry such a command
}

// Failure is how a command failed. An entry point that does not know the kind gives every one it may be.
type Failure struct {
	Kinds   []string
	Message string // "" if the entry point hides it
	// What the engine knows: the innermost operation that failed, and which of its parameters is wrong, "" if none is.
	Op, Field string
}

// Is reports whether the failure may be of a kind.
func (f *Failure) Is(kind string) bool { return slices.Contains(f.Kinds, kind) }

// String returns the failure as a scenario writes it.
func (f *Failure) String() string {
	kind := strings.Join(f.Kinds, "|")
	if f.Message == "" || f.Is(fault.Internal.String()) {
		return kind
	}
	return kind + ": " + f.Message
}

// maxText bounds the files whose text scenarios show.
const maxText = 500

// NewFile makes a file to send; its type is found by its name.
func NewFile(name string, data []byte) File {
	return File{Name: name, Type: typeOf(name), Length: int64(len(data)), Data: data}
}

// typeOf returns the media type of files called so, the same on every machine.
func typeOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".bin":
		return "application/octet-stream"
	case ".csv":
		return "text/csv"
	case ".gif":
		return "image/gif"
	case ".html":
		return "text/html"
	case ".js":
		return "text/javascript"
	case ".json":
		return "application/json"
	case ".md":
		return "text/markdown"
	case ".pdf":
		return "application/pdf"
	case ".png":
		return "image/png"
	case ".svg":
		return "image/svg+xml"
	case ".xml":
		return "text/xml"
	case ".yaml":
		return "application/yaml"
	}
	return "text/plain"
}

// Received describes a file that came as an answer. Some lengths say nothing: of a PDF, for
// the library that writes them puts a random identifier in, and of typings, which grow with
// every operation.
func Received(name, typ string, data []byte) *File {
	f := &File{Name: name, Type: typ, Length: int64(len(data))}
	if base, _, err := mime.ParseMediaType(typ); err == nil {
		f.Type = base
	}
	switch {
	case f.Type == "application/pdf" || strings.HasSuffix(name, ".d.ts"):
		f.Length = -1
	case textual(f.Type) && len(data) <= maxText:
		f.Data = data
	}
	return f
}

func textual(typ string) bool {
	switch typ {
	case "application/json", "application/xml", "application/yaml", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(typ, "text/")
}
