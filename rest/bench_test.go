package rest_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/julienschmidt/httprouter"

	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/blob"
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

// BenchmarkPage reads a page of 50 pictures of 200, with and without the addresses of their thumbnails, and one of the
// thumbnails that are kept with them, of which a client then asks for 50.
func BenchmarkPage(b *testing.B) {
	s := start(b)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 350, 200))); err != nil {
		b.Fatal(err)
	}
	var thumbnail string
	add := func(tx *storage.Tx, up *storage.Doc, i int) error {
		file := blob.FromBytes("a.png", "image/png", append(picture.Bytes(), byte(i)))
		d, err := tx.Create(up, "Picture", fmt.Sprintf("p%d", i), storage.Props{"dc:title": fmt.Sprintf("Picture %d", i), "file:content": file})
		if err != nil {
			return err
		}
		kept, err := d.MainBlob()
		if err == nil {
			err = d.AddFacet("Thumbnail")
		}
		if err == nil {
			err = d.Set("thumb:thumbnail", file.With("thumbnail-"+kept.Digest+".png", "image/png"))
		}
		if err == nil {
			_, err = tx.Save(d, storage.SaveOptions{})
		}
		thumbnail = "/api/v1/id/" + d.ID() + "/@rendition/thumbnail"
		return err
	}
	if err := s.Repo.Update(b.Context(), s.Repo.System(), func(tx *storage.Tx) error {
		up, err := tx.Doc("/default-domain/workspaces")
		for i := 0; i < 200 && err == nil; i++ {
			err = add(tx, up, i)
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	const page = "/api/v1/search/lang/NXQL/execute?query=SELECT+*+FROM+Picture+ORDER+BY+dc:title&pageSize=50&properties=dublincore"
	for _, row := range []struct{ name, path string }{{"without", page}, {"with", page + "&enrichers.document=thumbnail"}, {"thumbnail", thumbnail}} {
		b.Run(row.name, func(b *testing.B) {
			if a := s.Do("GET", row.path, ""); a.StatusCode != http.StatusOK {
				b.Fatal(a.Status, a.Text)
			}
			repeat(b, s.Listener.Addr().String(), "GET "+row.path+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic "+basic+"\r\n\r\n")
		})
	}
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

// send sends requests over 16 connections on two processors.
func send(b *testing.B, addr string, request func() string) {
	b.Helper()
	b.ReportAllocs()
	b.SetParallelism(8)
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
