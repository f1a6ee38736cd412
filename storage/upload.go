package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/storage/fault"
)

// Batch is a set of files that one user uploads before something is done with them. Nobody
// else can see it.
type Batch struct {
	ID, Owner, Handler string
	Created, Expires   time.Time
}

// Upload is one file of a batch, perhaps not whole yet.
type Upload struct {
	Batch   string
	Index   int
	Name    string
	Size    int64 // bytes that are there
	Chunked bool
	Count   int   // of chunks
	Chunks  []int // those that are there, in order

	row *uploadRow
}

// Part is a file, or a chunk of one, as it comes in.
type Part struct {
	Index      int    // of the file in its batch
	Name, Type string // of the file; chunks after the first need not say
	Chunked    bool
	Chunk      int // which
	Count      int // of how many
}

// DefaultHandler is the one way files are uploaded: through this server.
const DefaultHandler = "default"

const (
	uploadTable = "upload"
	uploadKept  = 24 * time.Hour // without a request for the batch
	uploadRenew = 10 * time.Minute
	maxIndex    = 99_999_999
	maxChunks   = 10_000
	maxFiles    = 10_000 // of a batch
)

// uploadRow is the record of a file. Once it is whole it has a digest.
type uploadRow struct {
	Name, Type string
	Chunked    bool   `json:",omitempty"`
	Count      int    `json:",omitempty"`
	Holder     string // of the content
	File       *Blob  `json:",omitempty"`

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

func (t *Tx) uploads() Table { return t.secret(uploadTable) }

// below is the end of the keys that begin with prefix.
func below(prefix string) string {
	return prefix[:len(prefix)-1] + string(rune(prefix[len(prefix)-1]+1))
}

// OpenBatch begins a batch of the principal's.
func (t *Tx) OpenBatch(handler string) (*Batch, error) {
	if handler != DefaultHandler {
		return nil, fault.NotFound.Errorf("upload handler %s", handler)
	}
	own := ownKey(t.as.Name, "")
	n := 0
	for range t.uploads().Scan(own, below(own), false, t.repo.limits.Batches) {
		n++
	}
	if n >= t.repo.limits.Batches {
		return nil, fault.Limit.Errorf("uploads: %d batches are open, use or delete them first", n).WithCode("upload-batches")
	}
	b := &Batch{ID: "batchId-" + t.NewID(), Owner: t.as.Name, Handler: handler, Created: t.now, Expires: t.now.Add(uploadKept)}
	return b, errors.Join(t.uploads().Put(batchKey(b.ID), b), t.uploads().Put(ownKey(b.Owner, b.ID), nil))
}

// Batch returns a batch of the principal's.
func (t *Tx) Batch(id string) (*Batch, error) {
	b := &Batch{}
	found := false
	if key := batchKey(id); len(key) < 200 {
		var err error
		if found, err = t.uploads().Get(key, b); err != nil {
			return nil, err
		}
	}
	if !found || b.Owner != t.as.Name && !t.as.System || !t.now.Before(b.Expires) {
		return nil, fault.NotFound.Errorf("batch %s", id)
	}
	return b, nil
}

// Uploads returns the files of a batch by their numbers.
func (t *Tx) Uploads(id string) ([]*Upload, error) {
	if _, err := t.Batch(id); err != nil {
		return nil, err
	}
	var out []*Upload
	for key, raw := range t.uploads().Scan(filesKey(id), below(filesKey(id)), false, 0) {
		u, err := t.upload(id, key, raw)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, t.failed
}

// Upload returns one file of a batch.
func (t *Tx) Upload(id string, index int) (*Upload, error) {
	if _, err := t.Batch(id); err != nil {
		return nil, err
	}
	u, err := t.findUpload(id, index)
	if err == nil && u == nil {
		err = fault.NotFound.Errorf("batch %s: file %d", id, index)
	}
	return u, err
}

// findUpload returns nil if there is no such file.
func (t *Tx) findUpload(id string, index int) (*Upload, error) {
	if index < 0 || index > maxIndex {
		return nil, nil
	}
	var raw json.RawMessage
	if found, err := t.uploads().Get(fileKey(id, index), &raw); err != nil || !found {
		return nil, err
	}
	return t.upload(id, fileKey(id, index), raw)
}

func (t *Tx) upload(id, key string, raw json.RawMessage) (*Upload, error) {
	row := &uploadRow{}
	if err := json.Unmarshal(raw, row); err != nil {
		return nil, fault.Internal.Errorf("batch %s: %w", id, err)
	}
	n, err := strconv.Atoi(key[strings.LastIndexByte(key, '/')+1:])
	if err != nil {
		return nil, fault.Internal.Errorf("batch %s: %w", id, err)
	}
	u := &Upload{Batch: id, Index: n, Name: row.Name, Chunked: row.Chunked, Count: row.Count, row: row}
	switch {
	case row.File != nil:
		u.Size = row.File.Size
		for i := range row.Count {
			u.Chunks = append(u.Chunks, i)
		}
	default:
		for i := range row.Count {
			if row.There.has(i) {
				u.Chunks, u.Size = append(u.Chunks, i), u.Size+row.size(i)
			}
		}
		grown := len(u.Chunks)
		for i, c := range t.chunks(u) {
			u.Chunks, u.Size = append(u.Chunks, i), u.Size+c.Size
		}
		if grown > 0 && grown < len(u.Chunks) {
			slices.Sort(u.Chunks)
		}
	}
	return u, t.failed
}

// has reports whether a chunk is there.
func (u *Upload) has(chunk int) bool {
	_, found := slices.BinarySearch(u.Chunks, chunk)
	return found
}

// chunks walks the chunks of a file that are there and not in its draft.
func (t *Tx) chunks(u *Upload) func(yield func(int, chunkRow) bool) {
	return func(yield func(int, chunkRow) bool) {
		from := chunksKey(u.Batch, u.Index)
		for key, raw := range t.uploads().Scan(from, below(from), false, 0) {
			var c chunkRow
			i, err := strconv.Atoi(key[len(from):])
			if err = firstError(err, json.Unmarshal(raw, &c)); err != nil {
				t.failed = firstError(t.failed, fault.Internal.Errorf("batch %s: %w", u.Batch, err))
				return
			}
			if !yield(i, c) {
				return
			}
		}
	}
}

// Complete reports whether nothing of the file is missing.
func (u *Upload) Complete() bool { return u.row.File != nil }

// Uploaded returns a file of a batch, which must be complete.
func (t *Tx) Uploaded(u *Upload) (*Blob, error) {
	if !u.Complete() {
		return nil, fault.Conflict.Errorf("batch %s: file %d: %d of %d chunks are there", u.Batch, u.Index, len(u.Chunks), u.Count).
			WithCode("upload-incomplete")
	}
	return t.HeldBlob(*u.row.File), nil
}

// UploadBatch returns the batch that a description of a file names, {"upload-batch": …}, or "".
func UploadBatch(m map[string]any) string {
	id, _ := m["upload-batch"].(string)
	return id
}

// UploadedBy returns the file that {"upload-batch": …, "upload-fileId": …} stands for; nil if
// there is none, or the description is another one.
func (t *Tx) UploadedBy(m map[string]any) (*Blob, error) {
	id := UploadBatch(m)
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
	u, err := t.Upload(id, index)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return t.Uploaded(u)
}

// DropBatch ends a batch: what was uploaded and not used goes.
func (t *Tx) DropBatch(id string) error {
	b, err := t.Batch(id)
	if err != nil {
		return err
	}
	return t.dropBatch(b)
}

func (t *Tx) dropBatch(b *Batch) error {
	var files []*Upload
	for key, raw := range t.uploads().Scan(filesKey(b.ID), below(filesKey(b.ID)), false, 0) {
		u, err := t.upload(b.ID, key, raw)
		if err != nil {
			return err
		}
		files = append(files, u)
	}
	for _, u := range files {
		if err := t.dropUpload(b, u); err != nil {
			return err
		}
	}
	return errors.Join(t.failed, t.uploads().Delete(batchKey(b.ID)), t.uploads().Delete(ownKey(b.Owner, b.ID)))
}

// DropUpload takes one file out of its batch; the others keep their numbers.
func (t *Tx) DropUpload(id string, index int) error {
	b, err := t.Batch(id)
	if err != nil {
		return err
	}
	u, err := t.Upload(id, index)
	if err != nil {
		return err
	}
	return t.dropUpload(b, u)
}

func (t *Tx) dropUpload(b *Batch, u *Upload) error {
	if err := t.dropChunks(u, ""); err != nil {
		return err
	}
	if f := u.row.File; f != nil {
		if err := t.ReleaseBlob(u.row.Holder, f.Digest); err != nil {
			return err
		}
	}
	t.dropDraft(u)
	return firstError(t.use(b.Owner, -u.Size), t.uploads().Delete(fileKey(u.Batch, u.Index)))
}

// dropChunks removes the chunks of a file and lets go of their content, except of one.
func (t *Tx) dropChunks(u *Upload, except string) error {
	var digests []string
	var numbers []int
	for i, c := range t.chunks(u) {
		numbers = append(numbers, i)
		if c.Digest != except && !slices.Contains(digests, c.Digest) {
			digests = append(digests, c.Digest)
		}
	}
	for _, i := range numbers {
		if err := t.uploads().Delete(chunkKey(u.Batch, u.Index, i)); err != nil {
			return err
		}
	}
	for _, d := range digests {
		if err := t.ReleaseBlob(u.row.Holder, d); err != nil {
			return err
		}
	}
	return t.failed
}

// use counts the bytes of a user's uploads, which are limited.
func (t *Tx) use(user string, n int64) error {
	var used int64
	if _, err := t.uploads().Get(usedKey(user), &used); err != nil {
		return err
	}
	if used += n; n > 0 && used > t.repo.limits.UploadBytes {
		return fault.Limit.Errorf("uploads: more than %d bytes, use or delete some first", t.repo.limits.UploadBytes).WithCode("upload-bytes")
	}
	if used <= 0 {
		return t.uploads().Delete(usedKey(user))
	}
	return t.uploads().Put(usedKey(user), used)
}
