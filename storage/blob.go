package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"strconv"
	"strings"
	"sync"
	"time"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/schema"
)

// The content of a small file that documents hold is a row "b 1 digest", written in the
// transaction of the first of them: it takes no file of its own to write, to sync and to find.
// When a document gives up a file, a row "b 2 digest" says since when nobody may need its
// content. What others hold for a while without a document stays in files.
const (
	smallRoom = 8 << 20 // written by one transaction; further contents become files
)

func looseKey(digest string) []byte {
	return append(append(make([]byte, 0, 66), layout.BlobSpace, layout.BlobLoose), digest...)
}

// keepFile makes the content durable of a file that a document comes to hold.
func (t *Tx) keepFile(b *blob.Blob) error {
	t.pin(b.Digest)
	if _, written := t.kv.Size(); b.Size > layout.InlineSize || written > smallRoom || len(b.Digest) != 64 {
		return t.repo.blobs.Keep(t.ctx, b)
	}
	known, err := t.kv.Get(layout.InlineKey(b.Digest))
	if err != nil || known != nil {
		return err
	}
	data, err := b.Bytes(layout.InlineSize)
	if err != nil {
		return err
	}
	t.repo.pins.lend(b.Digest, data)
	return t.kv.Set(layout.InlineKey(b.Digest), data)
}

// loosen notes that a document no longer holds a content.
func (t *Tx) loosen(digest string) error {
	return t.kv.Set(looseKey(digest), binary.AppendVarint(nil, t.now.UnixMilli()))
}

// loadFile joins what a record says of a file with its content.
func (r *Repo) loadFile(meta *blob.Blob) *blob.Blob {
	if meta.Size > layout.InlineSize {
		return r.blobs.Load(*meta)
	}
	return blob.Elsewhere(*meta, func() ([]byte, error) { return r.content(meta) })
}

// Bytes returns the content of a file as its own Bytes does. What a document holds that is small is read
// on the transaction's snapshot, where the file opens one of its own, as it may outlive the transaction.
func (t *Tx) Bytes(b *Blob, max int64) ([]byte, error) {
	if b.IsElsewhere() && (max <= 0 || b.Size <= max) {
		data, err := t.kv.Peek(layout.InlineKey(b.Digest)) // a content never changes
		if err != nil || data != nil && int64(len(data)) == b.Size {
			return data, err
		}
	}
	return b.Bytes(max)
}

// content reads the content of a small file: what a running transaction is about to write, a
// row, or a file.
func (r *Repo) content(meta *blob.Blob) (data []byte, err error) {
	if data, ok := r.pins.lent(meta.Digest); ok {
		return data, nil
	}
	err = r.db.View(context.Background(), func(k *kv.Tx) error {
		data, err = k.Get(layout.InlineKey(meta.Digest))
		return err
	})
	if err == nil && data == nil {
		return r.blobs.Load(*meta).Bytes(layout.InlineSize)
	}
	if err == nil && int64(len(data)) != meta.Size {
		err = fault.Internal.Errorf("blob %s: content has %d bytes instead of %d", meta.Digest, len(data), meta.Size)
	}
	return data, err
}

// sweepContents removes contents that documents gave up before the grace period and that no
// document holds.
func (r *Repo) sweepContents(ctx context.Context) error {
	before := r.clock().Add(-r.grace)
	at := []byte{layout.BlobSpace, layout.BlobLoose}
	for {
		next := at
		err := r.db.Update(ctx, func(k *kv.Tx) error {
			rg := prefix([]byte{layout.BlobSpace, layout.BlobLoose})
			rg.Start, rg.Limit = at, sweepBatch
			for row, err := range k.Scan(rg) {
				if err != nil {
					return err
				}
				next = append(bytes.Clone(row.Key), 0)
				ms, _ := binary.Varint(row.Value)
				switch at := time.UnixMilli(ms); {
				case at.After(r.clock()): // the clock was set back
					if err := k.Set(row.Key, binary.AppendVarint(nil, r.clock().UnixMilli())); err != nil {
						return err
					}
					continue
				case at.After(before):
					continue
				}
				if err := dropContent(k, string(row.Key[2:])); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || bytes.Equal(next, at) {
			return err
		}
		at = next
	}
}

// dropContent removes a content unless a document holds it. One that comes to hold it meanwhile
// has looked for its row, and looks again.
func dropContent(k *kv.Tx, digest string) error {
	n, more, err := k.Count(prefix(layout.BlobRefPrefix(digest)), 1)
	if err != nil {
		return err
	}
	if n == 0 && !more {
		for _, key := range [][]byte{layout.InlineKey(digest), layout.TextKey(digest)} {
			if err := k.Delete(key); err != nil {
				return err
			}
		}
	}
	return k.Delete(looseKey(digest))
}

// pins are the digests that running transactions are about to refer to, and those that Sweep is about
// to remove. A digest is never both.
type pins struct {
	mu       sync.Mutex
	freed    *sync.Cond
	held     map[string]int
	removing map[string]bool
	contents map[string][]byte // small ones that these transactions are about to write
}

func (p *pins) init() {
	p.freed = sync.NewCond(&p.mu)
	p.held, p.removing, p.contents = map[string]int{}, map[string]bool{}, map[string][]byte{}
}

// pin keeps content from being swept until the transaction has ended.
func (t *Tx) pin(digest string) {
	p := &t.repo.pins
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.removing[digest] {
		p.freed.Wait()
	}
	p.held[digest]++
	*t.pinned = append(*t.pinned, digest)
}

// lend shows the content of a pinned digest that is not committed yet.
func (p *pins) lend(digest string, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.contents[digest] = data
}

// lent returns a content that was lent and not committed yet.
func (p *pins) lent(digest string) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	data, ok := p.contents[digest]
	return data, ok
}

func (p *pins) release(digests []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range digests {
		if p.held[d]--; p.held[d] == 0 {
			delete(p.held, d)
			delete(p.contents, d)
		}
	}
}

// remove runs fn unless a transaction holds the digest; none can get it meanwhile.
func (p *pins) remove(digest string, fn func() error) error {
	p.mu.Lock()
	if p.held[digest] > 0 {
		p.mu.Unlock()
		return nil
	}
	p.removing[digest] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.removing, digest)
		p.freed.Broadcast()
	}()
	return fn()
}

// MaxNoteText bounds the text a note takes as its main file.
const MaxNoteText = 1 << 20

// NoteHolds reports whether a note has room for a text: it is kept as JSON, which may be longer, beside its type.
func NoteHolds(text string) bool {
	const rest = 1 << 10
	return len(text) <= MaxNoteText && len(schema.AppendString(nil, text)) <= maxBlock-rest
}

// FileXpath returns the xpath of a file: blobholder:0 is the document's main file,
// blobholder:1 the first of its further ones; anything else is an xpath already.
func (d *Doc) FileXpath(xpath string) (string, error) {
	number, ok := strings.CutPrefix(xpath, "blobholder:")
	if !ok {
		return xpath, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strconv.Itoa(n) != number {
		return "", fault.NotFound.Errorf("%s", xpath)
	}
	if n > 0 {
		return "files:files/" + strconv.Itoa(n-1) + "/file", nil
	}
	for _, s := range d.Schemas() {
		if s.Name == "note" {
			return "note:note", nil
		}
	}
	return "file:content", nil
}

// BlobAt returns the file at an xpath or at blobholder:0, blobholder:1, …; nil when empty.
func (d *Doc) BlobAt(xpath string) (*Blob, error) {
	property, err := d.FileXpath(xpath)
	if err != nil {
		return nil, err
	}
	if property == "note:note" {
		return d.MainBlob()
	}
	return d.Blob(property)
}

// AttachBlob puts a file at an xpath. A list gets it appended, a complex value or item gets
// it as the part that holds files, the text of a note becomes the file's.
func (d *Doc) AttachBlob(xpath string, b *Blob) error {
	property, err := d.FileXpath(xpath)
	if err != nil {
		return err
	}
	if property == "note:note" && b != nil {
		return d.setNote(b)
	}
	field, err := d.FieldAt(property)
	if err != nil {
		return err
	}
	item := field
	if field.List {
		item = field.Item()
	}
	var value any = b
	switch item.Kind {
	case schema.Blob:
	case schema.Complex:
		part := blobPart(item)
		if part == "" {
			return fault.Invalid.Errorf("property %s: does not hold files", xpath).In(xpath)
		}
		value = map[string]any{part: b}
	case schema.String, schema.Integer, schema.Long, schema.Double, schema.Boolean, schema.Date:
		return fault.Invalid.Errorf("property %s: must be a file, not %s", xpath, field.TypeName()).In(xpath)
	}
	if !field.List {
		return d.Set(property, value)
	}
	old, err := d.Get(property)
	if err != nil {
		return err
	}
	items, _ := old.([]any)
	return d.Set(property, append(append(make([]any, 0, len(items)+1), items...), value))
}

// RemoveBlob removes the file at an xpath: a list is emptied, and an item is removed from its list. The address of a file
// within an item, files:files/0/file or blobholder:1, stays its own: the item is kept without the file, unless it is the
// last of the list, so that no other file appears there.
func (d *Doc) RemoveBlob(xpath string) error {
	property, err := d.FileXpath(xpath)
	if err != nil {
		return err
	}
	item, part, _ := cutLast(property)
	if _, index, ok := cutLast(item); ok && isPosition(index) {
		if field, err := d.FieldAt(item); err == nil && len(field.Fields) == 1 && field.Fields[0].Name == part && d.isLast(item) {
			return d.Remove(item)
		}
	}
	return d.Remove(property)
}

// isLast reports whether an item of a list is its last.
func (d *Doc) isLast(item string) bool {
	list, index, _ := cutLast(item)
	v, err := d.Get(list)
	items, _ := v.([]any)
	n, bad := strconv.Atoi(index)
	return err == nil && bad == nil && n == len(items)-1
}

func (d *Doc) setNote(b *Blob) error {
	text, err := b.Bytes(MaxNoteText)
	if err != nil {
		return err
	}
	if err := d.Set("note:note", string(text)); err != nil {
		return err
	}
	if b.Type == "" {
		return nil
	}
	return d.Set("note:mime_type", b.Type)
}

// FieldAt returns what kind of value the document holds at an xpath.
func (d *Doc) FieldAt(xpath string) (*schema.Field, error) {
	b, i, rest, err := d.locate(xpath)
	if err != nil {
		return nil, err
	}
	return b.shape.Fields[i].Leaf(rest)
}

// blobPart returns the name of the first part of a complex field that is a file.
func blobPart(f *schema.Field) string {
	for _, part := range f.Fields {
		if part.Kind == schema.Blob && !part.List {
			return part.Name
		}
	}
	return ""
}

func cutLast(xpath string) (before, last string, ok bool) {
	i := strings.LastIndexByte(xpath, '/')
	if i < 0 {
		return xpath, "", false
	}
	return xpath[:i], xpath[i+1:], true
}

func isPosition(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}
