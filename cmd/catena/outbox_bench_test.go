package main

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/engine/mail/mailtest"
)

// BenchmarkOutbox has 16 clients make calls that each send a message and cause a webhook, and measures how many of these
// jobs the server carries out in a second, from the first call until the last one arrived.
//
//	go test -run '^$' -bench Outbox -benchtime 2000x ./cmd/catena
func BenchmarkOutbox(b *testing.B) {
	sink, hook := mailtest.Start(b), receive(b)
	host, port := sink.Address()
	p := startServer(
		b, b.TempDir(), "--smtp-host", host, "--smtp-port", strconv.Itoa(port), "--smtp-security", "none", "--smtp-from", "catena@example.org",
		"--egress-allow", "127.0.0.0/8", "--egress-http", "--rate", "-1",
	)
	saveChain(b, p.base, noticeChain)
	body := fmt.Sprintf(`{"params":{"url":%q,"events":["document.created"]}}`, hook.URL)
	if status, text := administer(b, http.MethodPost, p.base+"/api/v1/automation/Webhook.Create", "application/json", body); status != http.StatusOK {
		b.Fatalf("%d %s", status, text)
	}
	b.ResetTimer()
	var next atomic.Int64
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if !callNotice(p.base, fmt.Sprintf("r0-w0-%d", n)) {
					b.Error("a call failed")
				}
			}
		})
	}
	clients.Wait()
	called := b.Elapsed()
	for !arrived(sink, hook, b.N) {
		time.Sleep(5 * time.Millisecond)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/called.Seconds(), "calls/s")
	b.ReportMetric(2*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// arrived reports whether so many messages and as many webhooks have come.
func arrived(sink *mailtest.Sink, hook *receiver, n int) bool {
	hook.mu.Lock()
	defer hook.mu.Unlock()
	return len(hook.got) >= n && len(sink.Messages()) >= n
}
