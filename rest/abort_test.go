package rest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/engine"
	"catena/rest"
	"catena/rest/resttest"
)

// large is more than the buffers of a connection hold.
var large = strings.Repeat("0123456789abcdef", 1<<20)

func oneFile(none, *engine.Ctx, engine.Void) (*engine.Blob, error) {
	return engine.NewBlob("a.txt", "text/plain", []byte(large)), nil
}

func twoFiles(none, *engine.Ctx, engine.Void) (engine.Blobs, error) {
	return engine.Blobs{engine.NewBlob("a.txt", "text/plain", []byte("small")), engine.NewBlob("b.txt", "text/plain", []byte(large))}, nil
}

// TestBrokenOff: a client that pauses for too long finds that its answer is incomplete, with and without a length.
func TestBrokenOff(t *testing.T) {
	ops := append([]engine.Op{
		{Name: "Test.File", Doc: "Returns a file.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(oneFile)},
		{Name: "Test.Files", Doc: "Returns files.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(twoFiles)},
	}, testOps...)
	s := resttest.Start(t, resttest.Config{Ops: ops, Rest: func(c *rest.Config) { c.Limits.Stall = 200 * time.Millisecond }})
	for _, op := range []string{"Test.File", "Test.Files"} {
		t.Run(op, func(t *testing.T) {
			c := dial(t, s, "127.0.0.1")
			fmt.Fprintf(c, "POST /api/v1/automation/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", op, basic)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK || (resp.ContentLength < 0) != (op == "Test.Files") {
				t.Fatalf("%s, length %d", resp.Status, resp.ContentLength)
			}
			time.Sleep(2 * time.Second)
			_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
			n, err := io.Copy(io.Discard, resp.Body)
			var reset *net.OpError
			if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &reset) || errors.As(err, &reset) && reset.Timeout() {
				t.Errorf("%d bytes, then %v: the client cannot see that some are missing", n, err)
			}
		})
	}
}

// volatile is a value that cannot be encoded.
type volatile struct{}

func (volatile) MarshalJSON() ([]byte, error) { panic("encoding") }

type layer struct {
	At string `json:"at" doc:"Where to panic."`
}

func panicAt(p layer, c *engine.Ctx, _ engine.Void) (any, error) {
	switch p.At {
	case "nested":
		return nil, c.Nest(func() error { panic("nested") })
	case "transaction":
		_, err := c.Tx.Root()
		panic(fmt.Sprint("transaction", err))
	case "carried":
		_, err := c.Carry(&engine.Call{Op: "Test.PanicAt", Params: map[string]any{"at": "run"}})
		return nil, err
	case "lazy":
		_, err := c.Call("Test.Echo", nil, map[string]any{"value": engine.Lazy(func(*engine.Ctx) (any, error) { panic("lazy") })})
		return nil, err
	case "encode":
		return map[string]any{"v": volatile{}}, nil
	case "after":
		c.After(func(context.Context) error { panic("after") })
		return "done", nil
	}
	var none *layer
	return none.At, nil // as a bug would
}

// TestPanics has every layer of a call panic, in many requests at once and while garbage is collected all the time. All
// are answered, what was begun is rolled back, and the server goes on.
func TestPanics(t *testing.T) {
	ops := append([]engine.Op{{Name: "Test.PanicAt", Doc: "Panics.", Effect: engine.Writes, Callers: engine.Anyone, Run: engine.On(panicAt)}}, testOps...)
	s := resttest.Start(t, resttest.Config{Ops: ops})
	over := make(chan struct{})
	var collecting, asking sync.WaitGroup
	collecting.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				runtime.GC()
			}
		}
	})
	want := map[string]int{"run": 500, "nested": 500, "transaction": 500, "carried": 500, "lazy": 500, "encode": 500, "after": 200}
	for at, status := range want {
		for range 4 {
			asking.Go(func() {
				for range 5 {
					a := s.Do("POST", api+"/automation/Test.PanicAt", fmt.Sprintf(`{"params":{"at":%q}}`, at))
					if a.StatusCode != status {
						t.Errorf("%s: %s, want %d: %s", at, a.Status, status, a.Text)
					}
				}
			})
		}
	}
	asking.Wait()
	close(over)
	collecting.Wait()
	expect(t, s.Do("GET", "/readyz", ""), http.StatusOK, "")
}
