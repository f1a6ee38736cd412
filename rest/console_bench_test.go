package rest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/history"
	"catena/storage/people"
)

// asked is a request of a page, which can be made again.
type asked struct {
	method, uri string
	header      http.Header
	body        []byte
}

// reads reports whether a request can be made again and again: what changes nothing.
func (a *asked) reads() bool { return !strings.HasSuffix(a.uri, "/events") }

// watched passes requests on and keeps those of the page that is open.
type watched struct {
	http.Handler
	mu  sync.Mutex
	all []asked
}

func (w *watched) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if body, err := io.ReadAll(r.Body); err == nil && !strings.Contains(r.URL.Path, "/assets/") {
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.mu.Lock()
		w.all = append(w.all, asked{r.Method, r.RequestURI, r.Header.Clone(), body})
		w.mu.Unlock()
	}
	w.Handler.ServeHTTP(rw, r)
}

func (w *watched) take() []asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.all
	w.all = nil
	return out
}

// filled has a repository with a folder of a tenth of all documents and the others in folders of 500, a run for ten documents, a
// user for a hundred, and an audit record for each document.
func filled(t *testing.T, s *resttest.Server, documents int) {
	t.Helper()
	admin, err := s.Repo.Principal(t.Context(), "Administrator")
	if err != nil {
		t.Fatal(err)
	}
	update := func(as *storage.Principal, f func(tx *storage.Tx) error) {
		t.Helper()
		if err := s.Repo.Update(t.Context(), as, f); err != nil {
			t.Fatal(err)
		}
	}
	const batch = 500
	for made := 0; made < documents; made += batch {
		update(admin, func(tx *storage.Tx) error {
			folder, err := tx.Doc("/default-domain/workspaces")
			if err != nil {
				return err
			}
			if name := fmt.Sprintf("f%06d", max(made, documents/10)); made <= documents/10 && made > 0 {
				folder, err = tx.Doc(storage.Ref("/default-domain/workspaces/f000000"))
			} else {
				if made == 0 {
					name = "f000000"
				}
				folder, err = tx.Create(folder, "Workspace", name, storage.Props{"dc:title": "Folder " + name})
			}
			if err != nil {
				return err
			}
			for i := made; i < min(made+batch, documents); i++ {
				if _, err := tx.Create(folder, "File", fmt.Sprintf("d%06d", i), storage.Props{"dc:title": fmt.Sprintf("Plan %06d", i), "dc:nature": []string{"letter", "invoice", "report"}[i%3]}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for made := 0; made < documents/10; made += batch {
		update(s.Repo.System(), func(tx *storage.Tx) error {
			var runs []history.Ended
			for i := made; i < min(made+batch, documents/10); i++ {
				runs = append(runs, history.Ended{Run: history.Run{
					ID: fmt.Sprintf("%013x-%06x", tx.Now().UnixMilli(), i), Owned: storage.OwnedBy(admin), Repository: "default", Op: "Document.Update", EntryPoint: "rest",
					Start: tx.Now(), Duration: time.Millisecond, Expires: tx.Now().Add(time.Hour),
				}})
			}
			return history.Keep(tx, history.Pack(runs))
		})
	}
	for i := range documents / 100 {
		name := fmt.Sprintf("user%05d", i)
		update(s.Repo.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: name}, "") })
	}
	if err := credential.Open(t.Context(), s.Repo); err != nil {
		t.Fatal(err)
	}
}

// again makes the requests of a page in turn, as often as it takes to see how long they need at least.
func again(t *testing.T, s *resttest.Server, all []asked) (sum time.Duration, slowest string) {
	t.Helper()
	var most time.Duration
	for _, a := range all {
		if !a.reads() {
			continue
		}
		least := time.Hour
		for range 15 {
			r, err := http.NewRequestWithContext(t.Context(), a.method, s.URL+a.uri, bytes.NewReader(a.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header = a.header.Clone()
			r.Header.Del("If-None-Match")
			began := time.Now()
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			least = min(least, time.Since(began))
		}
		if sum += least; least > most {
			most, slowest = least, a.method+" "+a.uri
			if len(a.body) > 0 {
				slowest += " " + string(a.body[:min(len(a.body), 120)])
			}
		}
	}
	return sum, slowest
}

// TestConsoleGrows compares the first view of each page of the console, as the requests that Chromium made for it take one after
// the other, in a repository of CATENA_CONSOLE documents and in one of 5,000: within 1.2 times, or 2 ms.
func TestConsoleGrows(t *testing.T) {
	documents, _ := strconv.Atoi(os.Getenv("CATENA_CONSOLE"))
	if documents == 0 {
		t.Skip("set CATENA_CONSOLE to a number of documents (make pages)")
	}
	type view struct {
		took    time.Duration
		browser time.Duration
		n       int
		slowest string
	}
	sizes := []int{5000, documents} // a few fill one page of each list
	views := map[string][]view{}
	pages := append(consolePages[:len(consolePages):len(consolePages)], [2]string{"folder", `document.querySelectorAll("#children li").length > 5`})
	for _, n := range sizes {
		s := withScripts(t)
		w := &watched{Handler: s.Config.Handler}
		s.Config.Handler = w
		began := time.Now()
		filled(t, s, n)
		t.Logf("%d documents made in %s", n, time.Since(began).Round(time.Millisecond))
		b := browse(t, s)
		b.signIn("Administrator")
		f := b.measured()
		for _, p := range pages {
			path := p[0]
			if path == "folder" {
				path = "/ui/documents#default/" + s.Do("GET", "/api/v1/path/default-domain/workspaces/f000000", "").JSON(t)["uid"].(string)
			}
			b.do(chromedp.Navigate("about:blank"))
			w.take()
			began := time.Now()
			b.visit(f, path, p[1])
			v := view{browser: f.ended().Sub(began)}
			all := w.take()
			v.n = len(all)
			v.took, v.slowest = again(t, s, all)
			w.take()
			views[p[0]] = append(views[p[0]], v)
		}
	}
	t.Logf("%-18s %8s %12s %12s %6s %12s %12s", "page", "requests", "few", strconv.Itoa(documents), "ratio", "browser few", "browser")
	for _, p := range pages {
		v := views[p[0]]
		ratio := float64(v[1].took) / float64(v[0].took)
		t.Logf("%-18s %8d %12s %12s %6.2f %12s %12s", p[0], v[1].n, v[0].took.Round(10*time.Microsecond), v[1].took.Round(10*time.Microsecond), ratio, v[0].browser.Round(time.Millisecond), v[1].browser.Round(time.Millisecond))
		if ratio > 1.2 && v[1].took-v[0].took > 2*time.Millisecond {
			t.Errorf("%s takes %.1f times as long; most of it %s", p[0], ratio, v[1].slowest)
		}
	}
}
