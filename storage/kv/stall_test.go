package kv_test

import (
	"context"
	"errors"
	"slices"
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

// TestSequenceWaited holds that whoever had to wait for a number says so before it takes it, and that nobody else does.
func TestSequenceWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		rows := &kvtest.Stalling{Store: memory.New()}
		var waited []any
		d := kv.New(rows, kv.Options{Waited: func(ctx context.Context) { waited = append(waited, ctx.Value(key{})) }})
		heal := rows.Stall()
		numbers := make([]int64, 3)
		for i := range numbers {
			go func() {
				var err error
				if numbers[i], err = d.Next(context.WithValue(t.Context(), key{}, i), "numbers"); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
		}
		if len(waited) > 0 {
			t.Errorf("%v say that they have waited, although they still do", waited)
		}
		heal()
		synctest.Wait()
		if !slices.Equal(waited, []any{1, 2}) || !slices.Equal(numbers, []int64{1, 2, 3}) {
			t.Errorf("%v have waited for numbers %v", waited, numbers)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// unwaited is a context that nobody may wait for the end of.
type unwaited struct {
	context.Context
	t *testing.T
}

func (c unwaited) Done() <-chan struct{} {
	c.t.Error("the context is asked for its end, for which it may start a timer")
	return c.Context.Done()
}

// TestNextStartsNoTimer takes a number while nobody else takes one.
func TestNextStartsNoTimer(t *testing.T) {
	d := kv.New(memory.New(), kv.Options{Log: quiet})
	defer d.Close()
	if _, err := d.Next(t.Context(), "numbers"); err != nil {
		t.Fatal(err)
	}
	if n, err := d.Next(unwaited{t.Context(), t}, "numbers"); n != 2 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}
