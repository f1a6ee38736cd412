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

// Address returns the path of the file of an export, for anyone who has it, and until when
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
	l := Link{Deck: e.Deck, ID: e.ID, Expires: at, Key: key}
	q := url.Values{"expires": {at}, "signature": {l.sign(tx.Repo())}}
	if key != "" {
		q.Set("key", key)
	}
	return fmt.Sprintf("/v1/decks/%d/exports/%d/download?%s", e.Deck, e.ID, q.Encode()), until
}

// A Link is what the address of an export's file consists of.
type Link struct {
	Deck, ID  int64
	Expires   string // Unix time in seconds
	Key       string // number of the API key that requested it; "" if none did
	Signature string
}

// sign is the signature that a link must have. Expires and Key are signed as the address spells them. So is another
// download-time than the default: addresses end when the setting is changed. One made for longer would else be refused at
// first, and work again as soon as no more than the shorter time is left.
func (l *Link) sign(r *storage.Repo) string {
	m := hmac.New(sha256.New, r.Secret("deck export downloads"))
	fmt.Fprintf(m, "%d/%d/%s", l.Deck, l.ID, l.Expires)
	if l.Key != "" {
		m.Write([]byte("/" + l.Key))
	}
	if span := limit.Of[Limits](r.Bounds()).Time; span != limit.Defaults[Limits]().Time {
		m.Write([]byte("/for " + span.String()))
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// Open returns the export that a link refers to. The link must be signed and not have expired, the deck
// must exist and be readable by the owner of the export, and the API key that requested it be valid.
func Open(tx *storage.Tx, l Link) (*Export, error) {
	// The signature comes before everything else: until it holds, the link is what some stranger has typed.
	at, err := strconv.ParseInt(l.Expires, 10, 64)
	if err != nil || !hmac.Equal([]byte(l.Signature), []byte(l.sign(tx.Repo()))) {
		return nil, fault.Denied.Errorf("download of export %d: the signature is not valid", l.ID).WithCode(fault.CodeInvalidSignature)
	}
	// An expiry further away than download-time is refused too: after the clock was set back no address works for
	// longer than it may.
	if span := limitsOf(tx).Time; !storage.Recent(tx.Now(), time.Unix(at, 0).Add(-span), span) {
		return nil, fault.NotFound.Errorf("download of export %d: the address has expired; read the export for a new one", l.ID).WithCode(fault.CodeLinkExpired)
	}
	if l.Key != "" {
		number, _ := strconv.ParseInt(l.Key, 10, 64) // as it was signed
		if ok, err := credential.KeyStands(tx, number); err != nil || !ok {
			ended := fault.NotFound.Errorf("download of export %d: the API key that requested it was revoked", l.ID).WithCode(fault.CodeLinkExpired)
			return nil, cmp.Or[error](err, ended)
		}
	}
	// The bearer of the address is nobody in particular; deckThere asks for the rights of the export's owner.
	system := tx.As(tx.Repo().System())
	e, err := Find(system, l.Deck, l.ID)
	if err != nil {
		return nil, err
	}
	if e.Status != Completed || !e.deckThere(system) {
		return nil, fault.NotFound.Errorf("export %d of deck %d: does not exist", l.ID, l.Deck)
	}
	return e, nil
}
