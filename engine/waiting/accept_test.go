package waiting_test

import (
	"testing"

	"catena/storage"
)

// TestAccepted waits for a task of no workflow, whose button decides how the chain goes on.
func TestAccepted(t *testing.T) {
	for _, action := range []string{"accept", "reject"} {
		w := newWorld(t)
		w.save("name: T.Wait\ninput: document\nsteps:\n  - op: Task.Create\n    params: {task name: Approve, \"additional list of actors prefixed ids\": \"@{'bob'}\"}\n  - wait: {for: 7d, task: true}\n" + add("@{Waited} @{WaitedAction}"))
		_, err := w.run("Administrator", "T.Wait", storage.Ref("/a"), nil)
		w.must(err)
		v, err := w.run("Administrator", "Workflow.GetOpenTasks", storage.Ref("/a"), nil)
		w.must(err)
		docs, _ := v.(storage.Docs)
		if len(docs) != 1 {
			t.Fatalf("tasks: %v", v)
		}
		_, err = w.run("bob", "Task.End", nil, map[string]any{"taskId": docs[0].ID(), "action": action})
		w.must(err)
		w.pass(0)
		if got := w.title(); got != "atask "+action {
			t.Errorf("%s: %q", action, got)
		}
	}
}
