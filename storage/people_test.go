package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/outbox"
	"catena/storage/owner"
	"catena/storage/people"
)

func TestUsersAndGroups(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	admin, err := credential.SignIn(ctx, w.Repo, "Administrator", adminPassword)
	if err != nil {
		t.Fatal(err)
	}
	if !admin.Admin || !slices.Equal(admin.Groups, []string{"administrators", "members"}) {
		t.Errorf("administrator: %+v", admin)
	}
	w.update(admin, func(tx *storage.Tx) error {
		u, err := people.Lookup(tx, "Administrator")
		if err != nil || !slices.Equal(u.Groups, []string{"administrators"}) {
			t.Errorf("groups %v %v", u, err)
		}
		return errors.Join(
			people.SaveGroup(tx, &people.Group{Name: "staff", Groups: []string{"team"}}),
			people.SaveGroup(tx, &people.Group{Name: "team"}),
			people.SaveUser(tx, &people.User{Username: "ミカエル/@", Groups: []string{"team"}}, "pw"),
			people.SaveUser(tx, &people.User{Username: "pat", Groups: []string{"powerusers"}}, "pw"),
		)
	})
	p, err := credential.SignIn(ctx, w.Repo, "ミカエル/@", "pw")
	if err != nil || !slices.Equal(p.Groups, []string{"team", "members", "staff"}) || p.Admin {
		t.Errorf("principal %+v %v", p, err)
	}
	w.view(p, func(tx *storage.Tx) error {
		g, err := people.LookupGroup(tx, "team")
		if err != nil || !slices.Equal(g.Users, []string{"ミカエル/@"}) {
			t.Errorf("team: %+v %v", g, err)
		}
		_, err = people.Lookup(tx, "nobody")
		wantKind(t, err, fault.NotFound, "user does not exist: nobody")
		_, err = people.LookupNamed(tx, "nobody")
		if err == nil || err.Error() != "user does not exist" {
			t.Errorf("the platform's words: %v", err)
		}
		return nil
	})
	pat := user("pat", "powerusers")
	for _, c := range []struct {
		name string
		as   *storage.Principal
		want fault.Kind
		do   func(*storage.Tx) error
	}{
		{"circle", admin, fault.Conflict, func(tx *storage.Tx) error {
			return people.SaveGroup(tx, &people.Group{Name: "team", Groups: []string{"staff"}})
		}},
		{"unknown group", admin, fault.Denied, func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: "x", Groups: []string{"none"}}, "")
		}},
		{"no name", admin, fault.Invalid, func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{}, "") }},
		{"own groups", p, fault.Denied, func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: p.Name, Groups: []string{"administrators"}}, "")
		}},
		{"another user", p, fault.Denied, func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: "Administrator"}, "stolen")
		}},
		{"own name", p, 255, func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: p.Name, FirstName: "M", Groups: []string{"team"}}, "new")
		}},
		{"power user promotes", pat, fault.Denied, func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: "x", Groups: []string{"administrators"}}, "")
		}},
		{"power user edits administrator", pat, fault.Denied, func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: "Administrator"}, "")
		}},
		{"power user makes group of administrators", pat, fault.Denied, func(tx *storage.Tx) error {
			return people.SaveGroup(tx, &people.Group{Name: "administrators", Users: []string{"pat"}})
		}},
		{"power user makes user", pat, 255, func(tx *storage.Tx) error {
			return people.SaveUser(tx, &people.User{Username: "x", Groups: []string{"team"}}, "")
		}},
		{"delete group", admin, 255, func(tx *storage.Tx) error { return people.DeleteGroup(tx, "team") }},
		{"delete user", pat, 255, func(tx *storage.Tx) error { return people.DeleteUser(tx, "x") }},
	} {
		err := w.Update(ctx, c.as, c.do)
		if c.want == 255 && err != nil || c.want != 255 && !fault.Is(err, c.want) {
			t.Errorf("%s: %v (%v)", c.name, err, fault.Of(err))
		}
	}
	if _, err := credential.SignIn(ctx, w.Repo, p.Name, "pw"); !fault.Is(err, fault.Denied) {
		t.Errorf("old password still works: %v", err)
	}
	if p, err = credential.SignIn(ctx, w.Repo, p.Name, "new"); err != nil || !slices.Equal(p.Groups, []string{"members"}) {
		t.Errorf("after the group went: %+v %v", p, err)
	}
}

func TestTables(t *testing.T) {
	w := newWorld(t)
	w.update(w.System(), func(tx *storage.Tx) error {
		b := tx.Table("x")
		for _, k := range []string{"b", "a", "c/1", "c/2", "d"} {
			if err := b.Create(k, map[string]string{"k": k}); err != nil {
				return err
			}
		}
		if err := tx.Table("xy").Put("z", 1); err != nil {
			return err
		}
		wantKind(t, b.Create("a", 1), fault.Exists, "x a")
		return b.Delete("d")
	})
	w.view(w.System(), func(tx *storage.Tx) error {
		b := tx.Table("x")
		for _, c := range []struct {
			from, to string
			reverse  bool
			limit    int
			want     string
		}{
			{"", "", false, 0, "a b c/1 c/2"}, {"b", "c/2", false, 0, "b c/1"}, {"", "", true, 2, "c/2 c/1"},
		} {
			var got []string
			for k, v := range b.Scan(c.from, c.to, c.reverse, c.limit) {
				var row struct{ K string }
				if err := json.Unmarshal(v, &row); err != nil || row.K != k {
					t.Errorf("%s: %s %v", k, v, err)
				}
				got = append(got, k)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		}
		var row map[string]string
		if ok, err := b.Get("d", &row); ok || err != nil {
			t.Errorf("deleted row: %t %v", ok, err)
		}
		return nil
	})
	w.update(w.System(), func(tx *storage.Tx) error {
		b := tx.Table("idempotency")
		return errors.Join(b.Put("old", map[string]any{"expires": w.now.Add(-time.Hour)}), b.Put("new", map[string]any{"expires": w.now.Add(time.Hour)}))
	})
	if err := w.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.view(user("bob"), func(tx *storage.Tx) error {
		var left []string
		for k := range tx.Table("idempotency").Scan("", "", false, 0) {
			left = append(left, k)
		}
		if len(left) != 1 || left[0] != "new" {
			t.Errorf("left: %v", left)
		}
		return nil
	})
	err := w.Update(context.Background(), user("bob"), func(tx *storage.Tx) error {
		users, err := people.UserTable(tx)
		if err != nil {
			return err
		}
		return users.Put("eve", 1)
	})
	wantKind(t, err, fault.Denied, "users")
}

func TestJobs(t *testing.T) {
	var skip atomic.Int64
	base := time.Now()
	w := newWorld(t, func(c *storage.Config) {
		c.Clock = func() time.Time { return base.Add(time.Duration(skip.Load())) }
	})
	ctx, cancel := context.WithCancel(context.Background())
	enqueue := func(jobs ...outbox.Job) {
		w.update(user("bob"), func(tx *storage.Tx) error {
			for _, j := range jobs {
				if err := outbox.Enqueue(tx, j); err != nil {
					return err
				}
			}
			return nil
		})
	}
	rolledBack := errors.New("rolled back")
	err := w.Update(ctx, user("bob"), func(tx *storage.Tx) error {
		return errors.Join(outbox.Enqueue(tx, outbox.Job{Kind: "ok", Data: json.RawMessage(`"never"`)}), rolledBack)
	})
	if !errors.Is(err, rolledBack) {
		t.Fatal(err)
	}
	enqueue(outbox.Job{Kind: "ok", Data: json.RawMessage(`1`)}, outbox.Job{Kind: "bad"}, outbox.Job{Kind: "never", ID: "never"}, outbox.Job{Kind: "unknown"},
		outbox.Job{Kind: "ok", Data: json.RawMessage(`2`), Due: base.Add(time.Hour)})
	var put atomic.Bool
	done, bad := make(chan string, 10), make(chan int, 100)
	end := make(chan error)
	go func() {
		end <- outbox.Run(ctx, w.Repo, outbox.Handlers{
			"ok": {Do: func(_ context.Context, j outbox.Job) error { done <- j.As + string(j.Data); return nil }},
			"never": {Do: func(_ context.Context, j outbox.Job) error {
				if j.Data == nil || put.CompareAndSwap(false, true) {
					return &outbox.Later{At: base.Add(time.Minute), Why: "not yet"}
				}
				return &outbox.GaveUp{Err: errors.New("too late")}
			}},
			"bad": {Do: func(_ context.Context, j outbox.Job) error {
				bad <- j.Tries
				if j.Tries == 2 {
					panic("at the disco")
				}
				return errors.New("no luck")
			}},
		})
	}()
	if got := <-done; got != "bob1" {
		t.Errorf("job %s", got)
	}
	for want := 1; want <= 8; want++ {
		if got := <-bad; got != want {
			t.Errorf("try %d, want %d", got, want)
		}
		for running := true; running; time.Sleep(time.Millisecond) { // or the time in which it has to end would be over
			w.view(w.System(), func(tx *storage.Tx) error {
				jobs, err := outbox.Jobs(tx, outbox.Runs, "", 1)
				running = len(jobs) > 0
				return err
			})
		}
		skip.Add(int64(24 * time.Hour))
		enqueue(outbox.Job{Kind: "unknown"}) // wakes the worker
	}
	if got := <-done; got != "bob2" {
		t.Errorf("late job %s", got)
	}
	cancel()
	if err := <-end; err != nil {
		t.Error(err)
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		jobs, err := outbox.Jobs(tx, "", "", 100)
		if err != nil || len(jobs) != 11 || jobs[0].State != outbox.GivenUp || jobs[0].Failure != "no luck" || jobs[1].Failure != "too late" {
			t.Errorf("jobs %+v: %v", jobs, err)
		}
		if jobs, err = outbox.Jobs(tx, outbox.Waits, "unknown", 5); err != nil || len(jobs) != 5 {
			t.Errorf("waiting jobs %+v: %v", jobs, err)
		}
		return nil
	})
	wantKind(t, w.Update(context.Background(), user("bob"), func(tx *storage.Tx) error { return outbox.Delete(tx, "never") }), fault.Denied, "outbox")
	w.update(w.System(), func(tx *storage.Tx) error {
		_, err := outbox.Retry(tx, "nope")
		wantKind(t, err, fault.NotFound, "job nope")
		if j, err := outbox.Retry(tx, "never"); err != nil || j.State != outbox.Waits || j.Tries != 0 {
			t.Errorf("retried: %+v %v", j, err)
		}
		return outbox.Delete(tx, "never")
	})
	skip.Add(int64(30 * 24 * time.Hour))
	if err := w.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := w.rows("j\x02"); n != 0 {
		t.Errorf("%d dead jobs after the sweep", n)
	}
}

func TestReopen(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "File", storage.Props{"dc:title": "F"})
	again, err := storage.Open(context.Background(), storage.Config{DB: w.db, Blobs: w.blobs, Types: w.Types(), Owners: owner.All}, "other")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := credential.SignIn(context.Background(), again, "Administrator", adminPassword); err != nil {
		t.Error(err)
	}
	if err := again.View(context.Background(), again.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err == nil && d.Title() != "F" {
			t.Errorf("title %s", d.Title())
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
