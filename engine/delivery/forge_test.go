package delivery_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"catena/storage/keyring"
)

// TestSignature checks the example that the specification of Standard Webhooks gives.
func TestSignature(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := keyring.Sign([][]byte{key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// taken is what somebody who receives webhooks does with a message, as the specification says: it is older than five
// minutes or from the future, is signed by none of the keys, or has been there before, or it is taken.
func taken(p post, secret string, now time.Time, seen map[string]bool) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	seconds, err := strconv.ParseInt(p.head.Get("webhook-timestamp"), 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	id := p.head.Get("webhook-id")
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", id, seconds, p.body)
	for signature := range strings.FieldsSeq(p.head.Get("webhook-signature")) {
		version, text, _ := strings.Cut(signature, ",")
		sum, err := base64.StdEncoding.Strict().DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(sum, mac.Sum(nil)) && !seen[id] {
			seen[id] = true
			return true
		}
	}
	return false
}

// TestForged: who receives webhooks can tell every message that is not as it was sent, one that is sent again, and one
// of another webhook; a delivery that is tried again is the same message, signed again.
func TestForged(t *testing.T) {
	w := newWorld(t)
	_, secret := w.hook("ada", "document.created")
	_, other := w.hook("ada", "document.trashed")
	w.mu.Lock()
	w.reply = func(post) (int, error) { return 500, nil }
	w.mu.Unlock()
	w.make("ada", "f")
	w.work(func() bool { return len(w.got()) == 1 && !w.busy() })
	w.mu.Lock()
	w.reply = func(post) (int, error) { return 200, nil }
	w.mu.Unlock()
	w.skip.Add(int64(time.Hour))
	w.work(w.idle)
	first, second := w.got()[0], w.got()[1]
	now := func(p post) time.Time {
		seconds, _ := strconv.ParseInt(p.head.Get("webhook-timestamp"), 10, 64)
		return time.Unix(seconds, 0)
	}
	fresh := func() map[string]bool { return map[string]bool{} }
	if !taken(first, secret, now(first), fresh()) || !taken(second, secret, now(second), fresh()) {
		t.Fatal("what was sent is not taken")
	}
	if first.head.Get("webhook-id") != second.head.Get("webhook-id") || first.head.Get("webhook-signature") == second.head.Get("webhook-signature") {
		t.Errorf("tried again: %v and %v", first.head, second.head)
	}
	seen := fresh()
	if !taken(first, secret, now(first), seen) || taken(first, secret, now(first), seen) || taken(second, secret, now(second), seen) {
		t.Error("taken twice")
	}
	for name, at := range map[string]time.Time{"late": now(first).Add(5*time.Minute + time.Second), "early": now(first).Add(-5*time.Minute - time.Second)} {
		if taken(first, secret, at, fresh()) {
			t.Errorf("taken %s", name)
		}
	}
	if taken(first, other, now(first), fresh()) {
		t.Error("the key of another webhook is good for it")
	}
	mixed := post{head: first.head.Clone(), body: first.body}
	mixed.head.Set("webhook-timestamp", second.head.Get("webhook-timestamp"))
	if taken(mixed, secret, now(second), fresh()) {
		t.Error("an old message is taken with a new time")
	}
	for _, header := range []string{"webhook-id", "webhook-timestamp", "webhook-signature", ""} {
		whole := first.body
		if header != "" {
			whole = first.head.Get(header)
		}
		for i := range len(whole) {
			p := post{head: first.head.Clone(), body: first.body}
			changed := whole[:i] + string(rune(whole[i]^1)) + whole[i+1:]
			if header == "" {
				p.body = changed
			} else {
				p.head.Set(header, changed)
			}
			if taken(p, secret, now(first), fresh()) {
				t.Errorf("taken with byte %d of %q changed", i, header)
			}
		}
	}
}
