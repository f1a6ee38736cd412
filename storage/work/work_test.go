package work

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestReader(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := Reader(ctx, strings.NewReader("text"))
	b := make([]byte, 2)
	if n, err := r.Read(b); n != 2 || err != nil {
		t.Error(n, err)
	}
	cancel()
	if n, err := r.Read(b); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %d %v", n, err)
	}
}

func TestWatch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var w Watch
	if err := w.Do(ctx, 10*interval); err != nil {
		t.Error(err)
	}
	cancel()
	steps := 0
	for w.Do(ctx, 1000) == nil {
		steps++
	}
	if steps > interval/1000 {
		t.Errorf("%d steps of 1000 units after the end", steps)
	}
	if err := w.Do(nil, 10*interval); err != nil { //nolint:staticcheck // a context that operations outside of a call do not have
		t.Error(err)
	}
}
