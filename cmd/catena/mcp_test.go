package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// bridged starts a bridge to a handler; lines go in and come out.
func bridged(t *testing.T, h http.HandlerFunc) (in io.WriteCloser, out *bufio.Scanner, done chan error) {
	t.Helper()
	s := httptest.NewServer(h)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	b := &bridge{c: &client{base: s.URL, http: s.Client(), sign: func(*http.Request) {}}, path: "/mcp", out: outW}
	done = make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	go func() {
		done <- b.run(ctx, inR)
		_ = outW.Close()
	}()
	t.Cleanup(func() { cancel(); _ = inW.Close(); _ = outR.Close(); s.Close() })
	return inW, bufio.NewScanner(outR), done
}

// TestBridge checks what the bridge itself answers, and that it passes streams on.
func TestBridge(t *testing.T) {
	held := make(chan struct{})
	in, out, done := bridged(t, func(w http.ResponseWriter, r *http.Request) {
		var m message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		switch m.Method {
		case "stream":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n: beat\n\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,\"result\":{}}\n\n", m.ID)
		case "hold":
			<-r.Context().Done()
			close(held)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case "refuse":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"status":401,"detail":"no key"}`)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, m.ID)
		}
	})
	for _, test := range []struct {
		send string
		want []string
	}{
		{`{"jsonrpc":`, []string{`-32700`}},
		{`[]`, []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a message of the protocol"}}`}},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, []string{`-32600`}},
		{`{"jsonrpc":"2.0","id":"x","method":"none"}`, []string{`{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"method not found"}}`}},
		{`{"jsonrpc":"2.0","id":2,"method":"refuse"}`, []string{`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"server: 401 no key"}}`}},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil},
		{`{"jsonrpc":"2.0","id":3,"method":"stream"}`, []string{`"notifications/progress"`, `{"jsonrpc":"2.0","id":3,"result":{}}`}},
		{`{"jsonrpc":"2.0","id":4,"method":"hold"}`, nil},
		{`{"jsonrpc":"2.0","id":5,"method":"none"}`, []string{`"id":5`}},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`, nil},
	} {
		if _, err := io.WriteString(in, test.send+"\n"); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !out.Scan() || !strings.Contains(out.Text(), want) {
				t.Errorf("%s: %s, want %s", test.send, out.Text(), want)
			}
		}
	}
	select {
	case <-held:
	case <-time.After(time.Minute):
		t.Error("a cancelled request goes on")
	}
	_ = in.Close()
	if out.Scan() {
		t.Errorf("one more line: %s", out.Text())
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
