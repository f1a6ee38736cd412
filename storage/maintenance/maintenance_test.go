package maintenance

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
	"catena/storage/storagetest"
)

// withFile is a repository with a document /a whose file has a content.
func withFile(t *testing.T, content string) (r *storage.Repo, digest string) {
	t.Helper()
	r = storagetest.Open(t, nil)
	err := r.Update(t.Context(), r.System(), func(tx *storage.Tx) error {
		b, err := tx.NewBlob("a.txt", "text/plain", strings.NewReader(content))
		if err != nil {
			return err
		}
		digest = b.Digest
		root, err := tx.Doc("/")
		if err == nil {
			_, err = tx.Create(root, "File", "a", storage.Props{"file:content": b})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, digest
}

// large is content that is not kept in a row.
var large = strings.Repeat("content ", 100_000)

// restored fills an empty store from a backup.
func restored(t *testing.T, backup []byte) error {
	t.Helper()
	db := kv.New(memory.New(), kv.Options{})
	blobs, err := blob.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer blobs.Close()
	return Restore(t.Context(), db, blobs, bytes.NewReader(backup))
}

// TestCutBackups: a backup that ends anywhere before its end is refused by what restores and by what copies it, and as a whole it
// is taken however it arrives.
func TestCutBackups(t *testing.T) {
	r, _ := withFile(t, large)
	var whole bytes.Buffer
	if err := Backup(t.Context(), r, r.System(), &whole); err != nil {
		t.Fatal(err)
	}
	text := whole.Bytes()
	if err := restored(t, text); err != nil {
		t.Fatal(err)
	}
	end := len(text) - 3*512 // the header of the last entry, and two blocks of zeros behind it
	for _, n := range []int{0, 1, 511, 512, 513, 1024, end / 3, end / 2, end/2 + 511, end - 513, end - 512, end - 1, end, end + 1, end + 511} {
		err := restored(t, text[:n])
		if err == nil || !fault.Is(err, fault.Invalid) && !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("a backup of %d bytes of %d: %v (%s)", n, len(text), err, fault.Of(err))
		}
		if err := CheckBackup(t.Context(), r, bytes.NewReader(text[:n])); !fault.Is(err, fault.Invalid) {
			t.Errorf("%d bytes of %d are whole by a check: %v", n, len(text), err)
		}
		if err := CopyBackup(io.Discard, bytes.NewReader(text[:n])); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "backup: cut short") {
			t.Errorf("%d bytes of %d are copied as a backup, or with the wrong kind of error: %v", n, len(text), err)
		}
	}
	for name, reader := range map[string]io.Reader{"halves": iotest.HalfReader(bytes.NewReader(text)), "data with the end": iotest.DataErrReader(bytes.NewReader(text))} {
		var copied bytes.Buffer
		if err := CopyBackup(&copied, reader); err != nil || !bytes.Equal(copied.Bytes(), text) {
			t.Errorf("%s: %v, %d bytes of %d", name, err, copied.Len(), len(text))
		}
	}
	own := fault.Denied.Errorf("no")
	if err := CopyBackup(io.Discard, io.MultiReader(bytes.NewReader(text[:end/2]), iotest.ErrReader(own))); !errors.Is(err, own) {
		t.Errorf("what ended the backup is lost: %v", err)
	}
	// What is none is neither cut short nor what its reader says.
	if err := CopyBackup(io.Discard, strings.NewReader(strings.Repeat("no backup ", 1000))); !fault.Is(err, fault.Invalid) || !errors.Is(err, kv.ErrDamaged) {
		t.Errorf("another file: %v (%s)", err, fault.Of(err))
	}
}

// TestChangedBackups: one changed bit is found wherever it is, and in the content of a file it costs that file alone.
func TestChangedBackups(t *testing.T) {
	r, digest := withFile(t, large)
	var whole bytes.Buffer
	if err := Backup(t.Context(), r, r.System(), &whole); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole.Bytes(), []byte(large[:1000]))
	if at < 0 {
		t.Fatal("the content is not in the backup as it is")
	}
	for _, place := range []int{at, at + 7777, at + len(large) - 1} {
		text := bytes.Clone(whole.Bytes())
		text[place] ^= 4
		for _, err := range []error{restored(t, text), CheckBackup(t.Context(), r, bytes.NewReader(text))} {
			var damaged *DamagedContent
			if !errors.As(err, &damaged) || len(damaged.Damage) != 1 || damaged.Damage[0].Digest != digest || damaged.Damage[0].Problem != "is damaged in the backup" {
				t.Errorf("a bit at %d: %v", place-at, err)
			}
		}
	}
	for _, place := range []int{100, 600, 2000, at - 500} {
		text := bytes.Clone(whole.Bytes())
		text[place] ^= 4
		var damaged *DamagedContent
		if err := restored(t, text); err != nil && errors.As(err, &damaged) {
			t.Errorf("a bit at %d is taken for damaged content: %v", place, err)
		} else if err == nil && place != 100 { // the mode of the first entry says nothing
			t.Errorf("a bit at %d goes unnoticed", place)
		} else if checked := CheckBackup(t.Context(), r, bytes.NewReader(text)); (checked == nil) != (err == nil) {
			t.Errorf("a bit at %d: a restore says %v, a check %v", place, err, checked)
		}
	}
}

// TestUnknownEntries: a backup has nothing but what backups have, and no name in it leads out of a folder.
func TestUnknownEntries(t *testing.T) {
	for name, ok := range map[string]bool{
		"a.1.b": true, "a.12.": true, ".1.": true, "a.1.b.c": true, "a..b": false, "a.1": false, "a.x.b": false, "../a.1.b": false, "a/b.1.c": false, "a.1.b/c": false, "": false, "..": false,
	} {
		if draftName.MatchString(name) != ok {
			t.Errorf("%q: %t", name, !ok)
		}
		err := (&restoring{}).take(t.Context(), &tar.Header{Name: "unknown/" + name}, strings.NewReader(""))
		storagetest.WantKind(t, err, fault.Invalid, "backup: unexpected entry \"unknown/")
		if !ok {
			err := restoreDraft(t.Context(), nil, &tar.Header{Name: backupDrafts + name}, strings.NewReader(""))
			storagetest.WantKind(t, err, fault.Invalid, "backup: unexpected entry \"drafts/")
		}
	}
	for _, text := range []string{"", "{", `{"a": 1}`, `"x"`, "[1]"} {
		if all, err := readDamage(strings.NewReader(text)); err == nil || !errors.Is(err, kv.ErrDamaged) || !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
}

// TestRestoredDamage: what a backup lists and what was damaged since are one list, each content once.
func TestRestoredDamage(t *testing.T) {
	listed := []Damage{{Path: "/a", Digest: "1", Problem: "is missing"}, {Path: "/b", Digest: "1", Problem: "is missing"}}
	in := restoring{listed: slices.Clone(listed), changed: []string{"1", "2", "2", "3"}}
	want := append(slices.Clone(listed), Damage{Digest: "2", Problem: "is damaged in the backup"}, Damage{Digest: "3", Problem: "is damaged in the backup"})
	if got := in.damage(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if err := damagedContent(nil); err != nil {
		t.Errorf("nothing is damaged: %v", err)
	}
	err := fmt.Errorf("backup: %w", damagedContent(want))
	if err.Error() != "backup: content is damaged or missing: 4" || fault.CodeOf(err) != fault.CodeContentDamaged || !errors.Is(err, kv.ErrDamaged) || !fault.Shown(err) {
		t.Errorf("%v: %s", err, fault.CodeOf(err))
	}
	for want, d := range map[string]Damage{
		"content 1 is missing": {Digest: "1", Problem: "is missing"},
		"r: document /a (7), file:content: content 1 is missing": {Repository: "r", Path: "/a", ID: "7", XPath: "file:content", Digest: "1", Problem: "is missing"},
	} {
		if d.String() != want {
			t.Errorf("%s, want %s", d, want)
		}
	}
}

// TestBackupsAreForAdministrators: a copy has everything, whoever may read it.
func TestBackupsAreForAdministrators(t *testing.T) {
	r, _ := withFile(t, "x")
	var out bytes.Buffer
	err := Backup(t.Context(), r, &storage.Principal{Name: "ann"}, &out)
	storagetest.WantKind(t, err, fault.Denied, "only administrators may make backups, not 'ann'")
	if out.Len() > 0 {
		t.Errorf("%d bytes of the backup are written", out.Len())
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := Backup(ended, r, r.System(), io.Discard); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after the end of the call: %v", err)
	}
}

// TestExplainNames: the error names the documents that have the content, those alone that the caller may read.
func TestExplainNames(t *testing.T) {
	r, digest := withFile(t, large)
	damage := fmt.Errorf("picture: %w", &blob.Damage{Digest: digest, What: "is missing"})
	for _, c := range []struct {
		as   *storage.Principal
		err  error
		want string
	}{
		{r.System(), damage, "document /a, file:content: content " + digest + " is missing"},
		{&storage.Principal{Name: "Administrator", Admin: true}, damage, "document /a, file:content: content " + digest + " is missing"},
		{&storage.Principal{Name: "ann"}, damage, "blob " + digest + ": content is missing"},
		{r.System(), &blob.Damage{Digest: strings.Repeat("0", 64), What: "is missing"}, "blob " + strings.Repeat("0", 64) + ": content is missing"},
	} {
		got := Explain(t.Context(), r, c.as, c.err)
		if got.Error() != c.want || fault.CodeOf(got) != fault.CodeContentDamaged || blob.DamageIn(got) == nil || !fault.Shown(got) {
			t.Errorf("for %s: %v (%s)", c.as.Name, got, fault.CodeOf(got))
		}
	}
	for _, err := range []error{nil, io.EOF, fault.Denied.Errorf("no")} {
		if got := Explain(t.Context(), r, r.System(), err); got != err { //nolint:errorlint // the same one
			t.Errorf("%v became %v", err, got)
		}
	}
	if got := Explain(t.Context(), r, nil, damage); got != damage { //nolint:errorlint // the same one
		t.Errorf("for nobody: %v", got)
	}
}

// TestDue: contents are read one after the other over the whole interval, in the order of their digests.
func TestDue(t *testing.T) {
	s := NewScrubber(nil, 16*time.Hour)
	s.state.Began = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for digest, want := range map[string]time.Duration{"00000000": 0, "10000000": time.Hour, "80000000": 8 * time.Hour, "f0000000": 15 * time.Hour, "ffffffff": 16*time.Hour - time.Second} {
		got := s.due(digest + strings.Repeat("f", 56)).Sub(s.state.Began)
		if got < want || got > want+time.Second {
			t.Errorf("%s: after %v, want %v", digest, got, want)
		}
	}
}

// TestDamageRows: the rows of damage are those of the last list, and what was known before keeps when it was found.
func TestDamageRows(t *testing.T) {
	w := storagetest.NewWorld(t)
	begun, before := w.Now, map[string]bool{}
	for i, c := range []struct{ now, want string }{{"", ""}, {"a b", "a:0 b:0"}, {"a b", "a:0 b:0"}, {"b c", "b:0 c:3"}, {"a", "a:4"}, {"", ""}} {
		w.Now = begun.Add(time.Duration(max(0, i-1)) * time.Hour)
		if i > 1 {
			w.Now = w.Now.Add(time.Hour) // rows of the second list are from the first hour
		}
		now, problems := map[string]bool{}, map[string]string{}
		for digest := range strings.FieldsSeq(c.now) {
			now[digest], problems[digest] = true, "is missing"
		}
		w.Write(w.System(), func(tx *storage.Tx) error { return writeDamage(tx, before, now, problems) })
		before = now
		var got []string
		w.Read(w.System(), func(tx *storage.Tx) error {
			got = nil
			return eachRow(tx.Secret(damageTable), func(digest string, d damageRow) {
				if d.Problem != "is missing" {
					t.Errorf("%s: %+v", digest, d)
				}
				got = append(got, fmt.Sprintf("%s:%d", digest, int(d.Found.Sub(begun).Hours())))
			})
		})
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("list %d: %v, want %s", i, got, c.want)
		}
	}
}

// TestProgress: nil is told nothing, and others of each document and byte.
func TestProgress(t *testing.T) {
	Progress(nil).add(1, 2)
	r, _ := withFile(t, large)
	var documents, size int64
	report, err := VerifyAll(t.Context(), r, nil)
	if err != nil || len(report.Problems)+len(report.Damage) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	told := make(chan [2]int64, 10_000)
	if _, err := VerifyAll(t.Context(), r, func(d, b int64) { told <- [2]int64{d, b} }); err != nil {
		t.Fatal(err)
	}
	close(told)
	for one := range told {
		documents, size = documents+one[0], size+one[1]
	}
	if documents < 2 || size != int64(len(large)) {
		t.Errorf("%d documents, %d bytes of %d", documents, size, len(large))
	}
}
