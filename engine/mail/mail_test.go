package mail_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"catena/engine/mail"
	"catena/engine/mail/mailtest"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/storagetest"
	"catena/storage/subscription"
)

// world is a repository whose outbox is carried out against a mail server.
type world struct {
	*storage.Repo
	t    *testing.T
	sink *mailtest.Sink
	send *mail.Sender
}

func newWorld(t *testing.T, files fstest.MapFS) *world {
	t.Helper()
	w := &world{Repo: storagetest.Open(t, nil), t: t, sink: mailtest.Start(t)}
	templates, err := mail.LoadTemplates(files)
	w.must(err)
	host, port := w.sink.Address()
	w.send, err = mail.New(mail.Config{
		Host: host, Port: port, Security: "none", From: "Catena <catena@example.org>", Base: "https://example.org/",
		Templates: templates, Blobs: func(b *storage.Blob) *storage.Blob { return w.Blobs().Load(*b) }, Log: slog.New(slog.DiscardHandler),
	})
	w.must(err)
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { return people.SaveGroup(tx, &people.Group{Name: "writers"}) }))
	for name, email := range map[string]string{"ada": "ada@example.org", "bob": "", "evil": "x@example.org\r\nBcc: all@example.org"} {
		w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: name, FirstName: strings.ToUpper(name), Email: email, Groups: []string{"writers"}}, "")
		}))
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// enqueue puts a message into the outbox.
func (w *world) enqueue(m mail.Mail) (sent bool, err error) {
	err = w.Update(w.t.Context(), w.System(), func(tx *storage.Tx) error {
		var err error
		sent, err = mail.Send(tx, m)
		return err
	})
	return sent, err
}

// run carries out jobs until a condition holds.
func (w *world) run(until func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- outbox.Run(ctx, w.Repo, outbox.Handlers{
			mail.JobKind: {Do: w.send.Job}, mail.NotifyJob: {Do: mail.Notify(w.Repo)},
		})
	}()
	for !until() && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	if ctx.Err() != nil {
		w.t.Error("it did not happen")
	}
	cancel()
	w.must(<-done)
}

func TestSend(t *testing.T) {
	w := newWorld(t, fstest.MapFS{
		"hello.txt":  {Data: []byte("Subject: Hello\t{{.name}}\nDear {{.name}}, see {{.base}}/x {{.nothing}}\n")},
		"hello.html": {Data: []byte("<p>Dear {{.name}}</p>")},
	})
	file := textFile("a.txt", "content of the file")
	sent, err := w.enqueue(mail.Mail{
		To: []string{"user:ada", "group:writers", "Bob <bob@example.org>"}, Bcc: []string{"boss@example.org"}, Template: "hello",
		Data: map[string]any{"name": "<Ada>\r\nBcc: you@example.org"}, Files: []*storage.Blob{file},
	})
	w.must(err)
	if !sent {
		t.Fatal("nobody gets it")
	}
	w.run(func() bool { return len(w.sink.Messages()) == 1 })
	m := w.sink.Messages()[0]
	if got := strings.Join(m.To, " "); got != "ada@example.org bob@example.org boss@example.org" {
		t.Errorf("to %s", got)
	}
	for _, want := range []string{
		"Subject: Hello <Ada> Bcc: you@example.org\r\n", "From: \"Catena\" <catena@example.org>\r\n", "&lt;Ada&gt;", "see https://example.org/x=20\r\n",
		`filename="a.txt"`, "Y29udGVudCBvZiB0aGUgZmlsZQ==",
	} {
		if !strings.Contains(m.Data, want) {
			t.Errorf("no %q in\n%s", want, m.Data)
		}
	}
	head, _, _ := strings.Cut(m.Data, "\r\n\r\n")
	if strings.Contains(head, "\r\nBcc") || strings.Contains(head, "boss@") {
		t.Errorf("head\n%s", head)
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t, nil)
	for _, c := range []struct {
		m    mail.Mail
		kind fault.Kind
		want string
	}{
		{mail.Mail{To: []string{"a@example.org\r\nBcc: b@example.org"}, Text: "x"}, fault.Invalid, "not an email address"},
		{mail.Mail{To: []string{"a@example.org, b@example.org"}, Text: "x"}, fault.Invalid, "not an email address"},
		{mail.Mail{To: []string{"nobody"}, Text: "x"}, fault.Invalid, "not an email address"},
		{mail.Mail{To: []string{"a@example.org"}, Subject: "a\nBcc: b", Text: "x"}, fault.Invalid, "control characters"},
		{mail.Mail{To: []string{"a@example.org"}, From: "\"a\r\nBcc: b\" <c@example.org>", Text: "x"}, fault.Invalid, "not an email address"},
		{mail.Mail{To: []string{"a@example.org"}, Text: strings.Repeat("x", 2<<20)}, fault.Limit, "bytes"},
		{mail.Mail{To: []string{"a@example.org"}, Text: "x", Files: []*storage.Blob{textFile("a\r\nX: y", "z")}}, fault.Invalid, "file"},
		{mail.Mail{To: []string{"a@example.org"}}, fault.Invalid, "text or template is required"},
	} {
		if _, err := w.enqueue(c.m); !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+.100v: got %v", c.m, err)
		}
	}
	sent, err := w.enqueue(mail.Mail{To: []string{"user:bob", "user:evil", "user:nobody"}, Text: "x"})
	if sent || err != nil {
		t.Errorf("to users without address: %v %v", sent, err)
	}
}

// TestReaders sends a message about a document to those who may read it.
func TestReaders(t *testing.T) {
	w := newWorld(t, nil)
	var id string
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		d, err := tx.Create(root, "Domain", "secret", nil)
		if err != nil {
			return err
		}
		id = d.ID()
		_, err = tx.SetACL(d, "local", []storage.ACE{{User: "Everyone", Permission: "Everything"}})
		return err
	}))
	sent, err := w.enqueue(mail.Mail{To: []string{"user:ada"}, Text: "x", Doc: id})
	if sent || err != nil {
		t.Errorf("sent %v %v", sent, err)
	}
}

// TestServerRefuses: a message that the server takes back later is tried again, one it never takes is not.
func TestServerRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.sink.Refuse("451 try later")
	_, err := w.enqueue(mail.Mail{To: []string{"a@example.org"}, Text: "x"})
	w.must(err)
	w.run(func() bool { return w.sink.Refused() > 0 })
	jobs := w.jobs()
	if len(jobs) != 1 || jobs[0].State != outbox.Waits || jobs[0].Tries != 1 || !strings.Contains(jobs[0].Failure, "try later") {
		t.Errorf("jobs %+v", jobs)
	}
	w.sink.Refuse("550 never")
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { _, err := outbox.Retry(tx, jobs[0].ID); return err }))
	w.run(func() bool { return w.sink.Refused() > 1 })
	if jobs = w.jobs(); len(jobs) != 1 || jobs[0].State != outbox.GivenUp {
		t.Errorf("jobs %+v", jobs)
	}
	w.sink.Refuse("")
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { _, err := outbox.Retry(tx, jobs[0].ID); return err }))
	w.run(func() bool { return len(w.sink.Messages()) == 1 })
	if jobs = w.jobs(); len(jobs) != 0 {
		t.Errorf("jobs %+v", jobs)
	}
}

func (w *world) jobs() []outbox.State { return w.jobsOf(mail.JobKind) }

func (w *world) jobsOf(kind string) (jobs []outbox.State) {
	w.t.Helper()
	w.must(w.View(w.t.Context(), w.System(), func(tx *storage.Tx) (err error) {
		jobs, err = outbox.Jobs(tx, "", kind, 10)
		return err
	}))
	return jobs
}

func TestTemplates(t *testing.T) {
	if d := mail.Defaults(); !d.Has("document") || !d.Has("permission") || d.Has("nope") {
		t.Error("default templates")
	}
	_, err := mail.LoadTemplates(fstest.MapFS{"bad.txt": {Data: []byte("one\n{{.x")}})
	if err == nil || !strings.Contains(err.Error(), "bad.txt:2") {
		t.Errorf("got %v", err)
	}
	w := newWorld(t, fstest.MapFS{"long.txt": {Data: []byte(`{{range $i := 10000000}}0123456789{{end}}`)}})
	for _, name := range []string{"long", "nope"} {
		var gave *outbox.GaveUp
		err = w.send.Job(t.Context(), outbox.Job{ID: "1", Data: []byte(`{"to":["a@example.org"],"template":"` + name + `"}`)})
		if !errors.As(err, &gave) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []mail.Config{{Host: "localhost"}, {Host: "localhost", From: "a@example.org", Security: "some"}} {
		if _, err := mail.New(c); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func textFile(name, content string) *storage.Blob {
	return blob.FromBytes(name, "text/plain", []byte(content))
}

// TestNotify tells those who subscribed to a folder what happens below it, if they may read it, and not who did it.
func TestNotify(t *testing.T) {
	w := newWorld(t, nil)
	mail.Watch(w.Repo)
	as := func(name string, fn func(tx *storage.Tx, desk *storage.Doc) error) {
		w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
			p, err := storage.PrincipalOf(tx, name)
			if err != nil {
				return err
			}
			d, err := tx.As(p).Doc("/desk")
			if err != nil {
				return err
			}
			return fn(tx.As(p), d)
		}))
	}
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		for _, name := range []string{"cid", "dan"} {
			if err := people.SaveUser(tx, &people.User{Username: name, Email: name + "@example.org"}, ""); err != nil {
				return err
			}
		}
		root, err := tx.Root()
		if err != nil {
			return err
		}
		d, err := tx.Create(root, "Folder", "desk", nil)
		if err != nil {
			return err
		}
		_, err = tx.SetACL(d, "local", []storage.ACE{{User: "members", Permission: "ReadWrite", Granted: true}})
		return err
	}))
	create := func(name string) func(tx *storage.Tx, desk *storage.Doc) error {
		return func(tx *storage.Tx, desk *storage.Doc) error {
			_, err := tx.Create(desk, "File", name, nil)
			return err
		}
	}
	as("ada", create("before"))
	if jobs := w.jobsOf(mail.NotifyJob); len(jobs) != 0 {
		t.Errorf("jobs before anybody subscribed: %+v", jobs)
	}
	for _, name := range []string{"ada", "cid", "dan"} {
		as(name, func(tx *storage.Tx, desk *storage.Doc) error { return subscription.Add(tx, desk, "Creation") })
	}
	as("dan", func(tx *storage.Tx, desk *storage.Doc) error {
		names, err := subscription.Find(tx, desk)
		if strings.Join(names, " ") != "Creation" {
			t.Errorf("subscriptions %v", names)
		}
		return errors.Join(err, subscription.Remove(tx, desk))
	})
	as("ada", create("a"))
	w.run(func() bool { return len(w.sink.Messages()) == 1 })
	m := w.sink.Messages()[0]
	if strings.Join(m.To, " ") != "cid@example.org" || !strings.Contains(m.Data, "Subject: a: documentCreated") || !strings.Contains(m.Data, "/desk/a") {
		t.Errorf("message %+v", m)
	}
}
