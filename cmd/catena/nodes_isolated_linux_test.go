package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// reply is what came of a request.
type reply struct {
	name       string
	began, end time.Time
	status     int // 0: there was no answer
	text       string
}

func (r reply) took() time.Duration { return r.end.Sub(r.began).Round(time.Millisecond) }

// observer makes requests to a server over and over, each of which may take two minutes.
type observer struct {
	mu  sync.Mutex
	all []reply
}

// every makes requests until ctx ends. Next names the next one, and says what it asks for.
func (o *observer) every(ctx context.Context, p *process, user string, pause time.Duration, next func(n int) (name, method, path, body string)) {
	for n := 0; ctx.Err() == nil; n++ {
		name, method, path, body := next(n)
		r := p.try(user, method, path, body)
		r.name = name
		o.mu.Lock()
		o.all = append(o.all, r)
		o.mu.Unlock()
		time.Sleep(pause)
	}
}

// try makes a request whose answer may be an error or none.
func (p *process) try(user, method, path, body string) (r reply) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	r.began = time.Now()
	defer func() { r.end = time.Now() }()
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, strings.NewReader(body))
	if err != nil {
		return r
	}
	req.Header.Set("Content-Type", "application/json")
	password := adminPassword
	if user != "Administrator" {
		password = "a long " + user
	}
	req.SetBasicAuth(user, password)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.text = err.Error()
		return r
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	r.status, r.text = resp.StatusCode, string(text)
	return r
}

// replies are those of requests that began within a time, oldest first.
func (o *observer) replies(from, to time.Time) []reply {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(o.all), func(r reply) bool { return r.began.Before(from) || r.began.After(to) })
	slices.SortFunc(all, func(a, b reply) int { return a.began.Compare(b.began) })
	return all
}

// pauses are how long requests took at the median and at most, and the longest time without one that succeeded.
func pauses(all []reply, ok func(reply) bool) (median, longest, gap time.Duration) {
	var took []time.Duration
	var last time.Time
	ends := slices.Clone(all)
	slices.SortFunc(ends, func(a, b reply) int { return a.end.Compare(b.end) })
	for _, r := range ends {
		took = append(took, r.took())
		if !ok(r) {
			continue
		}
		if !last.IsZero() {
			gap = max(gap, r.end.Sub(last).Round(time.Millisecond))
		}
		last = r.end
	}
	if len(took) == 0 {
		return 0, 0, 0
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)-1], gap
}

func succeeded(r reply) bool { return r.status >= 200 && r.status < 300 }

// await waits, for two minutes at most, for a reply within a time that is as it should be.
func (o *observer) await(t *testing.T, what string, from time.Time, good func(reply) bool) reply {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		all := o.replies(from, time.Now())
		if i := slices.IndexFunc(all, good); i >= 0 {
			return all[i]
		}
	}
	t.Fatalf("never: %s, but %+v", what, o.replies(time.Now().Add(-time.Second), time.Now()))
	return reply{}
}

// isolation is a run in which one of two nodes is cut off from the database.
type isolation struct {
	t       *testing.T
	net     *separate
	nodes   [2]*process // the second one is cut off
	hook    *receiver
	made    []string // names of schedules
	writes  [2]observer
	reads   [2]observer
	ann     observer // at the second node
	readyz  observer
	working sync.WaitGroup
	stop    context.CancelFunc
}

// TestNodesIsolated cuts one of two nodes off from the database under load, by packets that are dropped and by a link that is
// down: it stops answering and says so, while the other one goes on, takes over its jobs, and runs none twice. Once the
// link is whole again, nobody is shown what has changed meanwhile. CATENA_KILLS sets how often.
func TestNodesIsolated(t *testing.T) {
	if os.Getenv("CATENA_KILLS") == "" {
		t.Skip("takes a minute; CATENA_KILLS=1 runs it, and so does make fault")
	}
	s := newIsolation(t)
	cuts := []struct {
		name string
		cut  func(*testing.T) func()
	}{{"packets are dropped", s.net.drop}, {"the link is down", s.net.down}}
	for i := range killCount(t, 1) {
		c := cuts[i%len(cuts)]
		s.round(i, c.name, c.cut)
	}
	s.stop()
	s.working.Wait()
	s.verify()
}

func newIsolation(t *testing.T) *isolation {
	t.Helper()
	s := &isolation{t: t, net: newSeparate(t)}
	there, here := s.net.postgres(t)
	s.hook = receiveAt(t, s.net.client())
	content := t.TempDir()
	args := []string{"--blobs", content, "--egress-allow", s.net.subnet + ".0/24", "--egress-http", "--rate", "-1"}
	s.nodes[0] = startServer(t, t.TempDir(), append(args, "--store", here)...)
	s.nodes[1] = startBy(t, s.net.by(), t.TempDir(), append(args, "--store", there, "--addr", s.net.server()+":0")...)
	a := s.nodes[0]
	saveChain(t, a.base, madeOnce)
	runs(t, a.base, "Webhook.Create", map[string]any{"url": s.hook.URL, "events": []string{"document.created"}}, nil)
	runs(t, a.base, "User.CreateOrUpdate", map[string]any{"username": "ann", "password": "a long ann"}, nil)
	a.want(t, 201, "Administrator", "POST", spaces, `{"entity-type":"document","type":"Folder","name":"load"}`)
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	for i, p := range s.nodes {
		p.want(t, 200, "Administrator", "GET", spaces, "") // the first sign-in hashes the password
		for w := range 2 {
			s.working.Go(func() {
				s.writes[i].every(ctx, p, "Administrator", 20*time.Millisecond, func(n int) (string, string, string, string) {
					name := fmt.Sprintf("r%d-w%d-%d", i, w, n)
					return name, "POST", spaces + "/load", fmt.Sprintf(`{"entity-type":"document","type":"File","name":%q}`, name)
				})
			})
		}
		s.working.Go(func() {
			s.reads[i].every(ctx, p, "Administrator", 50*time.Millisecond, func(int) (string, string, string, string) { return "read", "GET", spaces, "" })
		})
	}
	s.working.Go(func() {
		s.readyz.every(ctx, s.nodes[1], "Administrator", 100*time.Millisecond, func(int) (string, string, string, string) { return "readyz", "GET", "/readyz", "" })
	})
	return s
}

// round cuts the second node off, and connects it again once all has been seen that is to be seen meanwhile.
func (s *isolation) round(i int, how string, cut func(*testing.T) func()) {
	t := s.t
	folder := fmt.Sprintf("f%d", i)
	a, b := s.nodes[0], s.nodes[1]
	a.want(t, 201, "Administrator", "POST", spaces, fmt.Sprintf(`{"entity-type":"document","type":"Folder","name":%q}`, folder))
	runs(t, a.base, "Document.BlockPermissionInheritance", nil, nil, "/default-domain/workspaces/"+folder)
	runs(t, a.base, "Document.AddPermission", map[string]any{"permission": "ReadWrite", "user": "ann"}, nil, "/default-domain/workspaces/"+folder)
	b.want(t, 200, "ann", "GET", spaces+"/"+folder, "")
	for n := range 20 {
		s.schedule(fmt.Sprintf("S%02dx%d", i, n), time.Now().Add(time.Second+time.Duration(n)*1500*time.Millisecond))
	}
	ctx, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		s.ann.every(ctx, b, "ann", 20*time.Millisecond, func(int) (string, string, string, string) { return folder, "GET", spaces + "/" + folder, "" })
	})
	time.Sleep(2 * time.Second)

	heal, began := cut(t), time.Now()
	runs(t, a.base, "Document.RemovePermission", map[string]any{"user": "ann"}, nil, "/default-domain/workspaces/"+folder)
	revoked := time.Now()
	arrived := make(chan time.Duration, 1)
	go func() { arrived <- s.arrived(began) }() // while the isolated node is looked at, which may wait for as long
	refused := s.writes[1].await(t, "a write is refused", began, func(r reply) bool { return !succeeded(r) })
	unready := s.readyz.await(t, "the node says that it is not ready", began, func(r reply) bool { return r.status == http.StatusServiceUnavailable })
	unread := s.reads[1].await(t, "a read is refused", began, func(r reply) bool { return !succeeded(r) })
	for what, r := range map[string]reply{"write": refused, "read": unread} {
		if r.status != http.StatusServiceUnavailable || !strings.Contains(r.text, "database") {
			t.Errorf("%s on the isolated node: %d %.300s", what, r.status, r.text)
		}
	}
	if !strings.Contains(unready.text, "nodeStatus") {
		t.Errorf("readyz of the isolated node: %s", unready.text)
	}
	told := <-arrived
	if n := s.net.sessions(t); n > 0 {
		t.Errorf("%d sessions of the isolated node are left in the database after %s, with their locks", n, told)
	}
	healed := time.Now()
	heal()
	fresh := s.readyz.await(t, "the node is ready again", healed, succeeded)
	s.ann.await(t, "the node answers ann again", fresh.end, func(r reply) bool { return r.status == http.StatusForbidden || r.status == http.StatusNotFound })
	wrote := s.writes[1].await(t, "the node writes again", healed, succeeded)
	stop()
	asking.Wait()
	for _, r := range s.ann.replies(revoked, time.Now()) {
		if r.name == folder && succeeded(r) {
			t.Errorf("ann reads %s %s after the permission was taken away", folder, r.began.Sub(revoked))
		}
	}
	_, longest, gap := pauses(s.writes[0].replies(began, healed), succeeded)
	t.Logf("%s for %s: the isolated node refuses the first write after %s (which took %s), a read after %s (%s), is not ready after %s; what waited is done after %s; the other node: slowest write %s, longest pause %s; %s after healing the node is ready, %s it has written",
		how, healed.Sub(began).Round(time.Millisecond), refused.end.Sub(began).Round(time.Millisecond), refused.took(), unread.end.Sub(began).Round(time.Millisecond), unread.took(),
		unready.end.Sub(began).Round(time.Millisecond), told.Round(time.Millisecond), longest, gap, fresh.end.Sub(healed).Round(time.Millisecond), wrote.end.Sub(healed).Round(time.Millisecond))
	if gap > time.Minute {
		t.Errorf("the other node paused for %s", gap)
	}
}

func (s *isolation) schedule(name string, at time.Time) {
	s.made = append(s.made, name)
	runs(s.t, s.nodes[0].base, "Schedule.Save", map[string]any{
		"source": fmt.Sprintf("name: %s\nas: Administrator\nat: %s\nrun: Crash.Made\n", name, at.UTC().Format("2006-01-02T15:04:05.000Z")),
	}, nil)
}

// arrived waits until the receiver has been told of all that was acknowledged before a moment, and all schedules have run: within
// a minute. It returns how long that took.
func (s *isolation) arrived(before time.Time) time.Duration {
	t := s.t
	t.Helper()
	missing := ""
	for time.Since(before) < 70*time.Second {
		if missing = s.missing(before); missing == "" {
			return time.Since(before)
		}
		time.Sleep(100 * time.Millisecond)
	}
	_, jobs := administer(t, http.MethodPost, s.nodes[0].base+"/api/v1/automation/Job.List", "application/json", `{"params":{"limit":20}}`)
	t.Errorf("not within a minute: %s; jobs that are left: %.5000s", missing, jobs)
	return time.Since(before)
}

func (s *isolation) missing(before time.Time) string {
	s.hook.mu.Lock()
	defer s.hook.mu.Unlock()
	for i := range s.writes {
		for _, r := range s.writes[i].replies(time.Time{}, before) {
			if succeeded(r) && r.end.Before(before) && len(s.hook.got[r.name]) == 0 {
				return "webhook of " + r.name
			}
		}
	}
	ran := titles(s.t, s.nodes[0].base, "made-")
	for _, name := range s.made {
		if _, ok := ran["made-"+name]; !ok {
			return "schedule " + name
		}
	}
	return ""
}

// verify compares what was acknowledged with what both nodes have, and counts what the receiver was told.
func (s *isolation) verify() {
	t := s.t
	acked, unknown := 0, 0
	end := time.Now()
	for _, p := range s.nodes {
		there := names(t, p, "load")
		for i := range s.writes {
			for _, r := range s.writes[i].replies(time.Time{}, end) {
				switch {
				case succeeded(r) && there[r.name] != 1:
					t.Errorf("%s was acknowledged, and is there %d times", r.name, there[r.name])
				case there[r.name] > 1:
					t.Errorf("%s is there %d times", r.name, there[r.name])
				}
				if succeeded(r) {
					acked++
				} else if there[r.name] > 0 {
					unknown++
				}
			}
		}
		if n := len(titles(t, p.base, "made-")); n != len(s.made) {
			t.Errorf("%d schedules have made %d documents: %v", len(s.made), n, slices.Sorted(maps.Keys(titles(t, p.base, "made-"))))
		}
	}
	s.arrived(end)
	s.hook.mu.Lock()
	defer s.hook.mu.Unlock()
	repeated := 0
	for name, ids := range s.hook.got {
		if len(ids) > 1 && name != "" {
			t.Errorf("%s was told with %d ids", name, len(ids))
		}
		for _, n := range ids {
			repeated += n - 1
		}
	}
	median, longest, _ := pauses(slices.Concat(s.writes[0].replies(time.Time{}, end), s.reads[0].replies(time.Time{}, end)), succeeded)
	t.Logf("%d writes acknowledged, none lost, %d made without an answer, %d messages repeated with the id of before, %d schedules ran once; a request to the other node took %s at the median, %s at most",
		acked/2, unknown/2, repeated, len(s.made), median, longest)
}

// names are those of the documents in a folder of the workspaces, by how often there are.
func names(t *testing.T, p *process, folder string) map[string]int {
	t.Helper()
	all := map[string]int{}
	for after, more := "", true; more; { // there may be more than can be skipped
		var list struct {
			Entries    []struct{ Path string }
			NextCursor string
		}
		text := p.want(t, 200, "Administrator", "GET", fmt.Sprintf("%s/%s/@children?pageSize=1000&after=%s", spaces, folder, url.QueryEscape(after)), "")
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Entries {
			all[e.Path[strings.LastIndex(e.Path, "/")+1:]]++
		}
		after, more = list.NextCursor, list.NextCursor != ""
	}
	return all
}
