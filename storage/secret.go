package storage

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"

	"catena/storage/internal/row"
)

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
