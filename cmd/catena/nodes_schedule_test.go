package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"catena/storage/postgres/pgtest"
)

// TestNodesSchedule saves schedules on one node that are due before or after the other one has followed: each runs once,
// whichever node takes its job, and one that is changed or deleted meanwhile as it was changed last.
func TestNodesSchedule(t *testing.T) {
	store, content := pgtest.Database(t), t.TempDir()
	var nodes [2]*process
	for i := range nodes {
		nodes[i] = startServer(t, t.TempDir(), "--store", store, "--blobs", content, "--rate", "-1")
	}
	saveChain(t, nodes[0].base, madeOnce)
	awaitOp(t, nodes[1].base, "Crash.Made")
	const many = 40
	want := map[string]string{}
	for n := range many {
		name := fmt.Sprintf("S%02d", n)
		want["made-"+name] = "made-" + name
		if n%4 == 0 { // changed before its time on the other node, which may not have followed
			planAt(t, nodes[1-n%2], name, time.Hour)
		}
		planAt(t, nodes[n%2], name, time.Duration(rand.IntN(900))*time.Millisecond)
	}
	var made map[string]string
	for end := time.Now().Add(time.Minute); len(made) < many && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		made = titles(t, nodes[0].base, "made-")
	}
	time.Sleep(2 * time.Second) // for those that would run again
	if made = titles(t, nodes[1].base, "made-"); !maps.Equal(made, want) {
		t.Errorf("%d schedules have made %d documents: %v", many, len(made), slices.Sorted(maps.Keys(made)))
	}
}

// planAt has a server save a schedule that makes a document after a while.
func planAt(t *testing.T, p *process, name string, after time.Duration) {
	t.Helper()
	at := time.Now().Add(after).UTC().Format("2006-01-02T15:04:05.000Z")
	runs(t, p.base, "Schedule.Save", map[string]any{"source": fmt.Sprintf("name: %s\nas: Administrator\nat: %s\nrun: Crash.Made\n", name, at)}, nil)
}
