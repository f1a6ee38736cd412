package kv_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"catena/storage/kv"
	"catena/storage/kv/kvtest"
	"catena/storage/memory"
)

// TestSequenceStalls has somebody take numbers of a sequence whose next block is asked for without getting an answer: a call
// waits no longer than it may take, and afterwards each number is given out once.
func TestSequenceStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := &kvtest.Stalling{Store: memory.New()}
		d := kv.New(rows, kv.Options{})
		heal := rows.Stall()
		first := make(chan int64, 1)
		go func() {
			n, err := d.Next(context.Background(), "numbers")
			if err != nil {
				t.Error(err)
			}
			first <- n
		}()
		synctest.Wait()
		began := time.Now()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := d.Next(short, "numbers"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		heal()
		seen := map[int64]bool{<-first: true}
		for range 100 {
			n, err := d.Next(t.Context(), "numbers")
			if err != nil || seen[n] {
				t.Fatalf("number %d, given before: %t, %v", n, seen[n], err)
			}
			seen[n] = true
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
