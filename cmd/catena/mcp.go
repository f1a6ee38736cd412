package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"
)

// maxMessage bounds one message of a tool client, which may hold a whole deck.
const maxMessage = 16 << 20

func mcpCmd(g *global) *cobra.Command {
	var automation bool
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve tools to a program on standard input and output, for clients that cannot reach a server over HTTP",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			b := &bridge{c: c, path: "/mcp"}
			if automation {
				b.path = "/mcp/automation"
			}
			return b.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&automation, "automation", false, "serve the tools to find and run operations instead of those for decks")
	return cmd
}

// bridge carries messages, one a line, to a server and its answers back. The server keeps no
// sessions, so all the bridge remembers is the version the two have agreed on.
type bridge struct {
	c       *client
	path    string
	version string
}

// message is what the bridge reads of a message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string                     `json:"name"`
		URI  string                     `json:"uri"`
		Meta map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

func (b *bridge) run(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxMessage)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		answer, err := b.send(ctx, line)
		if err != nil {
			return err
		}
		if len(answer) == 0 {
			continue
		}
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

// send passes one message on and returns the line to answer with, if any.
func (b *bridge) send(ctx context.Context, line []byte) ([]byte, error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return rpcError(nil, -32700, "not JSON: "+err.Error()), nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.c.base+b.path, bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	b.headers(req.Header, &m)
	b.c.sign(req)
	res, err := b.c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), err)
		}
		return rpcError(m.ID, -32603, "server: "+err.Error()), nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxMessage))
	if err != nil {
		return rpcError(m.ID, -32603, "server: "+err.Error()), nil
	}
	return b.answer(&m, res.StatusCode, body), nil
}

// headers are what the newer version of the protocol has headers repeat of the message.
func (b *bridge) headers(h http.Header, m *message) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	var version string
	if raw := m.Params.Meta["io.modelcontextprotocol/protocolVersion"]; json.Unmarshal(raw, &version) != nil || version == "" {
		if b.version != "" && m.Method != "initialize" {
			h.Set("MCP-Protocol-Version", b.version)
		}
		return
	}
	h.Set("MCP-Protocol-Version", version)
	h.Set("Mcp-Method", m.Method)
	if name := m.Params.Name + m.Params.URI; name != "" {
		h.Set("Mcp-Name", name)
	}
}

func (b *bridge) answer(m *message, status int, body []byte) []byte {
	var reply struct {
		Version string `json:"jsonrpc"`
		Detail  string `json:"detail"`
		Result  struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	var line bytes.Buffer
	if err := json.Unmarshal(body, &reply); err == nil && reply.Version != "" && json.Compact(&line, body) == nil {
		if m.Method == "initialize" {
			b.version = reply.Result.ProtocolVersion
		}
		return line.Bytes()
	}
	if len(m.ID) == 0 {
		return nil // a notification has no answer
	}
	if reply.Detail == "" {
		reply.Detail = http.StatusText(status)
	}
	return rpcError(m.ID, -32603, fmt.Sprintf("server: %d %s", status, reply.Detail))
}

// rpcError is an error as the protocol has them.
func rpcError(id json.RawMessage, code int, text string) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	out, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   failure         `json:"error"`
	}{"2.0", id, failure{code, text}})
	if err != nil {
		return nil
	}
	return out
}
