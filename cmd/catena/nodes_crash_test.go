package main

import (
	"net/http"
	"testing"
	"time"

	"catena/storage/postgres/pgtest"
)

// TestNodesCrash kills one of two servers on a database in the middle of its work, in turn: the other one has at once what
// was acknowledged, whole, and so has the one that was killed when it is back. CATENA_KILLS sets how often; make fault does so
// 100 times.
func TestNodesCrash(t *testing.T) {
	kills := killCount(t, 4)
	store, content := pgtest.Database(t), t.TempDir()
	data := [2]string{t.TempDir(), t.TempDir()}
	var nodes [2]*process
	for i := range nodes {
		nodes[i] = startServer(t, data[i], "--store", store, "--blobs", content)
	}
	saveChain(t, nodes[0].base, crashChain)
	awaitOp(t, nodes[1].base, "Crash.Five")
	acked := 0
	for i := range kills {
		victim, other := i%2, 1-i%2
		get(t, nodes[victim].base+workspaces) // the first sign-in hashes the password
		attempts := writeUntilKilled(nodes[victim], i, crashWriters, callCrash)
		// A commit that the database had received when the server was killed ends a moment later.
		time.Sleep(100 * time.Millisecond)
		verifyCrash(t, nodes[other].base, attempts)
		nodes[victim] = startServer(t, data[victim], "--store", store, "--blobs", content)
		verifyCrash(t, nodes[victim].base, attempts)
		for _, a := range attempts {
			if a.acked {
				acked++
			}
		}
	}
	if acked < kills {
		t.Errorf("only %d calls were acknowledged in %d rounds: the test did not test much", acked, kills)
	}
	t.Logf("%d kills, %d acknowledged calls, none lost, none half done", kills, acked)
}

// awaitOp waits until a server has the chain that was saved on another one.
func awaitOp(t *testing.T, base, name string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		status, text := get(t, base+"/api/v1/automation/"+name)
		if status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the chain is not on the other node: %d %s", status, text)
		}
	}
}
