package postgres

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/postgres/pgtest"
)

// TestCrowd has more transactions than there are connections: they wait for each other, within the time of their calls, and those that
// get none are told why.
func TestCrowd(t *testing.T) {
	address := pgtest.Address(t)
	s, err := Open(ctx, address, Options{Log: quiet, Schema: pgtest.Schema(), Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	put(t, d, "v", "a")
	read := func(ctx context.Context, then func()) error {
		return d.View(ctx, func(tx *kv.Tx) error {
			_, err := tx.Get([]byte("a"))
			then()
			return err
		})
	}
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if err := read(ctx, func() { time.Sleep(20 * time.Millisecond) }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	const there = 2 + reserve
	release, held := make(chan struct{}), make(chan struct{}, there)
	for range there {
		all.Go(func() {
			if err := read(ctx, func() { held <- struct{}{}; <-release }); err != nil {
				t.Error(err)
			}
		})
	}
	for range there {
		<-held
	}
	const full = "all 10 connections to the database are in use"
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := read(short, func() {}); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), full) || time.Since(began) > 2*time.Second {
		t.Errorf("a call of 300 ms ended after %s: %v", time.Since(began), err)
	}
	began = time.Now()
	if err := read(ctx, func() {}); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), full) || time.Since(began) > crowdTime+connectTime+2*time.Second {
		t.Errorf("a call without a limit ended after %s: %v", time.Since(began), err)
	}
	late := make(chan error, 1)
	go func() { late <- read(ctx, func() {}) }()
	time.Sleep(crowdTime + 200*time.Millisecond) // it waits for one of the reserve
	close(release)
	if err := <-late; err != nil {
		t.Errorf("one that waited: %v", err)
	}
	all.Wait()
}
