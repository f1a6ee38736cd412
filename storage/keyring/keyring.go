// Package keyring keeps the keys that messages are signed with. A secret that is replaced stays valid for a day, in
// which the other side can be changed.
package keyring

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
)

// The rings there are.
var (
	Webhooks = Ring{row.Secret{Name: "webhook secrets"}} // sign what is sent to webhooks
	Hooks    = Ring{row.Secret{Name: "hook secrets"}}    // verify what hooks receive
)

// overlap is how long a secret is valid after it was replaced.
const overlap = 24 * time.Hour

// prefix is what secrets begin with, as in the Standard Webhooks specification.
const prefix = "whsec_"

// Ring keeps the secrets of one kind of things, by their ids.
type Ring struct{ table row.Secret }

// secret is a key of signatures; one that was replaced is valid until a time.
type secret struct {
	Key   []byte
	Until time.Time `json:",omitzero"`
}

// Renew makes a new secret, and returns it this once.
func (r Ring) Renew(tx *storage.Tx, id string) (string, error) {
	var all []secret
	if _, err := tx.Secret(r.table).Get(id, &all); err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(s secret) bool { return !s.Until.IsZero() })
	for i := range all {
		all[i].Until = tx.Now().Add(overlap)
	}
	key := make([]byte, 32)
	rand.Read(key)
	all = append([]secret{{Key: key}}, all...)
	return Text(key), tx.Secret(r.table).Put(id, all)
}

// Keys returns the keys that are valid now, newest first, for what the server does itself.
func (r Ring) Keys(tx *storage.Tx, id string) (keys [][]byte, err error) {
	if !tx.Principal().System {
		return nil, fault.Denied.Errorf("%s: its secret is not shown", id)
	}
	var all []secret
	if _, err := tx.Secret(r.table).Get(id, &all); err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Until.IsZero() || tx.Now().Before(s.Until) {
			keys = append(keys, s.Key)
		}
	}
	return keys, nil
}

// Forget removes all secrets of a thing.
func (r Ring) Forget(tx *storage.Tx, id string) error { return tx.Secret(r.table).Delete(id) }

// Text is a key as the other side is given it.
func Text(key []byte) string { return prefix + base64.StdEncoding.EncodeToString(key) }

// Sign makes the signatures of a message, one for each key.
func Sign(keys [][]byte, id string, at time.Time, body []byte) string {
	var out bytes.Buffer
	for i, key := range keys {
		if i > 0 {
			out.WriteByte(' ')
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		out.WriteString("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return out.String()
}
