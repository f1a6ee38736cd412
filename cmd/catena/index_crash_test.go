package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestIndexCrash kills the server again and again while it writes a new index: no half of an index is ever used, nothing is
// damaged, and a server that is left alone completes it. CATENA_KILLS sets how often it is killed.
func TestIndexCrash(t *testing.T) {
	const (
		items = 5500 // more than the start of a server indexes by itself
		query = `{"params":{"query":"SELECT * FROM Item WHERE item:status = 'open' ORDER BY item:rank DESC","pageSize":20}}`
	)
	data := t.TempDir()
	declare := func(types string) {
		t.Helper()
		dir := filepath.Join(data, "types")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "item.yaml"), []byte(types), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	declare(itemTypes)
	p := startServer(t, data)
	for from := 0; from < items; from += 500 {
		records := make([]any, 500)
		for i := range records {
			records[i] = itemRecord(from + i)
		}
		body, err := json.Marshal(map[string]any{"params": map[string]any{"records": records, "into": "/default-domain/workspaces", "type": "Item"}})
		if err != nil {
			t.Fatal(err)
		}
		p.want(t, http.StatusOK, "Administrator", "POST", "/api/v1/automation/Bulk.Load", string(body))
	}
	p.stop(t)
	declare(strings.Replace(itemTypes, "schemas: [item]}", "schemas: [item], indexes: [[item:status, item:rank desc]]}", 1))
	used := func(p *process) bool {
		t.Helper()
		status, plan := p.ask(t, "Administrator", "POST", "/api/v1/automation/Repository.Explain", query)
		if status != 200 {
			t.Fatalf("%d %s", status, plan)
		}
		return strings.Contains(plan, " of type Item")
	}
	during := 0
	for i := range killCount(t, 2) {
		p := startServer(t, data)
		time.Sleep(firstSweep + time.Duration(i%8)*150*time.Millisecond)
		if !used(p) {
			during++
		}
		p.kill()
	}
	verifyStore(t, data)
	if during == 0 {
		t.Error("the index was complete before any kill")
	}
	p = startServer(t, data)
	for deadline := time.Now().Add(time.Minute); !used(p); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the index is not completed")
		}
	}
	p.stop(t)
	verifyStore(t, data)
}
