package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"catena/storage/postgres/pgtest"
	"catena/storage/storagetest"
)

// startForClients is startServer, or if TEST_STORE is nodes two servers on one database, behind a proxy that gives them
// requests in turn.
func startForClients(t *testing.T, args ...string) *process {
	t.Helper()
	if storagetest.Nodes() == 1 {
		return startServer(t, t.TempDir(), args...)
	}
	args = append([]string{"--store", pgtest.Database(t), "--blobs", t.TempDir()}, args...)
	var first *process
	var nodes []*url.URL
	for range storagetest.Nodes() {
		p := startServer(t, t.TempDir(), args...)
		at, err := url.Parse(p.base)
		if err != nil {
			t.Fatal(err)
		}
		first, nodes = p, append(nodes, at)
	}
	var turn atomic.Int64
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(nodes[turn.Add(1)%int64(len(nodes))])
			r.Out.Host = r.In.Host
		},
		// A chain or script that was saved is on the other server within a second, for which the clients do not wait.
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode != http.StatusOK || !strings.HasSuffix(r.Request.URL.Path, ".Save") {
				return nil
			}
			text, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			r.Body = io.NopCloser(bytes.NewReader(text))
			var saved struct{ Value struct{ Name string } }
			if err := json.Unmarshal(text, &saved); err != nil {
				return err
			}
			if saved.Value.Name == "" {
				return fmt.Errorf("what was saved has no name: %s", text)
			}
			for _, at := range nodes {
				awaitOp(t, at.String(), saved.Value.Name)
			}
			return nil
		},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A server may answer before the proxy has found the end of the request, which is still read then.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return &process{cmd: first.cmd, log: first.log, done: first.done, base: front.URL}
}
