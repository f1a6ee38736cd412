// Package file keeps the files that belong to a deck, such as the pictures its slides show. A deck's HTML names one
// by an address of its own, files/NUMBER/NAME, which holds wherever the deck is shown; who may open it is decided by
// those who show the deck.
//
// A file is a row under its deck, and its content is kept by a reference (storage/hold), as no property of a
// document names it. A copy of a deck gets files of its own, so that removing one from the original does not
// change the copy. Numbers are never used again: a page that a browser has cached must not show another file.
package file

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

// MaxSize is how many bytes a file has at most.
const MaxSize = 10 << 20

const (
	table    = "deck-files" // deck's id "/" number: File
	maxFiles = 500          // of a deck
	maxAll   = 200 << 20    // bytes of all files of a deck
)

// File is a file kept with a deck. One that was removed leaves its number behind while it is
// the highest, so that no address ever comes to mean something else.
type File struct {
	Number int64
	Name   string       `json:",omitempty"`
	Holder string       `json:",omitempty"`
	Blob   storage.Blob `json:",omitzero"`
	Added  time.Time    `json:",omitzero"`
}

// endings are the types of file that slides show, and how their names end.
var endings = map[string]string{
	"image/avif": ".avif", "image/gif": ".gif", "image/jpeg": ".jpg", "image/png": ".png", "image/svg+xml": ".svg", "image/webp": ".webp",
}

var svg = regexp.MustCompile(`(?is)^(?:\x{feff}|\s)*<(?:\?xml|!--|!doctype svg|svg)`)

// sniff returns the type of a picture by how it begins; "" for anything else.
func sniff(head string) string {
	at := func(n int, mark string) bool { return len(head) >= n && strings.HasPrefix(head[n:], mark) }
	switch {
	case at(0, "\x89PNG\r\n"):
		return "image/png"
	case at(0, "\xff\xd8"):
		return "image/jpeg"
	case at(0, "GIF87a"), at(0, "GIF89a"):
		return "image/gif"
	case at(0, "RIFF") && at(8, "WEBP"):
		return "image/webp"
	case at(4, "ftypavif"), at(4, "ftypavis"), at(4, "ftypmif1"):
		return "image/avif"
	case svg.MatchString(head):
		return "image/svg+xml"
	}
	return ""
}

func key(deck string, n int64) string { return fmt.Sprintf("%s/%019d", deck, n) }

// Address is what the deck's HTML calls the file.
func (f *File) Address() string { return fmt.Sprintf("files/%d/%s", f.Number, f.Name) }

// Load returns the content.
func (f *File) Load(tx *storage.Tx) *storage.Blob { return hold.Load(tx, f.Blob) }

// Add keeps a file with a deck. What is there already is not kept twice.
func Add(tx *storage.Tx, deck string, b *storage.Blob) (*File, error) {
	typ, err := kind(b)
	if err != nil {
		return nil, err
	}
	all, last, err := rows(tx, deck)
	if err != nil {
		return nil, err
	}
	size := b.Size
	for i := range all {
		if f := &all[i]; f.Blob.Digest == b.Digest && f.Blob.Type == typ {
			return f, nil
		}
		size += all[i].Blob.Size
	}
	if len(all) >= maxFiles || size > maxAll {
		return nil, fault.Limit.Errorf("deck: has %d files and %d bytes with this one; at most %d and %d are allowed", len(all), size, maxFiles, maxAll).WithCode(fault.CodeTooManyFiles)
	}
	f := &File{Number: last + 1, Name: name(b.Name, endings[typ]), Holder: tx.NewID(), Added: tx.Now()}
	f.Blob = storage.Blob{Name: f.Name, Type: typ, Digest: b.Digest, Size: b.Size}
	if err := hold.Keep(tx, f.Holder, b); err != nil {
		return nil, err
	}
	if last != 0 && (len(all) == 0 || all[len(all)-1].Number != last) { // the new one is the highest now
		if err := tx.Table(table).Delete(key(deck, last)); err != nil {
			return nil, err
		}
	}
	return f, tx.Table(table).Put(key(deck, f.Number), f)
}

// kind is the type of a picture; it has to be what it says.
func kind(b *storage.Blob) (string, error) {
	if b.Size > MaxSize {
		return "", fault.Limit.Errorf("file %.100q: %d bytes, limit %d", b.Name, b.Size, MaxSize).WithCode(fault.CodeTooLarge)
	}
	data, err := b.Bytes(MaxSize)
	if err != nil {
		return "", err
	}
	if typ := sniff(string(data[:min(len(data), 1024)])); typ != "" {
		return typ, nil
	}
	return "", fault.Invalid.Errorf("file %.100q: must be a PNG, JPEG, GIF, WebP, AVIF or SVG picture", b.Name).WithCode(fault.CodeNoPicture)
}

var odd = regexp.MustCompile(`[^A-Za-z0-9]+`)

// name makes a name for addresses of what a file is called.
func name(of, ending string) string {
	base := strings.TrimSuffix(of, path.Ext(of))
	base = strings.Trim(odd.ReplaceAllString(base, "-"), "-")
	if base == "" {
		base = "picture"
	}
	return base[:min(len(base), 60)] + ending
}

// List returns the files of a deck in the order they came.
func List(tx *storage.Tx, deck string) ([]File, error) {
	all, _, err := rows(tx, deck)
	return all, err
}

// rows returns the files of a deck and the highest number that one has or had.
func rows(tx *storage.Tx, deck string) (all []File, last int64, err error) {
	for _, raw := range tx.Table(table).Scan(deck+"/", deck+"0", false, maxFiles+1) {
		var f File
		if err := json.Unmarshal(raw, &f); err != nil {
			return nil, 0, fault.Internal.Errorf("file of a deck: %w", err)
		}
		if last = f.Number; f.Name != "" {
			all = append(all, f)
		}
	}
	return all, last, nil
}

// Get returns a file of a deck by its number.
func Get(tx *storage.Tx, deck string, n int64) (*File, error) {
	var f File
	ok, err := tx.Table(table).Get(key(deck, n), &f)
	if err == nil && (!ok || f.Name == "") {
		err = fault.NotFound.Errorf("file %d of the deck: does not exist", n)
	}
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// Find returns a file of a deck by its address.
func Find(tx *storage.Tx, deck, address string) (*File, error) {
	missing := fault.NotFound.Errorf("file %.100q: does not exist", address)
	rest, ok := strings.CutPrefix(strings.TrimPrefix(address, "./"), "files/")
	number, name, slash := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || !slash || err != nil || n < 1 {
		return nil, missing
	}
	f, err := Get(tx, deck, n)
	if fault.Is(err, fault.NotFound) || err == nil && f.Name != name {
		return nil, missing
	}
	return f, err
}

// Copy gives a deck the files of another.
func Copy(tx *storage.Tx, from, to string) error {
	all, err := List(tx, from)
	if err != nil {
		return err
	}
	for i := range all {
		f := all[i]
		f.Holder = tx.NewID()
		if err := hold.Keep(tx, f.Holder, f.Load(tx)); err != nil {
			return err
		}
		if err := tx.Table(table).Put(key(to, f.Number), f); err != nil {
			return err
		}
	}
	return nil
}

// Remove forgets the files of a deck that is gone.
func Remove(tx *storage.Tx, deck string) error {
	all, last, err := rows(tx, deck)
	if err != nil {
		return err
	}
	for i := range all {
		if err := all[i].drop(tx, deck); err != nil {
			return err
		}
	}
	if last == 0 {
		return nil
	}
	return tx.Table(table).Delete(key(deck, last))
}

// RemoveOne forgets one file of a deck.
func RemoveOne(tx *storage.Tx, deck string, f *File) error {
	_, last, err := rows(tx, deck)
	if err != nil {
		return err
	}
	if err := f.drop(tx, deck); err != nil || f.Number != last {
		return err
	}
	return tx.Table(table).Put(key(deck, last), File{Number: last})
}

func (f *File) drop(tx *storage.Tx, deck string) error {
	if err := hold.Release(tx, f.Holder, f.Blob.Digest); err != nil {
		return err
	}
	return tx.Table(table).Delete(key(deck, f.Number))
}

var addresses = regexp.MustCompile(`(["'(=\s])(files/[0-9]+/[A-Za-z0-9._-]+)(["')\s>])`)

// WithKey adds a key to the addresses of files in HTML, which opens them for anyone who may see
// a deck that is not for everyone.
func WithKey(html, key string) string {
	if key == "" || !strings.Contains(html, "files/") {
		return html
	}
	return addresses.ReplaceAllString(html, "${1}${2}?"+strings.ReplaceAll(key, "$", "$$")+"${3}")
}
