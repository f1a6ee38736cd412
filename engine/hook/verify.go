package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/storage/keyring"
)

// tolerance is how far the time in a signature may be from that of the server, so that a request that somebody has seen
// cannot be sent again later.
const tolerance = 5 * time.Minute

// Signed reports whether the body of a request is part of what shows that its sender knows the secret.
func (h *Hook) signed() bool { return h.Verify != bearer }

// verify reports whether the sender of a request knows a secret.
func (h *Hook) verify(keys [][]byte, head http.Header, body []byte, now time.Time) bool {
	return slices.ContainsFunc(keys, func(key []byte) bool {
		switch h.Verify {
		case standard:
			return verifyStandard(key, head, body, now)
		case github:
			return verifyGitHub(key, head, body)
		}
		return verifyBearer(key, head)
	})
}

func verifyBearer(key []byte, head http.Header) bool {
	given, ok := strings.CutPrefix(head.Get("Authorization"), "Bearer ")
	if !ok {
		_, given, ok = (&http.Request{Header: head}).BasicAuth()
	}
	return ok && same(given, keyring.Text(key))
}

func verifyStandard(key []byte, head http.Header, body []byte, now time.Time) bool {
	seconds, err := strconv.ParseInt(head.Get("webhook-timestamp"), 10, 64)
	id, at := head.Get("webhook-id"), time.Unix(seconds, 0)
	// With a point in the id, a part of one message could be taken for the time or the id of another one.
	if err != nil || id == "" || strings.Contains(id, ".") || now.Sub(at).Abs() > tolerance {
		return false
	}
	want := keyring.Sign([][]byte{key}, id, at, body)
	return slices.ContainsFunc(strings.Fields(head.Get("webhook-signature")), func(given string) bool { return same(given, want) })
}

func verifyGitHub(key []byte, head http.Header, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(keyring.Text(key)))
	mac.Write(body)
	return same(head.Get("X-Hub-Signature-256"), "sha256="+hex.EncodeToString(mac.Sum(nil)))
}

// same compares in a time that tells nothing.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
