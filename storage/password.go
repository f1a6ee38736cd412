package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"time"

	"catena/storage/fault"

	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/semaphore"
)

const (
	defaultPasswordMemory = 19 << 10 // KiB
	passwordRounds        = 2
	passwordKept          = 5 * time.Minute // how long a checked password needs no second check
	passwordFailures      = 10              // in failureWindow; more are refused unseen
	failureWindow         = 15 * time.Minute
	maxFailing            = 100_000
)

// passwords checks passwords: a bounded number at a time, since each check takes much memory, and
// after too many failures of one user none for a while.
type passwords struct {
	memory uint32
	slots  *semaphore.Weighted
	secret [32]byte
	decoy  string // what an unknown user's password is compared with, so that it takes as long

	mu       sync.Mutex
	good     map[string]goodPassword
	failures map[string]failures
	changes  uint64
}

type goodPassword struct {
	mac   [32]byte
	until time.Time
	sum   []byte // of how it is kept
}

type failures struct {
	count int
	since time.Time
}

// passwordRow is how a password is kept.
type passwordRow struct{ Hash string }

func (p *passwords) init(memory uint32, atOnce int) {
	if memory == 0 {
		memory = defaultPasswordMemory
	}
	p.memory, p.slots = memory, semaphore.NewWeighted(int64(atOnce))
	rand.Read(p.secret[:])
	p.good, p.failures = map[string]goodPassword{}, map[string]failures{}
	p.decoy = p.phc(make([]byte, 16), make([]byte, 32), memory, passwordRounds)
}

func (p *passwords) phc(salt, sum []byte, memory, rounds uint32) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, memory, rounds, b64(salt), b64(sum))
}

// hash makes the text to keep for a password.
func (p *passwords) hash(ctx context.Context, password string) (string, error) {
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer p.slots.Release(1)
	salt := make([]byte, 16)
	rand.Read(salt)
	sum := argon2.IDKey([]byte(password), salt, passwordRounds, p.memory, 1, 32)
	return p.phc(salt, sum, p.memory, passwordRounds), nil
}

// matches reports whether a kept text is that of the password.
func (p *passwords) matches(ctx context.Context, kept, password string) (bool, error) {
	parts := strings.Split(kept, "$")
	var memory, rounds uint32
	var threads uint8
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fault.Internal.Errorf("password: kept in an unknown form")
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &rounds, &threads); err != nil {
		return false, fault.Internal.Errorf("password: kept in an unknown form")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	sum, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || err2 != nil || rounds == 0 || threads == 0 {
		return false, fault.Internal.Errorf("password: kept in an unknown form")
	}
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer p.slots.Release(1)
	got := argon2.IDKey([]byte(password), salt, rounds, memory, threads, uint32(len(sum)))
	return subtle.ConstantTimeCompare(got, sum) == 1, nil
}

// mac tells passwords apart without keeping them. Nobody is ever shown one, so a hash that begins with the
// secret is as good as an HMAC.
func (p *passwords) mac(user, password string) [32]byte {
	b := append(make([]byte, 0, 256), p.secret[:]...)
	b = append(binary.AppendUvarint(b, uint64(len(user))), user...)
	return sha256.Sum256(append(b, password...))
}

// known reports whether the password was found right a short while ago, and returns the sum it had.
func (p *passwords) known(user string, mac [32]byte, now time.Time) (sum []byte, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, ok := p.good[user]
	return g.sum, ok && now.Before(g.until) && subtle.ConstantTimeCompare(g.mac[:], mac[:]) == 1
}

// admit counts one more attempt, and refuses it after too many failures.
func (p *passwords) admit(user string, now time.Time) (changes uint64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.failures[user]
	if !ok || now.Sub(f.since) >= failureWindow {
		if len(p.failures) >= maxFailing {
			clear(p.failures)
		}
		f = failures{since: now}
	}
	if f.count >= passwordFailures {
		return 0, fault.Denied.Errorf("user %s: too many failed sign-ins, try again later", user).WithCode("too-many-attempts")
	}
	f.count++
	p.failures[user] = f
	return p.changes, nil
}

// settle remembers a password that was right, unless one changed since admit.
func (p *passwords) settle(user string, mac [32]byte, sum []byte, now time.Time, changes uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.failures, user)
	if p.changes != changes {
		return
	}
	if len(p.good) >= maxPrincipals {
		clear(p.good)
	}
	p.good[user] = goodPassword{mac, now.Add(passwordKept), sum}
}

// forget drops what is remembered of a user whose password changes.
func (p *passwords) forget(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.good, user)
	p.changes++
}

func errSignIn() error { return fault.Denied.Errorf("user name or password is wrong") }

// SignIn checks a password and returns who signed in. A wrong one, or an unknown user, is Denied; after
// ten failures within 15 minutes no password of that user is tried until they are over.
func (r *Repo) SignIn(ctx context.Context, user, password string) (*Principal, error) {
	if user == "" || password == "" || len(user) > 255 || len(password) > 4096 {
		return nil, errSignIn()
	}
	now := r.clock()
	mac := r.passwords.mac(user, password)
	if sum, ok := r.passwords.known(user, mac, now); ok {
		return r.signedIn(ctx, user, sum)
	}
	changes, err := r.passwords.admit(user, now)
	if err != nil {
		return nil, err
	}
	var row passwordRow
	var sum []byte
	var found bool
	err = r.View(ctx, r.System(), func(t *Tx) (err error) {
		if found, err = t.secret(passwordsTable).Get(user, &row); found && err == nil {
			sum, err = t.passwordSum(user)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !found {
		row.Hash = r.passwords.decoy
	}
	ok, err := r.passwords.matches(ctx, row.Hash, password)
	if err != nil {
		return nil, err
	}
	if !ok || !found {
		return nil, errSignIn()
	}
	p, err := r.signedIn(ctx, user, sum)
	if err == nil {
		r.passwords.settle(user, mac, sum, now, changes)
	}
	return p, err
}

// signedIn returns who signed in by a password, as long as it is the user's.
func (r *Repo) signedIn(ctx context.Context, user string, sum []byte) (*Principal, error) {
	p, err := r.Principal(ctx, user)
	if err != nil {
		return nil, firstError(errIfNot(err, fault.NotFound), errSignIn())
	}
	return p.by(passwordIs(user, sum)), nil
}

// setPassword keeps a new password.
func (t *Tx) setPassword(user, password string) error {
	if len(password) > 4096 {
		return fault.Limit.Errorf("password: %d bytes, limit 4096", len(password))
	}
	hash, err := t.repo.passwords.hash(t.ctx, password)
	if err != nil {
		return err
	}
	t.AfterCommit(func() { t.repo.passwords.forget(user) })
	return t.secret(passwordsTable).Put(user, passwordRow{hash})
}

// ChangePassword gives the principal another password, if the old one is right.
func (t *Tx) ChangePassword(old, password string) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if password == "" {
		return fault.Invalid.Errorf("password: the new one is empty").In("newPassword")
	}
	user := t.as.Name
	if _, err := t.User(user); err != nil {
		return err
	}
	changes, err := t.repo.passwords.admit(user, t.repo.clock())
	if err != nil {
		return err
	}
	var row passwordRow
	found, err := t.secret(passwordsTable).Get(user, &row)
	if err != nil {
		return err
	}
	ok := false
	if found && len(old) <= 4096 {
		if ok, err = t.repo.passwords.matches(t.ctx, row.Hash, old); err != nil {
			return err
		}
	}
	if !ok {
		return fault.Denied.Errorf("password: the old one is wrong").WithCode("not_signed_in").In("oldPassword")
	}
	sum, err := t.passwordSum(user)
	if err != nil {
		return err
	}
	t.repo.passwords.settle(user, t.repo.passwords.mac(user, old), sum, t.repo.clock(), changes)
	return t.setPassword(user, password)
}
