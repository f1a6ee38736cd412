// Package secret creates secret tokens, and derives what is stored of them.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
)

// Text returns a text that nobody guesses, for addresses and headers.
func Text() string {
	b := make([]byte, 32)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// Sum is what a text is known again by, and gives nothing of it away.
func Sum(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// Is reports whether a text is that of a sum. Nothing is that of an empty one.
func Is(text string, sum []byte) bool { return subtle.ConstantTimeCompare(Sum(text), sum) == 1 }

// Hash is Sum as a key.
func Hash(text string) string { return hex.EncodeToString(Sum(text)) }
