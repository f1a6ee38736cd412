package rest_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/julienschmidt/httprouter"

	"catena/rest/resttest"
)

// BenchmarkBare is what the others are compared with: net/http, httprouter, encoding/json
// and nothing else.
func BenchmarkBare(b *testing.B) {
	r := httprouter.New()
	r.POST("/api/v1/automation/:op", func(w http.ResponseWriter, req *http.Request, ps httprouter.Params) {
		var body struct {
			Params map[string]any `json:"params"`
		}
		if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"entity-type": "string", "value": body.Params["value"]})
	})
	s := httptest.NewServer(r)
	defer s.Close()
	repeat(b, s.Listener.Addr().String(), postEcho(""))
}

// BenchmarkOperation is an operation that returns its one parameter.
func BenchmarkOperation(b *testing.B) {
	s := start(b)
	b.Run("Basic", func(b *testing.B) {
		repeat(b, s.Listener.Addr().String(), postEcho("Authorization: Basic "+basic+"\r\n"))
	})
	b.Run("Key", func(b *testing.B) {
		repeat(b, s.Listener.Addr().String(), postEcho("Authorization: Bearer "+s.Key("Administrator", "read_write")+"\r\n"))
	})
}

var basic = base64.StdEncoding.EncodeToString([]byte("Administrator:" + resttest.Password))

// BenchmarkDocument reads a document with all its properties.
func BenchmarkDocument(b *testing.B) {
	s := start(b)
	id := s.Do("POST", "/api/v1/path/default-domain/workspaces", fmt.Sprintf(document, "a")).JSON(b)["uid"]
	repeat(b, s.Listener.Addr().String(), fmt.Sprintf("GET /api/v1/id/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\nproperties: *\r\n\r\n",
		id, basic))
}

func postEcho(headers string) string {
	const body = `{"params":{"value":"hello"}}`
	return fmt.Sprintf("POST /api/v1/automation/Test.Echo HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		headers, len(body), body)
}

// BenchmarkCreate makes documents with a long description, each under a name of its own.
func BenchmarkCreate(b *testing.B) {
	s := start(b)
	text := strings.Repeat("lorem ipsum ", 60)
	var n atomic.Int64
	send(b, s.Listener.Addr().String(), func() string {
		body := fmt.Sprintf(`{"entity-type":"document","type":"File","name":"n%d","properties":{"dc:title":"a title","dc:description":%q,"dc:source":"bench"}}`, n.Add(1), text)
		return fmt.Sprintf("POST /api/v1/path/default-domain/workspaces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			basic, len(body), body)
	})
}

// repeat sends one request again and again over a few connections.
func repeat(b *testing.B, addr, request string) {
	b.Helper()
	send(b, addr, func() string { return request })
}

// send sends requests over a few connections.
func send(b *testing.B, addr string, request func() string) {
	b.Helper()
	b.ReportAllocs()
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			b.Error(err)
			return
		}
		defer conn.Close()
		r := bufio.NewReader(conn)
		for pb.Next() {
			if _, err := io.WriteString(conn, request()); err != nil {
				b.Error(err)
				return
			}
			res, err := http.ReadResponse(r, nil)
			if err != nil || res.StatusCode/100 != 2 {
				b.Errorf("%v %v", res, err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
		}
	})
}
