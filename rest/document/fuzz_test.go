package document

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"catena/rest"
)

// FuzzChunkHeaders checks that headers of chunks are refused or give numbers that fit.
func FuzzChunkHeaders(f *testing.F) {
	f.Add("caf%C3%A9.txt", "chunked", "0", "3")
	f.Add(`..\..\x`, "", "", "")
	f.Add("%", "normal", "-1", "99999999999999999999")
	f.Add("\xff%00", "chunked", " 1 ", "+2")
	f.Fuzz(func(t *testing.T, name, kind, index, count string) {
		h := http.Header{}
		h.Set("X-File-Name", name)
		h.Set("X-Upload-Type", kind)
		h.Set("X-Upload-Chunk-Index", index)
		h.Set("X-Upload-Chunk-Count", count)
		params := rest.Values{}
		if chunkParams(h, params) != nil {
			return
		}
		if text, _ := params["name"].(string); !utf8.ValidString(text) || strings.Contains(text, "/") || windowsPath.MatchString(text) {
			t.Errorf("name %q of %q", text, name)
		}
		n, chunked := params["chunkCount"].(int)
		if i, _ := params["chunkIndex"].(int); chunked && n < 1 || i < 0 {
			t.Errorf("chunk %d of %d from %q and %q", i, n, index, count)
		}
	})
}
