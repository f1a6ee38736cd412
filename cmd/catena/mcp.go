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
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
			b := &bridge{c: c, path: "/mcp", out: cmd.OutOrStdout()}
			if automation {
				b.path = "/mcp/automation"
			}
			return b.run(cmd.Context(), cmd.InOrStdin())
		},
	}
	cmd.Flags().BoolVar(&automation, "automation", false, "serve the tools to find and run operations instead of those for decks")
	return cmd
}

// bridge carries messages, one a line, to a server and its answers back. The server keeps no
// sessions, so all the bridge remembers is the version the two have agreed on, and which
// requests are under way.
type bridge struct {
	c       *client
	path    string
	out     io.Writer
	version atomic.Pointer[string]

	mu      sync.Mutex // of out too
	running map[string]context.CancelFunc
	broken  error // of out
}

// message is what the bridge reads of a message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string                     `json:"name"`
		URI       string                     `json:"uri"`
		RequestID json.RawMessage            `json:"requestId"`
		Meta      map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

const (
	maxCarried = 64                     // requests under way at once
	inTurn     = 100 * time.Millisecond // how long the next one waits for an answer
)

// run carries messages until there are no more. Quick ones are carried in turn; one that
// takes long does not hold up those behind it.
func (b *bridge) run(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxMessage)
	b.running = map[string]context.CancelFunc{}
	slots := make(chan struct{}, maxCarried)
	var all sync.WaitGroup
	defer all.Wait()
	for lines.Scan() {
		line := bytes.Clone(bytes.TrimSpace(lines.Bytes()))
		if len(line) == 0 {
			continue
		}
		slots <- struct{}{}
		done := make(chan struct{})
		all.Go(func() {
			defer func() { close(done); <-slots }()
			b.take(ctx, line)
		})
		select {
		case <-done:
		case <-time.After(inTurn):
		}
		if err := b.state(ctx); err != nil {
			return err
		}
	}
	return lines.Err()
}

// state is why the bridge cannot go on, if so.
func (b *bridge) state(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(ctx.Err(), b.broken)
}

// take carries one message.
func (b *bridge) take(ctx context.Context, line []byte) {
	var m message
	switch err := json.Unmarshal(line, &m); {
	case !json.Valid(line):
		b.answer(rpcError(nil, -32700, "not JSON: "+err.Error()))
		return
	case err != nil || line[0] != '{':
		b.answer(rpcError(nil, -32600, "not a message of the protocol"))
		return
	case m.Method == "notifications/cancelled":
		b.cancel(m.Params.RequestID)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if id := string(m.ID); id != "" {
		b.mu.Lock()
		b.running[id] = cancel
		b.mu.Unlock()
		defer b.cancel(m.ID)
	}
	err := b.send(ctx, &m, line)
	if err != nil && ctx.Err() == nil && len(m.ID) > 0 {
		b.answer(rpcError(m.ID, -32603, "server: "+err.Error()))
	}
}

// cancel breaks a request off; nobody waits for its answer any longer.
func (b *bridge) cancel(id json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cancel := b.running[string(id)]; cancel != nil {
		cancel()
		delete(b.running, string(id))
	}
}

// answer writes one line.
func (b *bridge) answer(line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.out.Write(append(line, '\n')); err != nil && b.broken == nil {
		b.broken = err
	}
}

// send passes one message on, and what comes back.
func (b *bridge) send(ctx context.Context, m *message, line []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.c.base+b.path, bytes.NewReader(line))
	if err != nil {
		return err
	}
	b.headers(req.Header, m)
	b.c.sign(req)
	res, err := b.c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return b.events(m, res.Body)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxMessage+1))
	switch {
	case err != nil:
		return err
	case len(body) > maxMessage:
		return fmt.Errorf("the answer has more than %d bytes", maxMessage)
	}
	if line := b.reply(m, res.StatusCode, body); len(line) > 0 {
		b.answer(line)
	}
	return nil
}

// events passes on the messages of a stream as they come.
func (b *bridge) events(m *message, stream io.Reader) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 64<<10), maxMessage)
	var data []byte
	for lines.Scan() {
		if more, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:")); ok {
			data = append(data, bytes.TrimSpace(more)...)
			continue
		}
		if len(lines.Bytes()) == 0 && len(data) > 0 {
			b.answer(b.reply(m, http.StatusOK, data))
			data = nil
		}
	}
	return lines.Err()
}

// headers are what the newer version of the protocol has headers repeat of the message.
func (b *bridge) headers(h http.Header, m *message) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	var version string
	if raw := m.Params.Meta["io.modelcontextprotocol/protocolVersion"]; json.Unmarshal(raw, &version) != nil || version == "" {
		if agreed := b.version.Load(); agreed != nil && m.Method != "initialize" {
			h.Set("MCP-Protocol-Version", *agreed)
		}
		return
	}
	h.Set("MCP-Protocol-Version", version)
	h.Set("Mcp-Method", m.Method)
	if name := m.Params.Name + m.Params.URI; name != "" {
		h.Set("Mcp-Name", name)
	}
}

// reply is the line for an answer of the server's; an answer that is no message becomes an error.
func (b *bridge) reply(m *message, status int, body []byte) []byte {
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
			b.version.Store(&reply.Result.ProtocolVersion)
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
