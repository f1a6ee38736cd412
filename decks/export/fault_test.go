package export_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"catena/decks/decktest"
	"catena/decks/export"
	"catena/decks/render"
)

var quiet = slog.New(slog.DiscardHandler)

// held is what a process has of the machine's: goroutines, open files, folders of browsers and
// processes it has started.
type held struct{ goroutines, files, folders, children int }

func holding(t *testing.T) (h held) {
	t.Helper()
	h.goroutines = runtime.NumGoroutine()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this machine does not list the files of processes")
	}
	h.files = len(files)
	folders, err := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("catena-browser-%d-*", os.Getpid())))
	if err != nil {
		t.Fatal(err)
	}
	h.folders = len(folders)
	h.children = len(children(t))
	return h
}

// children are the processes that this one has started and that have not ended.
func children(t *testing.T) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		_, rest, found := strings.Cut(string(text), ") ") // behind the program's name
		fields := strings.Fields(rest)
		if err != nil || !found || len(fields) < 2 || fields[1] != fmt.Sprint(os.Getpid()) || fields[0] == "Z" {
			continue // ended meanwhile, or somebody else's
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// settles waits until nothing is held that was not held before, give or take connections that
// the test's own client keeps.
func (before held) settles(t *testing.T, s *service) {
	t.Helper()
	var now held
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		s.Client().CloseIdleConnections()
		if now = holding(t); now.goroutines <= before.goroutines+2 && now.files <= before.files+2 && now.folders <= before.folders && now.children <= before.children {
			return
		}
	}
	t.Errorf("held %+v before, and after it %+v", before, now)
}

// TestTenHold makes ten exports at once while others use the service: every one ends, requests
// stay as fast as they were within bounds, and nothing is left of them afterwards.
func TestTenHold(t *testing.T) {
	for name, browser := range map[string]string{"embedded": "", "chromium": render.FindChromium()} {
		t.Run(name, func(t *testing.T) {
			if name == "chromium" && browser == "" {
				t.Skip("no browser is installed")
			}
			s := newService(t)
			s.call("PATCH", "/v1/decks/1", body(map[string]any{"data": decktest.Many(20)}), http.StatusOK)
			idle := s.slowest(150)
			before := holding(t)
			w, end := &export.Worker{PDF: render.Embedded{}}, func() {}
			if browser != "" {
				c := &render.Chromium{Path: browser}
				w.PDF, end = c, c.Close
			}
			stop := s.start(w)
			began := time.Now()
			var paths []string
			for range export.Quota {
				paths = append(paths, s.ask("pdf"))
			}
			busy := s.slowest(150)
			for _, path := range paths {
				if e := s.await(path); e["status"] != "completed" {
					t.Errorf("%s: %v", path, e)
				}
			}
			took := time.Since(began)
			stop()
			end()
			before.settles(t, s)
			// Two exports and the browser share the processors with requests; to wait for an export would
			// take a fifth of the time they all take, however busy the machine is with something else.
			t.Logf("one request of a hundred takes %s, and %s while exports are made in %s", idle, busy, took)
			if most := max(20*idle+500*time.Millisecond, took/10); busy > most {
				t.Errorf("one request of a hundred takes %s, and %s while exports are made, more than %s", idle, busy, most)
			}
		})
	}
}

// slowest sends requests one after another and returns the time that one in a hundred exceeds.
func (s *service) slowest(requests int) time.Duration {
	s.t.Helper()
	var took []time.Duration
	for range requests {
		began := time.Now()
		s.call("GET", "/v1/user", "", http.StatusOK)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// browserLike writes a program that stands in for a browser.
func browserLike(t *testing.T, script string) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "catena-fake-") // which the browser's user may read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil { //nolint:gosec // see above
		t.Fatal(err)
	}
	path := filepath.Join(folder, "chromium")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return path
}

// TestBrowserIll makes exports with a browser that is missing, ends at once, hangs from the
// start, or answers what makes no sense: each ends with a code that says so, or in time with a
// file that was made without it and tells so; and nothing of it stays.
func TestBrowserIll(t *testing.T) {
	for name, test := range map[string]struct{ script, alone string }{
		"missing":   {"", "renderer_unavailable"},
		"ends":      {"exit 1", "renderer_unavailable"},
		"crashes":   {"kill -SEGV $$", "renderer_unavailable"},
		"hangs":     {"exec sleep 600", "render_timeout"},
		"talks":     {"while :; do echo nonsense >&2 || exit; sleep 0.01; done", "render_timeout"},
		"elsewhere": {"echo 'DevTools listening on ws://127.0.0.1:9/devtools/browser/x' >&2; exec sleep 600", "render_timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "/no/such/browser"
			if test.script != "" {
				path = browserLike(t, test.script)
			}
			c := &render.Chromium{Path: path}
			defer c.Close()
			for auto, want := range map[bool]string{false: test.alone, true: "completed"} {
				s := newService(t)
				w := &export.Worker{PDF: c, Deadline: 4 * time.Second}
				if auto {
					w.PDF = render.Auto{Browser: c, Log: quiet}
				}
				stop := s.start(w)
				e := s.await(s.ask("pdf"))
				stop()
				failure, _ := e["error"].(map[string]any)
				got := e["status"]
				if failure != nil {
					got = failure["code"]
				}
				if warnings, _ := e["warnings"].([]any); got != want || auto && (len(warnings) == 0 || !strings.HasPrefix(warnings[0].(string), "made without a browser")) {
					t.Errorf("with another renderer %t: %v, want %s", auto, e, want)
				}
			}
		})
	}
}

// TestBrowserHarmed kills the browser, and stops it, in the middle of exports: they are made by
// another one.
func TestBrowserHarmed(t *testing.T) {
	path := render.FindChromium()
	if path == "" {
		t.Skip("no browser is installed")
	}
	s := newService(t)
	s.call("PATCH", "/v1/decks/1", body(map[string]any{"data": decktest.Many(300)}), http.StatusOK)
	before := holding(t)
	c := &render.Chromium{Path: path, Log: quiet}
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop := s.start(&export.Worker{PDF: c})
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV} {
		at := s.ask("pdf")
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if e := s.call("GET", at, "", http.StatusOK); e["progress"] != nil && len(children(t)) > 0 {
				for _, pid := range children(t) {
					_ = syscall.Kill(-pid, signal) // it leads a group
				}
				break
			}
			if time.Now().After(end) {
				t.Fatal("the browser does not begin")
			}
		}
		if e := s.await(at); e["status"] != "completed" {
			t.Errorf("%s: %v", signal, e)
		}
	}
	stop()
	c.Close()
	before.settles(t, s)
}

// plain writes JSON that leaves HTML as long as it is.
func plain(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// large are a deck of as many slides as there may be, and one of as many bytes less what is
// around them in a request; a part of both, one in n.
func large(n int) map[string]string {
	return map[string]string{"slides": decktest.Many(1000 / n), "bytes": decktest.Heavy((10<<20 - 4096) / n)}
}

// TestLargePrinted prints the largest decks with the browser.
func TestLargePrinted(t *testing.T) {
	path := render.FindChromium()
	if path == "" {
		t.Skip("no browser is installed")
	}
	if os.Getenv("CATENA_LARGE") == "" {
		t.Skip("takes minutes; make fault runs it")
	}
	s := newService(t)
	c := &render.Chromium{Path: path, Log: quiet}
	defer c.Close()
	defer s.start(&export.Worker{PDF: c, Deadline: 10 * time.Minute})()
	for name, html := range large(1) {
		deck := s.call("POST", "/v1/decks", plain(t, map[string]any{"title": name, "data": html}), http.StatusCreated)
		began := time.Now()
		e := s.call("POST", fmt.Sprintf("/v1/decks/%v/exports", deck["id"]), `{"format":"pdf"}`, http.StatusAccepted)
		done := s.await(fmt.Sprintf("/v1/decks/%v/exports/%v", deck["id"], e["id"]))
		if done["status"] != "completed" {
			t.Errorf("%s: %v", name, done)
			continue
		}
		t.Logf("%s: %s", name, time.Since(began))
		s.sized(t, name, s.file(done), strings.Count(html, "<section>"), deck)
	}
}

// TestLarge shows and exports a fifth of the largest decks and, with CATENA_LARGE, the largest: the race detector
// makes each copy of ten megabytes slow. The browser prints neither here.
func TestLarge(t *testing.T) {
	part := 5
	if os.Getenv("CATENA_LARGE") != "" {
		part = 1
	}
	s := newService(t)
	defer s.start(&export.Worker{PDF: render.Embedded{}, Deadline: 5 * time.Minute})() // the race detector has its share
	for name, html := range large(part) {
		deck := s.call("POST", "/v1/decks", plain(t, map[string]any{"title": name, "data": html}), http.StatusCreated)
		at := fmt.Sprintf("/v1/decks/%v", deck["id"])
		if got := s.call("GET", at, "", http.StatusOK)["data"]; got != strings.TrimSpace(html) && got != html {
			t.Errorf("%s: is not what was written", name)
		}
		view := s.Do("GET", strings.TrimPrefix(deck["url"].(string), s.URL)+"/fullscreen", "", "as", "alice")
		if view.StatusCode != http.StatusOK || strings.Count(view.Text, "<section>") != strings.Count(html, "<section>") {
			t.Errorf("%s: viewed: %s, %d slides", name, view.Status, strings.Count(view.Text, "<section>"))
		}
		for _, format := range []string{"pdf", "zip"} {
			e := s.call("POST", at+"/exports", body(map[string]any{"format": format}), http.StatusAccepted)
			done := s.await(fmt.Sprintf("%s/exports/%v", at, e["id"]))
			if done["status"] != "completed" {
				t.Errorf("%s as %s: %v", name, format, done)
				continue
			}
			if format == "pdf" {
				s.sized(t, name, s.file(done), strings.Count(html, "<section>"), deck)
			}
		}
	}
	// One slide more, and one byte too many, are refused.
	for status, html := range map[int]string{http.StatusUnprocessableEntity: decktest.Many(1001), http.StatusRequestEntityTooLarge: decktest.Heavy(10<<20 + 1)} {
		if got := s.Do("POST", "/v1/decks", plain(t, map[string]any{"data": html}), "Authorization", "Bearer "+s.key); got.StatusCode != status {
			t.Errorf("too much: %s, want %d", got.Status, status)
		}
	}
}
