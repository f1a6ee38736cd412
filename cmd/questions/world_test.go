package questions

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/badger"
	"catena/storage/kv"
	"catena/storage/search"
)

// world is a repository on the disk, and the same documents in SQLite.
type world struct {
	t      testing.TB
	n      sized
	config storage.Config
	server *resttest.Server
	repo   *storage.Repo
	sql    *database
	dir    string // of both
}

// newWorld loads n documents with the bulk loader, copies them to SQLite, and waits until the store has merged or vacuumed what
// was written, as that of a server that has run for a while.
func newWorld(t testing.TB, n sized) *world {
	t.Helper()
	w := &world{t: t, n: n, dir: t.TempDir()}
	kept := ""
	if dir := os.Getenv("CATENA_KEPT"); dir != "" && !onPostgres() {
		kept = filepath.Join(dir, fmt.Sprint(int(n)))
		if _, err := os.Stat(kept); err == nil {
			check(t, os.CopyFS(w.dir, os.DirFS(kept)))
			w.open()
			return w
		}
	}
	w.open()
	w.folders()
	begun := time.Now()
	w.load(w.server)
	took := time.Since(begun)
	w.block()
	w.copy()
	if n > 10_000 {
		time.Sleep(15 * time.Second)
	}
	t.Logf("%d documents loaded in %s, %.0f per second", n, took.Round(time.Millisecond), float64(n)/took.Seconds())
	if kept != "" {
		w.keep(kept)
	}
	return w
}

// onPostgres reports whether the repositories are in the database of TEST_POSTGRES, each in a schema of its own.
func onPostgres() bool {
	where := os.Getenv("TEST_STORE")
	return where == "postgres" || where == "nodes"
}

// open opens what is in the directory, which may be nothing yet, or a new store in PostgreSQL.
func (w *world) open() {
	w.t.Helper()
	w.server = resttest.Start(w.t, resttest.Config{Storage: func(c *storage.Config) {
		if !onPostgres() {
			store, err := badger.Open(filepath.Join(w.dir, "store"), badger.Options{Durability: badger.Relaxed})
			check(w.t, err)
			c.DB = kv.New(store, kv.Options{})
		}
		c.Types = advised{}.declare(w.t)
		w.config = *c
	}})
	w.repo, w.sql = w.server.Repo, newDatabase(w.t, filepath.Join(w.dir, "peer.db"))
}

// keep copies the world to a directory, where it is found whole or not at all.
func (w *world) keep(to string) {
	w.t.Helper()
	begun := to + ".part"
	check(w.t, errors.Join(os.RemoveAll(begun), os.MkdirAll(begun, 0o700)))
	check(w.t, os.CopyFS(begun, os.DirFS(w.dir)))
	check(w.t, os.Rename(begun, to))
}

// size reports how much of the disk the store takes, but for that of a database.
func (w *world) size(tb testing.TB, when string) {
	tb.Helper()
	if onPostgres() {
		return
	}
	total := int64(0)
	check(tb, filepath.WalkDir(filepath.Join(w.dir, "store"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	}))
	fmt.Printf("%d documents, %s: %d MB\n", w.n, when, total>>20)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) update(fn func(tx *storage.Tx) error) {
	w.t.Helper()
	check(w.t, w.repo.Update(context.Background(), w.repo.System(), fn))
}

func (w *world) folders() {
	w.t.Helper()
	make := func(tx *storage.Tx, parent, name string) {
		d, err := tx.Doc(storage.Ref(parent))
		check(w.t, err)
		_, err = tx.Create(d, "Folder", name, nil)
		check(w.t, err)
	}
	for _, a := range areas {
		w.update(func(tx *storage.Tx) error {
			make(tx, "/default-domain/workspaces", a.folder)
			for i := range tops {
				make(tx, a.top(), fmt.Sprint("top", i))
			}
			return nil
		})
		for from := 0; from < w.n.leaves(); from += 500 {
			w.update(func(tx *storage.Tx) error {
				for i := from; i < min(w.n.leaves(), from+500); i++ {
					path := a.path(i)
					cut := strings.LastIndexByte(path, '/')
					make(tx, path[:cut], path[cut+1:])
				}
				return nil
			})
		}
	}
}

// load sends the records to the bulk loader.
func (w *world) load(s *resttest.Server) {
	w.t.Helper()
	in, out := io.Pipe()
	go func() {
		b := bufio.NewWriterSize(out, 1<<16)
		for i := range int(w.n) {
			_, _ = b.Write(w.n.record(i).line())
		}
		_ = out.CloseWithError(b.Flush())
	}()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, s.URL+"/api/v1/bulk?batchSize=500&format=jsonl", in)
	check(w.t, err)
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.SetBasicAuth("Administrator", resttest.Password)
	res, err := s.Client().Do(req)
	check(w.t, err)
	defer res.Body.Close()
	created, r := 0, bufio.NewReader(res.Body)
	var last []byte
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			last = line
		}
		if err != nil {
			break
		}
		if bytes.Contains(line, []byte(`"status":"created"`)) {
			created++
		}
	}
	if created != int(w.n) {
		w.t.Fatalf("%s: %d of %d documents loaded: %s", res.Status, created, w.n, last)
	}
}

// block gives one in five folders to one group.
func (w *world) block() {
	w.t.Helper()
	for _, a := range areas {
		for leaf := range w.n.leaves() {
			group, ok := blocked(leaf)
			if !ok {
				continue
			}
			w.update(func(tx *storage.Tx) error {
				d, err := tx.Doc(storage.Ref(a.path(leaf)))
				if err == nil {
					_, err = tx.SetACL(d, "local", []storage.ACE{
						{User: group, Permission: "Read", Granted: true}, {User: "Everyone", Permission: "Everything"},
					})
				}
				return err
			})
		}
	}
}

// asker is the caller: the administrator, or one of the users.
type asker struct {
	principal *storage.Principal
	groups    []string // nil: may read everything
}

func (w *world) asker(user int) asker {
	if user < 0 {
		return asker{principal: w.repo.System()}
	}
	g := groupsOf(user)
	return asker{&storage.Principal{Name: fmt.Sprint("user", user), Groups: g}, g}
}

// result is a page: the ids in order, and the total.
type result struct {
	ids   []string
	total int
	more  bool
}

// total is up to where results are counted.
const total = 1000

// explain returns how catena finds the answer for the administrator.
func (w *world) explain(tb testing.TB, q *question, args []any) (plan string) {
	o := search.Options{PageOptions: storage.PageOptions{Limit: q.size(), Offset: q.offset, CountLimit: -1}, Args: args}
	if q.total {
		o.CountLimit = total
	}
	check(tb, w.repo.View(context.Background(), w.asker(-1).principal, func(tx *storage.Tx) (err error) {
		plan, err = search.Explain(tx, q.query, o)
		return err
	}))
	return plan
}

// ask answers a question, and reads what a list shows of each document.
func (w *world) ask(q *question, args []any, as asker) (r result, err error) {
	o := search.Options{PageOptions: storage.PageOptions{Limit: q.size(), Offset: q.offset, CountLimit: -1}, Args: args}
	if q.total {
		o.CountLimit = total
	}
	err = w.repo.View(context.Background(), as.principal, func(tx *storage.Tx) error {
		p, err := search.Query(tx, q.query, o)
		if err != nil {
			return err
		}
		r.total, r.more, r.ids = p.Total, p.More, make([]string, len(p.Docs))
		for i, d := range p.Docs {
			r.ids[i] = d.ID()
			_ = d.Path()
			for _, f := range q.shown {
				if _, err := d.Get(f); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return r, err
}
