package keyring_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/keyring"
	"catena/storage/storagetest"
)

// TestRenew: a new secret is valid at once, the one of before for a day more, and one that was replaced twice no longer.
func TestRenew(t *testing.T) {
	w := storagetest.NewWorld(t)
	valid := func() (texts []string) {
		w.Read(w.System(), func(tx *storage.Tx) error {
			keys, err := keyring.Webhooks.Keys(tx, "w")
			for _, key := range keys {
				texts = append(texts, keyring.Text(key))
			}
			return err
		})
		return texts
	}
	renew := func() (text string) {
		w.Write(w.System(), func(tx *storage.Tx) (err error) { text, err = keyring.Webhooks.Renew(tx, "w"); return err })
		return text
	}
	want := func(when string, texts ...string) {
		t.Helper()
		if got := valid(); strings.Join(got, " ") != strings.Join(texts, " ") {
			t.Errorf("%s: %d keys are valid, want %d", when, len(got), len(texts))
		}
	}
	want("at first")
	first := renew()
	if b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(first, "whsec_")); err != nil || len(b) != 32 {
		t.Errorf("the secret is %q", first)
	}
	want("made", first)
	w.Now = w.Now.AddDate(1, 0, 0)
	want("a year later", first)
	second := renew()
	want("renewed", second, first)
	w.Now = w.Now.Add(24*time.Hour - time.Millisecond)
	want("almost a day later", second, first)
	w.Now = w.Now.Add(time.Millisecond)
	want("a day later", second)
	third := renew()
	fourth := renew()
	want("renewed twice", fourth, third)
	w.Write(w.System(), func(tx *storage.Tx) error { return keyring.Webhooks.Forget(tx, "w") })
	want("forgotten")
}

// TestRings: things of two rings, or of two ids, have secrets of their own, which are shown to nobody.
func TestRings(t *testing.T) {
	w := storagetest.NewWorld(t)
	texts := map[string]bool{}
	w.Write(w.System(), func(tx *storage.Tx) error {
		for _, r := range []keyring.Ring{keyring.Webhooks, keyring.Hooks} {
			for _, id := range []string{"a", "ab", "a/b", "ä"} {
				text, err := r.Renew(tx, id)
				if err != nil {
					return err
				}
				texts[text] = true
				keys, err := r.Keys(tx, id)
				if err != nil || len(keys) != 1 || keyring.Text(keys[0]) != text {
					t.Errorf("%s: %d keys, %v", id, len(keys), err)
				}
			}
		}
		if _, err := keyring.Hooks.Renew(tx, ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("without an id: %v", err)
		}
		return nil
	})
	if len(texts) != 8 {
		t.Errorf("%d secrets of 8 things", len(texts))
	}
	for _, name := range []string{"bob", "Administrator"} {
		w.Read(&storage.Principal{Name: name, Admin: true}, func(tx *storage.Tx) error {
			if keys, err := keyring.Hooks.Keys(tx, "a"); keys != nil || !fault.Is(err, fault.Denied) {
				t.Errorf("%s reads them: %v", name, err)
			}
			return nil
		})
	}
}

// TestSign is the example of the Standard Webhooks specification, and each key signs.
func TestSign(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1614265330, 999)
	body := []byte(`{"test": 2432232314}`)
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := keyring.Sign([][]byte{key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body); got != want {
		t.Errorf("got %s", got)
	}
	two := keyring.Sign([][]byte{key, []byte("other")}, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body)
	if before, after, _ := strings.Cut(two, " "); before != want || !strings.HasPrefix(after, "v1,") || after == want {
		t.Errorf("two keys: %s", two)
	}
	if got := keyring.Sign(nil, "a", at, body); got != "" {
		t.Errorf("no key: %q", got)
	}
	for _, other := range []string{keyring.Sign([][]byte{key}, "msg", at, body), keyring.Sign([][]byte{key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", at.Add(time.Second), body), keyring.Sign([][]byte{key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, nil)} {
		if other == want {
			t.Error("another message has the same signature")
		}
	}
}
