package fault_test

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"catena/storage/fault"
)

func TestKind(t *testing.T) {
	for _, c := range []struct {
		err  error
		want fault.Kind
	}{
		{fault.NotFound.Errorf("a"), fault.NotFound},
		{fmt.Errorf("b: %w", fault.Exists.Errorf("a")), fault.Exists},
		{fault.Wrap(fault.Limit.Errorf("a"), "b"), fault.Limit},
		{context.Canceled, fault.Unavailable},
		{fmt.Errorf("plain"), fault.Internal},
	} {
		if got := fault.Of(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
	e := fault.Wrap(fault.Invalid.Errorf("x").At(3, 4).In("f").WithCode(fault.CodeLocked), "step %d", 1)
	if e.Error() != "step 1: x" || e.Line != 3 || e.Column != 4 || e.Field != "f" || e.Code != fault.CodeLocked {
		t.Errorf("wrapped: %+v", e)
	}
}

func TestDiskFull(t *testing.T) {
	full := fmt.Errorf("write: %w", syscall.ENOSPC)
	for _, c := range []struct {
		err  *fault.Error
		want fault.Code
	}{
		{fault.Unavailable.Errorf("blobs: %w", full), fault.CodeDiskFull},
		{fault.Wrap(fault.Unavailable.Errorf("blobs: %w", full), "x"), fault.CodeDiskFull},
		{fault.Unavailable.Errorf("blobs: %v", full), 0},
		{fault.Unavailable.Errorf("blobs: %w", syscall.EIO), 0},
	} {
		if c.err.Code != c.want {
			t.Errorf("%v: code %q, want %q", c.err, c.err.Code, c.want)
		}
	}
}

func TestExplain(t *testing.T) {
	for kind, want := range map[fault.Kind]string{fault.NotFound: "/a (not found)", fault.Denied: "/a", fault.Internal: "/a"} {
		if got := kind.Explain("/a"); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"Document.Create", "Document.Copy", "Document.Lock", "Log"}
	for word, want := range map[string]string{
		"Document.Creat": "Document.Create", "document.lock": "Document.Lock", "Lgo": "Log", "Nothing.AtAll": "", "": "",
	} {
		if got := fault.Nearest(word, slices.Values(names)); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
		if want != "" {
			want = ", perhaps " + want
		}
		if got := fault.Perhaps(word, slices.Values(names)); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
