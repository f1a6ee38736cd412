package mail_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"mime/quotedprintable"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/engine/mail"
	"catena/engine/mail/mailtest"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/declare"
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

// built makes templates of texts, by the names of their files.
func built(texts map[string]string) (*mail.Templates, error) {
	var all []declare.Source
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, declare.Source{Name: name, Text: texts[name]})
	}
	t, wrong, err := mail.Build(nil, all)
	return t, cmp.Or(err, declare.ErrorOf(wrong))
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := &world{Repo: storagetest.Open(t, nil), t: t, sink: mailtest.Start(t)}
	templates, err := built(files)
	w.must(err)
	host, port := w.sink.Address()
	w.send, err = mail.New(mail.Config{
		Host: host, Port: port, Security: "none", From: "Catena <catena@example.org>", Base: "https://example.org/",
		Templates: func() *mail.Templates { return templates }, Blobs: func(b *storage.Blob) *storage.Blob { return w.Blobs().Load(*b) }, Log: slog.New(slog.DiscardHandler),
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
	w := newWorld(t, map[string]string{
		"hello.ftl":  "Subject: Hello\t${name}\n\nDear ${name}, see ${base}/x ${nothing!}\n",
		"hello.ftlh": "<p>Dear ${name}</p>",
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
	w.run(func() bool {
		jobs := w.jobs()
		return len(jobs) == 1 && jobs[0].State == outbox.Waits && jobs[0].Tries == 1
	})
	jobs := w.jobs()
	if w.sink.Refused() != 1 || len(jobs) != 1 || !strings.Contains(jobs[0].Failure, "try later") {
		t.Errorf("jobs %+v", jobs)
	}
	w.sink.Refuse("550 never")
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { _, err := outbox.Retry(tx, jobs[0].ID); return err }))
	w.run(func() bool { jobs := w.jobs(); return len(jobs) == 1 && jobs[0].State == outbox.GivenUp })
	if n := w.sink.Refused(); n != 2 {
		t.Errorf("refused %d times", n)
	}
	w.sink.Refuse("")
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { _, err := outbox.Retry(tx, jobs[0].ID); return err }))
	w.run(func() bool { return len(w.jobs()) == 0 })
	if n := len(w.sink.Messages()); n != 1 {
		t.Errorf("taken %d times", n)
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
	for file, c := range map[string]struct{ text, want string }{
		"bad.ftl":   {"Subject: one\n\n${x", "bad.ftl:3"},
		"sub.ftl":   {"Subject: ${x", "sub.ftl:1:13: "},
		"page.ftlh": {"<p>\n</#if>", "page.ftlh:2:1: "},
		"old.txt":   {"Subject: {{.title}}", "old.txt:1: templates of mail are written in FTL: ${title} in place of {{.title}}, in a file old.ftl"},
		"old.html":  {"{{.title}}", "in a file old.ftlh"},
	} {
		_, err := built(map[string]string{file: c.text})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", file, err)
		}
	}
	w := newWorld(t, map[string]string{"long.ftl": `<#list 1..10000000 as i>0123456789</#list>`, "lacks.ftl": "${missing}"})
	for _, name := range []string{"long", "lacks", "nope"} {
		var gave *outbox.GaveUp
		err := w.send.Job(t.Context(), outbox.Job{ID: "1", Data: []byte(`{"to":["a@example.org"],"template":"` + name + `"}`)})
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

// TestDefaults fills in each template that every server has, with all that it may be given and with only what it always is.
func TestDefaults(t *testing.T) {
	all := map[string]any{"user": "ada", "title": "A & B", "path": "/a", "id": "7", "event": "documentModified"}
	for name, c := range map[string]struct {
		data        map[string]any
		least, most string
	}{
		"document": {
			map[string]any{"notification": "Modification", "comment": "again"},
			"Subject: A & B: documentModified\n\nada: documentModified\n\nA & B\n/a\nhttps://example.org/ui/#!/doc/7\n",
			"Subject: A & B: documentModified\n\nada: documentModified (again)\n\nA & B\n/a\nhttps://example.org/ui/#!/doc/7\n\nYou receive this message because you subscribed to \"Modification\" here or in a folder above.\n",
		},
		"permission": {
			map[string]any{"begin": "2026-01-01", "end": "2026-02-01", "comment": "for now"},
			"Subject: ada gave you a permission on A & B\n\nada gave you the permission Read on\n\nA & B\n/a\nhttps://example.org/ui/#!/doc/7\n",
			"Subject: ada gave you a permission on A & B\n\nada gave you the permission Read on\n\nA & B\n/a\nhttps://example.org/ui/#!/doc/7\n\nFrom: 2026-01-01\nUntil: 2026-02-01\n\nfor now\n",
		},
		"routingTaskAssigned": {
			map[string]any{"task": "Approve", "due": "2026-01-01"},
			"Subject: A task for you: A & B\n\nada has given you a task.\n\nA & B\n/a\n\nhttps://example.org/ui/tasks#t1\n",
			"Subject: A task for you: A & B\n\nada has given you a task: Approve.\n\nA & B\n/a\n\nhttps://example.org/ui/tasks#t1\n\nDue: 2026-01-01\n",
		},
		"taskReminder": {
			map[string]any{"task": "Approve", "due": "2026-01-01", "late": true},
			"Subject: Reminder: your task: A & B\n\nA task waits for you.\n\nA & B\n/a\n\nhttps://example.org/ui/tasks#t1\n",
			"Subject: Overdue: your task: A & B\n\nA task waits for you: Approve.\n\nA & B\n/a\n\nhttps://example.org/ui/tasks#t1\n\nDue: 2026-01-01\n",
		},
		"invitation": {
			map[string]any{"comment": "Come in."},
			"Subject: ada invites you\n\nada invites you to become the user Bob.\n\nChoose a password until Monday:\nhttps://example.org/a\n",
			"Subject: ada invites you\n\nada invites you to become the user Bob.\n\nCome in.\n\nChoose a password until Monday:\nhttps://example.org/a\n",
		},
		"share_link.first_viewed": {
			map[string]any{"name": "for you"},
			"Subject: \"A & B\" was opened through a share link\n\nYour deck \"A & B\" was viewed for the first time through the share link \"\", on Monday.\n\nhttps://example.org/s\n",
			"Subject: \"A & B\" was opened through a share link\n\nYour deck \"A & B\" was viewed for the first time through the share link \"for you\", on Monday.\n\nhttps://example.org/s\n",
		},
	} {
		least := maps.Clone(all)
		maps.Copy(least, map[string]map[string]any{
			"permission": {"permission": "Read"}, "routingTaskAssigned": {"taskId": "t1"}, "taskReminder": {"taskId": "t1", "late": false}, "invitation": {"name": "Bob", "until": "Monday"},
			"share_link.first_viewed": {"time": "Monday", "url": "https://example.org/s"},
		}[name])
		most := maps.Clone(least)
		maps.Copy(most, c.data)
		for want, data := range map[string]map[string]any{c.least: least, c.most: most} {
			if got := filled(t, name, data); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
			}
		}
	}
}

// filled is the subject and the text of a message that is sent with a default template.
func filled(t *testing.T, name string, data map[string]any) string {
	t.Helper()
	w := newWorld(t, nil)
	if _, err := w.enqueue(mail.Mail{To: []string{"a@example.org"}, Template: name, Data: data}); err != nil {
		t.Fatal(err)
	}
	w.run(func() bool { return len(w.sink.Messages()) == 1 })
	m, err := netmail.ReadMessage(strings.NewReader(w.sink.Messages()[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil {
		t.Fatal(err)
	}
	return "Subject: " + m.Header.Get("Subject") + "\n\n" + strings.TrimRight(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n") + "\n"
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
