// Package fault is the one table of error kinds. An error is marked with its kind
// where it is first known; every entry point (REST, MCP, the command line) reads the kind
// and nothing else to choose its status. Everyone may import fault, and fault
// imports nothing of catena.
package fault

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"syscall"
	"time"
)

// Kind says what sort of failure an error is.
type Kind uint8

// The kinds of error.
const (
	Internal    Kind = iota // a bug or damaged data; details stay in the log
	Invalid                 // the caller asked for something that makes no sense
	Denied                  // the caller may not do this
	NotFound                // the thing named does not exist, or may not be known to exist
	Exists                  // the thing to create is there already
	Conflict                // somebody else was faster, or the state forbids it
	Limit                   // a bound was reached; the message names it
	Unavailable             // try again later
)

var kinds = [...]struct {
	name, meaning string
	passes        bool
}{
	Internal:    {"internal", "Server error or damaged data. The server's log has the details.", false},
	Invalid:     {"invalid", "The request is invalid; the message names the field.", false},
	Denied:      {"denied", "The caller may not do this.", false},
	NotFound:    {"notfound", "The resource does not exist, or the caller may not see it.", false},
	Exists:      {"exists", "The resource to create already exists.", false},
	Conflict:    {"conflict", "The request conflicts with a concurrent change or with the state of the resource.", true},
	Limit:       {"limit", "A limit was exceeded; the message names it.", false},
	Unavailable: {"unavailable", "The service is temporarily unavailable.", true},
}

// Kinds returns all kinds, in the order of the table.
func Kinds() iter.Seq[Kind] {
	return func(yield func(Kind) bool) {
		for k := range kinds {
			if !yield(Kind(k)) {
				return
			}
		}
	}
}

// String returns the kind's name in lower case, as scenario files and traces show it.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].name
	}
	return kinds[Internal].name
}

// Meaning says in a sentence or two what errors of the kind have in common.
func (k Kind) Meaning() string { return kinds[k].meaning }

// Passes reports whether the same request may go well later, all else being as it is.
func (k Kind) Passes() bool { return kinds[k].passes }

// Error is an error with a kind. Field, Line and Column point into the caller's input where that is known.
type Error struct {
	Kind         Kind
	Code         Code // a stable word; 0: none
	Field        string
	Subject      string // the name of what stands against the call, such as the text that somebody else has saved; "": the message says it
	Line, Column int
	Wait         time.Duration // until trying again may go better; 0: not known
	Message      string
	Err          error
}

// Error returns the message alone; the kind travels beside it.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of the kind with a message that is complete: several lines, or another error's text.
func (k Kind) New(message string) *Error {
	return &Error{Kind: k, Message: shortened(message, maxMessage)}
}

// Errorf makes an error of the kind; %w keeps the cause, and one that a full disk has caused gets CodeDiskFull. Long
// texts that it quotes are shortened.
func (k Kind) Errorf(format string, args ...any) *Error {
	err := fmt.Errorf(format, quoted(args)...)
	out := &Error{Kind: k, Message: shortened(err.Error(), maxMessage), Err: errors.Unwrap(err)}
	if errors.Is(out.Err, syscall.ENOSPC) {
		out.Code = CodeDiskFull
	}
	return out
}

// WithCode returns the error with its stable word set.
func (e *Error) WithCode(code Code) *Error { e.Code = code; return e }

// At returns the error with its position in the caller's input set, both counted from 1.
func (e *Error) At(line, column int) *Error { e.Line, e.Column = line, column; return e }

// In returns the error with the name of the field it is about.
func (e *Error) In(field string) *Error { e.Field = field; return e }

// About returns the error with the name of its subject.
func (e *Error) About(subject string) *Error { e.Subject = subject; return e }

// After returns the error with the time after which trying again may go better.
func (e *Error) After(wait time.Duration) *Error { e.Wait = wait; return e }

// Of reads the kind of an error. A cancelled or expired context is Unavailable,
// any other error without a kind is Internal.
func Of(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Unavailable
	}
	return Internal
}

// Explain returns a message for people: that of what does not exist mostly names its
// subject alone, as the wire asks, and here says so too.
func (k Kind) Explain(message string) string {
	if k == NotFound {
		return message + " (not found)"
	}
	return message
}

// Is reports whether err is of kind k.
func Is(err error, k Kind) bool { return err != nil && Of(err) == k }

// Shown reports whether callers may see the message of an error: what went wrong inside the server stays in its log,
// except for damaged content, which somebody has to repair.
func Shown(err error) bool { return Of(err) != Internal || CodeOf(err) == CodeContentDamaged }

// Wrap puts text in front of an error and keeps its kind, code and position.
func Wrap(err error, format string, args ...any) *Error {
	out := &Error{Kind: Of(err), Message: shortened(fmt.Sprintf(format, quoted(args)...)+": "+err.Error(), maxMessage), Err: err}
	var e *Error
	if errors.As(err, &e) {
		out.Code, out.Field, out.Subject, out.Line, out.Column, out.Wait = e.Code, e.Field, e.Subject, e.Line, e.Column, e.Wait
	}
	return out
}
