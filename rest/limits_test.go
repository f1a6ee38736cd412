package rest_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"catena/engine"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/upload"
)

// TestBounds asks for as much as each bound allows, which is done, and for one more, which is refused with an error that
// says how much is allowed.
func TestBounds(t *testing.T) {
	s := resttest.Start(t, resttest.Config{
		Ops: testOps,
		Rest: func(c *rest.Config) {
			c.Limits.JSON, c.Limits.Parts, c.Limits.UserResults, c.Limits.Batch = 2000, 3, 2503, 5
		},
		Storage: func(c *storage.Config) {
			c.Limits = storage.Limits{BlobSize: 5000, NameLength: 40, PathDepth: 6, TreeCopy: 7}
			c.Bounds = c.Bounds.With(upload.Limits{Batches: 4, Bytes: 9000}, credential.Limits{Devices: 13})
		},
		Engine: func(c *engine.Config) { c.Limits = engine.Limits{Ops: 11} },
	})
	automation := func(op, body string) *resttest.Answer { return s.Do("POST", api+"/automation/"+op, body) }
	put := func(at string, n int, headers ...string) *resttest.Answer {
		return s.Do("POST", at, strings.Repeat("x", n), append(headers, "Content-Type", "application/octet-stream")...)
	}
	create := func(parent, name string) *resttest.Answer {
		return s.Do("POST", api+"/path"+parent, fmt.Sprintf(`{"entity-type":"document","type":"Folder","name":%q}`, name))
	}
	parts := func(n int) *resttest.Answer {
		all := []part{{`form-data; name="request"`, "application/json", `{"params":{}}`}}
		for i := range n {
			all = append(all, part{fmt.Sprintf(`form-data; name="f%d"; filename="f%d"`, i, i), "text/plain", "x"})
		}
		body, typ := multi(t, "multipart/form-data", all...)
		return s.Do("POST", api+"/automation/Blob.CreateZip", body, "Content-Type", typ)
	}
	for i := range 8 {
		create("/", "tree"+strconv.Itoa(i))
		for child := range i {
			create("/tree"+strconv.Itoa(i), strconv.Itoa(child))
		}
	}
	done := func(op, params string) string {
		a := automation(op+"/@async", params)
		return over(t, s, strings.TrimPrefix(a.Header.Get("Location"), s.URL))
	}
	// result has a result of so many bytes kept: the body of the answer, and the line before it that says what it is.
	result := func(n int) string {
		const around = len(`{"status":200,"mime":"application/json"}` + "\n" + `{"entity-type":"string","value":""}`)
		return done("Test.Echo", fmt.Sprintf(`{"params":{"value":%q}}`, strings.Repeat("x", n-around)))
	}
	at := ""
	for _, b := range []struct {
		name  string
		limit int
		ask   func(n int) *resttest.Answer
	}{
		{"bytes of a JSON body", 2000, func(n int) *resttest.Answer {
			const around = `{"params":{"value":""}}`
			return automation("Test.Echo", strings.Replace(around, `""`, `"`+strings.Repeat("x", n-len(around))+`"`, 1))
		}},
		{"nesting of a JSON body", 128, func(n int) *resttest.Answer {
			return automation("Test.Nothing", `{"context":`+strings.Repeat(`{"a":`, n-1)+"1"+strings.Repeat("}", n))
		}},
		{"files of a body", 3, parts},
		{"requests of a batch", 5, func(n int) *resttest.Answer {
			return s.Do("POST", api+"/batch", `{"requests":[`+strings.TrimSuffix(strings.Repeat(`{"method":"GET","path":"/api/v1/me"},`, n), ",")+`]}`)
		}},
		{"batches of a user", 4, func(n int) *resttest.Answer {
			var a *resttest.Answer
			for range n {
				if a = s.Do("POST", api+"/upload", ""); a.StatusCode == http.StatusCreated {
					at = api + "/upload/" + a.JSON(t)["batchId"].(string)
				}
			}
			return a
		}},
		{"bytes of a file", 5000, func(n int) *resttest.Answer { return put(at+"/0", n) }},
		{"bytes of a file whose chunks are more", 5000, func(n int) *resttest.Answer {
			chunked := []string{"X-Upload-Type", "chunked", "X-Upload-Chunk-Count", "2"}
			s.Do("DELETE", at+"/0", "")
			put(at+"/0", 4000, append(chunked, "X-Upload-Chunk-Index", "0")...)
			return put(at+"/0", n-4000, append(chunked, "X-Upload-Chunk-Index", "1")...)
		}},
		{"bytes of a user's batches", 9000, func(n int) *resttest.Answer {
			s.Do("DELETE", at+"/0", "")
			put(at+"/1", 4500)
			return put(at+"/2", n-4500)
		}},
		{"bytes of a name", 40, func(n int) *resttest.Answer { return create("/", strings.Repeat("n", n)) }},
		{"levels of the tree", 6, func(n int) *resttest.Answer {
			var a *resttest.Answer
			path := "/"
			for i := range n {
				name := fmt.Sprintf("l%d", i)
				a = create(path, name)
				path = strings.TrimSuffix(path, "/") + "/" + name
			}
			return a
		}},
		{"documents that are copied", 7, func(n int) *resttest.Answer {
			return automation("Document.Copy", fmt.Sprintf(`{"input":"/tree%d","params":{"target":"/","name":"copy"}}`, n-1))
		}},
		{"tokens of a user's devices", 13, func(n int) (last *resttest.Answer) {
			for i := range n {
				last = s.Do("GET", fmt.Sprintf("/nuxeo/authentication/token?applicationName=Drive&deviceId=%d&permission=ReadWrite&deviceDescription=Box", i), "")
			}
			return last
		}},
		{"bytes of results that wait to be read", 2503, func(n int) *resttest.Answer {
			waits := result(1203)
			defer s.Do("DELETE", waits, "")
			return s.Do("GET", result(n-1203), "")
		}},
		{"bytes of results after one was read", 2503, func(n int) *resttest.Answer {
			s.Do("GET", result(1203), "")
			waits := result(1203)
			defer s.Do("DELETE", waits, "")
			return s.Do("GET", result(n-1203), "")
		}},
		{"operations of a call", 11, func(n int) *resttest.Answer {
			return s.Do("POST", api+"/automation/RunOperationOnList", fmt.Sprintf(`{"params":{"id":"Test.Nothing","list":"l","isolate":false},"context":{"l":[%s]}}`, strings.TrimSuffix(strings.Repeat("1,", n-1), ",")))
		}},
	} {
		t.Run(strings.ReplaceAll(b.name, " ", "_"), func(t *testing.T) {
			if got := b.ask(b.limit); got.StatusCode >= 300 {
				t.Errorf("%d: %d %.400s", b.limit, got.StatusCode, got.Text)
			}
			if got := b.ask(b.limit + 1); got.StatusCode < 400 || got.StatusCode >= 500 || !regexp.MustCompile(fmt.Sprintf(`\b%d\b`, b.limit)).MatchString(got.Text) {
				t.Errorf("%d: %d %.400s", b.limit+1, got.StatusCode, got.Text)
			}
		})
	}
}
