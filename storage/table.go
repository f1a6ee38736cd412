package storage

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"iter"
	"strings"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
)

// Table is a named set of small JSON records with string keys, for what is not a document: users,
// chains, idempotency records, links. Nothing but the code that uses a table guards it. Rows of the
// table "idempotency" whose member "expires" is a past time are swept.
type Table struct {
	t        *Tx
	space    byte
	name     string
	readOnly bool
}

// maxTableKey is what the portable limits leave for the key of a row behind the name of its table, in bytes.
const maxTableKey = 900

// Table returns the table of a name; it need not exist.
func (t *Tx) Table(name string) Table { return Table{t: t, space: layout.TableSpace, name: name} }

// ReadOnly returns the table as one that cannot be written.
func (b Table) ReadOnly() Table {
	b.readOnly = true
	return b
}

// Secret returns a table that only packages below storage can name, for what they show to nobody as it
// is kept. Changes of its rows are not noted.
func (t *Tx) Secret(s row.Secret) Table { return Table{t: t, space: layout.SecretSpace, name: s.Name} }

// Asked is what a store across a network is asked for at once, before it is read.
type Asked = kv.Asked

// Rows are rows by their keys, to be asked for.
func Rows(keys ...[]byte) Asked { return Asked{Keys: keys} }

// SecretKey is where the row of a secret table is kept, for Principal.While.
func SecretKey(s row.Secret, key string) []byte {
	return layout.TableKey(layout.SecretSpace, s.Name, key)
}

func (b Table) key(key string) ([]byte, error) {
	if b.name == "" || strings.IndexByte(b.name, 0) >= 0 {
		return nil, fault.Invalid.Errorf("table %q: not a valid name", b.name)
	}
	if key == "" {
		return nil, fault.Invalid.Errorf("table %s: the key is empty", b.name)
	}
	if len(key) > maxTableKey {
		return nil, fault.Limit.Errorf("table %s: key of %d bytes, limit %d", b.name, len(key), maxTableKey)
	}
	return layout.TableKey(b.space, b.name, key), nil
}

// Row returns the row of a key as it is stored, nil if there is none.
func (b Table) Row(key string) ([]byte, error) {
	k, err := b.key(key)
	if err != nil {
		return nil, err
	}
	return b.t.kv.Get(k)
}

// Get decodes the row of a key into what into points at, and reports whether there is one.
func (b Table) Get(key string, into any) (bool, error) {
	v, err := b.Row(key)
	if err != nil || v == nil {
		return false, err
	}
	if err := json.Unmarshal(v, into); err != nil {
		return true, fault.Internal.Errorf("table %s: row %q: %w", b.name, key, err)
	}
	return true, nil
}

// Create writes a row that must not be there: it, or the commit, fails with Exists if it is.
func (b Table) Create(key string, v any) error {
	if old, err := b.Row(key); err != nil || old != nil {
		return cmp.Or[error](err, fault.Exists.Errorf("%s %s: already exists", b.name, key))
	}
	return b.Put(key, v)
}

// Put writes the row of a key.
func (b Table) Put(key string, v any) error {
	if err := b.t.MayWrite(); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fault.Invalid.Errorf("table %s: row %q: %w", b.name, key, err)
	}
	return b.PutRow(key, data)
}

// PutRow writes the row of a key that is JSON already, which is not read.
func (b Table) PutRow(key string, data json.RawMessage) error {
	k, err := b.writable(key)
	if err != nil {
		return err
	}
	// A dry run lists changes by their key. Secret tables are left out, as their keys may be derived from
	// secrets.
	if b.space == layout.TableSpace {
		NoteChange(b.t, "record", b.name+"/"+key)
	}
	return b.t.kv.Set(k, data)
}

func (b Table) writable(key string) ([]byte, error) {
	if err := b.t.MayWrite(); err != nil {
		return nil, err
	}
	if b.readOnly {
		return nil, fault.Denied.Errorf("table %s: is read-only", b.name)
	}
	return b.key(key)
}

// Delete removes the row of a key, which may be absent.
func (b Table) Delete(key string) error {
	k, err := b.writable(key)
	if err != nil {
		return err
	}
	if b.space == layout.TableSpace {
		NoteChange(b.t, "record", b.name+"/"+key)
	}
	return b.t.kv.Delete(k)
}

// Scan walks the rows from <= key < to in the order of their keys; an empty to has no end, a limit of 0
// is none. What fails ends the walk, and the transaction.
func (b Table) Scan(from, to string, reverse bool, limit int) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for r, err := range b.rows(from, to, reverse, limit) {
			if err != nil {
				b.t.Fail(err)
				return
			}
			if !yield(string(r.Key[len(b.name)+2:]), r.Value) {
				return
			}
		}
	}
}

// Records walks the rows from <= key < to as Scan does, decoded. What fails is its last element.
func Records[T any](b Table, from, to string, limit int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for r, err := range b.rows(from, to, false, limit) {
			var v T
			if err == nil {
				if err = json.Unmarshal(r.Value, &v); err != nil {
					err = fault.Internal.Errorf("table %s: row %q: %w", b.name, r.Key[len(b.name)+2:], err)
				}
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (b Table) rows(from, to string, reverse bool, limit int) iter.Seq2[kv.Row, error] {
	r := prefix(layout.TableKey(b.space, b.name, ""))
	r.Start = layout.TableKey(b.space, b.name, from)
	if to != "" {
		r.End = layout.TableKey(b.space, b.name, to)
	}
	r.Reverse, r.Limit = reverse, limit
	return b.t.kv.Scan(r)
}

var secrets = row.Secret{Name: "secrets"}

const masterRow = "master"

// masterSecret is how the secret is kept that all others are made of.
type masterSecret struct{ Key []byte }

// Secret returns 32 bytes that only this server can make: the same for the same purpose, and
// nothing about those for another. With it entry points sign what they hand out (links, cookies).
func (r *Repo) Secret(purpose string) []byte {
	if known, ok := r.secrets.Load(purpose); ok {
		return known.([]byte)
	}
	m := hmac.New(sha256.New, r.master)
	m.Write([]byte(purpose))
	secret := m.Sum(nil)
	r.secrets.Store(purpose, secret)
	return secret
}

// openSecret reads the master secret, or makes one and keeps it in the store, so that what was
// signed with it holds after a restart and on a restored backup.
func (r *Repo) openSecret(ctx context.Context, given []byte) error {
	if len(given) > 0 {
		r.master = given
		return nil
	}
	var kept masterSecret
	read := func(t *Tx) error {
		_, err := t.Secret(secrets).Get(masterRow, &kept)
		return err
	}
	if err := r.View(ctx, r.System(), read); err != nil {
		return err
	}
	if len(kept.Key) == 0 {
		err := r.Update(ctx, r.System(), func(t *Tx) error {
			if err := read(t); err != nil || len(kept.Key) > 0 {
				return err
			}
			kept.Key = make([]byte, 32)
			rand.Read(kept.Key)
			return t.Secret(secrets).Put(masterRow, kept)
		})
		if err != nil {
			return err
		}
	}
	r.master = kept.Key
	return nil
}
