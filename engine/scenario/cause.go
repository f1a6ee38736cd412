package scenario

import (
	"strings"
)

// Cause returns the message of a failure without the operations and steps that entry points name in
// front of it.
func Cause(message string, isOp func(name string) bool) string {
	for {
		rest, ok := invoked(message, isOp)
		if !ok {
			rest, ok = named(message, isOp)
		}
		if !ok {
			return message
		}
		message = rest
	}
}

// named cuts "step 3: " and "Document.Create: " off.
func named(message string, isOp func(string) bool) (string, bool) {
	front, rest, ok := strings.Cut(message, ": ")
	if !ok {
		return message, false
	}
	if _, number, step := strings.Cut(front, "step "); step && strings.Trim(number, "0123456789") == "" {
		return rest, true
	}
	return rest, isOp(front)
}

// invoked cuts "Failed to invoke operation: X, " and "Failed to invoke operation X with
// aliases [Y], " off.
func invoked(message string, isOp func(string) bool) (string, bool) {
	rest, ok := strings.CutPrefix(message, "Failed to invoke operation")
	if !ok {
		return message, false
	}
	name, after, ok := strings.Cut(strings.TrimLeft(rest, ": "), ", ")
	if !ok {
		return message, false
	}
	if op, _, aliased := strings.Cut(name, " with aliases ["); aliased {
		name = op
		if _, after, ok = strings.Cut(rest, "], "); !ok {
			return message, false
		}
	}
	return after, isOp(name)
}
