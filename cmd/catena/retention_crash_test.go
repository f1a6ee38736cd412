package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRetentionCrash kills the server again and again around the ends of retentions: each has one event, also those that end while
// no server runs.
func TestRetentionCrash(t *testing.T) {
	data := t.TempDir()
	p := startServer(t, data)
	const docs = 12
	for i := range docs {
		p.want(t, http.StatusCreated, "Administrator", "POST", spaces, fmt.Sprintf(`{"entity-type":"document","type":"File","name":"d%d"}`, i))
		until := time.Now().Add(2*time.Second + time.Duration(i)*300*time.Millisecond).UTC().Format(time.RFC3339Nano)
		p.want(t, http.StatusOK, "Administrator", "POST", "/api/v1/automation/Document.Retain", inputCall(fmt.Sprintf(`{"until":%q}`, until), fmt.Sprintf("doc:/default-domain/workspaces/d%d", i)))
	}
	p.want(t, http.StatusForbidden, "Administrator", "DELETE", spaces+"/d11", "")
	for range killCount(t, 3) {
		p.kill()
		time.Sleep(400 * time.Millisecond)
		p = startServer(t, data)
		time.Sleep(900 * time.Millisecond)
	}
	ended := func() int {
		return strings.Count(p.want(t, http.StatusOK, "Administrator", "POST", "/api/v1/automation/Audit.Query",
			`{"params":{"query":"FROM LogEntry log WHERE log.eventId = 'retentionExpired'","maxResults":1000}}`), `"eventId":"retentionExpired"`)
	}
	for end := time.Now().Add(30 * time.Second); ended() < docs && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
	}
	time.Sleep(2 * expireEvery) // for those that would come again
	if n := ended(); n != docs {
		t.Errorf("%d events for %d documents", n, docs)
	}
	p.want(t, http.StatusNoContent, "Administrator", "DELETE", spaces+"/d11", "")
}
