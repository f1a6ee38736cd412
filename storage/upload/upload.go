// Package upload keeps uploaded files until they are used: batches of files that belong to a user, whole or in chunks
// that may arrive in parallel and in any order. What becomes of a file is left to anyone who takes it out of its
// batch.
//
// Chunks are written into one growing file when their position is known, and kept one by one otherwise; the
// last one completes the file and its digest. Nothing that arrives is trusted to be complete: sizes and
// numbers are compared with what was announced first. Batches that nobody uses expire with the sweep.
package upload

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/internal/row"
	"catena/storage/limit"
)

// Limits bound the uploads of one user; zero values take the defaults.
type Limits struct {
	Batches int   `setting:"limit-batches" default:"1000" doc:"open batches of uploaded files of one user"`
	Bytes   int64 `setting:"limit-uploads" unit:"bytes" default:"50 GiB" doc:"size of all files of one user in open batches"`
}

func limitsOf(tx *storage.Tx) Limits { return limit.Of[Limits](tx.Repo().Bounds()) }

// Batch is a set of files that one user uploads before something is done with them. Nobody
// else can see it.
type Batch struct {
	ID, Handler      string
	Owner            string // the Identity of that user
	Created, Expires time.Time
}

// File is one file of a batch, perhaps not whole yet.
type File struct {
	Batch   string
	Index   int
	Name    string
	Size    int64 // bytes that are there
	Whole   int64 // bytes the file is going to have, as its first chunk said; 0 if it did not
	Chunked bool
	Count   int   // of chunks
	Chunks  []int // those that are there, in order

	row *fileRow
}

// Part is a file, or a chunk of one, as it comes in.
type Part struct {
	Index      int    // of the file in its batch
	Name, Type string // of the file; chunks after the first need not say
	Chunked    bool
	Chunk      int   // which
	Count      int   // of how many
	Whole      int64 // bytes of the whole file, as far as it is said
}

// Handler is the one way files are uploaded: through this server.
const Handler = "default"

var table = row.Secret{Name: "upload"}

const (
	kept      = 24 * time.Hour // without a request for the batch
	renewal   = 10 * time.Minute
	maxIndex  = 99_999_999
	maxChunks = 10_000
	maxFiles  = 10_000 // of a batch
)

// fileRow is the record of a file. Once it is whole it has a digest.
type fileRow struct {
	Name, Type string
	Chunked    bool          `json:",omitempty"`
	Count      int           `json:",omitempty"`
	Whole      int64         `json:",omitempty"`
	Holder     string        // of the content
	File       *storage.Blob `json:",omitempty"`

	// Of a file that grows: the name of its draft, the bytes of every chunk but the last, and of the last
	// one, the chunks that are there, and how many bytes have been hashed, with the hash after them.
	Draft  string `json:",omitempty"`
	Part   int64  `json:",omitempty"`
	Last   int64  `json:",omitempty"`
	There  bitset `json:",omitempty"`
	Hashed int64  `json:",omitempty"`
	State  []byte `json:",omitempty"`
}

// chunkRow is the record of a chunk of a file that is not whole and that is not in its draft.
type chunkRow struct {
	Digest string
	Size   int64
}

// The keys of the table: the batch, its files, their chunks, the batches of a user, and the
// bytes of a user.
func batchKey(id string) string           { return "b/" + id }
func filesKey(id string) string           { return "f/" + id + "/" }
func fileKey(id string, n int) string     { return filesKey(id) + fmt.Sprintf("%08d", n) }
func chunksKey(id string, n int) string   { return "c/" + id + "/" + fmt.Sprintf("%08d", n) + "/" }
func ownKey(user, id string) string       { return "u/" + user + "\x00" + id }
func usedKey(user string) string          { return "q/" + user }
func chunkKey(id string, n, i int) string { return chunksKey(id, n) + fmt.Sprintf("%05d", i) }

func rows(tx *storage.Tx) storage.Table { return tx.Secret(table) }

// below is the end of the keys that begin with prefix.
func below(prefix string) string {
	return prefix[:len(prefix)-1] + string(rune(prefix[len(prefix)-1]+1))
}

// Open begins a batch of the principal's.
func Open(tx *storage.Tx, handler string) (*Batch, error) {
	if handler != Handler {
		return nil, fault.NotFound.Errorf("upload handler %s", handler)
	}
	own := ownKey(tx.Principal().Identity(), "")
	n := 0
	for range rows(tx).Scan(own, below(own), false, limitsOf(tx).Batches) {
		n++
	}
	if n >= limitsOf(tx).Batches {
		return nil, fault.Limit.Errorf("uploads: %d batches are open, use or delete them first", n).WithCode(fault.CodeUploadBatches)
	}
	b := &Batch{ID: "batchId-" + tx.NewID(), Owner: tx.Principal().Identity(), Handler: handler, Created: tx.Now(), Expires: tx.Now().Add(kept)}
	return b, cmp.Or(rows(tx).Put(batchKey(b.ID), b), rows(tx).Put(ownKey(b.Owner, b.ID), nil))
}

// BatchOf returns a batch of the principal's.
func BatchOf(tx *storage.Tx, id string) (*Batch, error) {
	b := &Batch{}
	found := false
	if key := batchKey(id); len(key) < 200 {
		var err error
		if found, err = rows(tx).Get(key, b); err != nil {
			return nil, err
		}
	}
	if !found || b.Owner != tx.Principal().Identity() && !tx.Principal().System || !tx.Now().Before(b.Expires) {
		return nil, fault.NotFound.Errorf("batch %s", id)
	}
	return b, nil
}

// Files returns the files of a batch by their numbers.
func Files(tx *storage.Tx, id string) ([]*File, error) {
	if _, err := BatchOf(tx, id); err != nil {
		return nil, err
	}
	return filesOf(tx, id)
}

func filesOf(tx *storage.Tx, id string) ([]*File, error) {
	var out []*File
	for key, raw := range rows(tx).Scan(filesKey(id), below(filesKey(id)), false, 0) {
		u, err := decode(tx, id, key, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, tx.Err()
}

// FileOf returns one file of a batch.
func FileOf(tx *storage.Tx, id string, index int) (*File, error) {
	if _, err := BatchOf(tx, id); err != nil {
		return nil, err
	}
	u, err := find(tx, id, index)
	if err == nil && u == nil {
		err = fault.NotFound.Errorf("batch %s: file %d", id, index)
	}
	return u, err
}

// find returns nil if there is no such file.
func find(tx *storage.Tx, id string, index int) (*File, error) {
	if index < 0 || index > maxIndex {
		return nil, nil
	}
	var raw json.RawMessage
	if found, err := rows(tx).Get(fileKey(id, index), &raw); err != nil || !found {
		return nil, err
	}
	return decode(tx, id, fileKey(id, index), raw)
}

// decode reads the row of a file. Of a file that is complete all chunks are there; of another one, some chunks are in the file that
// grows and others are stored separately.
func decode(tx *storage.Tx, id, key string, raw json.RawMessage) (*File, error) {
	r := &fileRow{}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fault.Internal.Errorf("batch %s: %w", id, err)
	}
	n, err := strconv.Atoi(key[strings.LastIndexByte(key, '/')+1:])
	if err != nil {
		return nil, fault.Internal.Errorf("batch %s: %w", id, err)
	}
	u := &File{Batch: id, Index: n, Name: r.Name, Chunked: r.Chunked, Count: r.Count, Whole: r.Whole, row: r}
	switch {
	case r.File != nil:
		u.Size = r.File.Size
		for i := range r.Count {
			u.Chunks = append(u.Chunks, i)
		}
	default:
		for i := range r.Count {
			if r.There.has(i) {
				u.Chunks, u.Size = append(u.Chunks, i), u.Size+r.size(i)
			}
		}
		grown := len(u.Chunks)
		for i, c := range chunks(tx, u) {
			u.Chunks, u.Size = append(u.Chunks, i), u.Size+c.Size
		}
		if grown > 0 && grown < len(u.Chunks) {
			slices.Sort(u.Chunks)
		}
	}
	return u, tx.Err()
}

// has reports whether a chunk is there.
func (u *File) has(chunk int) bool {
	_, found := slices.BinarySearch(u.Chunks, chunk)
	return found
}

// chunks walks the chunks of a file that are there and not in its draft.
func chunks(tx *storage.Tx, u *File) iter.Seq2[int, chunkRow] {
	return func(yield func(int, chunkRow) bool) {
		from := chunksKey(u.Batch, u.Index)
		for key, raw := range rows(tx).Scan(from, below(from), false, 0) {
			var c chunkRow
			i, err := strconv.Atoi(key[len(from):])
			if err = cmp.Or(err, json.Unmarshal(raw, &c)); err != nil {
				tx.Fail(fault.Internal.Errorf("batch %s: %w", u.Batch, err))
				return
			}
			if !yield(i, c) {
				return
			}
		}
	}
}

// Complete reports whether nothing of the file is missing.
func (u *File) Complete() bool { return u.row.File != nil }

// Content returns a file of a batch, which must be complete.
func Content(tx *storage.Tx, u *File) (*storage.Blob, error) {
	if !u.Complete() {
		return nil, fault.Conflict.Errorf("batch %s: file %d: %d of %d chunks received", u.Batch, u.Index, len(u.Chunks), u.Count).
			WithCode(fault.CodeUploadIncomplete)
	}
	return hold.Load(tx, *u.row.File), nil
}

// BatchIn returns the batch that a description of a file names, {"upload-batch": …}, or "".
func BatchIn(m map[string]any) string {
	id, _ := m["upload-batch"].(string)
	return id
}

// Described returns the file that {"upload-batch": …, "upload-fileId": …} stands for; nil if
// there is none, or the description is another one.
func Described(tx *storage.Tx, m map[string]any) (*storage.Blob, error) {
	id := BatchIn(m)
	if id == "" {
		return nil, nil
	}
	var index int
	switch n := m["upload-fileId"].(type) {
	case int64:
		index = int(n)
	case float64:
		index = int(n)
	case string:
		var err error
		if index, err = strconv.Atoi(n); err != nil {
			return nil, nil //nolint:nilerr // no file has such a number
		}
	}
	u, err := FileOf(tx, id, index)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Content(tx, u)
}

// Drop ends a batch: what was uploaded and not used goes.
func Drop(tx *storage.Tx, id string) error {
	b, err := BatchOf(tx, id)
	if err != nil {
		return err
	}
	return dropBatch(tx, b)
}

func dropBatch(tx *storage.Tx, b *Batch) error {
	files, err := filesOf(tx, b.ID)
	if err != nil {
		return err
	}
	for _, u := range files {
		if err := dropUpload(tx, b, u); err != nil {
			return err
		}
	}
	return cmp.Or(rows(tx).Delete(batchKey(b.ID)), rows(tx).Delete(ownKey(b.Owner, b.ID)))
}

// DropFile takes one file out of its batch; the others keep their numbers.
func DropFile(tx *storage.Tx, id string, index int) error {
	b, err := BatchOf(tx, id)
	if err != nil {
		return err
	}
	u, err := FileOf(tx, id, index)
	if err != nil {
		return err
	}
	return dropUpload(tx, b, u)
}

func dropUpload(tx *storage.Tx, b *Batch, u *File) error {
	if err := dropChunks(tx, u, ""); err != nil {
		return err
	}
	if f := u.row.File; f != nil {
		if err := hold.Release(tx, u.row.Holder, f.Digest); err != nil {
			return err
		}
	}
	dropDraft(tx, u)
	return cmp.Or(use(tx, b.Owner, -u.Size), rows(tx).Delete(fileKey(u.Batch, u.Index)))
}

// dropChunks removes the chunks of a file and lets go of their content, except of one.
func dropChunks(tx *storage.Tx, u *File, except string) error {
	var digests []string
	var numbers []int
	for i, c := range chunks(tx, u) {
		numbers = append(numbers, i)
		if c.Digest != except && !slices.Contains(digests, c.Digest) {
			digests = append(digests, c.Digest)
		}
	}
	for _, i := range numbers {
		if err := rows(tx).Delete(chunkKey(u.Batch, u.Index, i)); err != nil {
			return err
		}
	}
	for _, d := range digests {
		if err := hold.Release(tx, u.row.Holder, d); err != nil {
			return err
		}
	}
	return tx.Err()
}

// use counts the bytes of a user's uploads, which are limited.
func use(tx *storage.Tx, user string, n int64) error {
	var used int64
	if _, err := rows(tx).Get(usedKey(user), &used); err != nil {
		return err
	}
	if used += n; n > 0 && used > limitsOf(tx).Bytes {
		return fault.Limit.Errorf("uploads: more than %d bytes, use or delete some first", limitsOf(tx).Bytes).WithCode(fault.CodeUploadBytes)
	}
	if used <= 0 {
		return rows(tx).Delete(usedKey(user))
	}
	return rows(tx).Put(usedKey(user), used)
}
