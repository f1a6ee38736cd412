package main

import (
	"bytes"
	"net"
	"strings"
	"testing"
)

// TestAdvice starts where something stands in the way: the error says what to do.
func TestAdvice(t *testing.T) {
	g := fresh(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	try := func(code int, advice string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		if got := run(t.Context(), append(args, "--data", g.data), nil, &out, &out); got != code || !strings.Contains(out.String(), advice) {
			t.Errorf("catena %s: exit code %d, %s", strings.Join(args, " "), got, &out)
		}
	}
	try(2, "choose another address with --addr", "serve", "--addr", l.Addr().String())
	try(0, "its content and passwords are unchanged", "init", "--demo")
	a, err := g.openWith(t.Context(), openOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	try(1, "send commands to it with --server", "ops")
	try(1, "choose another directory with --data", "serve", "--addr", "127.0.0.1:0")
}
