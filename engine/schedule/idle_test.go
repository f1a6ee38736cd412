//go:build unix

package schedule_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"catena/storage/outbox"
)

// spent is what the process has used: allocations, bytes of them, and time of the processor.
type spent struct {
	mallocs, bytes uint64
	cpu            time.Duration
}

func spending(t *testing.T) spent {
	t.Helper()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return spent{m.Mallocs, m.TotalAlloc, time.Duration(u.Utime.Nano() + u.Stime.Nano())}
}

// TestIdle compares what a server spends that waits with CATENA_SCHEDULES deployed schedules, none of which is due, and with one:
// neither allocations nor time of the processor grow with them. There are 100 unless it is set, and the servers wait for as many seconds as
// CATENA_IDLE says, or one. It also measures how long the schedules take at the start of this server and of a second one on the same store.
func TestIdle(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("CATENA_SCHEDULES"))
	if n == 0 {
		n = 100
	}
	span := time.Second
	if seconds, _ := strconv.Atoi(os.Getenv("CATENA_IDLE")); seconds > 0 {
		span *= time.Duration(seconds)
	}
	idle := func(n int) spent {
		t.Helper()
		w := newWorld(t)
		files := fstest.MapFS{}
		for i := range n {
			name := fmt.Sprintf("Idle%05d", i)
			files[name+".yaml"] = &fstest.MapFile{Data: []byte("name: " + name + "\ncron: 0 3 1 1 *\nas: bob\nrun: Document.Query\nparams: {query: SELECT * FROM File}\n")}
		}
		began := time.Now()
		if _, err := w.schedules.Sync(t.Context(), w.engine, files); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d schedules deployed in %s", n, time.Since(began).Round(time.Millisecond))
		began = time.Now()
		w.start()
		again := time.Since(began)
		began = time.Now()
		w.second()
		t.Logf("%d schedules: started again in %s, a second server in %s", n, again.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- outbox.Run(ctx, w.repo, w.schedules.Jobs()) }()
		time.Sleep(span / 4) // the first look at the queue
		runtime.GC()
		before := spending(t)
		time.Sleep(span)
		after := spending(t)
		if err := w.schedules.Refresh(ctx, w.engine); err != nil {
			t.Fatal(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		return spent{after.mallocs - before.mallocs, after.bytes - before.bytes, after.cpu - before.cpu}
	}
	one, many := idle(1), idle(n)
	per := func(s spent) string {
		return fmt.Sprintf("%d allocations, %d bytes, %s of the processor a second", s.mallocs/uint64(span/time.Second), s.bytes/uint64(span/time.Second), (s.cpu / (span / time.Second)).Round(10*time.Microsecond))
	}
	t.Logf("1 schedule: %s", per(one))
	t.Logf("%d schedules: %s", n, per(many))
	if many.mallocs > 2*one.mallocs+200 {
		t.Errorf("%d schedules: %d allocations in %s, one schedule: %d", n, many.mallocs, span, one.mallocs)
	}
}
