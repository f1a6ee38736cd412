package scripts

import (
	"time"

	"catena/engine"
)

// host is what a script reaches outside its machine: for a machine the server at the other
// end of its pipe, and for the server the engine's context. Values that cross are nil, bool, int64, float64, string, time.Time,
// []any, list, map[string]any, document and file; nothing else.
type host interface {
	// call does not keep params, which may be changed once it has returned.
	call(op string, in any, params map[string]any, line int) (any, error)
	helper(name string, args []any) (any, error) // Fn.name(args)
	variable(name string) (v any, found bool, err error)
	variables() ([]string, error)
	setVariable(name string, v any) error // v absent: remove
	user() (map[string]any, error)
	now() time.Time
	log(level, text string)
}

// recorder is the host of the server, which may record what a script calls.
type recorder interface {
	host
	// prepare is call for a call that the script has not made yet; unmade takes what was recorded of it back if the script never does.
	prepare(op string, in any, params map[string]any, line int) (any, engine.StepTrace, error)
	unmade(calls []engine.StepTrace)
}

// sender is a host that can also be told what to call without waiting for the end of it.
type sender interface {
	// send passes a call on. The input may be a value of the script, and the parameters nil, a map or *passed; stack is the encoded
	// stack of the script. An error ends the run.
	send(op string, in, params any, stack []byte) error
}

// absent stands for a variable that is to be removed.
type absent struct{}

// list is a list of documents or files, which scripts may also read with size() and get(i).
type list []any

// document is a document outside the machine.
type document interface {
	key() any                 // the same for two handles of one document object
	field(i int) (any, error) // may be []string
	get(xpath string) (any, error)
	set(xpath string, v any) error
	json(dst []byte) ([]byte, error) // appends the properties by xpath
}

// served is a document that the server sends to a worker.
type served interface {
	key() any
	fields(w *writer) error // writes the values of fields, one after the other
	get(xpath string) (any, error)
	set(xpath string, v any) error
	json(dst []byte) ([]byte, error)
}

// file is the content of a file outside the machine.
type file interface {
	key() any
	info() fileInfo
	text(max int) (string, error)
}

type fileInfo struct {
	name, typ, encoding, digest string
	size                        int64
}

// fields are the system fields of a document, in the order document.field counts them.
var fields = []string{
	"id", "name", "path", "title", "type", "state", "facets", "schemas", "parentId", "versionLabel",
	"changeToken", "repository", "isFolder", "isVersion", "isProxy", "isTrashed", "isCheckedOut",
	"isLocked", "lockOwner", "lockCreated",
}

// synonyms are other names of fields.
var synonyms = map[string]string{
	"uid": "id", "ref": "id", "lifeCycle": "state", "currentLifeCycleState": "state", "lifeCycleState": "state",
	"parentRef": "parentId", "isFolderish": "isFolder", "isImmutable": "isVersion",
}

// fieldIndex is the place of every field and synonym in fields.
var fieldIndex = func() map[string]int {
	m := make(map[string]int, 2*len(fields))
	for i, f := range fields {
		m[f] = i
	}
	for s, f := range synonyms {
		m[s] = m[f]
	}
	return m
}()

const (
	fieldFacets  = 6
	fieldSchemas = 7
)
