package rest_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"catena/engine/hook"
	"catena/engine/library"
	"catena/rest"
	"catena/rest/automation"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/keyring"
	"catena/storage/outbox"
)

// hooked is a server with hooks.
type hooked struct {
	*resttest.Server
	t     *testing.T
	hooks *hook.Hooks
}

func withHooks(t *testing.T) *hooked { return hooksOn(t, false) }

func hooksOn(t *testing.T, single bool) *hooked {
	t.Helper()
	var h *hook.Hooks
	s := resttest.Start(t, resttest.Config{
		Single:   single,
		Deployed: func() library.Deployments { h = hook.New(); return library.Deployments{h} },
		Rest:     func(c *rest.Config) { c.Hooks = automation.Receive(h) },
	})
	s.User("lea")
	all := &hooked{s, t, h}
	if a := all.call("Document.AddPermission", "doc:/", map[string]any{"permission": "ReadWrite", "username": "lea"}); a.StatusCode != http.StatusOK {
		t.Fatal(a.Text)
	}
	return all
}

// save deploys a hook and returns its secret.
func (h *hooked) save(source string) string {
	h.t.Helper()
	var saved, made struct{ Name, Secret string }
	h.value("Hook.Save", map[string]any{"name": "h.yaml", "source": source}, &saved)
	h.value("Hook.RenewSecret", map[string]any{"name": saved.Name}, &made)
	if !strings.HasPrefix(made.Secret, "whsec_") {
		h.t.Fatalf("secret %q", made.Secret)
	}
	return made.Secret
}

// call runs an operation.
func (h *hooked) call(op, input string, params map[string]any) *resttest.Answer {
	h.t.Helper()
	body := map[string]any{"params": params}
	if input != "" {
		body["input"] = input
	}
	text, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.Do("POST", "/api/v1/automation/"+op, string(text))
}

// value runs an operation and reads what it returns.
func (h *hooked) value(op string, params map[string]any, into any) {
	h.t.Helper()
	a := h.call(op, "", params)
	text := struct{ Value any }{into}
	if a.StatusCode >= http.StatusMultipleChoices || json.Unmarshal([]byte(a.Text), &text) != nil {
		h.t.Fatalf("%s: %s %s", op, a.Status, a.Text)
	}
}

// send sends a request as another service does.
func (h *hooked) send(name, body string, headers ...string) *resttest.Answer {
	h.t.Helper()
	return h.Do("POST", "/hooks/"+name, body, append([]string{"as", ""}, headers...)...)
}

// work carries out the jobs that wait, each of them twice.
func (h *hooked) work() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	handlers, ran := outbox.Handlers{}, make(chan struct{}, 100)
	for kind, x := range h.hooks.Jobs() {
		handlers[kind] = outbox.Handler{Do: func(ctx context.Context, j outbox.Job) error {
			defer func() { ran <- struct{}{} }()
			if err := x.Do(ctx, j); err != nil {
				return err
			}
			return x.Do(ctx, j)
		}}
	}
	done := make(chan error, 1)
	go func() { done <- outbox.Run(ctx, h.Repo, handlers) }()
	select {
	case <-ran:
	case <-ctx.Done():
	}
	time.Sleep(20 * time.Millisecond)
	cancel()
	if err := <-done; err != nil {
		h.t.Error(err)
	}
}

// TestHook receives what other services send: it is run once, as the user of the hook, after it was acknowledged.
func TestHook(t *testing.T) {
	h := withHooks(t)
	secret := h.save("name: Orders\nas: lea\nrun: Document.Create\ninput: /\nparams: {type: Note, name: 'order-@{Hook.body.number}', properties: 'dc:title=@{Hook.body.customer.name} @{Hook.query.shop}'}\n")
	order := `{"number": 7, "customer": {"name": "Zoë"}}`
	for _, headers := range [][]string{nil, {"Authorization", "Bearer whsec_wrong"}, {"X-Hub-Signature-256", "sha256=00"}} {
		if a := h.send("Orders", order, headers...); a.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %s %s", headers, a.Status, a.Text)
		}
	}
	if a, b := h.send("Orders", order), h.send("Other", order); a.StatusCode != b.StatusCode || strings.Contains(a.Text+b.Text, "hook O") {
		t.Errorf("whether there is a hook can be told: %s %s", a.Text, b.Text)
	}
	for range 2 { // sent again, since the answer was lost
		a := h.send("Orders?shop=north", order, "Authorization", "Bearer "+secret, "Idempotency-Key", "order-7")
		if a.StatusCode != http.StatusAccepted || !strings.Contains(a.Text, `"id"`) {
			t.Fatalf("%s %s", a.Status, a.Text)
		}
	}
	h.work()
	got := h.Do("GET", "/api/v1/path/order-7", "", "X-NXproperties", "dublincore")
	if got.StatusCode != http.StatusOK || !strings.Contains(got.Text, `"Zoë north"`) || !strings.Contains(got.Text, `"dc:creator":"lea"`) {
		t.Errorf("%s %s", got.Status, got.Text)
	}
	var all []hook.Status
	h.value("Hook.Status", map[string]any{}, &all)
	if len(all) != 1 || all[0].Last.IsZero() || all[0].Failure != "" || all[0].Path != "/hooks/Orders" {
		t.Errorf("%+v", all)
	}
	// Secrets are for administrators, and so are the hooks.
	if a := h.Do("POST", "/api/v1/automation/Hook.RenewSecret", `{"params": {"name": "Orders"}}`, "as", "lea"); a.StatusCode != http.StatusNotFound {
		t.Errorf("%s %s", a.Status, a.Text)
	}
}

// TestHookSignatures verifies what is signed: a body that was changed, or is sent again later, is refused.
func TestHookSignatures(t *testing.T) {
	h := withHooks(t)
	source := "name: %s\nas: lea\nverify: %s\nresponse: result\nrun: Context.SetVar\nparams: {name: x, value: '@{Hook.body}'}\n"
	gitHub, standard := h.save(fmt.Sprintf(source, "g", "github")), h.save(fmt.Sprintf(source, "s", "standard"))
	sum := func(body string) string {
		mac := hmac.New(sha256.New, []byte(gitHub))
		mac.Write([]byte(body))
		return "sha256=" + hex.EncodeToString(mac.Sum(nil))
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(standard, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	signed := func(at time.Time, body string) []string {
		return []string{
			"webhook-id", "msg_1", "webhook-timestamp", strconv.FormatInt(at.Unix(), 10),
			"webhook-signature", "v1,AAAA " + keyring.Sign([][]byte{key}, "msg_1", at, []byte(body)),
		}
	}
	now := time.Now()
	for name, test := range map[string]struct {
		hook    string
		headers []string
		ok      bool
	}{
		"GitHub":          {"g", []string{"X-Hub-Signature-256", sum(`{"a":1}`)}, true},
		"GitHub, changed": {"g", []string{"X-Hub-Signature-256", sum(`{"a":2}`)}, false},
		"GitHub, bearer":  {"g", []string{"Authorization", "Bearer " + gitHub}, false},
		"Standard":        {"s", signed(now, `{"a":1}`), true},
		"Standard, old":   {"s", signed(now.Add(-time.Hour), `{"a":1}`), false},
		"Standard, body":  {"s", signed(now, `{"a":2}`), false},
		"none":            {"s", nil, false},
	} {
		a := h.send(test.hook, `{"a":1}`, test.headers...)
		if ok := a.StatusCode < 300; ok != test.ok {
			t.Errorf("%s: %s %s", name, a.Status, a.Text)
		}
	}
}

// TestHookFile receives a file, which is the input, and answers with the result.
func TestHookFile(t *testing.T) {
	h := withHooks(t)
	secret := h.save(`{name: Scans, as: lea, input: file, response: result, run: Context.SetVar, params: {name: kind, value: '@{Hook.headers["content-type"]}'}}`)
	a := h.send("Scans", "%PDF-1.4 a scan", "Authorization", "Bearer "+secret, "Content-Type", "application/pdf", "Content-Disposition", `attachment; filename="scan.pdf"`)
	if a.StatusCode != http.StatusOK || a.Text != "%PDF-1.4 a scan" || a.Header.Get("Content-Type") != "application/pdf" || !strings.Contains(a.Header.Get("Content-Disposition"), "scan.pdf") {
		t.Errorf("%s %s %v", a.Status, a.Text, a.Header)
	}
	basic, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/hooks/Scans", strings.NewReader("x"))
	basic.SetBasicAuth("anyone", secret)
	if a := h.Send(basic); a.StatusCode == http.StatusForbidden {
		t.Errorf("a secret as a password: %s %s", a.Status, a.Text)
	}
}

// TestHookTexts refuses hooks that cannot run.
func TestHookTexts(t *testing.T) {
	h := withHooks(t)
	for source, want := range map[string]string{
		"name: h\nas: nobody\nrun: Log\nparams: {message: a}\n":                "user nobody does not exist",
		"name: h\nas: lea\nrun: Nope\n":                                        "Nope",
		"name: h\nas: lea\nrun: Log\nparams: {message: '@{Hok.body}'}\n":       "Hok",
		"name: h\nas: lea\nrun: Document.Lock\n":                               "input",
		"name: h\nas: lea\nrun: Document.Lock\ninput: file\n":                  "h.yaml:3:6: step 1: Document.Lock: input: must be of type document or documents, not blob",
		"name: h\nas: lea\nrun: Blob.ToPDF\n":                                  "Blob.ToPDF: input: must be of type",
		"name: h\nas: lea\nrun: Log\nverify: none\nparams: {message: a}\n":     "verify must be bearer, standard or github",
		"name: h\nrun: Log\nparams: {message: a}\n":                            "as: the user",
		"name: h/x\nas: lea\nrun: Log\nparams: {message: a}\n":                 "only letters",
		"name: h\nas: lea\nrun: Log\nparams: {message: a}\nanswer: accepted\n": "answer",
	} {
		a := h.call("Hook.Save", "", map[string]any{"name": "h.yaml", "source": source})
		if a.StatusCode < 400 || !strings.Contains(a.Text, want) {
			t.Errorf("%s: %s %s", source, a.Status, a.Text)
		}
	}
}

// TestHookRate: a hook takes so many requests a minute; those of anybody who does not know its secret do not count.
func TestHookRate(t *testing.T) {
	h := hooksOn(t, true) // several servers are exact within a second
	for _, c := range [][2]string{{"bearer", "Authorization"}, {"github", "X-Hub-Signature-256"}} {
		name := "Slow." + c[0]
		secret := h.save("name: " + name + "\nas: lea\nrun: Log\nparams: {level: info, message: a}\nrate: 3\nverify: " + c[0] + "\n")
		proof := "Bearer " + secret
		if c[0] == "github" {
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write([]byte("{}"))
			proof = "sha256=" + hex.EncodeToString(mac.Sum(nil))
		}
		for range 5 {
			if a := h.send(name, "{}", c[1], "wrong"); a.StatusCode != http.StatusForbidden {
				t.Errorf("%s: without the secret: %s", name, a.Status)
			}
		}
		for i := range 4 {
			a := h.send(name, "{}", c[1], proof)
			want := http.StatusAccepted
			if i == 3 {
				want = http.StatusTooManyRequests
			}
			if a.StatusCode != want || a.Header.Get("X-Ratelimit-Limit") != "3" {
				t.Errorf("%s: request %d: %s %v", name, i, a.Status, a.Header)
			}
		}
	}
	secret := h.save("name: Other\nas: lea\nrun: Log\nparams: {level: info, message: a}\n")
	if a := h.send("Other", "{}", "Authorization", "Bearer "+secret); a.StatusCode != http.StatusAccepted {
		t.Errorf("another hook: %s", a.Status)
	}
	for _, rate := range []string{"0", "-1", "often", "1000001"} {
		a := h.call("Hook.Save", "", map[string]any{"name": "h.yaml", "source": "name: h\nas: lea\nrun: Log\nparams: {message: a}\nrate: " + rate + "\n"})
		if a.StatusCode < 400 || !strings.Contains(a.Text, "h.yaml:5:7: rate must be a number of requests a minute, from 1 to 1000000") {
			t.Errorf("rate %s: %s", rate, a.Text)
		}
	}
}

// TestHookSweep: when an administrator deletes the job of a message, what was noted of it goes with the next sweep; that of
// a message whose job waits does not.
func TestHookSweep(t *testing.T) {
	var skip time.Duration
	h := hook.New()
	s := resttest.Start(t, resttest.Config{
		Ops: h.Ops(), Rest: func(c *rest.Config) { c.Hooks = automation.Receive(h) },
		Storage: func(c *storage.Config) { c.Clock = func() time.Time { return time.Now().Add(skip) } },
	})
	if err := h.Load(t.Context(), s.Engine); err != nil {
		t.Fatal(err)
	}
	s.User("lea")
	all := &hooked{s, t, h}
	secret := all.save("name: Scans\nas: lea\nrun: Log\nparams: {level: info, message: a}\n")
	var ids []string
	for range 3 {
		a := all.send("Scans", "{}", "Authorization", "Bearer "+secret)
		ids = append(ids, a.JSON(t)["id"].(string))
	}
	rows := func() (n int) {
		t.Helper()
		if err := s.Repo.View(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
			n = 0
			for range tx.Table("hook.waiting").Scan("", "", false, 0) {
				n++
			}
			return tx.Err()
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	sweep := func(want int) {
		t.Helper()
		if err := h.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := rows(); got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
	}
	if a := all.call("Job.Delete", "", map[string]any{"id": ids[1]}); a.StatusCode >= 300 {
		t.Fatal(a.Text)
	}
	sweep(3) // young rows are left alone
	skip = 2 * time.Hour
	sweep(2)
	sweep(2)
	for _, id := range []string{ids[0], ids[2]} {
		if a := all.call("Job.Delete", "", map[string]any{"id": id}); a.StatusCode >= 300 {
			t.Fatal(a.Text)
		}
	}
	sweep(0)
}
