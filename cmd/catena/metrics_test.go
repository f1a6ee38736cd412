package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/rest"
	"catena/storage"
	"catena/storage/outbox"
)

// TestMetrics reads the figures of a server whose outbox holds jobs and whose transactions went well and failed.
func TestMetrics(t *testing.T) {
	a, err := (&global{data: t.TempDir(), logLevel: "error", logFormat: "text"}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	err = a.repo.Update(t.Context(), a.repo.System(), func(tx *storage.Tx) error {
		for _, due := range []time.Duration{0, time.Hour} {
			if err := outbox.Enqueue(tx, outbox.Job{Kind: "none", Due: time.Now().Add(due)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = a.repo.View(t.Context(), a.repo.System(), func(tx *storage.Tx) error {
		_, err := tx.Doc("/nowhere")
		return err
	})
	registry := a.registry()
	h := a.handler(rest.Config{Metrics: registry, NoMetrics: true})
	defer h.Close()
	at, stop, err := a.serveMetrics(t.Context(), "127.0.0.1:0", registry)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	time.Sleep(10 * time.Millisecond) // that a job is late
	lines := figuresAt(t.Context(), t, "http://"+at.String()+"/metrics")
	for _, want := range []string{
		`catena_writable 1`, `catena_jobs{repository="default",state="waiting"} 2`, `catena_jobs{repository="default",state="running"} 0`,
		`catena_jobs{repository="default",state="dead"} 0`, `catena_transactions_total{kind="read",result="notfound"} 1`,
		`catena_automatic_indexes{repository="default",state="complete"} 0`,
		`catena_script_workers{state="busy"} 0`, `catena_script_callers_waiting 0`, `catena_async_runs{state="running"} 0`, `catena_http_connections 0`, `catena_reclaimable_bytes 0`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, begin := range []string{
		`catena_jobs_late_seconds{repository="default"} `, `catena_disk_free_bytes `, `catena_disk_bytes `, `catena_transactions_total{kind="write",result="ok"} `,
		`catena_transaction_seconds_count{kind="write"} `, `go_goroutines `,
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, begin) && !strings.HasSuffix(l, " 0") }) {
			t.Errorf("no %s", begin)
		}
	}
}

func figuresAt(ctx context.Context, t *testing.T, address string) []string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text := whole(t, resp)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", address, resp.Status, text)
	}
	return strings.Split(text, "\n")
}
