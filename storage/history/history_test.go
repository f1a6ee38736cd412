package history_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/history"
	"catena/storage/internal/row"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// world keeps runs 01 to 09 of alice, bob and the system, of which every third failed, an hour apart.
type world struct {
	*testing.T
	repo  *storage.Repo
	now   time.Time
	began time.Time
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, began: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	w.now = w.began
	w.repo = storagetest.Open(t, func(c *storage.Config) { c.Clock = func() time.Time { return w.now } })
	w.update(func(tx *storage.Tx) error {
		return errors.Join(people.SaveUser(tx, &people.User{Username: "alice"}, "alice-password"), people.SaveUser(tx, &people.User{Username: "bob"}, "alice-password"))
	})
	return w
}

func (w *world) update(f func(tx *storage.Tx) error) {
	w.Helper()
	if err := w.repo.Update(w.Context(), w.repo.System(), f); err != nil {
		w.Fatal(err)
	}
}

func (w *world) owner(name string) storage.Owned {
	w.Helper()
	p, err := w.repo.Principal(w.Context(), name)
	if err != nil {
		w.Fatal(err)
	}
	return storage.OwnedBy(p)
}

func (w *world) run(n int, user string) history.Run {
	return history.Run{
		ID: fmt.Sprintf("0-%02d", n), Owned: w.owner(user), Repository: "default", Op: []string{"Even", "Odd"}[n%2], EntryPoint: "rest",
		Start: w.began.Add(time.Duration(n) * time.Hour), Duration: time.Duration(n), Expires: w.began.Add(time.Duration(n+24) * time.Hour),
	}
}

func (w *world) fill() {
	w.Helper()
	w.update(func(tx *storage.Tx) error {
		var done []history.Ended
		for n := 1; n <= 9; n++ {
			r := w.run(n, []string{"alice", "bob"}[n%2])
			if n%3 != 0 {
				done = append(done, history.Ended{Run: r, Details: history.Details{Params: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Trace: json.RawMessage(`{"op":"x"}`)}})
				continue
			}
			r.Code, r.Error, r.Internal = "internal", "disk /dev/sda", true
			if err := history.KeepFailed(tx, r, history.Details{Trace: json.RawMessage(`{"op":"y"}`)}, history.Limits{All: 10, User: 10}); err != nil {
				return err
			}
		}
		return history.Keep(tx, history.Pack(done))
	})
}

func (w *world) list(as string, f history.Filter) (ids []string, more bool) {
	w.Helper()
	p, err := w.repo.Principal(w.Context(), as)
	if err != nil {
		w.Fatal(err)
	}
	if f.Limit == 0 {
		f.Limit = 100
	}
	err = w.repo.View(w.Context(), p, func(tx *storage.Tx) error {
		var list []history.Run
		list, more, err = history.List(tx, &f)
		ids = nil
		for _, r := range list {
			ids = append(ids, r.ID[2:])
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return ids, more
}

// TestList chooses runs that went well and runs that failed by all there is to choose by.
func TestList(t *testing.T) {
	w := newWorld(t)
	w.fill()
	for _, c := range []struct {
		as   string
		f    history.Filter
		want string
	}{
		{"Administrator", history.Filter{}, "[09 08 07 06 05 04 03 02 01] false"},
		{"Administrator", history.Filter{State: history.Failed}, "[09 06 03] false"},
		{"Administrator", history.Filter{State: history.Done, Limit: 2}, "[08 07] true"},
		{"Administrator", history.Filter{Before: "0-07", Limit: 3}, "[06 05 04] true"},
		{"Administrator", history.Filter{Limit: 9}, "[09 08 07 06 05 04 03 02 01] false"},
		{"Administrator", history.Filter{Op: "Even", User: "alice"}, "[08 06 04 02] false"},
		{"Administrator", history.Filter{Since: w.began.Add(3 * time.Hour), Until: w.began.Add(5 * time.Hour)}, "[04 03] false"},
		{"Administrator", history.Filter{Code: "internal", User: "bob"}, "[09 03] false"},
		{"alice", history.Filter{}, "[08 06 04 02] false"},
		{"alice", history.Filter{User: "bob"}, "[] false"},
		{"bob", history.Filter{Before: "0-09", Limit: 1}, "[07] true"},
	} {
		ids, more := w.list(c.as, c.f)
		if got := fmt.Sprint(ids, more); got != c.want {
			t.Errorf("%s %+v: %s, want %s", c.as, c.f, got, c.want)
		}
	}
}

// TestGet reads runs as their owner, as an administrator and as somebody else.
func TestGet(t *testing.T) {
	w := newWorld(t)
	w.fill()
	for _, c := range []struct{ as, id, want string }{
		{"alice", "0-02", `done  {"n":2} {"op":"x"}`},
		{"alice", "0-06", `failed the server failed  `},
		{"Administrator", "0-06", `failed disk /dev/sda  {"op":"y"}`},
		{"Administrator", "0-07", `done  {"n":7} {"op":"x"}`},
		{"alice", "0-07", "notfound"},
		{"alice", "0-09", "notfound"},
		{"Administrator", "0-0", "notfound"},
		{"Administrator", "", "notfound"},
		{"Administrator", "0-07/bob#3", "notfound"},
	} {
		p, err := w.repo.Principal(t.Context(), c.as)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		err = w.repo.View(t.Context(), p, func(tx *storage.Tx) error {
			r, d, err := history.Get(tx, c.id)
			got = fmt.Sprintf("%s %s %s %s", r.State(), r.Error, d.Params, d.Trace)
			return err
		})
		if err != nil {
			got = fault.Of(err).String()
		}
		if got != c.want {
			t.Errorf("%s as %s: %s, want %s", c.id, c.as, got, c.want)
		}
	}
	err := w.repo.Update(t.Context(), &storage.Principal{Name: "Administrator", Admin: true}, func(tx *storage.Tx) error { return history.Keep(tx, nil) })
	if fault.Of(err) != fault.Denied {
		t.Errorf("a client writes runs: %v", err)
	}
}

// TestSweep forgets runs that are old, and those beyond the limits of all and of one user.
func TestSweep(t *testing.T) {
	for _, c := range []struct {
		limits history.Limits
		hours  int
		want   string
	}{
		{history.Limits{All: 100, User: 100}, 0, "[08 07 05 04 02 01]"},
		{history.Limits{All: 100, User: 100}, 28, "[08 07 05 04]"},
		{history.Limits{All: 3, User: 100}, 0, "[08 07 05]"},
		{history.Limits{All: 100, User: 1}, 0, "[08 07]"},
		{history.Limits{All: 2, User: 1}, 32, "[08]"},
	} {
		w := newWorld(t)
		w.fill()
		w.now = w.began.Add(time.Duration(c.hours) * time.Hour)
		for range 2 {
			if err := history.Sweep(t.Context(), w.repo, c.limits); err != nil {
				t.Fatal(err)
			}
			w.now = w.began // what is gone is not only hidden
			if ids, _ := w.list("Administrator", history.Filter{State: history.Done}); fmt.Sprint(ids) != c.want {
				t.Errorf("%+v after %d hours: %v, want %s", c.limits, c.hours, ids, c.want)
			}
			w.now = w.began.Add(time.Duration(c.hours) * time.Hour)
		}
	}
}

// TestLeave deletes a user: no run of theirs is left, and all of others.
func TestLeave(t *testing.T) {
	w := newWorld(t)
	w.fill()
	w.update(func(tx *storage.Tx) error { return people.DeleteUser(tx, "alice") })
	ids, _ := w.list("Administrator", history.Filter{})
	if !slices.Equal(ids, []string{"09", "07", "05", "03", "01"}) {
		t.Errorf("left: %v", ids)
	}
}

// TestSize keeps a run of a chain of ten steps: it takes at most 1 KB with its keys.
func TestSize(t *testing.T) {
	w := newWorld(t)
	var steps []string
	for n := range 10 {
		steps = append(steps, fmt.Sprintf(`{"op":"Document.SetProperty","input":"File /default-domain/workspaces/desk/report-%d","output":"File /default-domain/workspaces/desk/report-%d","params":{"value":"Value %d","xpath":"dc:title"},"start":"2026-01-01T10:20:30.%dZ","duration":%d,"line":%d}`,
			n, n+1, n, 123456789+n*98765432, 45678+n*1234, 5+2*n))
	}
	r := w.run(1, "alice")
	r.ID, r.Op, r.Version, r.Request = "1a215bbfee0-0000000005", "Report.Review", 3, "e00d8e68a9735cfb"
	trace := `{"id":"d50ff875b9635847c3b2c0e81f9f6c21","op":"Report.Review","input":"/","output":"File /x","start":"2026-01-01T10:20:30Z","duration":512345,"user":"alice","requestId":"e00d8e68a9735cfb","steps":[` + strings.Join(steps, ",") + `]}`
	w.update(func(tx *storage.Tx) error {
		return history.Keep(tx, history.Pack([]history.Ended{{Run: r, Details: history.Details{Input: json.RawMessage(`"/default-domain"`), Params: json.RawMessage(`{"title":"One"}`), Trace: json.RawMessage(trace)}}}))
	})
	size := 0
	w.update(func(tx *storage.Tx) error {
		for _, table := range []string{"runblocks", "runblockdetails"} {
			for key, raw := range tx.Secret(row.Secret{Name: table}).Scan("", "", false, 0) {
				size += len(key) + len(table) + 2 + len(raw)
			}
		}
		return tx.Err()
	})
	t.Logf("%d bytes of JSON take %d", len(trace), size)
	if size < 300 || size > 1024 {
		t.Errorf("%d bytes", size)
	}
}

// TestFiltersOverMany finds the few runs among 10,000 that fit each filter, exactly and page by page.
func TestFiltersOverMany(t *testing.T) {
	w := newWorld(t)
	alice, bob := w.owner("alice"), w.owner("bob")
	const n = 10_000
	for from := 0; from < n; from += 500 {
		w.update(func(tx *storage.Tx) error {
			var all []history.Ended
			for i := from; i < from+500; i++ {
				r := history.Run{
					ID: fmt.Sprintf("0-%05d", i), Owned: alice, Repository: "default", Op: "Often", EntryPoint: "rest", Request: fmt.Sprintf("r%d", i),
					Start: w.began.Add(time.Duration(i) * time.Second), Duration: time.Millisecond, Expires: w.began.Add(240 * time.Hour),
				}
				if i%1000 == 7 {
					r.Op = "Rare"
				}
				if i%2000 == 9 {
					r.Owned = bob
				}
				all = append(all, history.Ended{Run: r})
			}
			return history.Keep(tx, history.Pack(all))
		})
	}
	w.update(func(tx *storage.Tx) error {
		r := history.Run{ID: "0-05000x", Owned: bob, Repository: "default", Op: "Rare", EntryPoint: "rest", Start: w.began.Add(5000 * time.Second), Code: "invalid", Error: "no", Expires: w.began.Add(240 * time.Hour)}
		return history.KeepFailed(tx, r, history.Details{}, history.Limits{All: 10, User: 10})
	})
	at := func(s int) time.Time { return w.began.Add(time.Duration(s) * time.Second) }
	for _, c := range []struct {
		as   string
		f    history.Filter
		want string
	}{
		{"Administrator", history.Filter{Op: "Rare"}, "[09007 08007 07007 06007 05007 05000x 04007 03007 02007 01007 00007]"},
		{"Administrator", history.Filter{User: "bob"}, "[08009 06009 05000x 04009 02009 00009]"},
		{"Administrator", history.Filter{User: "bob", State: history.Failed}, "[05000x]"},
		{"Administrator", history.Filter{Code: "invalid"}, "[05000x]"},
		{"Administrator", history.Filter{Request: "r4321"}, "[04321]"},
		{"Administrator", history.Filter{Since: at(5006), Until: at(5009)}, "[05008 05007 05006]"},
		{"Administrator", history.Filter{Since: at(2000), Until: at(7000), Op: "Rare", State: history.Done}, "[06007 05007 04007 03007 02007]"},
		{"bob", history.Filter{}, "[08009 06009 05000x 04009 02009 00009]"},
		{"bob", history.Filter{Op: "Often"}, "[08009 06009 04009 02009 00009]"},
		{"alice", history.Filter{User: "bob"}, "[]"},
	} {
		began := time.Now()
		var ids []string
		f := c.f
		f.Limit = 2
		for more := true; more; {
			var page []string
			page, more = w.list(c.as, f)
			ids = append(ids, page...)
			if len(page) > 0 {
				f.Before = "0-" + page[len(page)-1]
			}
		}
		if got := fmt.Sprint(ids); got != c.want {
			t.Errorf("%s %+v: %s, want %s", c.as, c.f, got, c.want)
		}
		if took := time.Since(began); took > 10*time.Second { // much more than it takes, for slow machines
			t.Errorf("%s %+v took %s", c.as, c.f, took)
		} else {
			t.Logf("%s %+v: %s", c.as, c.f, took.Round(time.Millisecond))
		}
	}
}

// TestOverlappingBlocks keeps runs of three servers in blocks that overlap, some of them long after they began, and in rows of the
// version before. Lists, pages, single runs, limits and the end of a user are as they are of a plain list.
func TestOverlappingBlocks(t *testing.T) {
	w := newWorld(t)
	owners := []storage.Owned{w.owner("alice"), w.owner("bob")}
	r := rand.New(rand.NewPCG(7, 0)) //nolint:gosec // an order
	var all []history.Run
	for i := range 600 {
		start := w.began.Add(time.Duration(r.IntN(8000)) * time.Millisecond)
		all = append(all, history.Run{
			ID: fmt.Sprintf("%x%06x-%010x", start.UnixMilli(), i%3, i), Owned: owners[r.IntN(2)], Repository: "default", Op: []string{"Even", "Odd"}[r.IntN(2)], EntryPoint: "rest",
			Start: start, Duration: time.Second, Expires: w.began.Add(time.Duration(1+r.IntN(3)) * time.Hour),
		})
	}
	for part := range slices.Chunk(all, 40) {
		var ended []history.Ended
		rows := r.IntN(5) == 0
		for i, run := range part {
			if rows { // their limits count what has expired
				run.Expires = w.began.Add(3 * time.Hour)
				part[i] = run
			}
			ended = append(ended, history.Ended{Run: run, Details: history.Details{Params: json.RawMessage(fmt.Sprintf("%q", run.ID))}})
		}
		w.update(func(tx *storage.Tx) error {
			if rows {
				return history.KeepRows(tx, ended)
			}
			return history.Keep(tx, history.Pack(ended))
		})
	}
	slices.SortFunc(all, func(a, b history.Run) int { return strings.Compare(b.ID, a.ID) })
	w.same(all, history.Filter{})
	w.same(all, history.Filter{Op: "Odd", User: "bob"})
	w.same(all, history.Filter{Since: w.began.Add(2 * time.Second), Until: w.began.Add(3 * time.Second)})

	// What has expired is gone, and so is what is too much.
	w.now = w.began.Add(90 * time.Minute)
	all = slices.DeleteFunc(all, func(run history.Run) bool { return w.now.After(run.Expires) })
	w.same(all, history.Filter{})
	limits := history.Limits{All: 1000, User: 150}
	if err := history.Sweep(t.Context(), w.repo, limits); err != nil {
		t.Fatal(err)
	}
	own := map[string]int{}
	inBlocks := slices.DeleteFunc(slices.Clone(all), func(run history.Run) bool {
		own[run.Owner]++
		return own[run.Owner] > limits.User
	})
	ids, _ := w.list("Administrator", history.Filter{Limit: 1000})
	if len(ids) != len(inBlocks) {
		t.Errorf("%d runs are left, want %d", len(ids), len(inBlocks))
	}
	w.update(func(tx *storage.Tx) error { return people.DeleteUser(tx, "alice") })
	if left, _ := w.list("Administrator", history.Filter{Limit: 1000, User: "alice"}); len(left) != 0 {
		t.Errorf("of a user who is gone: %v", left)
	}
	if left, _ := w.list("Administrator", history.Filter{Limit: 1000}); len(left) != min(own["bob"], limits.User) {
		t.Errorf("%d runs of the other user, want %d", len(left), own["bob"])
	}
	if err := history.Sweep(t.Context(), w.repo, history.Limits{All: 10, User: 1000}); err != nil {
		t.Fatal(err)
	}
	if left, _ := w.list("Administrator", history.Filter{Limit: 1000}); len(left) != 10 {
		t.Errorf("%d runs are left, want 10", len(left))
	}
}

// same compares lists with what they are of a plain list, in pages of several sizes, and single runs.
func (w *world) same(all []history.Run, f history.Filter) {
	w.Helper()
	var want []string
	for i := range all {
		if f.Fits(&all[i]) {
			want = append(want, all[i].ID[2:])
		}
	}
	if len(want) < 20 {
		w.Fatalf("%d runs fit %+v", len(want), f)
	}
	for _, size := range []int{1, 7, 100, 1000} {
		var got []string
		f := f
		for more := true; more; {
			var page []string
			f.Limit = size
			page, more = w.list("Administrator", f)
			got = append(got, page...)
			f.Before = all[0].ID[:2] + got[len(got)-1]
		}
		if !slices.Equal(got, want) {
			w.Errorf("%+v in pages of %d: %d runs, want %d\n%v\n%v", f, size, len(got), len(want), got, want)
		}
	}
	for i := 0; i < len(all); i += 50 {
		err := w.repo.View(w.Context(), w.repo.System(), func(tx *storage.Tx) error {
			r, d, err := history.Get(tx, all[i].ID)
			if r != all[i] || string(d.Params) != fmt.Sprintf("%q", all[i].ID) {
				w.Errorf("%+v with %s, want %+v", r, d.Params, all[i])
			}
			return err
		})
		if err != nil {
			w.Error(all[i].ID, err)
		}
	}
}
