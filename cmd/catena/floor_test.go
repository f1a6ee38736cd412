package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/uuid"
	"github.com/julienschmidt/httprouter"
)

// The floor is the thinnest useful server over the same libraries: net/http, httprouter,
// Badger and encoding/json, without types, permissions, events or history. What catena
// serves is measured as a ratio to it, in the same run.
type floor struct {
	db     *badger.DB
	log    *os.File // what synced writes to
	writes atomic.Int64

	aligned []byte // a page of memory
}

// floorDoc is all the floor knows of a document.
type floorDoc struct {
	ID         string          `json:"uid"`
	Title      string          `json:"title"`
	Modified   int64           `json:"modified"`
	Properties json.RawMessage `json:"properties"`
}

func newFloor(t testing.TB, sync bool) *floor {
	t.Helper()
	o := badger.DefaultOptions(t.TempDir()).WithLogger(nil).WithSyncWrites(sync)
	db, err := badger.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, make([]byte, syncedSize*syncedPlaces), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(path, os.O_WRONLY|syscall.O_DSYNC|syscall.O_DIRECT, 0o600)
	if errors.Is(err, syscall.EINVAL) {
		log, err = os.OpenFile(path, os.O_WRONLY|syscall.O_DSYNC, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	page := make([]byte, 2*syncedSize)
	at := -uintptr(unsafe.Pointer(&page[0])) % syncedSize
	return &floor{db: db, log: log, aligned: page[at : at+syncedSize]}
}

func (f *floor) handler() http.Handler {
	r := httprouter.New()
	r.POST("/noop", f.noop)
	r.POST("/chain", f.chain)
	r.POST("/docs", f.create)
	r.POST("/synced", f.synced)
	r.GET("/docs/:id", f.get)
	r.PATCH("/docs/:id", f.patch)
	r.GET("/copied/:id", f.copied)
	r.GET("/page", f.page)
	r.GET("/copiedPage", f.copiedPage)
	return r
}

func (f *floor) noop(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	var body struct {
		Input  string         `json:"input"`
		Params map[string]any `json:"params"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	floorAnswer(w, map[string]any{"entity-type": "string", "value": body.Input})
}

// chain applies ten functions, looked up by name, to a small value.
func (f *floor) chain(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	var body struct {
		Input string `json:"input"`
		Store bool   `json:"store"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	v := body.Input
	for range 10 {
		v = floorSteps["append"](v)
	}
	if body.Store {
		if err := f.put(floorDoc{ID: uuid.NewString(), Title: v, Modified: time.Now().UnixMilli(), Properties: []byte(`{}`)}); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
	}
	floorAnswer(w, map[string]any{"entity-type": "string", "value": v})
}

var floorSteps = map[string]func(string) string{"append": func(s string) string { return s + "." }}

func (f *floor) create(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	var d floorDoc
	if json.NewDecoder(r.Body).Decode(&d) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d.ID, d.Modified = uuid.NewString(), time.Now().UnixMilli()
	if err := f.put(d); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	floorAnswer(w, d)
}

// patch gives a document another title. What lies in one record is read and written whole.
func (f *floor) patch(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	var change struct {
		Title string `json:"title"`
	}
	if json.NewDecoder(r.Body).Decode(&change) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for {
		var d floorDoc
		err := f.db.Update(func(tx *badger.Txn) error {
			if err := floorRead(tx, p.ByName("id"), &d); err != nil {
				return err
			}
			if err := tx.Delete(floorIndex(d)); err != nil {
				return err
			}
			d.Title, d.Modified = change.Title, time.Now().UnixMilli()
			return f.set(tx, d)
		})
		switch {
		case errors.Is(err, badger.ErrConflict):
			continue
		case err != nil:
			w.WriteHeader(http.StatusInternalServerError)
		default:
			floorAnswer(w, d)
		}
		return
	}
}

// synced reads a document, writes a page to a file whose blocks are there, past the page cache if
// it can, waits for the disk, and answers: no durable write is faster on one connection.
func (f *floor) synced(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	var d floorDoc
	if json.NewDecoder(r.Body).Decode(&d) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	at := f.writes.Add(1) % syncedPlaces * syncedSize
	if _, err := f.log.WriteAt(f.aligned, at); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	floorAnswer(w, d)
}

// What synced writes at a time, and how many of these its file has room for.
const (
	syncedSize   = 4096
	syncedPlaces = 256
)

func (f *floor) put(d floorDoc) error {
	return f.db.Update(func(tx *badger.Txn) error { return f.set(tx, d) })
}

func (f *floor) set(tx *badger.Txn, d floorDoc) error {
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := tx.Set([]byte("d"+d.ID), b); err != nil {
		return err
	}
	return tx.Set(floorIndex(d), nil)
}

func floorIndex(d floorDoc) []byte {
	return append(binary.BigEndian.AppendUint64([]byte("m"), uint64(d.Modified)), d.ID...)
}

func (f *floor) get(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
	var d floorDoc
	err := f.db.View(func(tx *badger.Txn) error { return floorRead(tx, p.ByName("id"), &d) })
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	floorAnswer(w, d)
}

func floorRead(tx *badger.Txn, id string, d *floorDoc) error {
	item, err := tx.Get([]byte("d" + id))
	if err != nil {
		return err
	}
	return item.Value(func(b []byte) error { return json.Unmarshal(b, d) })
}

// copied answers with a document as it is stored, the least that a server can do.
func (f *floor) copied(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
	err := f.db.View(func(tx *badger.Txn) error {
		item, err := tx.Get([]byte("d" + p.ByName("id")))
		if err != nil {
			return err
		}
		return item.Value(func(raw []byte) error {
			h := w.Header()
			h.Set("Content-Type", "application/json")
			h.Set("Content-Length", strconv.Itoa(len(raw)))
			_, err := w.Write(raw)
			return err
		})
	})
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
	}
}

// copiedPage answers fifty documents as they are stored, in the order of the index, from a bound on.
func (f *floor) copiedPage(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	from, _ := strconv.ParseUint(r.URL.Query().Get("from"), 10, 64)
	b := []byte(`{"entries":[`)
	err := f.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues, o.Prefix = false, []byte("m")
		it := tx.NewIterator(o)
		defer it.Close()
		n := 0
		for it.Seek(binary.BigEndian.AppendUint64([]byte("m"), from)); it.Valid() && n < 50; it.Next() {
			item, err := tx.Get(append([]byte("d"), it.Item().Key()[9:]...))
			if err != nil {
				return err
			}
			if n++; n > 1 {
				b = append(b, ',')
			}
			if err := item.Value(func(raw []byte) error { b = append(b, raw...); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	b = append(b, `]}`...)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b)
}

// page answers whole documents in the order of the index, from a bound on: fifty, or as many as
// are asked for.
func (f *floor) page(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	from, _ := strconv.ParseUint(r.URL.Query().Get("from"), 10, 64)
	size, _ := strconv.Atoi(cmp.Or(r.URL.Query().Get("size"), "50"))
	docs := make([]floorDoc, 0, size)
	err := f.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues, o.Prefix = false, []byte("m")
		it := tx.NewIterator(o)
		defer it.Close()
		for it.Seek(binary.BigEndian.AppendUint64([]byte("m"), from)); it.Valid() && len(docs) < size; it.Next() {
			var d floorDoc
			if err := floorRead(tx, string(it.Item().Key()[9:]), &d); err != nil {
				return err
			}
			docs = append(docs, d)
		}
		return nil
	})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	floorAnswer(w, map[string]any{"entity-type": "documents", "entries": docs})
}

func floorAnswer(w http.ResponseWriter, v any) {
	var b bytes.Buffer
	if json.NewEncoder(&b).Encode(v) != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = io.Copy(w, &b)
}
