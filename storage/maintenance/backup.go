// Package maintenance protects stored data against loss: backups, verification, and scrubbing of content.
//
// A backup is a dump of the rows as they are in one snapshot, and the contents that the snapshot refers to. Verification
// reads all rows of a snapshot and reports what contradicts itself; it changes nothing. Scrubbing reads every content once
// in a while and compares it with its digest, so that damage is found while there are still backups from before it. All of
// it runs while the server works.
package maintenance

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/kv"
)

// A backup is a tar file: the store's dump in parts "store/000000", …, then the content of every blob as
// "blobs/<digest>" and of every file that is not whole yet as "drafts/<name>", then "damaged", a JSON list of Damage, if
// content was damaged or missing, and an empty "end". The dump comes first, so that every blob it names was there when the
// blobs were copied; a sweep leaves what lost its last name within the grace period. What could not be read of damaged
// content is zeros: restore compares each content with its digest, and leaves out what is not the same.
const (
	backupStore  = "store/"
	backupBlobs  = "blobs/"
	backupDrafts = "drafts/"
	backupDamage = "damaged"
	backupEnd    = "end"
	backupPart   = 4 << 20
)

// Backup writes a consistent copy of the store, with all repositories in it, while it is in use. Administrators get one.
// Content that is damaged or missing is left out, and listed in the copy and in the error, a *DamagedContent: the copy is
// whole apart from it.
func Backup(ctx context.Context, r *storage.Repo, as *storage.Principal, w io.Writer) error {
	if !as.Is() {
		return fault.Denied.Errorf("only administrators may make backups, not '%s'", as.Name)
	}
	b := &backup{repo: r, tar: tar.NewWriter(w), now: time.Now(), seen: map[string]bool{}, problems: map[string]string{}}
	out := bufio.NewWriterSize(&tarParts{tar: b.tar, now: b.now}, backupPart)
	if err := insideRepo(r).Store().Dump(ctx, out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	err := r.Blobs().Each(ctx, func(digest string, size int64, _ time.Time) error { return b.blob(ctx, digest, size) })
	if err != nil {
		return err
	}
	err = r.Blobs().Drafts(func(name string, size int64, _ time.Time) error { return b.draft(ctx, name, size) })
	if err != nil {
		return err
	}
	damage, err := b.damage(ctx)
	if err != nil {
		return err
	}
	if err := b.tar.WriteHeader(&tar.Header{Name: backupEnd, Mode: 0o600, ModTime: b.now}); err != nil {
		return err
	}
	if err := b.tar.Close(); err != nil {
		return err
	}
	return damagedContent(damage)
}

// backup is one that is being written.
type backup struct {
	repo     *storage.Repo
	tar      *tar.Writer
	now      time.Time
	seen     map[string]bool   // digests of content
	problems map[string]string // of content, by digest
}

func (b *backup) entry(name string, size int64) error {
	return b.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: b.now})
}

// blob copies a content as far as it is not damaged.
func (b *backup) blob(ctx context.Context, digest string, size int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := b.repo.Blobs().Read(ctx, digest, size)
	if err != nil {
		if there, unknown := b.repo.Blobs().Has(ctx, digest); !there && unknown == nil {
			return nil // swept between the listing and now: nothing names it
		}
		return b.note(digest, err)
	}
	defer f.Close()
	b.seen[digest] = true
	if err := b.entry(backupBlobs+digest, size); err != nil {
		return err
	}
	n, err := io.CopyN(b.tar, f, size)
	if err == nil {
		return nil
	}
	if err := b.note(digest, err); err != nil {
		return err
	}
	_, err = io.CopyN(b.tar, zeros{}, size-n)
	return err
}

// note keeps damage for the list; every other error is returned.
func (b *backup) note(digest string, err error) error {
	found := blob.DamageIn(err)
	if found == nil {
		return err
	}
	b.seen[digest], b.problems[digest] = true, found.What
	return nil
}

// zeros stand for what cannot be read.
type zeros struct{}

// Read makes zeros.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (b *backup) draft(ctx context.Context, name string, size int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d := b.repo.Blobs().Draft(name, 0, nil)
	if d == nil {
		return nil // of before the store was shared
	}
	f, err := d.Piece(0, size).Open()
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			return nil // whole or dropped meanwhile
		}
		return err
	}
	defer f.Close()
	if err := b.entry(backupDrafts+name, size); err != nil {
		return err
	}
	_, err = io.CopyN(b.tar, f, size)
	return err
}

// damage lists what is damaged and what is missing, and writes the list.
func (b *backup) damage(ctx context.Context) ([]Damage, error) {
	err := missing(ctx, b.repo, func(digest string) bool { return b.seen[digest] }, func(digest string) { b.problems[digest] = isMissing })
	if err != nil {
		return nil, err
	}
	all, err := located(ctx, b.repo, b.problems)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = b.entry(backupDamage, int64(len(text)))
	}
	if err == nil {
		_, err = b.tar.Write(text)
	}
	return all, err
}

// tarParts makes a tar entry of each write.
type tarParts struct {
	tar *tar.Writer
	now time.Time
	n   int
}

// Write adds one part.
func (p *tarParts) Write(b []byte) (int, error) {
	h := &tar.Header{Name: fmt.Sprintf("%s%06d", backupStore, p.n), Mode: 0o600, Size: int64(len(b)), ModTime: p.now}
	if err := p.tar.WriteHeader(h); err != nil {
		return 0, err
	}
	p.n++
	return p.tar.Write(b)
}

// Restore fills an empty store and blob folder from a backup. Content that was damaged when the backup was made, or has
// been damaged in it since, is left out and listed in the error, a *DamagedContent. A backup that is cut short or changed
// elsewhere is refused; what was restored of it up to there must be thrown away.
func Restore(ctx context.Context, db *kv.DB, blobs *blob.Store, r io.Reader) error {
	t := tar.NewReader(bufio.NewReaderSize(r, 1<<20))
	parts := &partReader{tar: t}
	if err := parts.advance(); err != nil {
		return err
	}
	if err := db.Load(ctx, parts); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, parts); err != nil {
		return err
	}
	in := restoring{blobs: blobs}
	for h := parts.next; h.Name != backupEnd; {
		err := in.take(ctx, h, entryReader{t})
		if err == nil {
			h, err = nextEntry(t)
		}
		if err != nil {
			return err
		}
	}
	return damagedContent(in.damage())
}

// CheckBackup reads a backup to its end, as a restore would, and compares the store's part with its checksum and each content with
// its digest. Content that the backup lists as damaged, or that has been damaged in it since, is in the error, a *DamagedContent.
func CheckBackup(ctx context.Context, of *storage.Repo, r io.Reader) error {
	t := tar.NewReader(bufio.NewReaderSize(r, 1<<20))
	parts := &partReader{tar: t}
	if err := parts.advance(); err != nil {
		return err
	}
	if err := insideRepo(of).Store().CheckDump(ctx, parts); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, parts); err != nil {
		return err
	}
	in := restoring{}
	for h := parts.next; h.Name != backupEnd; {
		err := in.check(h, entryReader{t})
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			h, err = nextEntry(t)
		}
		if err != nil {
			return err
		}
	}
	return damagedContent(in.damage())
}

// check reads an entry that take would restore.
func (in *restoring) check(h *tar.Header, r io.Reader) (err error) {
	digest, isBlob := strings.CutPrefix(h.Name, backupBlobs)
	switch {
	case isBlob:
		sum := sha256.New()
		if _, err := io.Copy(sum, r); err != nil {
			return err
		}
		if hex.EncodeToString(sum.Sum(nil)) != digest {
			in.changed = append(in.changed, digest)
		}
	case h.Name == backupDamage:
		in.listed, err = readDamage(r)
	case strings.HasPrefix(h.Name, backupDrafts):
		_, err = io.Copy(io.Discard, r)
	default:
		err = fault.Invalid.Errorf("backup: unexpected entry %q", h.Name)
	}
	return err
}

// restoring is what a restore has found up to now.
type restoring struct {
	blobs   *blob.Store
	listed  []Damage
	changed []string // digests of content that is not what it should be
}

func (in *restoring) take(ctx context.Context, h *tar.Header, r io.Reader) (err error) {
	if strings.HasPrefix(h.Name, backupDrafts) {
		return restoreDraft(ctx, in.blobs, h, r)
	}
	if h.Name == backupDamage {
		in.listed, err = readDamage(r)
		return err
	}
	digest, ok := strings.CutPrefix(h.Name, backupBlobs)
	if !ok {
		return fault.Invalid.Errorf("backup: unexpected entry %q", h.Name)
	}
	b, err := in.blobs.Spool(ctx, digest, "application/octet-stream", r, h.Size)
	if err != nil {
		return err
	}
	if b.Digest != digest {
		in.changed = append(in.changed, digest)
		return nil
	}
	return in.blobs.Keep(ctx, b)
}

// damage is what the backup lists, and what was damaged since or before backups had lists.
func (in *restoring) damage() []Damage {
	for _, digest := range in.changed {
		if !slices.ContainsFunc(in.listed, func(d Damage) bool { return d.Digest == digest }) {
			in.listed = append(in.listed, Damage{Digest: digest, Problem: "is damaged in the backup"})
		}
	}
	return in.listed
}

func readDamage(r io.Reader) (all []Damage, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, unreadable(fmt.Errorf("list of damage: %w", err))
	}
	return all, nil
}

// CopyBackup copies a backup that is made meanwhile, and returns the damage that it lists as a *DamagedContent.
func CopyBackup(w io.Writer, r io.Reader) error {
	t := tar.NewReader(bufio.NewReaderSize(io.TeeReader(r, w), 1<<20))
	var found []Damage
	for {
		h, err := t.Next()
		if err == nil && h.Name == backupDamage {
			found, err = readDamage(entryReader{t})
		}
		if err != nil {
			return copying(err)
		}
		if h.Name == backupEnd {
			break
		}
	}
	_, err := io.Copy(w, r) // what of the end was not read ahead
	if err != nil {
		return err
	}
	return damagedContent(found)
}

// copying is the error of a backup that cannot be copied to its end: it can be made once more if it only ended too early; what
// the reader or the writer says of itself stays.
func copying(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errCutShort):
		return fault.Unavailable.Errorf("backup: %w", errCutShort)
	case errors.Is(err, tar.ErrHeader):
		return unreadable(err)
	}
	return err
}

// draftName is what files that come in are called while they grow: something unique, a number, their batch.
var draftName = regexp.MustCompile(`^[^./]*\.[0-9]+\.[^/]*$`)

func restoreDraft(ctx context.Context, blobs *blob.Store, h *tar.Header, r io.Reader) error {
	name := strings.TrimPrefix(h.Name, backupDrafts)
	if !draftName.MatchString(name) {
		return fault.Invalid.Errorf("backup: unexpected entry %q", h.Name)
	}
	d := blobs.Draft(name, 0, nil)
	if d == nil {
		return nil // a store in memory or of several processes has none
	}
	f, err := d.Open(true)
	if err != nil {
		return err
	}
	_, err = d.Take(ctx, f, 0, h.Size, r)
	return err
}

// nextEntry reads a header; the end of the file before the "end" entry is an error.
func nextEntry(t *tar.Reader) (*tar.Header, error) {
	h, err := t.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCutShort
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return h, nil
}

var errCutShort = errors.New("cut short")

// unreadable marks a backup that is damaged.
func unreadable(err error) error {
	broken := fault.Invalid.Errorf("backup: %w", err)
	broken.Err = errors.Join(kv.ErrDamaged, err)
	return broken
}

// entryReader reads the content of an entry, which may be cut short.
type entryReader struct{ tar *tar.Reader }

// Read reads on.
func (e entryReader) Read(b []byte) (int, error) {
	n, err := e.tar.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = unreadable(errCutShort)
	}
	return n, err
}

// partReader joins the store's parts again; next is the first entry after them.
type partReader struct {
	tar  *tar.Reader
	next *tar.Header
	done bool
}

func (p *partReader) advance() error {
	h, err := nextEntry(p.tar)
	if err != nil {
		return err
	}
	p.next, p.done = h, !strings.HasPrefix(h.Name, backupStore)
	return nil
}

// Read reads on through the parts.
func (p *partReader) Read(b []byte) (int, error) {
	for !p.done {
		n, err := p.tar.Read(b)
		if n > 0 || err == nil {
			return n, nil
		}
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		if err := p.advance(); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}
