package export_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/decks"
	"catena/decks/export"
	"catena/decks/render"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// renderer makes a file as a test wants it.
type renderer func(context.Context, *render.Deck) ([]byte, error)

func (r renderer) PDF(ctx context.Context, d *render.Deck, _ render.Options) ([]byte, error) {
	return r(ctx, d)
}

// simple writes the title and the HTML.
var simple = renderer(func(_ context.Context, d *render.Deck) ([]byte, error) {
	return []byte("%PDF " + d.Title + d.HTML), nil
})

// service is a server with a worker, and alice's key and deck.
type service struct {
	*resttest.Server
	t     testing.TB
	key   string
	skip  atomic.Int64
	start func(*export.Worker) (stop func())
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{t: t}
	s.Server = resttest.Start(t, resttest.Config{
		Ops: decks.Ops(), Repo: decks.Listen,
		Storage: func(c *storage.Config) {
			c.Clock = func() time.Time { return time.Now().Add(time.Duration(s.skip.Load())) }
		},
		Rest: func(c *rest.Config) { c.Limits.Rate = -1 },
	})
	s.User("alice")
	s.key = s.Key("alice", "read_write")
	s.start = func(w *export.Worker) func() {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		w.Repo, w.Log = s.Repo, slog.New(slog.DiscardHandler)
		go func() { ended <- outbox.Run(ctx, s.Repo, w.Jobs()) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	s.call("POST", "/v1/decks", `{"title":"Talk","data":"<section>one</section>"}`, http.StatusCreated)
	return s
}

// call sends a request as alice and returns the data of the answer.
func (s *service) call(method, path, body string, status int) map[string]any {
	s.t.Helper()
	a := s.Do(method, path, body, "Authorization", "Bearer "+s.key)
	if a.StatusCode != status {
		s.t.Fatalf("%s %s: %s %s", method, path, a.Status, a.Text)
	}
	if a.Text == "" {
		return nil
	}
	out := a.JSON(s.t)
	if data, ok := out["data"].(map[string]any); ok {
		return data
	}
	return out
}

// ask starts an export and returns its address.
func (s *service) ask(format string) string {
	s.t.Helper()
	e := s.call("POST", "/v1/decks/1/exports", fmt.Sprintf(`{"format":%q}`, format), http.StatusAccepted)
	return fmt.Sprintf("/v1/decks/1/exports/%v", e["id"])
}

// await follows an export's events to its end.
func (s *service) await(path string) map[string]any {
	s.t.Helper()
	a := s.Do("GET", path+"/events", "", "Authorization", "Bearer "+s.key)
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%s %s", a.Status, a.Text)
	}
	events := strings.Split(strings.TrimSpace(a.Text), "\n\n")
	last := events[len(events)-1]
	_, data, _ := strings.Cut(last, "data: ")
	var out struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(data), &out); err != nil {
		s.t.Fatalf("%v: %s", err, a.Text)
	}
	return out.Data
}

func TestExport(t *testing.T) {
	s := newService(t)
	a := s.Do("POST", "/v1/decks/1/exports", `{"format":"pdf"}`, "Authorization", "Bearer "+s.key)
	if got := a.Header.Get("Location"); a.StatusCode != http.StatusAccepted || got != s.URL+"/v1/decks/1/exports/1" {
		t.Fatalf("%s, Location %s: %s", a.Status, got, a.Text)
	}
	// The file is of the deck as it was.
	s.call("PATCH", "/v1/decks/1", `{"title":"Later","data":"<section>two</section>"}`, http.StatusOK)
	defer s.start(&export.Worker{PDF: simple})()
	done := s.await("/v1/decks/1/exports/1")
	if done["status"] != "completed" || done["completed_at"] == nil || done["error"] != nil {
		t.Fatal(done)
	}
	address := strings.TrimPrefix(done["download_url"].(string), s.URL)
	const want = "%PDF Talk<section>one</section>"
	file := s.Do("GET", address, "", "as", "")
	if file.Text != want || file.Header.Get("Content-Disposition") != "attachment; filename=Talk.pdf" || file.Header.Get("Content-Type") != "application/pdf" {
		t.Errorf("%s %q %v", file.Status, file.Text, file.Header)
	}
	if part := s.Do("GET", address, "", "as", "", "Range", "bytes=1-3"); part.StatusCode != http.StatusPartialContent || part.Text != "PDF" {
		t.Errorf("range: %s %q", part.Status, part.Text)
	}
	for name, at := range map[string]string{
		"other signature": address[:len(address)-1] + "_", "other export": strings.Replace(address, "exports/1/", "exports/2/", 1),
		"longer": strings.Replace(address, "expires=", "expires=9", 1), "none": "/v1/decks/1/exports/1/download",
	} {
		if got := s.Do("GET", at, "", "as", ""); got.StatusCode != http.StatusForbidden && got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %s %s", name, got.Status, got.Text)
		}
	}
	s.call("POST", "/v1/decks/1/trash", "", http.StatusNoContent)
	if got := s.Do("GET", address, "", "as", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("of a deck in the trash: %s", got.Status)
	}
}

// TestExpiry has addresses end after a day, and files after a week.
func TestExpiry(t *testing.T) {
	s := newService(t)
	defer s.start(&export.Worker{PDF: simple})()
	path := s.ask("pdf")
	first := s.await(path)["download_url"].(string)
	s.skip.Add(int64(25 * time.Hour))
	if got := s.Do("GET", strings.TrimPrefix(first, s.URL), "", "as", ""); got.StatusCode != http.StatusGone {
		t.Errorf("after a day: %s", got.Status)
	}
	again := s.call("GET", path, "", http.StatusOK)["download_url"].(string)
	if got := s.Do("GET", strings.TrimPrefix(again, s.URL), "", "as", ""); got.StatusCode != http.StatusOK {
		t.Errorf("a new address: %s", got.Status)
	}
	s.skip.Add(int64(7 * 24 * time.Hour))
	s.call("GET", path, "", http.StatusNotFound)
	if list := s.Do("GET", "/v1/decks/1/exports", "", "Authorization", "Bearer "+s.key); !strings.Contains(list.Text, `"total":0`) {
		t.Error(list.Text)
	}
}

func TestQuota(t *testing.T) {
	s := newService(t)
	for i := range export.Quota {
		s.ask([]string{"pdf", "zip"}[i%2])
	}
	a := s.Do("POST", "/v1/decks/1/exports", `{"format":"pdf"}`, "Authorization", "Bearer "+s.key)
	if a.StatusCode != http.StatusTooManyRequests || !strings.Contains(a.Text, `"export_quota"`) {
		t.Errorf("the eleventh: %s %s", a.Status, a.Text)
	}
	s.skip.Add(int64(export.QuotaTime))
	s.ask("pdf")
}

// TestFailures holds that every failure has a code, and that ours do not count.
func TestFailures(t *testing.T) {
	tests := []struct {
		code   string
		render renderer
		counts bool
	}{
		{"internal", func(context.Context, *render.Deck) ([]byte, error) { return nil, io.ErrUnexpectedEOF }, false},
		{"render_crashed", func(context.Context, *render.Deck) ([]byte, error) {
			return nil, fault.Unavailable.Errorf("browser: died").WithCode(fault.CodeRenderCrashed)
		}, false},
		{"render_timeout", func(ctx context.Context, _ *render.Deck) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }, false},
		{"too_large", func(context.Context, *render.Deck) ([]byte, error) {
			return nil, fault.Limit.Errorf("deck: too large").WithCode(fault.CodeTooLarge)
		}, true},
	}
	for _, test := range tests {
		t.Run(test.code, func(t *testing.T) {
			s := newService(t)
			stop := s.start(&export.Worker{PDF: test.render, Deadline: 300 * time.Millisecond})
			last := s.await(s.ask("pdf"))
			stop()
			failure, _ := last["error"].(map[string]any)
			if last["status"] != "failed" || failure["code"] != test.code || last["completed_at"] != nil || last["download_url"] != nil {
				t.Errorf("%v", last)
			}
			for range export.Quota - 1 {
				s.ask("pdf")
			}
			a := s.Do("POST", "/v1/decks/1/exports", `{"format":"pdf"}`, "Authorization", "Bearer "+s.key)
			if refused := a.StatusCode == http.StatusTooManyRequests; refused != test.counts {
				t.Errorf("the tenth after it: %s", a.Status)
			}
		})
	}
}

// TestRestart has the server stop in the middle of an export: it is made by the next one.
func TestRestart(t *testing.T) {
	s := newService(t)
	begun := make(chan bool)
	stop := s.start(&export.Worker{PDF: renderer(func(ctx context.Context, _ *render.Deck) ([]byte, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	})})
	path := s.ask("pdf")
	<-begun
	stop()
	if e := s.call("GET", path, "", http.StatusOK); e["status"] != "pending" {
		t.Error(e)
	}
	s.skip.Add(int64(10 * time.Second)) // the outbox waits before it tries again
	defer s.start(&export.Worker{PDF: simple})()
	if e := s.await(path); e["status"] != "completed" {
		t.Error(e)
	}
}

// TestTenAtOnce makes ten exports at once, and an archive that holds what it needs.
func TestTenAtOnce(t *testing.T) {
	s := newService(t)
	defer s.start(&export.Worker{PDF: render.Embedded{}})()
	var paths []string
	for i := range 10 {
		paths = append(paths, s.ask([]string{"pdf", "zip"}[i%2]))
	}
	for i, path := range paths {
		e := s.await(path)
		if e["status"] != "completed" {
			t.Fatal(e)
		}
		file := s.Do("GET", strings.TrimPrefix(e["download_url"].(string), s.URL), "", "as", "")
		if i%2 == 0 {
			if !strings.HasPrefix(file.Text, "%PDF-1.") {
				t.Errorf("%.20q", file.Text)
			}
			continue
		}
		z, err := zip.NewReader(bytes.NewReader([]byte(file.Text)), int64(len(file.Text)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Open("index.html"); err != nil {
			t.Error(err)
		}
	}
}

// TestTrashed fails an export whose deck is put in the trash before it is made.
func TestTrashed(t *testing.T) {
	s := newService(t)
	path := s.ask("pdf")
	s.call("POST", "/v1/decks/1/trash", "", http.StatusNoContent)
	var fired atomic.Value
	stop := s.start(&export.Worker{PDF: simple})
	defer stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		err := s.Repo.View(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
			e, err := export.Find(tx, 1, 1)
			if err == nil && e.Failure != nil {
				fired.Store(e.Failure.Code)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if fired.Load() != nil {
			break
		}
	}
	if fired.Load() != "deck_trashed" {
		t.Errorf("%s: %v", path, fired.Load())
	}
}

// TestClockSetBack asks for exports while the clock is ahead: when it is right again nobody waits for the quota to be
// whole until the clock is there, and addresses hold no longer than others.
func TestClockSetBack(t *testing.T) {
	for _, ahead := range []time.Duration{5 * time.Hour, 10 * 365 * 24 * time.Hour} {
		s := newService(t)
		stop := s.start(&export.Worker{PDF: simple})
		s.skip.Add(int64(ahead))
		var path string
		for i := range export.Quota {
			path = s.ask([]string{"pdf", "zip"}[i%2])
		}
		first := s.await(path)["download_url"].(string)
		s.skip.Store(0)
		if got := s.Do("GET", strings.TrimPrefix(first, s.URL), "", "as", ""); got.StatusCode != http.StatusGone {
			t.Errorf("an address of the future: %s", got.Status)
		}
		path = s.ask("pdf")
		again := s.await(path)["download_url"].(string)
		if got := s.Do("GET", strings.TrimPrefix(again, s.URL), "", "as", ""); got.StatusCode != http.StatusOK {
			t.Errorf("a new address: %s", got.Status)
		}
		stop()
	}
}
