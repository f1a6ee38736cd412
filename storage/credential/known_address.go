package credential

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/internal/password"
	"catena/storage/internal/row"
)

// Users can sign in from where they did before, whatever strangers do meanwhile. An address is known by a row of the
// store, a device by a text that only this server can make, which holds until the user's password changes.

var known = row.Secret{Name: "knownplaces"} // by user

const (
	addressKept  = 30 * 24 * time.Hour // after the last sign-in from there
	addressFresh = 24 * time.Hour      // how exactly the store says when that was
	maxAddresses = 16                  // of a user
	deviceKept   = 60 * 24 * time.Hour
)

// knownAddresses are the addresses that a user signed in from.
type knownAddresses struct {
	Places  []knownAddress
	Expires time.Time `json:"expires"`
}

type knownAddress struct {
	Address string
	Last    time.Time
}

// sighting are what is to be remembered of a sign-in: nothing, unless there is an address.
type sighting struct {
	address string
	fresh   bool // it is remembered already
}

// WithClient returns a context for what a client asks, who shows the text that Device returned; "" if none.
func WithClient(ctx context.Context, from netip.Addr, device string) context.Context {
	return password.WithClient(ctx, from, device)
}

// Network is what counts as one client: an address, or in IPv6 the network of 64 bits that one household has.
func Network(a netip.Addr) netip.Prefix { return password.Network(a) }

// stranger is the origin of what comes from an unknown client.
func stranger(ctx context.Context) password.Origin {
	at := password.ClientOf(ctx).Address
	return password.Origin{Source: at, Address: at, Stranger: true}
}

// origin says where an attempt to sign in as a user comes from, and what is known of the place.
func origin(tx *storage.Tx, user string, sum []byte) (from password.Origin, seen sighting, err error) {
	client := password.ClientOf(tx.Context())
	seen.address = client.Address
	row, err := readKnown(tx, user)
	if err != nil {
		return from, seen, err
	}
	from = stranger(tx.Context())
	for _, p := range row.Places {
		if p.Address != client.Address || tx.Now().Sub(p.Last) >= addressKept {
			continue
		}
		from = password.Origin{Source: p.Address}
		seen.fresh = storage.Recent(tx.Now(), p.Last, addressFresh)
	}
	if nonce, ok := deviceIs(tx, client.Device, user, sum); ok {
		from = password.Origin{Source: "device " + nonce}
	}
	return from, seen, nil
}

func readKnown(tx *storage.Tx, user string) (r knownAddresses, err error) {
	_, err = tx.Secret(known).Get(user, &r)
	return r, err
}

// remember keeps the address of a sign-in. A store that is not writable remembers nothing.
func (s sighting) remember(ctx context.Context, repo *storage.Repo, user string) {
	if s.address == "" || s.fresh {
		return
	}
	err := repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		r, err := readKnown(tx, user)
		if err != nil {
			return err
		}
		r.Places = slices.DeleteFunc(r.Places, func(p knownAddress) bool {
			return p.Address == s.address || tx.Now().Sub(p.Last) >= addressKept
		})
		r.Places = append([]knownAddress{{s.address, tx.Now()}}, r.Places[:min(len(r.Places), maxAddresses-1)]...)
		r.Expires = tx.Now().Add(addressKept)
		return tx.Secret(known).Put(user, r)
	})
	if err != nil {
		repo.Log().Debug("the address of a sign-in cannot be stored", "err", err)
	}
}

// Device returns a text by which a device is known where a user has signed in, and until when.
func Device(ctx context.Context, repo *storage.Repo, user string) (text string, expires time.Time, err error) {
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		_, sum, err := kept(tx, user)
		expires = tx.Now().Add(deviceKept).Truncate(time.Second)
		nonce := base64.RawURLEncoding.EncodeToString(randomBytes(12)) + "." + strconv.FormatInt(expires.Unix(), 10)
		text = nonce + "." + signDevice(tx, nonce, user, sum)
		return err
	})
	return text, expires, err
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// deviceIs reports whether a text is that of a device where a user signed in by a password of a sum.
func deviceIs(tx *storage.Tx, text, user string, sum []byte) (nonce string, ok bool) {
	cut := strings.LastIndexByte(text, '.')
	if cut < 0 || sum == nil || len(text) > 200 {
		return "", false
	}
	nonce = text[:cut]
	_, until, _ := strings.Cut(nonce, ".")
	seconds, err := strconv.ParseInt(until, 10, 64)
	return nonce, err == nil && tx.Now().Before(time.Unix(seconds, 0)) && hmac.Equal([]byte(text[cut+1:]), []byte(signDevice(tx, nonce, user, sum)))
}

func signDevice(tx *storage.Tx, nonce, user string, sum []byte) string {
	m := hmac.New(sha256.New, tx.Repo().Secret("device"))
	for _, part := range []string{nonce, user, string(sum)} {
		m.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:18])
}

// Attempts returns how many passwords were wrong since the start, and how many were not looked at because of those.
func Attempts(repo *storage.Repo) (failed, refused uint64) {
	c := password.Of(repo.Memory())
	return c.Failed.Load(), c.Refused.Load()
}

// report tells the operator of an attack: in the log, and in a record of the audit log.
func report(ctx context.Context, repo *storage.Repo, a *password.Alarm) {
	if a == nil {
		return
	}
	from := cmp.Or(a.Address, password.ClientOf(ctx).Address)
	repo.Log().Warn("too many wrong passwords: some are not checked", "for", a.String(), "address", from)
	err := repo.Update(context.WithoutCancel(ctx), repo.System(), func(tx *storage.Tx) error {
		return tx.Fire(storage.Event{Name: "signInRefused", Extra: map[string]any{"user": a.Name, "address": from}})
	})
	if err != nil {
		repo.Log().Debug("the record of an attack cannot be stored", "err", err)
	}
}
