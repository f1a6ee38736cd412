// Package password checks passwords and slows down guessing: it limits how many checks run at once, since each takes
// much memory, refuses attempts after too many failures, and remembers for a short time what was right. Where
// passwords are kept, and whose they are, is left to others.
package password

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
	"sync/atomic"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/row"

	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/semaphore"
)

// MaxLength bounds a password, in bytes.
const MaxLength = 4096

const (
	defaultMemory = 19 << 10 // KiB
	rounds        = 2
	remembered    = 5 * time.Minute // how long a checked password needs no second check
	maxGood       = 10_000
)

// Users names the rows of the passwords of users, by name.
var Users = row.Secret{Name: "passwords"}

// Row is how a password is kept.
type Row struct{ Hash string }

// Sum tells the passwords of a user apart without giving them away. Nearly every transaction asks for
// it, so it is of the row as it is stored.
func Sum(stored []byte) []byte {
	sum := sha256.Sum256(append(append(make([]byte, 0, 256), "session "...), stored...))
	return sum[:]
}

// Checker makes and checks the texts that are kept for passwords. It is ready after Init.
type Checker struct {
	clock  func() time.Time
	memory uint32
	slots  *semaphore.Weighted
	secret [32]byte
	decoy  string // what an unknown user's password is compared with, so that it takes as long

	mu       sync.Mutex
	good     map[string]good
	checking map[[32]byte]chan struct{} // by the password, as mac has it
	changes  uint64

	throttle    throttle
	countSecret []byte // that counters are named with
	alarms      alarms

	// Failed counts the wrong passwords, Refused the attempts that were not looked at.
	Failed, Refused atomic.Uint64
}

type good struct {
	mac   [32]byte
	until time.Time
	sum   []byte // of the row
}

// Init says what one check takes (KiB; 0 is 19 MiB) and how many there are at once.
func (c *Checker) Init(clock func() time.Time, memory uint32, atOnce int) {
	if memory == 0 {
		memory = defaultMemory
	}
	c.clock, c.memory, c.slots = clock, memory, semaphore.NewWeighted(int64(atOnce))
	rand.Read(c.secret[:])
	c.good, c.checking, c.countSecret = map[string]good{}, map[[32]byte]chan struct{}{}, c.secret[:]
	c.decoy = c.phc(make([]byte, 16), make([]byte, 32))
}

func (c *Checker) phc(salt, sum []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s", argon2.Version, c.memory, rounds, b64(salt), b64(sum))
}

// Hash makes the text to keep for a password.
func (c *Checker) Hash(ctx context.Context, password string) (string, error) {
	if err := c.slots.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer c.slots.Release(1)
	salt := make([]byte, 16)
	rand.Read(salt)
	return c.phc(salt, argon2.IDKey([]byte(password), salt, rounds, c.memory, 1, 32)), nil
}

// matches reports whether a kept text is that of the password.
func (c *Checker) matches(ctx context.Context, kept, password string) (bool, error) {
	parts := strings.Split(kept, "$")
	var memory, rounds uint32
	var threads uint8
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fault.Internal.Errorf("password: stored in an unknown format")
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &rounds, &threads); err != nil {
		return false, fault.Internal.Errorf("password: stored in an unknown format")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	sum, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || err2 != nil || rounds == 0 || threads == 0 {
		return false, fault.Internal.Errorf("password: stored in an unknown format")
	}
	if err := c.slots.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer c.slots.Release(1)
	got := argon2.IDKey([]byte(password), salt, rounds, memory, threads, uint32(len(sum)))
	return subtle.ConstantTimeCompare(got, sum) == 1, nil
}

// mac tells passwords apart without keeping them. Nobody is ever shown one, so a hash that begins with the
// secret is as good as an HMAC.
func (c *Checker) mac(who, password string) [32]byte {
	b := append(make([]byte, 0, 256), c.secret[:]...)
	b = append(binary.AppendUvarint(b, uint64(len(who))), who...)
	return sha256.Sum256(append(b, password...))
}

// Of returns the one checker of a store.
func Of(m *row.Memory) *Checker { return row.Of[Checker](m) }
