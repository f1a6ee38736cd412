package export

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/limit"
)

// Limits bound the export of decks; zero values take the defaults.
type Limits struct {
	Style int           `setting:"limit-export-style" unit:"bytes" default:"64 KiB" doc:"size of the style sheet of a deck that is exported"`
	Time  time.Duration `setting:"download-time" default:"24h" doc:"time that the address of an exported deck works; choose 15m where addresses might leak"`
}

func limitsOf(tx *storage.Tx) Limits { return limit.Of[Limits](tx.Repo().Bounds()) }

// Address returns the path of the file of an export, for whoever has it, and until when
// it works. If it was asked for with an API key it ends with that key.
func (e *Export) Address(tx *storage.Tx) (path string, until time.Time) {
	until = tx.Now().Add(limitsOf(tx).Time).Truncate(time.Second)
	if last := e.Completed.Add(Kept).Truncate(time.Second); until.After(last) {
		until = last
	}
	at := strconv.FormatInt(until.Unix(), 10)
	key := ""
	if id := tx.Principal().KeyID; id != 0 {
		key = strconv.FormatInt(id, 10)
	}
	q := url.Values{"expires": {at}, "signature": {sign(tx.Repo(), e.Deck, e.ID, at, key)}}
	if key != "" {
		q.Set("key", key)
	}
	return fmt.Sprintf("/v1/decks/%d/exports/%d/download?%s", e.Deck, e.ID, q.Encode()), until
}

func sign(r *storage.Repo, deck, id int64, expires, key string) string {
	m := hmac.New(sha256.New, r.Secret("deck export downloads"))
	fmt.Fprintf(m, "%d/%d/%s", deck, id, expires)
	if key != "" {
		m.Write([]byte("/" + key))
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// Open returns the export that an address is of: one we signed, that has not expired, of a
// deck that is still there and its owner's to read, and asked for with a key that still is good.
func Open(tx *storage.Tx, deck, id int64, expires, key, signature string) (*Export, error) {
	at, err := strconv.ParseInt(expires, 10, 64)
	if err != nil || !hmac.Equal([]byte(signature), []byte(sign(tx.Repo(), deck, id, expires, key))) {
		return nil, fault.Denied.Errorf("download of export %d: the signature is not valid", id).WithCode(fault.CodeInvalidSignature)
	}
	if span := limitsOf(tx).Time; !storage.Recent(tx.Now(), time.Unix(at, 0).Add(-span), span) {
		return nil, fault.NotFound.Errorf("download of export %d: the address has expired; read the export for a new one", id).WithCode(fault.CodeLinkExpired)
	}
	if key != "" {
		number, _ := strconv.ParseInt(key, 10, 64) // as it was signed
		if ok, err := credential.KeyStands(tx, number); err != nil || !ok {
			ended := fault.NotFound.Errorf("download of export %d: the API key that requested it was revoked", id).WithCode(fault.CodeLinkExpired)
			return nil, cmp.Or[error](err, ended)
		}
	}
	system := tx.As(tx.Repo().System())
	e, err := Find(system, deck, id)
	if err != nil {
		return nil, err
	}
	if e.Status != Completed || !e.deckThere(system) {
		return nil, fault.NotFound.Errorf("export %d of deck %d: does not exist", id, deck)
	}
	return e, nil
}
