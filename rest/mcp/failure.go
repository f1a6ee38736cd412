package mcp

import (
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"catena/engine"
	"catena/storage/fault"
)

// advice tells a model what to do about errors that trying again does not fix.
var advice = map[fault.Code]string{
	fault.CodeFileInUse:         "remove it from the slides first, or set force",
	fault.CodeInsufficientScope: "ask for a read_write key",
	fault.CodeDeckIsPublic:      "share the deck's url",
	fault.CodePlanRequired:      "use another visibility, or ask the owner to change the plan",
	fault.CodeRateLimited:       "wait before trying again",
	fault.CodeTeamRoleRequired:  "ask the team's owner",
	fault.CodeTooManyLinks:      "revoke one with revoke_share_link",
	fault.CodeUnknownOperation:  "find operations with search_operations",
}

// failed is the result of a tool that failed: "code: message", a line for each thing wrong.
func failed(err error) *result {
	var lines []string
	for _, e := range apart(err) {
		lines = append(lines, fault.Word(e)+": "+messageOf(e))
	}
	return &result{failed: true, texts: []string{strings.Join(lines, "\n")}}
}

// apart returns the errors joined in one.
func apart(err error) []error {
	var many interface{ Unwrap() []error }
	if !errors.As(err, &many) {
		return []error{err}
	}
	var out []error
	for _, e := range many.Unwrap() {
		out = append(out, apart(e)...)
	}
	return out
}

// messageOf is the text for the model; what went wrong inside the server stays there.
func messageOf(err error) string {
	if !fault.Shown(err) {
		return "the server failed"
	}
	var op *engine.Error
	if errors.As(err, &op) {
		err = op.Err
	}
	out := err.Error()
	if hint := advice[fault.CodeOf(err)]; hint != "" {
		out += " (" + hint + ")"
	}
	return out
}

// protocolError is an error of what is no tool, which has no result to say it in.
func protocolError(err error) error {
	code := int64(jsonrpc.CodeInternalError)
	switch fault.Of(err) {
	case fault.Denied, fault.Invalid, fault.NotFound:
		code = jsonrpc.CodeInvalidParams
	case fault.Conflict, fault.Exists, fault.Internal, fault.Limit, fault.Unavailable:
	}
	return &jsonrpc.Error{Code: code, Message: fault.Word(err) + ": " + messageOf(err)}
}
