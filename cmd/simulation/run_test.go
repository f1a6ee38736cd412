package simulation

import (
	"context"
	"errors"
	"testing/synctest"
	"time"

	"catena/storage"
	"catena/storage/disk/disktest"
	"catena/storage/outbox"
	"catena/storage/people"
)

// play runs the clients, with the crashes and faults that the seed has, until they have ended and nothing is left to
// be done, and checks everything.
func (w *world) play() {
	w.sched.history.from = time.Now()
	if w.disk.machine = w.machine; w.machine != nil {
		s, err := w.machine.boot()
		if err != nil {
			w.t.Fatal(err)
		}
		w.disk.Store = s
		w.machine.fs.Set(disktest.Plan{})
	}
	for n := range w.servers {
		if err := w.start(n); err != nil {
			w.t.Fatal(err)
		}
	}
	w.prepare()
	w.disk.wrong = w.wrong
	if w.machine != nil {
		w.machine.fs.Set(w.machine.plan())
	}
	w.clients()
	w.plan.rate = 0
	synctest.Wait() // what was let go last may still break the store
	if !w.over && (w.machine != nil || w.servers[0].store.broken.Load()) {
		w.crash(0) // to see what was acknowledged
	}
	w.heal()
	if w.machine != nil && !w.over {
		w.machine.fs.Set(disktest.Plan{})
	}
	if !w.over {
		w.settle()
		w.judge()
		w.check()
		w.stop()
	}
	err := w.blobs.Close()
	if w.machine != nil {
		err = errors.Join(err, w.disk.Close())
	}
	if err != nil {
		w.problem("close: %v", err)
	}
}

// clients has the clients make their calls, while the server crashes now and then.
func (w *world) clients() {
	crashes, cuts := w.moments(w.plan.crashes), w.moments(w.plan.cuts)
	for n := range clients {
		w.active.Add(1)
		go w.client(n)
	}
	steps, broken := 0, 0
	for w.active.Load() > 0 {
		t := w.sched.next()
		if t == nil {
			w.wait(10 * time.Millisecond)
			continue
		}
		if w.sched.random.IntN(w.plan.pause) == 0 {
			w.wait(time.Duration(w.sched.random.Int64N(int64(w.plan.longest))))
		}
		w.sched.release(t, w.plan.judge(w.sched.random, t))
		synctest.Wait() // or it would be left to chance how far it has come when a server crashes or is cut off
		if w.servers[0].store.broken.Load() {
			broken++
		}
		steps++
		if cuts[steps] {
			w.cut()
		}
		if !w.over && (crashes[steps] || broken > 40 || w.machine != nil && w.machine.fs.Crashed()) {
			broken = 0
			w.crash(w.one())
		}
	}
}

// one is the number of one of the servers.
func (w *world) one() int {
	if len(w.servers) == 1 {
		return 0
	}
	return w.sched.random.IntN(len(w.servers))
}

// wait lets time pass.
func (w *world) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// moments returns after which steps something happens so many times.
func (w *world) moments(times int) map[int]bool {
	at := map[int]bool{}
	for range times {
		at[1+w.sched.random.IntN(w.plan.steps)] = true
	}
	return at
}

// crash ends a server at once, and starts another on what the disk has.
func (w *world) crash(n int) {
	w.sched.history.add("crash %d", n)
	s := w.servers[n]
	s.store.dead.Store(true)
	if w.machine != nil {
		w.machine.fs.Stop()
	}
	w.end(s)
	err := w.disk.lose()
	if err == nil {
		err = w.start(n)
	}
	if err != nil {
		w.problem("the server does not start after a crash: %v", err)
		w.over = true
	}
	w.sched.history.add("started")
	if !w.over {
		w.verify(w.servers[n])
	}
}

// end has all that a server does come to an end.
func (w *world) end(s *server) {
	s.stop()
	for {
		synctest.Wait()
		let := w.sched.drain(s.store.at)
		if !let && s.busy.Load() == 0 && s.calls.Load() == 0 {
			return
		}
		if !let {
			w.wait(100 * time.Millisecond)
		}
	}
}

// settle lets everything be done that waits to be done.
func (w *world) settle() {
	for range 100_000 {
		if t := w.sched.next(); t != nil {
			w.sched.release(t, verdict{})
			continue
		}
		if w.idle() {
			return
		}
		w.wait(time.Second)
	}
	w.problem("work is left over")
}

// idle reports whether no job waits and full text is up to date.
func (w *world) idle() bool {
	b, err := outbox.Count(context.Background(), w.servers[0].repo)
	if err != nil {
		w.problem("backlog: %v", err)
		return true
	}
	if b.Jobs["waiting"]+b.Jobs["running"] > 0 {
		return false
	}
	return true
}

// stop ends the run in good order.
func (w *world) stop() {
	for _, s := range w.servers {
		w.end(s)
		if err := s.repo.Close(); err != nil {
			w.problem("close: %v", err)
		}
	}
}

// prepare makes what every run begins with: groups, users, the folder that all is in, and a webhook that is informed of
// everything.
func (w *world) prepare() {
	admin := &actor{name: "setup"}
	admin.free.Store(true)
	repo, m := w.servers[0].repo, w.model
	err := repo.Update(context.Background(), repo.System(), func(t *storage.Tx) error {
		for _, g := range []string{"group0", "group1"} {
			if err := people.SaveGroup(t, &people.Group{Name: g}); err != nil {
				return err
			}
		}
		up, err := t.Doc("/default-domain/workspaces")
		if err != nil {
			return err
		}
		base, err := t.Create(up, "Workspace", "base", nil)
		if err != nil {
			return err
		}
		m.base = base.ID()
		_, err = t.SetACL(base, "local", []storage.ACE{
			{User: "group0", Permission: "ReadWrite", Granted: true},
			{User: "group1", Permission: "Read", Granted: true},
			{User: "Everyone", Permission: "Everything"},
		})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	m.docs[m.base] = &document{id: m.base, typ: "Workspace", title: "", blocked: true, last: "system", entries: []entry{
		{user: "group0", permission: "ReadWrite"}, {user: "group1", permission: "Read"},
	}}
	as, err := w.servers[0].engine.PrincipalOf(context.Background(), administrator)
	if err != nil {
		w.t.Fatal(err)
	}
	m.people[administrator] = &person{name: administrator, number: as.ID, groups: map[string]bool{"administrators": true}}
	w.do(admin, administrator, &hook{})
	for n := range 3 {
		user := []string{"user0", "user1", "user2"}[n]
		w.do(admin, administrator, &hire{user: user, groups: []string{[]string{"group0", "group1"}[n%2]}})
	}
}
