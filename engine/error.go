package engine

import (
	"context"
	"errors"
	"fmt"

	"catena/storage/fault"
)

// Stages of a call, as Error names them.
const (
	StageInput = "input" // the input or a parameter could not be found or converted
	StageRun   = "run"   // the operation itself failed
)

// Error says which operation an error came from. The kind is that of the cause.
type Error struct {
	Op      string
	Aliases []string
	Step    int // of a chain, from 1; 0 outside
	Stage   string
	Err     error
}

// Error returns the operation's name and the cause.
func (e *Error) Error() string {
	if e.Step > 0 {
		return fmt.Sprintf("step %d: %s: %s", e.Step, e.Op, e.Err)
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Named marks the error of looking up what a parameter names as one of the parameter: an
// operation that finds it itself has then failed no other way than the engine does when it
// cannot find the input.
func Named[T any](v T, err error) (T, error) {
	if err != nil {
		err = &unresolved{err}
	}
	return v, err
}

// unresolved is an error that Named marked.
type unresolved struct{ error }

func (u *unresolved) Unwrap() error { return u.error }

// exit ends a chain early, with a result.
type exit struct {
	out      any
	rollback bool
}

func (*exit) Error() string { return "the chain ends here" }

// failed names the operation in an error, once.
func (d *Def) failed(stage string, err error) error {
	var x *exit
	if errors.As(err, &x) || errors.Is(err, errApart) {
		return err
	}
	var u *unresolved
	if errors.As(err, &u) {
		stage, err = StageInput, u.error
	}
	if stage == StageInput {
		var inner *Error
		for errors.As(err, &inner) {
			err = inner.Err
		}
	}
	return &Error{Op: d.Name, Aliases: d.Aliases, Stage: stage, Err: err}
}

// root is the name of the innermost operation that failed, and why.
func root(err error) (op string, cause error) {
	var e *Error
	for errors.As(err, &e) {
		op, err = e.Op, e.Err
	}
	return op, err
}

// passing reports whether an error must end the whole call whatever a chain says about it:
// limits of the call, cancellation, exits, and the end of an attempt that begins again.
func passing(err error) bool {
	var x *exit
	if errors.As(err, &x) || errors.Is(err, errApart) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		return false
	}
	switch f.Code {
	case fault.CodeDepth, fault.CodeOperations, fault.CodeTransactionTimeout:
		return true
	}
	return false
}

// Ends reports whether an error must end the whole call whatever a script or a chain says
// about it: limits of the call, its cancellation, and the exit of a chain.
func Ends(err error) bool { return passing(err) }
