package mcp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// codeNoResource is what the older eras of the protocol call a resource that does not exist.
const codeNoResource = -32002

const panicked = "internal: the server failed"

// settling makes errors the protocol's own, and an error of a panic, which would end the
// process: requests are handled in goroutines of their own.
func (c *Config) settling(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				c.Log.Error("tool panicked", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				res, err = &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: panicked}}}, nil
				if method != methodCall {
					res, err = nil, errors.New(panicked)
				}
			}
			if err != nil {
				err = settle(method, isModern(req), err)
			}
		}()
		return next(ctx, method, req)
	}
}

// isModern reports whether a request is of the newer era, whose requests say so themselves.
func isModern(req mcp.Request) bool {
	p := req.GetParams()
	if p == nil {
		return false
	}
	_, says := p.GetMeta()["io.modelcontextprotocol/protocolVersion"]
	return says
}

// settle gives an error the code that the protocol has for it: what has none went wrong here.
func settle(method string, modern bool, err error) error {
	var known *jsonrpc.Error
	if !errors.As(err, &known) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	if method == methodCall && strings.HasPrefix(known.Message, "unknown tool") {
		return &jsonrpc.Error{Code: known.Code, Message: known.Message + "; tools/list lists the tools, and operations such as Document.Create are run by run_operation at /mcp/automation", Data: known.Data}
	}
	if method == "resources/read" && !modern && known.Code == jsonrpc.CodeInvalidParams && len(known.Data) > 0 {
		return &jsonrpc.Error{Code: codeNoResource, Message: known.Message, Data: known.Data}
	}
	return err
}

// badParams is an error about what a request asks for.
func badParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
