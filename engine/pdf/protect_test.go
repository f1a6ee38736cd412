package pdf

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"

	"catena/storage/blob"
	"catena/storage/fault"
)

// TestProtect protects files by keys of each kind, and opens them as everyone may.
func TestProtect(t *testing.T) {
	tool := New(nil, "", Limits{})
	for _, bits := range []int{40, 128} {
		var out []byte
		p := Protection{Owner: "the owner", User: "a reader", Bits: bits, May: MayPrint | MayCopy}
		if err := tool.Protect(t.Context(), file(printed(t, "some text", false)), "", p, made(&out)); err != nil {
			t.Fatal(err)
		}
		if _, err := api.PageCount(bytes.NewReader(out), Settings()); !errors.Is(err, pdfcpu.ErrWrongPassword) {
			t.Errorf("%d bits: without a password: %v", bits, err)
		}
		if bytes.Contains(out, []byte("second page")) {
			t.Errorf("%d bits: the text is to be read in the file", bits)
		}
		for password, kind := range map[string]fault.Kind{"": fault.Denied, "guess": fault.Denied, "a reader": 0, "the owner": 0} {
			text, err := tool.Text(t.Context(), file(out), password)
			if kind != 0 && (fault.Of(err) != kind || text != "") || kind == 0 && (err != nil || !strings.Contains(text, "second page")) {
				t.Errorf("%d bits: text with %q: %q, %v", bits, password, text, err)
			}
			var page []byte
			err = tool.Cut(t.Context(), Protected{file(out), password}, Pages{2, 2}, nil, made(&page))
			if kind != 0 && fault.Of(err) != kind || kind == 0 && err != nil {
				t.Errorf("%d bits: a page with %q: %v", bits, password, err)
			}
			if kind == 0 {
				if text, err := textOf(t.Context(), page); err != nil || strings.TrimSpace(text) != "second page" {
					t.Errorf("%d bits: the page with %q shows %q, %v", bits, password, text, err)
				}
			}
		}
		for password, ok := range map[string]bool{"": false, "guess": false, "a reader": false, "the owner": true} {
			var plain []byte
			was, err := tool.Unprotect(t.Context(), file(out), password, made(&plain))
			if was != ok || (err == nil) != ok || !ok && fault.Of(err) != fault.Denied {
				t.Errorf("%d bits: unprotected with %q: %v, %v", bits, password, was, err)
			}
			if !ok {
				continue
			}
			info, err := tool.About(t.Context(), file(plain))
			if err != nil || info.Pages != 2 || info.Protected || info.May != MayAll {
				t.Errorf("%d bits: afterwards: %+v, %v", bits, info, err)
			}
		}
	}
}

// TestProtectNewest protects a file of PDF 2.0, which takes no short keys; what is said about a protected file stays.
func TestProtectNewest(t *testing.T) {
	tool := New(nil, "", Limits{})
	page := printed(t, "some text", false)
	newer := append([]byte("%PDF-2.0"), page[len("%PDF-2.0"):]...)
	var out []byte
	if err := tool.Protect(t.Context(), file(newer), "", Protection{Owner: "owner", User: "reader", Bits: 40}, made(&out)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(out, []byte("/AESV3")) {
		t.Error("the key is short")
	}
	for password, kind := range map[string]fault.Kind{"": fault.Denied, "guess": fault.Denied, "reader": 0, "owner": 0} {
		if text, err := tool.Text(t.Context(), file(out), password); kind != 0 && fault.Of(err) != kind || kind == 0 && !strings.Contains(text, "some text") {
			t.Errorf("with %q: %q, %v", password, text, err)
		}
	}
	if err := tool.Protect(t.Context(), file(page), "", Protection{Owner: "owner", Bits: 128}, made(&out)); err != nil {
		t.Fatal(err)
	}
	if err := tool.Update(t.Context(), file(out), map[string]string{"Title": "x"}, made(&newer)); fault.Of(err) != fault.Denied {
		t.Errorf("an update: %v", err)
	}
}

// TestProtectAgain gives a protected file other passwords and rights, which takes the owner's password.
func TestProtectAgain(t *testing.T) {
	tool := New(nil, "", Limits{})
	var first, second []byte
	if err := tool.Protect(t.Context(), file(printed(t, "some text", false)), "", Protection{Owner: "one", Bits: 128}, made(&first)); err != nil {
		t.Fatal(err)
	}
	if info, err := tool.About(t.Context(), file(first)); err != nil || !info.Protected || info.May&(MayPrint|MayModify|MayCopy) != 0 || info.Width < 595 {
		t.Errorf("%+v, %v", info, err)
	}
	again := Protection{Owner: "two", User: "reader", Bits: 128, May: MayModify}
	for _, password := range []string{"", "two"} {
		if err := tool.Protect(t.Context(), file(first), password, again, made(&second)); fault.Of(err) != fault.Denied {
			t.Errorf("with %q: %v", password, err)
		}
	}
	if err := tool.Protect(t.Context(), file(first), "one", again, made(&second)); err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Text(t.Context(), file(second), "one"); fault.Of(err) != fault.Denied {
		t.Errorf("the password before: %v", err)
	}
	if err := tool.Cut(t.Context(), Protected{file(second), "reader"}, Pages{1, 1}, nil, made(&first)); fault.Of(err) != fault.Denied {
		t.Errorf("pages that must not be copied: %v", err)
	}
	if text, err := tool.Text(t.Context(), file(second), "two"); err != nil || !strings.Contains(text, "some text") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestLimits gives tasks as much as they take, and one more.
func TestLimits(t *testing.T) {
	page := file(printed(t, "text", false)) // of two pages
	several := func(n int) []*blob.Blob {
		files := make([]*blob.Blob, n)
		for i := range files {
			files[i] = page
		}
		return files
	}
	join := func(ctx context.Context, tool *Tool, n int) error {
		var out []byte
		return tool.Join(ctx, several(n), nil, made(&out))
	}
	for name, l := range map[string]Limits{
		"files": {Files: 3, Bytes: 1 << 30, Pages: 100},
		"bytes": {Files: 100, Bytes: 3 * page.Size, Pages: 100},
		"pages": {Files: 100, Bytes: 1 << 30, Pages: 6},
	} {
		tool := New(nil, "", l)
		if err := join(t.Context(), tool, 3); err != nil {
			t.Errorf("%s: as many as are taken: %v", name, err)
		}
		if err := join(t.Context(), tool, 4); fault.Of(err) != fault.Limit {
			t.Errorf("%s: one more: %v", name, err)
		}
	}
}
