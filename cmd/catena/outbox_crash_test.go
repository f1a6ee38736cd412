package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"catena/engine/mail/mailtest"
)

// noticeChain creates a document and sends a message about it, in one transaction.
const noticeChain = `name: Crash.Notice
description: Creates a file and sends a message about it.
params:
  - {name: name, type: string, required: true}
steps:
  - op: Repository.GetDocument
    params: {value: /default-domain/workspaces}
  - op: Document.Create
    params: {type: File, name: "@{name}"}
  - op: Document.Mail
    params: {from: a@example.org, to: b@example.org, subject: "@{name}", message: text}
`

// receiver records by the name of a document the ids of the webhooks that told of its creation.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got map[string]map[string]int
}

var namePattern = regexp.MustCompile(`r\d+-w\d+-\d+`)

func receive(t testing.TB) *receiver { return receiveAt(t, "127.0.0.1") }

// receiveAt is receive on an address of this machine.
func receiveAt(t testing.TB, address string) *receiver {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{got: map[string]map[string]int{}}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		name := string(namePattern.Find(body))
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.got[name] == nil {
			r.got[name] = map[string]int{}
		}
		r.got[name][req.Header.Get("webhook-id")]++
	}))
	_ = r.Listener.Close()
	r.Listener = l
	r.Start()
	t.Cleanup(r.Close)
	return r
}

// messages returns, by the name in their subject, the ids of the messages that were taken.
func messages(sink *mailtest.Sink) map[string]map[string]int {
	got := map[string]map[string]int{}
	for _, m := range sink.Messages() {
		subject, id := header.FindStringSubmatch(m.Data), messageID.FindStringSubmatch(m.Data)
		if subject == nil || id == nil {
			continue
		}
		if got[subject[1]] == nil {
			got[subject[1]] = map[string]int{}
		}
		got[subject[1]][id[1]]++
	}
	return got
}

var (
	header    = regexp.MustCompile(`(?m)^Subject: (\S+)\r$`)
	messageID = regexp.MustCompile(`(?m)^Message-ID: (\S+)\r$`)
)

// TestOutboxCrash kills the server over and over while it has mail and webhooks to send. Of every acknowledged call both
// arrive, of what was rolled back none, and what arrives twice bears the same id. CATENA_KILLS sets how often.
func TestOutboxCrash(t *testing.T) {
	kills := killCount(t, 4)
	sink, hook, data := mailtest.Start(t), receive(t), t.TempDir()
	host, port := sink.Address()
	args := []string{
		"--smtp-host", host, "--smtp-port", strconv.Itoa(port), "--smtp-security", "none", "--smtp-from", "catena@example.org",
		"--egress-allow", "127.0.0.0/8", "--egress-http", "--rate", "-1",
	}
	acked := map[string]bool{}
	unknown := map[string]bool{}
	for i := range kills {
		p := startServer(t, data, args...)
		if i == 0 {
			saveChain(t, p.base, noticeChain)
			body := fmt.Sprintf(`{"params":{"url":%q,"events":["document.created"]}}`, hook.URL)
			if status, text := administer(t, http.MethodPost, p.base+"/api/v1/automation/Webhook.Create", "application/json", body); status != http.StatusOK {
				t.Fatalf("%d %s", status, text)
			}
		}
		get(t, p.base+workspaces)
		for _, a := range writeUntilKilled(p, i, 4, callNotice) {
			if a.acked {
				acked[a.name] = true
			} else {
				unknown[a.name] = true
			}
		}
	}
	p := startServer(t, data, args...)
	missing := ""
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if missing = firstMissing(acked, messages(sink), hook); missing == "" {
			break
		}
	}
	if missing != "" {
		_, jobs := administer(t, http.MethodPost, p.base+"/api/v1/automation/Job.List", "application/json", `{"params":{}}`)
		t.Errorf("never arrived: %s; jobs that are left: %.2000s", missing, jobs)
	}
	repeated := 0
	for kind, got := range map[string]map[string]map[string]int{"mail": messages(sink), "webhook": hook.got} {
		for name, ids := range got {
			if len(ids) > 1 {
				t.Errorf("%s of %s came with %d ids", kind, name, len(ids))
			}
			for _, n := range ids {
				repeated += n - 1
			}
			if unknown[name] {
				if status, _ := get(t, p.base+workspaces+name); status != http.StatusOK {
					t.Errorf("%s of %s, which was rolled back", kind, name)
				}
			}
		}
	}
	if len(acked) < kills {
		t.Errorf("only %d calls were acknowledged in %d rounds: the test did not test much", len(acked), kills)
	}
	t.Logf("%d kills, %d acknowledged calls, nothing lost, %d repeats, all with the id of before", kills, len(acked), repeated)
}

func callNotice(base, name string) bool {
	body, _ := json.Marshal(map[string]any{"params": map[string]string{"name": name}})
	resp, err := admin(context.Background(), http.MethodPost, base+"/api/v1/automation/Crash.Notice", "application/json", bytes.NewReader(body))
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode < http.StatusMultipleChoices
}

func firstMissing(acked map[string]bool, mails map[string]map[string]int, hook *receiver) string {
	hook.mu.Lock()
	defer hook.mu.Unlock()
	for name := range acked {
		switch {
		case len(mails[name]) == 0:
			return "mail of " + name
		case len(hook.got[name]) == 0:
			return "webhook of " + name
		}
	}
	return ""
}
