package outside_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/ops/outside"
	"catena/storage"
	"catena/storage/outbox"
)

// jobs are those that wait.
func (w *world) jobs() (out []outbox.State) {
	w.t.Helper()
	w.must(w.repo.View(w.t.Context(), w.repo.System(), func(tx *storage.Tx) (err error) {
		out, err = outbox.Jobs(tx, "", "", 100)
		return err
	}))
	return out
}

// work carries out jobs until as many as were there have been settled.
func (w *world) work(n int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	handlers := outside.Jobs(w.repo, outside.Config{Client: w.client})
	settled := make(chan struct{}, n)
	for kind, h := range handlers {
		do := h.Do
		h.Do = func(ctx context.Context, j outbox.Job) error {
			defer func() { settled <- struct{}{} }()
			return do(ctx, j)
		}
		handlers[kind] = h
	}
	done := make(chan error, 1)
	go func() { done <- outbox.Run(ctx, w.repo, handlers) }()
	for range n {
		select {
		case <-settled:
		case <-ctx.Done():
			w.t.Error("jobs are not carried out")
		}
	}
	cancel()
	w.must(<-done)
}

// TestSendSealed looks into the row of a job: nothing of the message can be read there, and all of it is sent.
func TestSendSealed(t *testing.T) {
	s := serve(t)
	w := newWorld(t, s.URL)
	_, err := w.call("Administrator", "Http.Send", nil, map[string]any{
		"url": "/echo?key=s3cret-a", "query": map[string]any{"token": "s3cret-b", "at": time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		"headers": map[string]any{"Authorization": "Bearer s3cret-c", "X-Own": int64(1) << 60}, "json": map[string]any{"n": int64(1)<<53 + 1, "pw": "s3cret-d"},
	})
	w.must(err)
	jobs := w.jobs()
	if len(jobs) != 1 || strings.Contains(string(jobs[0].Data), "s3cret") || strings.Contains(string(jobs[0].Data), "Bearer") {
		t.Fatalf("the job is %s", jobs[0].Data)
	}
	w.work(1)
	got := s.last()
	for name, want := range map[string]string{
		"query": "key=s3cret-a&at=2026-03-01T00%3A00%3A00.000Z&token=s3cret-b", "authorization": "Bearer s3cret-c",
		"own": "1152921504606846976", "body": `{"n":9007199254740993,"pw":"s3cret-d"}`, "method": "POST",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

// TestSendBefore: a job that a server of an earlier version has left, whose message is not encrypted, is carried out.
func TestSendBefore(t *testing.T) {
	s := serve(t)
	w := newWorld(t, s.URL)
	w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		return outbox.Enqueue(tx, outbox.Job{Kind: "http.send", Data: json.RawMessage(`{"message":{"url":"` + s.URL + `/echo","method":"PUT","headers":{"X-Own":"old"},"text":"kept"},"Owner":"Administrator","OwnerID":1}`)})
	}))
	w.work(1)
	if got := s.last(); got["method"] != "PUT" || got["own"] != "old" || got["body"] != "kept" {
		t.Errorf("sent %v", got)
	}
}

// TestSendMoved: a message that was moved to the job of somebody else, or damaged, is given up and not sent.
func TestSendMoved(t *testing.T) {
	s := serve(t)
	w := newWorld(t, s.URL)
	_, err := w.call("Administrator", "Http.Send", nil, map[string]any{"url": "/echo", "text": "a"})
	w.must(err)
	was := string(w.jobs()[0].Data)
	w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error { return outbox.Delete(tx, w.jobs()[0].ID) }))
	for _, data := range []string{
		strings.Replace(was, `"Owner":"Administrator"`, `"Owner":"bob"`, 1), strings.Replace(was, `{"sealed"`, `{"chain":"Test.Other","sealed"`, 1),
		`{"sealed":"AAAA","Owner":"Administrator"}`, `{"sealed":"` + strings.Repeat("A", 80) + `","Owner":"Administrator"}`, `{"Owner":"Administrator"}`, `[]`,
	} {
		if data == was {
			t.Fatalf("nothing is changed in %s", was)
		}
		w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
			return outbox.Enqueue(tx, outbox.Job{Kind: "http.send", Data: json.RawMessage(data)})
		}))
		w.work(1)
		if jobs := w.jobs(); len(jobs) != 1 || jobs[0].State != outbox.GivenUp || s.last() != nil {
			t.Errorf("%s: jobs %v, sent %v", data, jobs, s.last())
		}
		w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error { return outbox.Delete(tx, w.jobs()[0].ID) }))
	}
}

// TestRequestOnce: a request is not sent again when the transaction of its call begins again, here because a step has one of
// its own. GET is: what it returns may have changed.
func TestRequestOnce(t *testing.T) {
	for _, c := range []struct {
		method, answer string
		want           int
	}{{"POST", "auto", 1}, {"PUT", "json", 1}, {"PATCH", "text", 1}, {"DELETE", "none", 1}, {"POST", "blob", 1}, {"GET", "auto", 2}} {
		s := serve(t)
		w := newWorld(t, s.URL)
		source := "name: Test.Twice\nsteps:\n  - op: Http.Request\n    params: {url: \"" + s.URL + "/echo\", method: " + c.method + ", answer: " + c.answer + "}\n" +
			"  - op: Repository.GetDocument\n    params: {value: /}\n  - op: RunDocumentOperation\n    params: {id: Test.Inner, newTx: true}\n"
		_, err := w.call("Administrator", "Chain.Save", nil, map[string]any{"source": "name: Test.Inner\nsteps:\n  - op: Repository.GetDocument\n    params: {value: /}\n"})
		w.must(err)
		_, err = w.call("Administrator", "Chain.Save", nil, map[string]any{"source": source})
		w.must(err)
		_, err = w.call("Administrator", "Test.Twice", nil, nil)
		s.mu.Lock()
		n := len(s.keys)
		s.mu.Unlock()
		if err != nil || n != c.want {
			t.Errorf("%s %s: sent %d times, %v", c.method, c.answer, n, err)
		}
	}
}

// TestRequestHeaders: whatever the order of a map, the same request is sent or refused.
func TestRequestHeaders(t *testing.T) {
	s := serve(t)
	w := newWorld(t, s.URL)
	many := map[string]any{}
	for i := range 1001 {
		many["n"+strings.Repeat("x", i)] = i
	}
	for _, c := range []struct {
		params map[string]any
		want   string
	}{
		{map[string]any{"headers": map[string]any{"x-own": "1", "X-Own": "2"}}, "headers: X-Own is given twice"},
		{map[string]any{"headers": map[string]any{"Host": "a", "Te": "b", "content-length": "1"}}, "headers: Host must not be set"},
		{map[string]any{"headers": many, "query": many}, "query: 1001 names, limit 1000"},
		{map[string]any{"headers": many}, "headers: 1001 names, limit 1000"},
	} {
		got := map[string]bool{}
		for range 8 {
			c.params["url"] = "/echo"
			_, err := w.call("Administrator", "Http.Request", engine.Void{}, c.params)
			if err == nil {
				t.Fatalf("%s: was sent", c.want)
			}
			got[err.Error()] = true
		}
		for text := range got {
			if len(got) != 1 || !strings.HasSuffix(text, c.want) {
				t.Errorf("got %q, want %q", text, c.want)
			}
		}
	}
	if slices.Contains(s.keys, "") {
		t.Error("something was sent")
	}
}
