// Package engine runs operations: it finds them by name and type, chooses the function that fits an input, decodes
// parameters, and runs each call, including whole chains, in one transaction with one trace. What operations do is
// theirs (ops, decks); where calls come from is for the entry points (rest, chains, scripts, the command line); what
// is stored and who may see it is decided by storage.
//
// The path of a call through the package: Run (run.go) finds the operation by name and checks that the caller
// may call it from this entry point (Callers). It opens the kind of transaction that the operation's Effect
// needs, and in each attempt finds the input, chooses the function for it (call.go, adapt.go), decodes the
// parameters (decode.go, json.go, param.go) and runs the function. The result is encoded inside the
// transaction, so that an answer never shows a state that was not committed. What is to happen outside of the
// store is collected in between and done after the commit (Ctx.After, Ctx.Enqueue).
//
// All that can be known before a call is worked out when a Set is made: the functions by kind of input, the
// table of parameters, and who may call. A Plan does the same for the steps of a chain, so that a step with
// fixed parameters costs a function call. A Set never changes; Swap replaces it, and calls in progress keep
// the one they began with.
//
// A transaction that loses a race is run again from the start. Whatever an operation does must therefore be
// undone with the transaction, wait for the commit, or do no harm if it is done twice.
package engine

import (
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/search"
)

// Void stands for no input; as an output it passes the input on.
type Void struct{}

// Names of storage's types for packages that know storage by the engine alone.
type (
	// Blob is a file.
	Blob = storage.Blob
	// Blobs is a list of files.
	Blobs = storage.Blobs
	// Doc is a document.
	Doc = storage.Doc
	// Docs is a list of documents.
	Docs = storage.Docs
	// Page is a part of a list of documents.
	Page = storage.Page
	// Principal is who acts.
	Principal = storage.Principal
	// Props are property values by xpath.
	Props = storage.Props
	// Ref names a document.
	Ref = storage.Ref
	// Refs names several documents.
	Refs = storage.Refs
	// Rows are the columns of a query's results.
	Rows = search.Rows
	// Sequence has transactions that run at the same time make documents in an order.
	Sequence = storage.Sequence
	// Tx is a transaction seen by one principal.
	Tx = storage.Tx
	// Violations are the constraints that a document breaks.
	Violations = storage.Violations
)

// NewBlob makes a file of data, which must not be changed afterwards.
func NewBlob(name, typ string, data []byte) *Blob { return blob.FromBytes(name, typ, data) }

// Op is an operation: its name, what is said about it, and its functions.
type Op struct {
	Name                 string   // "Document.Create"
	Aliases              []string // other names
	Label, Category      string   // as lists show it; no label: the name
	Doc, Since, Requires string
	Effect               Effect
	Callers              Callers     // who may call it
	Secret               bool        // its answer is shown once and never kept, not for an idempotency key either
	Open                 bool        // parameters it does not declare reach the operations it calls
	Deprecated           Deprecation // zero: it is not
	Run                  Func

	// Result is the JSON Schema of the value where the Go type of the functions does not say it: of maps, of lists and of any
	// values. References lead to the forms of engine/openapi, "#/components/schemas/Webhook". Not of chains and scripts.
	Result map[string]any

	// What a text that calls it is checked for: constants of parameters that only the operation's family knows, and the
	// variables that the operation sets, SetsAny for any.
	Constants map[string]func(value string) error
	Sets      []string
	SetsAny   bool

	// Of an operation made of a text: its version, and the operation that an older version makes.
	Version   int64
	AtVersion func(c *Ctx, version int64) (Op, error)
}

// Returning is the operation with the schema of its result.
func (o Op) Returning(schema map[string]any) Op {
	o.Result = schema
	return o
}

// Deprecation says that an operation is there for those who call it already, and better not used any longer.
type Deprecation struct {
	Since   string // day as 2026-11-23; "": it is not deprecated
	Instead string // the operation to use; "": none
}

// Day returns since when, the beginning of the day in UTC; ok is false if it is not deprecated.
func (d Deprecation) Day() (day time.Time, ok bool) {
	day, err := time.Parse(time.DateOnly, d.Since)
	return day, err == nil
}

// Effect is what an operation may do to the store.
type Effect uint8

// The effects, from the widest: a plan has the widest of its steps.
const (
	Writes Effect = iota // the zero value: anyone who says nothing writes
	Reads                // runs on a snapshot that cannot be changed; see Ctx.Ask for work it may have begun
	Pure                 // does not touch the store
)

var effectNames = [...]string{Writes: "writes", Reads: "reads", Pure: "pure"}

// String returns the effect's name.
func (e Effect) String() string { return effectNames[e] }

// Value is a result whose type has a word of its own.
type Value struct {
	Word string
	V    any
}

// Param describes a parameter of an operation.
type Param struct {
	Name     string
	Aliases  []string // names it is also looked up by
	Type     string   // type word
	Doc      string
	Required bool
	Default  any
	Values   []string // suggested, or the only ones if Enum
	Enum     bool
	Secret   bool     // what is given is not shown and not kept
	Unused   bool     // it is accepted for the sake of clients and does nothing, which answers tell who gives it
	Min, Max *float64 // bounds of a number, as schemas show them; the operation checks them
	Raw      bool     // of a parameter declared at run time: the operation gets the value as it came and checks it itself
	Order    int
	Widget   string
	Names    string // kind of the name that a text holds, such as NamesType: of properties, that of their keys
	Blamed   string // what errors of the run call the parameter or a member of it: names, or name=member, with commas between
}

// Lazy is an input or a variable that is found inside the transaction.
type Lazy func(*Ctx) (any, error)
