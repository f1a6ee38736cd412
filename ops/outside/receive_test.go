package outside_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-imap"
	"github.com/emersion/go-imap/backend"
	"github.com/emersion/go-imap/backend/memory"
	"github.com/emersion/go-imap/server"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// post is a mail server with one mailbox, which can renumber its messages.
type post struct {
	memory.Mailbox
	mu       sync.Mutex
	validity uint32
	at       string
}

type postUser struct {
	backend.User
	p *post
}

func (p *post) Login(_ *imap.ConnInfo, user, password string) (backend.User, error) {
	p.mu.Lock() // what was delivered before is seen
	defer p.mu.Unlock()
	if user != "ada" || password != "s3cret" {
		return nil, errors.New("no")
	}
	return postUser{&memory.User{}, p}, nil
}

func (u postUser) GetMailbox(name string) (backend.Mailbox, error) {
	if name != "INBOX" {
		return nil, backend.ErrNoSuchMailbox
	}
	return u.p, nil
}

func (p *post) Status(items []imap.StatusItem) (*imap.MailboxStatus, error) {
	s, err := p.Mailbox.Status(items)
	s.UidValidity = p.validity
	return s, err
}

// deliver puts a message into the mailbox.
func (p *post) deliver(t *testing.T, at time.Time, text string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.CreateMessage(nil, at, strings.NewReader(strings.ReplaceAll(text, "\n", "\r\n"))); err != nil {
		t.Fatal(err)
	}
}

func receivePost(t *testing.T) *post {
	t.Helper()
	p := &post{validity: 7}
	s := server.New(p)
	s.AllowInsecureAuth, s.ErrorLog = true, log.New(io.Discard, "", 0)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.at = "imap://" + l.Addr().String() + "/INBOX"
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return p
}

// TestReceive reads what arrives, each message once, whatever becomes of the calls that read it.
func TestReceive(t *testing.T) {
	p, w := receivePost(t), newWorld(t, "")
	if _, err := w.call("Administrator", "Credential.Save", nil, map[string]any{"name": "post", "kind": "basic", "url": strings.TrimSuffix(p.at, "INBOX"), "user": "ada", "secret": "s3cret"}); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Add(-time.Hour)
	subjects := func(params map[string]any) string {
		t.Helper()
		all := map[string]any{"url": p.at, "credential": "post"}
		for name, v := range params {
			all[name] = v
		}
		r, err := w.call("Administrator", "Mail.Receive", nil, all)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range r.Value.([]any) {
			out = append(out, fmt.Sprint(m.(map[string]any)["subject"]))
		}
		return strings.Join(out, " ")
	}
	p.deliver(t, now, "Subject: old\n\nx")
	if got := subjects(nil) + "|" + subjects(map[string]any{"reader": "archive", "start": "all"}); got != "|old" {
		t.Errorf("first: %q", got)
	}
	for i := range 3 {
		p.deliver(t, now.Add(time.Duration(i)*time.Minute), fmt.Sprintf("Subject: m%d\n\nx", i))
	}
	if got := subjects(map[string]any{"most": 2}) + "|" + subjects(nil) + "|" + subjects(nil); got != "m0 m1|m2|" {
		t.Errorf("in parts: %q", got)
	}
	// The server renumbers its messages: what arrived later than the newest is new.
	p.validity++
	p.deliver(t, now.Add(time.Minute), "Subject: late\n\nx")
	p.deliver(t, now.Add(time.Hour), "Subject: newer\n\nx")
	if got := subjects(nil) + "|" + subjects(nil); got != "newer|" {
		t.Errorf("renumbered: %q", got)
	}
	// A call that fails has read nothing.
	p.deliver(t, now.Add(2*time.Hour), "Subject: again\n\nx")
	chain := "name: Fails\nsteps:\n- op: Mail.Receive\n  params: {url: '" + p.at + "', credential: post}\n- op: Context.SetInputAsVar\n  params: {name: mail}\n- op: Document.Fetch\n  params: {value: /nowhere}\n"
	if _, err := w.call("Administrator", "Chain.Save", nil, map[string]any{"name": "f.yaml", "source": chain}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.call("Administrator", "Fails", nil, nil); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if got := subjects(nil); got != "again" {
		t.Errorf("after a failure: %q", got)
	}
}

// TestReceiveLarge reads no more at once than fits into memory easily; what is left comes next, and what is too large has a problem.
func TestReceiveLarge(t *testing.T) {
	p, w := receivePost(t), newWorld(t, "")
	_, err := w.call("Administrator", "Credential.Save", nil, map[string]any{"name": "post", "kind": "basic", "url": strings.TrimSuffix(p.at, "INBOX"), "user": "ada", "secret": "s3cret"})
	w.must(err)
	for i, size := range []int{20 << 20, 20 << 20, 26 << 20, 20 << 20} {
		body := strings.Repeat(strings.Repeat("x", 70)+"\n", size/72)
		p.deliver(t, time.Now(), fmt.Sprintf("Subject: m%d\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=a.pdf\n\n", i)+body)
	}
	got := ""
	for range 3 {
		r, err := w.call("Administrator", "Mail.Receive", nil, map[string]any{"url": p.at, "credential": "post", "start": "all"})
		w.must(err)
		for _, m := range r.Value.([]any) {
			m := m.(map[string]any)
			got += fmt.Sprint(m["subject"], m["problem"] != nil, len(m["files"].([]any)), " ")
		}
		got += "|"
	}
	if got != "m0false 1 m1false 1 m2true 0 |m3false 1 ||" {
		t.Errorf("%q", got)
	}
}

// TestCollect stores the files of messages by a chain, as the manual shows.
func TestCollect(t *testing.T) {
	p, w := receivePost(t), newWorld(t, "")
	_, err := w.call("Administrator", "Credential.Save", nil, map[string]any{"name": "post", "kind": "basic", "url": strings.TrimSuffix(p.at, "INBOX"), "user": "ada", "secret": "s3cret"})
	w.must(err)
	chain := `name: Collect
steps:
  - op: Mail.Receive
    params: {url: "` + p.at + `", credential: post, start: all}
  - each: input
    item: message
    steps:
      - each: message.files
        item: file
        steps:
          - op: Document.Fetch
            params: {value: /}
          - op: Document.Create
            params: {type: File, name: "expr: file.name", properties: "dc:title=@{message.subject}"}
          - op: Document.SetBlob
            params: {file: "expr: file"}
`
	_, err = w.call("Administrator", "Chain.Save", nil, map[string]any{"name": "c.yaml", "source": chain})
	w.must(err)
	part := "--a\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=%s.pdf\n\n%%PDF %[1]s\n"
	p.deliver(t, time.Now(), "Subject: Two invoices\nContent-Type: multipart/mixed; boundary=a\n\n"+fmt.Sprintf(part, "x")+fmt.Sprintf(part, "y")+"--a--\n")
	_, err = w.call("Administrator", "Collect", nil, nil)
	w.must(err)
	for _, name := range []string{"x.pdf", "y.pdf"} {
		r, err := w.call("Administrator", "Document.Fetch", nil, map[string]any{"value": "/" + name})
		w.must(err)
		d := r.Value.(*storage.Doc)
		v, err := d.Get("file:content")
		if b, ok := v.(*storage.Blob); err != nil || !ok || b.Name != name || d.Title() != "Two invoices" {
			t.Errorf("%s: %v %v %q", name, v, err, d.Title())
		}
	}
}

// TestReceived reads what messages say, and their files.
func TestReceived(t *testing.T) {
	p, w := receivePost(t), newWorld(t, "")
	_, err := w.call("Administrator", "Credential.Save", nil, map[string]any{"name": "post", "kind": "basic", "url": strings.TrimSuffix(p.at, "INBOX"), "user": "ada", "secret": "s3cret"})
	w.must(err)
	p.deliver(t, time.Now(), "From: Zoe <zoe@example.org>\nTo: in@example.org\nSubject: Invoice 7\nMessage-Id: <7@example.org>\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/plain\n\nPlease pay.\n--a\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=i.pdf\n\n%PDF\n--a--\n")
	r, err := w.call("Administrator", "Mail.Receive", nil, map[string]any{"url": p.at, "credential": "post", "start": "all", "whole": true})
	w.must(err)
	m := r.Value.([]any)[0].(map[string]any)
	files := m["files"].([]any)
	if m["from"] != "zoe@example.org" || m["name"] != "Zoe" || m["subject"] != "Invoice 7" || m["id"] != "7@example.org" || strings.TrimSpace(m["text"].(string)) != "Please pay." || len(files) != 1 {
		t.Errorf("%v", m)
	}
	if b := files[0].(*engine.Blob); b.Name != "i.pdf" || b.Type != "application/pdf" {
		t.Errorf("%+v", b)
	}
	if b := m["message"].(*storage.Blob); b.Type != "message/rfc822" || b.Size != m["size"].(int64) {
		t.Errorf("%+v", b)
	}
	for name, test := range map[string]struct {
		params map[string]any
		want   string
	}{
		"folder":         {map[string]any{"url": strings.Replace(p.at, "INBOX", "Spam", 1), "credential": "post"}, "folder Spam"},
		"address":        {map[string]any{"url": "https://example.org", "credential": "post"}, "imaps://"},
		"elsewhere":      {map[string]any{"url": "imap://127.0.0.2:1/INBOX", "credential": "post"}, "is not for"},
		"no credential":  {map[string]any{"url": p.at, "credential": ""}, "credential"},
		"no such reader": {map[string]any{"url": p.at, "credential": "post", "reader": strings.Repeat("x", 101)}, "reader"},
	} {
		if _, err := w.call("Administrator", "Mail.Receive", nil, test.params); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.call("bob", "Mail.Receive", nil, map[string]any{"url": p.at, "credential": "post"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("another user: %v", err)
	}
}
