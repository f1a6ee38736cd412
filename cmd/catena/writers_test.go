package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/kv"
	"catena/storage/postgres"
	"catena/storage/postgres/pgtest"
)

// TestWritersOfNodes has 16 clients of two servers on one database create documents in one folder over REST, which must hardly
// ever have a transaction run again: not more than 1.05 attempts each. What every request does besides, such as finding out who
// asks and what is noted for later, counts, since one row that all of them read and write is enough to have all of them conflict.
func TestWritersOfNodes(t *testing.T) {
	const writers, each, most = 16, 30, 1.05
	var transactions, attempts atomic.Int64
	quiet := slog.New(slog.DiscardHandler)
	schema := pgtest.Schema()
	var nodes [2]*resttest.Server
	for i := range nodes {
		store, err := postgres.Open(context.Background(), pgtest.Address(t), postgres.Options{Log: quiet, Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		observe := func(s kv.Stats) {
			if s.Write && s.Err == nil {
				transactions.Add(1)
				attempts.Add(int64(s.Attempts))
			}
		}
		nodes[i] = resttest.Start(t, resttest.Config{
			Storage: func(c *storage.Config) { c.DB = kv.New(store, kv.Options{Log: quiet, Observe: observe}) },
			Rest:    func(c *rest.Config) { c.Limits.Rate = -1 },
		})
	}
	folder := nodes[0].Do("POST", "/nuxeo/api/v1/path/default-domain/workspaces", `{"entity-type":"document","type":"Workspace","name":"desk"}`).JSON(t)["uid"].(string)
	create := func(node *resttest.Server, name string) error {
		a := node.Do("POST", "/nuxeo/api/v1/id/"+folder, fmt.Sprintf(`{"entity-type":"document","type":"File","name":%q,"properties":{"dc:title":%q}}`, name, name))
		if a.StatusCode != http.StatusCreated {
			return fmt.Errorf("%s: %s %.300s", name, a.Status, a.Text)
		}
		return nil
	}
	for i := range 2 * len(nodes) { // what a node finds out once
		if err := create(nodes[i%len(nodes)], fmt.Sprintf("first of %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	transactions.Store(0)
	attempts.Store(0)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if err := create(nodes[(w+i)%len(nodes)], fmt.Sprintf("w%d-%d", w, i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	n, of := attempts.Load(), transactions.Load()
	t.Logf("%d attempts of %d transactions", n, of)
	if of < writers*each {
		t.Errorf("%d transactions were observed, want %d at least", of, writers*each)
	}
	if ratio := float64(n) / float64(of); ratio > most {
		t.Errorf("%.3f attempts a transaction, want %.2f at most", ratio, most)
	}
}
