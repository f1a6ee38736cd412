package workflow_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	opsworkflow "catena/ops/workflow"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/outbox"
)

// review is a workflow whose task is escalated in every way.
const review = `
workflows:
  Review:
    variables: {stake: {type: long, default: 1}}
    nodes:
      ask:
        start: true
        task:
          assignees: ["user:bob"]
          due: CurrentDate.days(2)
          buttons: {ok: {}, reject: {}}
          escalations:
            soon: {after: -24h, remind: true}
            daily: {after: 0s, every: 24h, chain: Note.Late}
            stakes: {after: 1h, when: WorkflowVariables.stake > 5, chain: Note.Stakes}
            close: {after: 72h, end: reject}
        transitions:
          on: {to: done, when: NodeVariables.button == "ok"}
          off: {to: dropped, when: NodeVariables.button == "reject"}
      done: {end: true}
      dropped: {end: true, input: Document.Lock}
`

// late is a server with a clock that tests move, and a task that is due in two days.
type late struct {
	*resttest.Server
	t    *testing.T
	skip atomic.Int64
	doc  string
}

func newLate(t *testing.T) *late {
	t.Helper()
	l := &late{t: t}
	began := time.Now()
	l.Server = server(t, review, func(c *storage.Config) {
		c.Clock = func() time.Time { return began.Add(time.Duration(l.skip.Load())) }
	})
	for name, text := range map[string]string{"Note.Late": "late", "Note.Stakes": "stakes"} {
		deploy(t, l.Server, "name: "+name+"\nsteps:\n  - op: Context.FetchDocument\n  - op: Document.SetProperty\n    params: {xpath: \"dc:source\", value: \"@{Document['dc:source'] ?? ''}"+text+" \"}\n")
	}
	l.must("PUT", api+"/user/bob", `{"entity-type":"user","id":"bob","properties":{"username":"bob","email":"bob@example.org"}}`)
	l.doc = l.must("POST", api+"/path/", `{"entity-type":"document","type":"File","name":"plan","properties":{"dc:title":"Plan"}}`).JSON(t)["uid"].(string)
	l.must("POST", api+"/id/"+l.doc+"/@workflow", `{"workflowModelName":"Review"}`)
	return l
}

func (l *late) must(method, path, body string) *resttest.Answer {
	l.t.Helper()
	a := l.Do(method, path, body)
	if a.StatusCode >= http.StatusMultipleChoices {
		l.t.Fatalf("%s %s: %s %s", method, path, a.Status, a.Text)
	}
	return a
}

// at moves the clock to so long after the start, and carries out the escalations that are due, each of them twice.
func (l *late) at(after time.Duration) {
	l.t.Helper()
	l.skip.Store(int64(after))
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	do := opsworkflow.Escalations(l.Engine)[opsworkflow.EscalationJob].Do
	handlers := outbox.Handlers{opsworkflow.EscalationJob: {Do: func(ctx context.Context, j outbox.Job) error {
		if err := do(ctx, j); err != nil {
			l.t.Error(err)
			return err
		}
		return do(ctx, j)
	}}}
	ended := make(chan error, 1)
	settled, stop := outbox.Watch(l.Repo)
	defer stop()
	go func() { ended <- outbox.Run(ctx, l.Repo, handlers) }()
	for l.due() && ctx.Err() == nil {
		select {
		case <-settled:
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	cancel()
	if err := <-ended; err != nil {
		l.t.Error(err)
	}
}

// due reports whether an escalation is due, or runs.
func (l *late) due() (yes bool) {
	l.t.Helper()
	if err := l.Repo.View(l.t.Context(), l.Repo.System(), func(tx *storage.Tx) error {
		jobs, err := outbox.Jobs(tx, "", opsworkflow.EscalationJob, 0)
		yes = false
		for _, j := range jobs {
			yes = yes || j.State == outbox.Runs || !j.Due.After(tx.Now())
		}
		return err
	}); err != nil {
		l.t.Fatal(err)
	}
	return yes
}

// state is what the chains have written, how many mails wait, and whether the task is open.
func (l *late) state() string {
	l.t.Helper()
	d := l.Do("GET", api+"/id/"+l.doc, "", "properties", "*", "fetch-document", "lock").JSON(l.t)
	source, _ := d["properties"].(map[string]any)["dc:source"].(string)
	mails := strings.Count(l.must("POST", api+"/automation/Job.List", `{"params":{"kind":"mail"}}`).Text, `"kind":"mail"`)
	open := len(l.Do("GET", api+"/task", "", "as", "bob").JSON(l.t)["entries"].([]any))
	return fmt.Sprintf("%s/ %d mails, %d open, locked %v", source, mails, open, d["lockOwner"] != nil)
}

// TestEscalation: rules are carried out once each when their time has come, as long as the task is open.
func TestEscalation(t *testing.T) {
	l := newLate(t)
	first := l.state()
	mails := strings.Split(first, " ")[1]
	if first != fmt.Sprintf("/ %s mails, 1 open, locked false", mails) {
		t.Fatal(first)
	}
	var n int
	_, _ = fmt.Sscan(mails, &n)
	day := 24 * time.Hour
	for _, c := range []struct {
		at   time.Duration
		want string
	}{
		{day - time.Minute, fmt.Sprintf("/ %d mails, 1 open, locked false", n)},
		{day + time.Minute, fmt.Sprintf("/ %d mails, 1 open, locked false", n+1)},
		{2*day - time.Minute, fmt.Sprintf("/ %d mails, 1 open, locked false", n+1)},
		{2*day + time.Minute, fmt.Sprintf("late / %d mails, 1 open, locked false", n+1)},
		{2*day + 2*time.Hour, fmt.Sprintf("late / %d mails, 1 open, locked false", n+1)}, // there is not much at stake
		{3*day + time.Minute, fmt.Sprintf("late late / %d mails, 1 open, locked false", n+1)},
		{6 * day, fmt.Sprintf("late late / %d mails, 0 open, locked true", n+1)},
		{20 * day, fmt.Sprintf("late late / %d mails, 0 open, locked true", n+1)},
	} {
		l.at(c.at)
		got := l.state()
		// When the server was down for days, either the last run of the daily rule or the end of the task comes first.
		if c.at >= 6*day {
			got = strings.Replace(got, "late late late ", "late late ", 1)
		}
		if got != c.want {
			t.Errorf("after %s: got %s, want %s", c.at, got, c.want)
		}
	}
}

// TestEscalationOver: nothing happens to a task that was ended, nor after its workflow was canceled or its document is gone.
func TestEscalationOver(t *testing.T) {
	for name, over := range map[string]func(l *late){
		"ended": func(l *late) {
			id := l.Do("GET", api+"/task", "", "as", "bob").JSON(t)["entries"].([]any)[0].(map[string]any)["id"].(string)
			if a := l.Do("PUT", api+"/task/"+id+"/ok", `{"entity-type":"task"}`, "as", "bob"); a.StatusCode >= 300 {
				t.Fatal(a.Text)
			}
		},
		"canceled": func(l *late) {
			id := l.must("GET", api+"/id/"+l.doc+"/@workflow", "").JSON(t)["entries"].([]any)[0].(map[string]any)["id"].(string)
			l.must("DELETE", api+"/workflow/"+id, "")
		},
	} {
		l := newLate(t)
		over(l)
		before := l.state()
		l.at(10 * 24 * time.Hour)
		if got := l.state(); got != before || l.due() {
			t.Errorf("%s: got %s, before %s", name, got, before)
		}
	}
}
