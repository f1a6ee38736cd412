package storage_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/maintenance"
	"catena/storage/search"
	"catena/storage/storagetest"

	"github.com/google/uuid"
)

// indexText brings all terms up to date.
func indexText(t testing.TB, r *storage.Repo) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = r.IndexText(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// found returns the names of what a search finds.
func found(t *testing.T, r *storage.Repo, words string) string {
	t.Helper()
	var names []string
	err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
		page, err := search.Query(tx, "SELECT * FROM Document WHERE ecm:fulltext = ? ORDER BY ecm:name", search.Options{Args: []any{words}})
		if err != nil {
			return err
		}
		for _, d := range page.Docs {
			names = append(names, d.Name())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func docx(t *testing.T, words string) *blob.Blob {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("word/document.xml")
	if err == nil {
		_, err = w.Write([]byte(`<w:document xmlns:w="x"><w:p><w:t>` + words + `</w:t></w:p></w:document>`))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return blob.FromBytes("letter.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", b.Bytes())
}

// A search finds the same before and after terms are written, in any form of a word, and what
// is in files once they were read.
func TestFullText(t *testing.T) {
	r := storagetest.Open(t, nil)
	var plan *storage.Doc
	update := func(fn func(tx *storage.Tx) error) {
		t.Helper()
		if err := r.Update(context.Background(), r.System(), fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		for name, p := range map[string]storage.Props{
			"plan":   {"dc:title": "Running the numbers", "dc:description": "Costs of the café"},
			"cheval": {"dc:title": "Les chevaux", "dc:language": "fr"},
			"page":   {"dc:title": "Page", "file:content": blob.FromBytes("p.html", "text/html", []byte("<p>Zebra<script>secret()</script></p>"))},
			"letter": {"dc:title": "Letter", "file:content": docx(t, "dear giraffe")},
			"bogus":  {"dc:title": "Bogus", "file:content": blob.FromBytes("x.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", []byte("no zip"))},
		} {
			d, err := tx.Create(root, "File", name, p)
			if err != nil {
				return err
			}
			if name == "plan" {
				plan = d
			}
		}
		return nil
	})
	searches := map[string]string{
		"run": "plan", "numbers run": "plan", `"running numbers"`: "", `"the numbers"`: "plan", "numb*": "plan", "CAFE": "plan",
		"cheval": "cheval", "run -cost": "", "run -zebra": "plan", "zzz OR cost": "plan", "-run": "", "page": "page", "": "",
	}
	check := func(when string) {
		t.Helper()
		for words, want := range searches {
			if got := found(t, r, words); got != want {
				t.Errorf("%s: %s: got %q, want %q", when, words, got, want)
			}
		}
	}
	check("before")
	indexText(t, r)
	searches["zebra"], searches["giraffes"], searches["secret"] = "page", "letter", ""
	check("after")

	update(func(tx *storage.Tx) error {
		d, err := tx.Reload(plan)
		if err == nil {
			err = d.Set("dc:title", "Walking")
		}
		if err == nil {
			_, err = tx.Save(d, storage.SaveOptions{})
		}
		return err
	})
	searches = map[string]string{"run": "", "walk": "plan", "costs": "plan", "numbers": ""}
	check("changed")
	indexText(t, r)
	check("changed and written")
	update(func(tx *storage.Tx) error { return tx.Delete(plan) })
	searches = map[string]string{"walk": "", "costs": ""}
	check("deleted")
	indexText(t, r)
	check("deleted and written")
	if problems, err := maintenance.Verify(t.Context(), r); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}

// TestSearchSeesWhatIsCommitted has documents written from several sides, some for nothing, while their
// terms are brought up to date; the writer finds its words at once, and the old ones no more.
func TestSearchSeesWhatIsCommitted(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.NewID = nil })
	for i := range 4 {
		w.make(fmt.Sprint("/d", i), "File", storage.Props{"dc:title": fmt.Sprintf("w%dx0", i)})
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := w.IndexText(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := 1; n <= 40; n++ {
				path, failed := storage.Ref(fmt.Sprint("/d", i)), n%5 == 0
				err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
					d, err := tx.Doc(path)
					if err == nil {
						err = d.Set("dc:title", fmt.Sprintf("w%dx%d", i, n))
					}
					if err == nil {
						_, err = tx.Save(d, storage.SaveOptions{})
					}
					if err == nil && failed {
						err = context.Canceled
					}
					return err
				})
				if (err != nil) != failed {
					t.Error(err)
				}
				now := n
				if failed {
					now--
				}
				for word, want := range map[string]string{fmt.Sprintf("w%dx%d", i, now): fmt.Sprint("d", i), fmt.Sprintf("w%dx%d", i, now-1): ""} {
					if got := found(t, w.Repo, word); got != want {
						t.Errorf("%s: got %q, want %q", word, got, want)
					}
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	<-done
	indexText(t, w.Repo)
	if n := w.rows("w\x03"); n > 0 {
		t.Errorf("%d documents are left", n)
	}
}

// TestFrequentWords: what words find that many documents have is known without reading texts: for a page in an order, for all results, and
// together with other conditions.
func TestFrequentWords(t *testing.T) {
	w := newWorld(t)
	w.many(60, func(i int) (string, string, string, storage.Props) {
		props := storage.Props{"dc:title": fmt.Sprintf("frequent %03d", i), "dc:source": "the source"}
		if i%2 > 0 {
			props["dc:source"] = "source, the"
		}
		if i%6 == 5 {
			props["dc:title"] = fmt.Sprintf("other %03d", i)
		}
		return "/default-domain/workspaces", fmt.Sprintf("d%02d", i), "File", props
	})
	indexText(t, w.Repo)
	search.SetCosts(w.Repo, search.Costs{Sorted: 10, Few: 5, Subtree: 5, Known: 1000, Loads: 5, Factor: 10})
	for _, tt := range []struct {
		where, access string
		names         string
	}{
		{"ecm:fulltext = 'frequent' ORDER BY dc:title DESC", "dc:title", "d58 d57 d56 d55 d54 d52 d51 d50 d49 d48"},
		{"ecm:fulltext = 'freq*' ORDER BY dc:title DESC", "dc:title", "d58 d57 d56 d55 d54 d52 d51 d50 d49 d48"},
		{"ecm:fulltext = 'freq* 0*' ORDER BY dc:title", "dc:title", "d00 d01 d02 d03 d04 d06 d07 d08 d09 d10"},
		{"ecm:fulltext = 'frequent source -other' ORDER BY dc:title", "dc:title", "d00 d01 d02 d03 d04 d06 d07 d08 d09 d10"},
		{"ecm:fulltext = 'frequent -012' ORDER BY dc:title", "dc:title", "d00 d01 d02 d03 d04 d06 d07 d08 d09 d10"},
		{"ecm:fulltext = 'frequent' AND dc:title > 'frequent 050' ORDER BY dc:title", "dc:title", "d51 d52 d54 d55 d56 d57 d58"},
		{"ecm:fulltext = '\"the sources\"' ORDER BY dc:title", "dc:title", "d00 d02 d04 d06 d08 d10 d12 d14 d16 d18"},
		{"ecm:fulltext = 'frequent -\"the source\"' ORDER BY dc:title", "dc:title", "d01 d03 d07 d09 d13 d15 d19 d21 d25 d27"},
		{"ecm:fulltext = 'frequent'", "type", ""},
	} {
		plan, names := planAndNames(t, w.Repo, "SELECT * FROM File WHERE "+tt.where)
		got := strings.Join(names, " ")
		if tt.names == "" && len(names) == 10 {
			got = ""
		}
		if got != tt.names || !strings.Contains(plan, "access: "+tt.access+",") || !strings.Contains(plan, " 0 documents besides") {
			t.Errorf("%s: %s\n%s", tt.where, got, plan)
		}
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		n := 0
		more, err := search.Values(tx, "SELECT ecm:name FROM File WHERE ecm:fulltext = 'freq*' ORDER BY dc:title", search.Options{}, 1000, func([]any) error { n++; return nil })
		if n != 50 || more {
			t.Errorf("%d results, more: %t", n, more)
		}
		return err
	})
}

// TestBacklog: a transaction lists the documents it changes in few rows, what it undoes is not on the list,
// and rows of one document each, as they once were, are worked on too.
func TestBacklog(t *testing.T) {
	var config storage.Config
	w := newWorld(t, func(c *storage.Config) { config = *c })
	id := uuid.New()
	if err := w.db.Update(t.Context(), func(k *kv.Tx) error { return k.Set(append([]byte("w\x03"), id[:]...), []byte{1}) }); err != nil {
		t.Fatal(err)
	}
	indexText(t, w.Repo)
	if n := w.rows("w\x03"); n > 0 {
		t.Errorf("%d rows of before are left", n)
	}
	undone := errors.New("undone")
	w.update(w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		make := func(from, to int, word string) error {
			for i := from; i < to; i++ {
				if _, err := tx.Create(root, "File", fmt.Sprintf("%s%03d", word, i), storage.Props{"dc:title": word}); err != nil {
					return err
				}
			}
			return nil
		}
		if err := make(0, 20, "kept"); err != nil {
			return err
		}
		if err := tx.Nest(func() error { return errors.Join(make(0, 50, "lost"), undone) }); !errors.Is(err, undone) {
			return err
		}
		return make(20, 100, "kept")
	})
	check := func(when string) {
		t.Helper()
		if got := len(strings.Fields(found(t, w.Repo, "kept"))); got != 100 {
			t.Errorf("%s: %d documents found", when, got)
		}
		if got := found(t, w.Repo, "lost"); got != "" {
			t.Errorf("%s: %s found", when, got)
		}
	}
	check("before")
	if n := w.rows("w\x03"); n != 4 {
		t.Errorf("100 documents are in %d rows", n)
	}
	before := w.last("w\x03")
	indexText(t, w.Repo)
	check("after")

	if n := w.rows("w\x03"); n > 0 {
		t.Errorf("%d rows are left", n)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.Repo, err = storage.Open(t.Context(), config, adminPassword); err != nil {
		t.Fatal(err)
	}
	w.make("/later", "File", nil)
	if after := w.last("w\x03"); after <= before {
		t.Errorf("row %x comes before the traces of %x", after, before)
	}
}

// last is the last key with a prefix.
func (w *world) last(space string) (key string) {
	w.t.Helper()
	rg := kv.Prefix([]byte(space))
	rg.Reverse, rg.Limit = true, 1
	if err := w.db.View(w.t.Context(), func(k *kv.Tx) error {
		for row, err := range k.Scan(rg) {
			if err != nil {
				return err
			}
			key = string(row.Key)
		}
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return key
}

// noPDFText reads no PDF file.
func noPDFText(context.Context, *storage.Blob) (string, error) {
	return "", fault.Unavailable.Errorf("no worker")
}

// TestUnreadable: a file that cannot be read for now does not keep other documents from being found by terms.
func TestUnreadable(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.PDFText = noPDFText })
	indexText(t, w.Repo)
	w.make("/file", "File", storage.Props{"file:content": blob.FromBytes("a.pdf", "application/pdf", []byte("%PDF-1.7"))})
	w.make("/note", "Note", storage.Props{"dc:title": "zebra"})
	for range 3 {
		if _, err := w.IndexText(t.Context()); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("the file is read: %v", err)
		}
	}
	if n := w.rows("w\x03"); n != 1 {
		t.Errorf("%d rows are left, of the file alone 1", n)
	}
}

// TestManyUnreadable: however many files cannot be read for now, other documents are found by terms, those of the same
// transaction too.
func TestManyUnreadable(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.PDFText = noPDFText })
	indexText(t, w.Repo)
	before := w.rows("w\x02")
	file := func(i int) storage.Props {
		return storage.Props{"file:content": blob.FromBytes("a.pdf", "application/pdf", fmt.Appendf(nil, "%%PDF-1.7 %d", i))}
	}
	const files, notes = 70, 5
	for i := range files {
		w.make(fmt.Sprintf("/file%d", i), "File", file(i))
	}
	w.update(w.System(), func(tx *storage.Tx) error {
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		for i := range notes {
			if _, err := tx.Create(root, "File", fmt.Sprintf("note%d", i), storage.Props{"dc:title": "zebra"}); err != nil {
				return err
			}
			if _, err := tx.Create(root, "File", fmt.Sprintf("beside%d", i), file(files+i)); err != nil {
				return err
			}
		}
		return nil
	})
	for range 4 {
		if _, err := w.IndexText(t.Context()); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("the files are read: %v", err)
		}
	}
	if n := w.rows("w\x02") - before; n != notes {
		t.Errorf("%d documents of %d are found by terms", n, notes)
	}
	before = w.rows("w\x03")
	if more, err := w.IndexText(t.Context()); more || !fault.Is(err, fault.Unavailable) || w.rows("w\x03") != before {
		t.Errorf("nothing is left that can be read: %v, %v, %d rows", more, err, w.rows("w\x03"))
	}
}

// TestPhrasesOfChanged: phrases are found in documents that were changed since they were indexed, by a transaction that reads and by
// one that writes, and in those that were indexed by a version that kept no words.
func TestPhrasesOfChanged(t *testing.T) {
	w := newWorld(t)
	w.many(3, func(i int) (string, string, string, storage.Props) {
		return "/default-domain/workspaces", fmt.Sprintf("d%d", i), "File", storage.Props{"dc:title": "red apple, green pear", "dc:source": "blue plum"}
	})
	indexText(t, w.Repo)
	w.update(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/default-domain/workspaces/d1")
		if err == nil {
			err = d.Set("dc:title", "green apple, red pear")
		}
		if err == nil {
			_, err = tx.Save(d, storage.SaveOptions{})
		}
		return err
	})
	keepNoWords(t, w, "/default-domain/workspaces/d2")
	check := func(words, want string) {
		t.Helper()
		if got := found(t, w.Repo, words); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
		w.update(w.System(), func(tx *storage.Tx) error {
			page, err := search.Query(tx, "SELECT * FROM Document WHERE ecm:fulltext = ?", search.Options{Args: []any{words}})
			if err == nil && len(page.Docs) != len(strings.Fields(want)) {
				t.Errorf("%s, writing: %d results", words, len(page.Docs))
			}
			return err
		})
	}
	for range 2 { // before and after it is indexed
		check(`"red apples"`, "d0 d2")
		check(`"green apple"`, "d1")
		check(`pear -"red pear"`, "d0 d2")
		check(`"green pe*"`, "d0 d2")
		indexText(t, w.Repo)
	}
}

// keepNoWords leaves only the terms of a document, as earlier versions did.
func keepNoWords(t *testing.T, w *world, path string) {
	t.Helper()
	var id uuid.UUID
	w.view(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(path))
		if err == nil {
			id, err = uuid.Parse(d.ID())
		}
		return err
	})
	err := w.db.Update(t.Context(), func(k *kv.Tx) error {
		key := append([]byte("w\x02"), id[:]...)
		row, err := k.Get(key)
		if err != nil {
			return err
		}
		_, terms, both := bytes.Cut(row, []byte("\n"))
		if !both || row[0] != 0 {
			t.Errorf("row %q", row)
		}
		return k.Set(key, terms)
	})
	if err != nil {
		t.Fatal(err)
	}
}
