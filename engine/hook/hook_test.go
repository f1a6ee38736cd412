package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/keyring"
)

// head makes headers of names and values.
func head(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

var (
	key   = []byte("0123456789abcdef0123456789abcdef")
	other = []byte("another key, of the same length!")
	at    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func TestVerifyBearer(t *testing.T) {
	text := keyring.Text(key)
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct {
		authorization string
		want          bool
	}{
		{"Bearer " + text, true},
		{basic("any:" + text), true},
		{basic(":" + text), true},
		{"", false},
		{"Bearer ", false},
		{"Bearer", false},
		{text, false},
		{"Bearer " + text + " ", false},
		{"bearer " + text, false},
		{"Bearer  " + text, false},
		{"Bearer " + keyring.Text(other), false},
		{"Bearer " + text[:len(text)-1], false},
		{"Bearer " + strings.TrimPrefix(text, "whsec_"), false},
		{basic(text + ":"), false},
		{basic(text), false},
		{"Basic !", false},
		{"Bearer " + string(key), false},
	} {
		if got := verifyBearer(key, head("Authorization", c.authorization)); got != c.want {
			t.Errorf("%q: %v", c.authorization, got)
		}
	}
}

func TestVerifyStandard(t *testing.T) {
	body := []byte(`{"a":1}`)
	sign := func(k []byte, id string, at time.Time, body []byte) string {
		return keyring.Sign([][]byte{k}, id, at, body)
	}
	seconds := fmt.Sprint(at.Unix())
	for _, c := range []struct {
		name                string
		id, when, signature string
		now                 time.Time
		want                bool
	}{
		{"good", "m1", seconds, sign(key, "m1", at, body), at, true},
		{"one of two", "m1", seconds, sign(other, "m1", at, body) + " " + sign(key, "m1", at, body), at, true},
		{"as late as may be", "m1", seconds, sign(key, "m1", at, body), at.Add(tolerance), true},
		{"later", "m1", seconds, sign(key, "m1", at, body), at.Add(tolerance + time.Nanosecond), false},
		{"as early as may be", "m1", seconds, sign(key, "m1", at, body), at.Add(-tolerance), true},
		{"earlier", "m1", seconds, sign(key, "m1", at, body), at.Add(-tolerance - 1), false},
		{"another key", "m1", seconds, sign(other, "m1", at, body), at, false},
		{"another id", "m2", seconds, sign(key, "m1", at, body), at, false},
		{"another time", "m1", fmt.Sprint(at.Unix() + 1), sign(key, "m1", at, body), at, false},
		{"another body", "m1", seconds, sign(key, "m1", at, []byte(`{"a":2}`)), at, false},
		{"another version", "m1", seconds, strings.Replace(sign(key, "m1", at, body), "v1,", "v2,", 1), at, false},
		{"no signature", "m1", seconds, "", at, false},
		{"no id", "", seconds, sign(key, "", at, body), at, false},
		{"no time", "m1", "", sign(key, "m1", at, body), at, false},
		{"a time in words", "m1", "2026-03-01T12:00:00Z", sign(key, "m1", at, body), at, false},
		{"the end of time", "m1", "9223372036854775807", sign(key, "m1", time.Unix(1<<63-1, 0), body), at, false},
		{"before all time", "m1", "-9223372036854775808", sign(key, "m1", time.Unix(-1<<63, 0), body), at, false},
	} {
		h := head("webhook-id", c.id, "webhook-timestamp", c.when, "webhook-signature", c.signature)
		if got := verifyStandard(key, h, body, c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	// What was signed as id "m1" and body "1772366400.{}" is not a message "m1.<time>" with the body "{}".
	late := at.Add(10 * time.Hour)
	signed := sign(key, "m1", at, fmt.Appendf(nil, "%d.{}", late.Unix()))
	forged := head("webhook-id", fmt.Sprintf("m1.%d", at.Unix()), "webhook-timestamp", fmt.Sprint(late.Unix()), "webhook-signature", signed)
	if verifyStandard(key, forged, []byte("{}"), late) {
		t.Error("a part of the body was taken for the time")
	}
}

func TestVerifyGitHub(t *testing.T) {
	// The example of the documentation of GitHub, whose secret is a text.
	h := &Hook{Verify: github}
	body := []byte("Hello, World!")
	good := "sha256=" + hmacOf(key, body)
	for signature, want := range map[string]bool{good: true, "": false, "sha256=": false, strings.ToUpper(good): false, good[:len(good)-1]: false, good + "0": false, strings.TrimPrefix(good, "sha256="): false, "sha1=" + good[7:]: false} {
		if got := h.verify([][]byte{other, key}, head("X-Hub-Signature-256", signature), body, at); got != want {
			t.Errorf("%q: %v", signature, got)
		}
	}
	if h.verify(nil, head("X-Hub-Signature-256", good), body, at) || h.verify([][]byte{key}, head("X-Hub-Signature-256", good), nil, at) {
		t.Error("verified without a key, or without the body")
	}
	if !h.signed() || !(&Hook{Verify: standard}).signed() || (&Hook{Verify: bearer}).signed() {
		t.Error("which hooks are signed")
	}
}

func TestParse(t *testing.T) {
	const least = "name: Test.Hook\nrun: Test.Op\nas: ann\n"
	for _, c := range []struct{ name, src, want string }{
		{"least", least, "Test.Hook Test.Op ann bearer void false"},
		{"JSON", `{"name":"Test.Hook","run":"Test.Op","as":"ann","verify":"github"}`, "Test.Hook Test.Op ann github void false"},
		{"all", least + "input: file\nresponse: result\nverify: standard\n", "Test.Hook Test.Op ann standard blob true"},
		{"a document", least + "input: /a/b\nresponse: accepted\n", "Test.Hook Test.Op ann bearer document false"},
		{"none", least + "input: none\n", "Test.Hook Test.Op ann bearer void false"},
		{"input", least + "input: files\n", "!input must be none, file or the path of a document"},
		{"verify", least + "verify: sha1\n", "!verify must be bearer, standard or github"},
		{"response", least + "response: ''\n", "!response must be accepted or result"},
		{"unknown", least + "runs: x\n", "!runs"},
		{"twice", least + "verify: github\nverify: bearer\n", "!verify"},
		{"nothing", "", "!"},
		{"a list", "- a\n", "!"},
		{"not YAML", "a: [\n", "!"},
		{"an alias", "name: &a Test.Hook\nrun: *a\nas: ann\n", "!"},
	} {
		h, problems := Parse("h.yaml", []byte(c.src))
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			if h != nil || len(problems) == 0 || !strings.Contains(fmt.Sprint(problems), want) {
				t.Errorf("%s: %+v, %v", c.name, h, problems)
			}
			continue
		}
		if len(problems) > 0 {
			t.Errorf("%s: %v", c.name, problems)
			continue
		}
		if got := fmt.Sprint(h.Name, " ", h.Step.Op, " ", h.As, " ", h.Verify, " ", h.in(), " ", h.Waits); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	_, problems := Parse("h.yaml", []byte(least+"input: x\nverify: y\nresponse: z\n"))
	if len(problems) != 3 {
		t.Errorf("three mistakes: %v", problems)
	}
}

// FuzzParse reads any text: what is wrong with it is reported, and at least one of a hook and a problem comes of it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"name: A.B\nrun: C.D\nas: e\n", "a: &b [*b]", "{\"input\": {}}", "? a\n: b", "name: !!binary x", "<<: {name: a}", "--- a\n--- b", "params: {a: expr:b}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if h, problems := Parse("h.yaml", []byte(src)); (h == nil) == (len(problems) == 0) {
			t.Errorf("%q: %v, %v", src, h, problems)
		}
	})
}

// hmacOf is the signature of a body as GitHub writes it.
func hmacOf(key, body []byte) string {
	mac := hmac.New(sha256.New, []byte(keyring.Text(key)))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func TestBody(t *testing.T) {
	for _, c := range []struct {
		typ, body string
		want      any
		kind      fault.Kind
	}{
		{"application/json", `{"a":[1,2.5]}`, map[string]any{"a": []any{int64(1), 2.5}}, 255},
		{"application/ld+json", "7", int64(7), 255},
		{"application/json", "", nil, 255},
		{"application/json", "{", nil, fault.Invalid},
		{"application/json", `{"a":1,"a":2}`, nil, fault.Invalid},
		{"application/jsonp", "1", nil, fault.Invalid},
		{"text/plain", "hällo\x00", "hällo\x00", 255},
		{"", "x", "x", 255},
		{"text/csv", "a\xffb", "a\uFFFDb", 255},
		{"image/png", "x", nil, fault.Invalid},
		{"image/png", "", nil, 255},
		{"application/x-www-form-urlencoded", "a=1&b=2&a=3&c", map[string]any{"a": []string{"1", "3"}, "b": "2", "c": ""}, 255},
		{"application/x-www-form-urlencoded", "a=%zz", nil, fault.Invalid},
		{"application/x-www-form-urlencoded", "a;b", nil, fault.Invalid},
		{"application/x-www-form-urlencoded", "%FF=1&%FE=2", map[string]any{"\uFFFD": "1"}, 255},
	} {
		got, err := parse(c.typ, []byte(c.body))
		if c.kind == 255 && (err != nil || !reflect.DeepEqual(got, c.want)) || c.kind != 255 && !fault.Is(err, c.kind) {
			t.Errorf("%s %q: %#v, %v", c.typ, c.body, got, err)
		}
	}
}

// TestHeaders: a run sees no header that shows the secret, however it is written.
func TestHeaders(t *testing.T) {
	h := head("authorization", "Bearer x", "COOKIE", "a=b", "Webhook-Signature", "v1,x", "x-hub-signature", "x", "X-Hub-Signature-256", "x", "X-Own", "1", "x-own", "2", "webhook-id", "m1")
	if got := headersOf(h); !reflect.DeepEqual(got, map[string]string{"x-own": "1, 2", "webhook-id": "m1"}) {
		t.Errorf("%v", got)
	}
	if idOf(h) != "m1" || idOf(head("a", "b")) != "" {
		t.Errorf("the id is %q", idOf(h))
	}
	for disposition, want := range map[string]string{
		"": "body", "attachment": "body", `attachment; filename="a.txt"`: "a.txt", `attachment; filename="../../etc/passwd"`: "passwd", `attachment; filename="a\\b.txt"`: "b.txt",
		`attachment; filename="x/"`: "body", `attachment; filename=""`: "body",
		"attachment; filename*=UTF-8''%C3%A4.txt": "ä.txt", "attachment; filename*=UTF-8''%FF.txt": "\uFFFD.txt", ";;": "body", `attachment; filename="a`: "body",
	} {
		if got := FileName(head("Content-Disposition", disposition)); got != want {
			t.Errorf("%s: %q", disposition, got)
		}
	}
}
