package storage_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/uisession"
	"catena/storage/upload"
)

// TestClockShifts closes a repository and opens it with the clock shifted. Whatever lasts or waits for a span does so for
// no longer than that span by the new clock, what was ended stays ended, and documents can be changed as before.
func TestClockShifts(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, by := range map[string]time.Duration{"5 h back": -5 * time.Hour, "5 h ahead": 5 * time.Hour, "10 years back": -10 * year, "10 years ahead": 10 * year} {
		t.Run(name, func(t *testing.T) {
			s := newShifted(t)
			s.begin()
			s.reopen(by)
			s.documents()
			s.ends(by)
			s.jobs()
		})
	}
}

// shifted is a repository that is closed and opened again.
type shifted struct {
	*world
	config storage.Config
	ids    []string // of documents and records
	ann    *storage.Principal

	key, ended string // keys, one of which is revoked
	session    string
	batch      string
	idempotent string
}

func newShifted(t *testing.T) *shifted {
	t.Helper()
	s := &shifted{idempotent: "key"}
	s.world = newWorld(t, func(c *storage.Config) { c.NewID, s.config = nil, *c })
	s.config.NewID = nil
	return s
}

// begin makes one of everything that has to do with time.
func (s *shifted) begin() {
	s.t.Helper()
	s.make("/doc", "File", storage.Props{"dc:title": "first"})
	s.update(s.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ann"}, "secret words") })
	s.ann = user("ann")
	s.ann.ID = s.id("ann")
	s.update(s.System(), func(tx *storage.Tx) error {
		root, err := tx.Doc("/doc")
		if err != nil {
			return err
		}
		s.ids = append(s.ids, root.ID())
		if _, err := tx.SetACL(root, "local", []storage.ACE{
			{User: "ann", Permission: "ReadWrite", Granted: true}, {User: "bob", Permission: "ReadWrite", Granted: true},
		}); err != nil {
			return err
		}
		for i, end := range []time.Time{s.now.Add(24 * time.Hour), {}} {
			k, text, err := credential.CreateKey(tx, credential.Key{User: "ann", Name: "k", Scope: credential.ScopeWrite, Expires: end})
			if err != nil {
				return err
			}
			if s.key = text; i == 1 {
				continue
			}
			s.ended, s.key = text, ""
			if err := credential.RevokeKey(tx, k.ID); err != nil {
				return err
			}
		}
		for kind, due := range map[string]time.Duration{"soon": 0, "later": time.Hour} {
			if err := outbox.Enqueue(tx, outbox.Job{Kind: kind, Due: s.now.Add(due)}); err != nil {
				return err
			}
		}
		return tx.Table("idempotency").Put(s.idempotent, map[string]any{"body": "x", "expires": s.now.Add(storage.IdempotencyTime)})
	})
	s.update(s.ann, func(tx *storage.Tx) error {
		d, err := tx.Doc("/doc")
		if err == nil {
			_, err = tx.Lock(d)
		}
		if err != nil {
			return err
		}
		b, err := upload.Open(tx, upload.Handler)
		if err != nil {
			return err
		}
		s.batch = b.ID
		_, err = uisession.Open(tx, "ui")
		return err
	})
	var err error
	if s.session, _, err = credential.OpenSession(s.t.Context(), s.Repo, "ann", "secret words"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shifted) id(name string) (id int64) {
	s.view(s.System(), func(tx *storage.Tx) error {
		p, err := storage.PrincipalOf(tx, name)
		if err == nil {
			id = p.ID
		}
		return err
	})
	return id
}

func (s *shifted) reopen(by time.Duration) {
	s.t.Helper()
	if err := s.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.now = s.now.Add(by)
	var err error
	if s.Repo, err = storage.Open(s.t.Context(), s.config, adminPassword); err != nil {
		s.t.Fatal(err)
	}
}

// documents changes documents after the shift.
func (s *shifted) documents() {
	s.t.Helper()
	save := func(as *storage.Principal, title string) error {
		return s.Update(s.t.Context(), as, func(tx *storage.Tx) error {
			d, err := tx.Doc("/doc")
			if err == nil {
				err = d.Set("dc:title", title)
			}
			if err == nil {
				_, err = tx.Save(d, storage.SaveOptions{ChangeToken: d.ChangeToken()})
			}
			return err
		})
	}
	for _, title := range []string{"second", "third"} {
		if err := save(s.ann, title); err != nil {
			s.t.Errorf("saving is refused: %v", err)
		}
	}
	s.update(s.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/doc")
		if err == nil && storage.Prop[time.Time](d, "dc:modified") != s.now {
			s.t.Errorf("modified at %v, saved at %v", storage.Prop[time.Time](d, "dc:modified"), s.now)
		}
		return err
	})
	for range 100 {
		s.update(s.System(), func(tx *storage.Tx) error {
			root, err := tx.Root()
			if err != nil {
				return err
			}
			d, err := tx.Create(root, "File", "same", nil)
			if err == nil {
				s.ids = append(s.ids, d.ID())
			}
			return err
		})
	}
	slices.Sort(s.ids)
	if n := len(slices.Compact(s.ids)); n != 101 {
		s.t.Errorf("%d different ids of 101 documents", n)
	}
	wantKind(s.t, s.Update(s.t.Context(), user("bob"), func(tx *storage.Tx) error {
		d, err := tx.Doc("/doc")
		if err == nil {
			_, err = tx.Lock(d)
		}
		return err
	}), fault.Conflict, "locked by ann")
	s.update(s.ann, func(tx *storage.Tx) error {
		d, err := tx.Doc("/doc")
		if err == nil {
			_, err = tx.Unlock(d)
		}
		return err
	})
}

// sweep is what a server does every few minutes.
func (s *shifted) sweep() {
	s.t.Helper()
	for _, sweep := range []func(context.Context, *storage.Repo) error{credential.Sweep, upload.Sweep, uisession.Sweep} {
		if err := sweep(s.t.Context(), s.Repo); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := s.Sweep(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// lasting are the things that end by themselves, each with its span and whether it is there.
func (s *shifted) lasting() map[string]struct {
	span  time.Duration
	there func() error
} {
	type lasts = struct {
		span  time.Duration
		there func() error
	}
	return map[string]lasts{
		"session": {12 * time.Hour, func() error {
			_, err := credential.SignInSession(s.t.Context(), s.Repo, s.session)
			return err
		}},
		"batch": {24 * time.Hour, func() error {
			return s.View(s.t.Context(), s.ann, func(tx *storage.Tx) error {
				_, err := upload.BatchOf(tx, s.batch)
				return err
			})
		}},
		"UI session": {12 * time.Hour, func() error {
			return s.View(s.t.Context(), s.ann, func(tx *storage.Tx) error {
				_, err := uisession.Of(tx, "ui")
				return err
			})
		}},
		"idempotency key": {storage.IdempotencyTime, func() error {
			return s.View(s.t.Context(), s.System(), func(tx *storage.Tx) error {
				var row struct {
					Body    string    `json:"body"`
					Expires time.Time `json:"expires"`
				}
				ok, err := tx.Table("idempotency").Get(s.idempotent, &row)
				if err == nil && (!ok || !tx.Now().Before(row.Expires)) {
					err = fault.NotFound.Errorf("no row")
				}
				if err == nil && row.Body != "x" {
					s.t.Errorf("the row is damaged: %+v", row)
				}
				return err
			})
		}},
	}
}

// ends looks at what ends by itself, just after the shift and once its span has passed.
func (s *shifted) ends(by time.Duration) {
	s.t.Helper()
	before := s.now
	key := func(text string) error {
		_, err := credential.SignInKey(s.t.Context(), s.Repo, text)
		return err
	}
	s.sweep()
	wantKind(s.t, key(s.ended), fault.Denied, "")
	if err := key(s.key); err != nil {
		s.t.Errorf("a key without an end: %v", err)
	}
	for name, lasts := range s.lasting() {
		if err := lasts.there(); (err == nil) != (by < lasts.span) {
			s.t.Errorf("%s, after the shift: %v", name, err)
		}
	}
	for name, lasts := range s.lasting() {
		s.now = before.Add(lasts.span + time.Second)
		if err := lasts.there(); err == nil {
			s.t.Errorf("%s is still there %s after the shift", name, lasts.span)
		}
	}
	s.now = before
}

// jobs holds that no job waits longer than it was to.
func (s *shifted) jobs() {
	s.t.Helper()
	run := func(kind string) {
		s.t.Helper()
		ran := make(chan string, 2)
		do := outbox.Handler{Do: func(_ context.Context, j outbox.Job) error {
			ran <- j.Kind
			return nil
		}}
		ctx, cancel := context.WithCancel(s.t.Context())
		ended := make(chan error, 1)
		go func() { ended <- outbox.Run(ctx, s.Repo, outbox.Handlers{kind: do}) }()
		select {
		case <-ran:
		case <-time.After(5 * time.Second):
			s.t.Errorf("job %s does not run", kind)
		}
		cancel()
		<-ended
	}
	run("soon")
	s.now = s.now.Add(time.Hour + time.Second)
	run("later")
}

// TestClockSetBackAtWork sets the clock back while jobs wait for it.
func TestClockSetBackAtWork(t *testing.T) {
	clock := make(chan time.Time, 1)
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock <- base
	now := func() time.Time {
		at := <-clock
		clock <- at
		return at
	}
	set := func(at time.Time) {
		<-clock
		clock <- at
	}
	w := newWorld(t, func(c *storage.Config) { c.Clock = now })
	const jobs = 1200
	w.update(w.System(), func(tx *storage.Tx) error {
		for range jobs {
			if err := outbox.Enqueue(tx, outbox.Job{Kind: "later", Due: base.Add(time.Minute)}); err != nil {
				return err
			}
		}
		return outbox.Enqueue(tx, outbox.Job{Kind: "soon"})
	})
	ran := make(chan string, jobs+1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		do := outbox.Handler{Do: func(_ context.Context, j outbox.Job) error {
			ran <- j.Kind
			return nil
		}}
		ended <- outbox.Run(ctx, w.Repo, outbox.Handlers{"soon": do, "later": do})
	}()
	if kind := <-ran; kind != "soon" {
		t.Fatalf("job %s runs first", kind)
	}
	back := base.Add(-5 * time.Hour)
	set(back)
	due := func() (last time.Time) {
		w.view(w.System(), func(tx *storage.Tx) error {
			all, err := outbox.Jobs(tx, "", "", jobs)
			for _, j := range all {
				if j.Due.After(last) {
					last = j.Due
				}
			}
			return err
		})
		return last
	}
	for end := time.Now().Add(10 * time.Second); !due().Equal(back.Add(time.Minute)); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("a job is due at %v, want %v", due(), back.Add(time.Minute))
		}
	}
	set(back.Add(time.Minute))
	for range jobs {
		select {
		case <-ran:
		case <-time.After(20 * time.Second):
			t.Fatal("a job does not run")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
