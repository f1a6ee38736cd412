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
	data := t.TempDir()
	declareItems(t, data, itemTypes)
	loadItems(t, data)
	declareItems(t, data, strings.Replace(itemTypes, "schemas: [item]}", "schemas: [item], indexes: [[item:status, item:rank desc]]}", 1))
	killWhileIndexing(t, data, "SELECT * FROM Item WHERE item:status = 'open' ORDER BY item:rank DESC", 0)
}

// TestAutomaticIndexCrash is TestIndexCrash for an index that nobody declared: the server gives it to a query that is refused
// without.
func TestAutomaticIndexCrash(t *testing.T) {
	data := t.TempDir()
	declareItems(t, data, itemTypes)
	loadItems(t, data)
	killWhileIndexing(t, data, "SELECT * FROM Item WHERE item:owner = 'user7' ORDER BY item:rank DESC", 30)
}

func declareItems(t *testing.T, data, types string) {
	t.Helper()
	dir := filepath.Join(data, "types")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "item.yaml"), []byte(types), 0o600); err != nil {
		t.Fatal(err)
	}
}

// loadItems creates more items than the start of a server indexes by itself.
func loadItems(t *testing.T, data string) {
	t.Helper()
	p := startServer(t, data)
	for from := 0; from < 5500; from += 500 {
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
}

// killWhileIndexing kills servers until one of them is left alone to complete the index of a query, which is asked so often
// before.
func killWhileIndexing(t *testing.T, data, query string, asked int) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"params": map[string]any{"query": query, "pageSize": 20}})
	if err != nil {
		t.Fatal(err)
	}
	used := func(p *process) bool {
		t.Helper()
		status, plan := p.ask(t, "Administrator", "POST", "/api/v1/automation/Repository.Explain", string(body))
		if status != 200 {
			t.Fatalf("%d %s", status, plan)
		}
		return strings.Contains(plan, " of type Item")
	}
	// wanted has the server declare the index by itself, if nobody else does.
	wanted := func(p *process) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); asked > 0 && !used(p); time.Sleep(50 * time.Millisecond) {
			for range asked {
				p.ask(t, "Administrator", "POST", "/api/v1/automation/Repository.Query", string(body))
			}
			_, slow := p.ask(t, "Administrator", "POST", "/api/v1/automation/Repository.SlowQueries", "{}")
			if strings.Contains(slow, `"automatic":"`) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the server does not declare the index: %s", slow)
			}
		}
	}
	during := 0
	for i := range killCount(t, 2) {
		p := startServer(t, data, "--limit-query-rows=3000")
		if wanted(p); asked == 0 {
			time.Sleep(firstSweep)
		}
		time.Sleep(time.Duration(i%8) * 150 * time.Millisecond)
		if !used(p) {
			during++
		}
		p.kill()
	}
	verifyStore(t, data)
	if during == 0 {
		t.Error("the index was complete before any kill")
	}
	p := startServer(t, data, "--limit-query-rows=3000")
	wanted(p)
	for deadline := time.Now().Add(time.Minute); !used(p); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the index is not completed")
		}
	}
	if status, found := p.ask(t, "Administrator", "POST", "/api/v1/automation/Repository.Query", string(body)); status != 200 || !strings.Contains(found, `"entries":[{`) {
		t.Errorf("%d %s", status, found)
	}
	p.stop(t)
	verifyStore(t, data)
}
