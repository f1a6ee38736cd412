package rest

import (
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzRange checks that a range is either ignored or lies within the file.
func FuzzRange(f *testing.F) {
	for _, seed := range []string{"bytes=0-3", "bytes=-5", "bytes=5-", "bytes=3-1", "bytes=0-0,2-3", "bytes=-0", "bytes=9223372036854775807-", "bytes= 1 - 2", "items=0-1", "bytes=--1", "bytes=+1-2"} {
		f.Add(seed, int64(10))
		f.Add(seed, int64(0))
	}
	f.Fuzz(func(t *testing.T, spec string, size int64) {
		if size < 0 {
			return
		}
		start, n, ok := byteRange(http.Header{"Range": {spec}}, `"tag"`, time.Time{}, size)
		if ok && (start < 0 || n <= 0 || start > size-n) {
			t.Errorf("range %q of %d bytes: %d bytes from %d", spec, size, n, start)
		}
	})
}

// FuzzPartName checks that the name of a file in a multipart body has no folders and is text.
func FuzzPartName(f *testing.F) {
	for _, seed := range []string{
		`form-data; name="f"; filename="a.txt"`, `form-data; filename*=UTF-8''caf%C3%A9`, `form-data; filename=café.txt`,
		`form-data; filename="..\\..\\x"`, `; filename`, `form-data; filename="=?utf-8?B?Y2Fmw6k=?="`, "a; filename=\xff\xfe",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, disposition string) {
		_, name, err := partName(textproto.MIMEHeader{"Content-Disposition": {disposition}})
		if err == nil && (strings.ContainsAny(name, `/\`) || !utf8.ValidString(name)) {
			t.Errorf("name %q of %q", name, disposition)
		}
	})
}
