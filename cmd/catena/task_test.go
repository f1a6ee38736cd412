package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTaskGoesOn has a background task panic, fail several times, and work: it begins again after each failure, and the
// log says why it did.
func TestTaskGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		start := time.Now()
		var begun []time.Duration
		working := task{"counting", func(ctx context.Context) error {
			begun = append(begun, time.Since(start))
			switch len(begun) {
			case 1:
				panic("at the disco")
			case 2, 3:
				return errors.New("no ink")
			case 4:
				time.Sleep(time.Hour)
				return errors.New("no paper")
			}
			<-ctx.Done()
			return ctx.Err()
		}}
		ended := make(chan bool)
		go func() {
			defer close(ended)
			working.keepRunning(ctx, slog.New(slog.NewTextHandler(&log, nil)))
		}()
		time.Sleep(2 * time.Hour)
		stop()
		<-ended
		if want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, time.Hour + 8*time.Second}; !slices.Equal(begun, want) {
			t.Errorf("begun after %s, want %s", begun, want)
		}
		for text, want := range map[string]int{"task=counting": 4, "panic: at the disco": 1, "task_test.go": 1, "no ink": 2, "no paper": 1} {
			if got := strings.Count(log.String(), text); got < want {
				t.Errorf("%q is in the log %d times, want %d:\n%s", text, got, want, log.String())
			}
		}
	})
}
