package pdf

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"catena/storage/blob"
	"catena/storage/fault"
)

// TestMain is a worker when the tests start themselves as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(WorkerMain(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// outside is a tool whose workers are the tests themselves.
func outside(t *testing.T) *Tool {
	t.Helper()
	if underRace {
		t.Skip("the race detector needs more memory than a worker may have")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return New([]string{exe, "worker"}, "", Limits{})
}

func file(b []byte) *blob.Blob { return blob.FromBytes("a.pdf", "application/pdf", b) }

// made collects a file that a tool makes.
func made(into *[]byte) func(io.Reader) error {
	return func(r io.Reader) (err error) {
		*into, err = io.ReadAll(r)
		return err
	}
}

// bomb is a file of some hundred kilobytes whose table of objects unpacks to so many bytes.
func bomb(t testing.TB, size int64) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := io.CopyN(z, zeros{}, size); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\n")
	at := out.Len()
	fmt.Fprintf(&out, "3 0 obj\n<< /Type /XRef /Size %d /W [1 2 1] /Root 1 0 R /Filter /FlateDecode /Length %d >>\nstream\n", size/4, packed.Len())
	out.Write(packed.Bytes())
	fmt.Fprintf(&out, "\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", at)
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestOutside does every task in a process of its own and here, which gives the same.
func TestOutside(t *testing.T) {
	page := printed(t, "some text", false)
	here := New(nil, "", Limits{})
	there := outside(t)
	about := map[string]string{"Title": "Größe"}
	for name, do := range map[string]func(*Tool) (any, error){
		"about": func(tool *Tool) (any, error) {
			info, err := tool.About(t.Context(), file(page))
			return *info, err
		},
		"text": func(tool *Tool) (any, error) { return tool.Text(t.Context(), file(page), "") },
		"join": func(tool *Tool) (any, error) {
			var out []byte
			err := tool.Join(t.Context(), []*blob.Blob{file(page), file(page)}, nil, made(&out))
			n, bad := api.PageCount(bytes.NewReader(out), Settings())
			return n, errors.Join(err, bad)
		},
		"cut": func(tool *Tool) (any, error) {
			var out []byte
			if err := tool.Cut(t.Context(), Protected{file(page), ""}, Pages{2, 2}, about, made(&out)); err != nil {
				return nil, err
			}
			info, err := tool.About(t.Context(), file(out))
			return [2]any{info.Pages, info.Title}, err
		},
		"mark": func(tool *Tool) (any, error) {
			var out []byte
			if err := tool.Mark(t.Context(), Protected{file(page), ""}, bottomRight, picture(t, 30, 20), made(&out)); err != nil {
				return nil, err
			}
			n, err := api.ExtractImagesRaw(bytes.NewReader(out), nil, Settings())
			return len(n), err
		},
		"protect": func(tool *Tool) (any, error) {
			var out []byte
			if err := tool.Protect(t.Context(), file(page), "", Protection{Owner: "owner", User: "reader", Bits: 128}, made(&out)); err != nil {
				return nil, err
			}
			_, err := tool.About(t.Context(), file(out))
			return fmt.Sprint(err, fault.Of(err)), nil
		},
		"underlay": func(tool *Tool) (any, error) {
			var out []byte
			if err := tool.Underlay(t.Context(), file(page), file(page), made(&out)); err != nil {
				return nil, err
			}
			return tool.Text(t.Context(), file(out), "")
		},
		"update": func(tool *Tool) (any, error) {
			var out []byte
			err := tool.Update(t.Context(), file(page), about, made(&out))
			return string(out), err
		},
		"broken": func(tool *Tool) (any, error) {
			_, err := tool.About(t.Context(), file([]byte("%PDF-1.7 nothing")))
			if fault.Of(err) != fault.Invalid {
				t.Errorf("a broken file: %v", err)
			}
			return err.Error(), nil
		},
		"no room": func(tool *Tool) (any, error) {
			err := tool.Join(t.Context(), []*blob.Blob{file(page), file(page)}, nil, func(io.Reader) error { return io.ErrShortWrite })
			return errors.Is(err, io.ErrShortWrite), nil
		},
	} {
		want, err := do(here)
		got, failed := do(there)
		if err != nil || failed != nil || got != want {
			t.Errorf("%s: %v, %v; want %v, %v", name, got, failed, want, err)
		}
	}
}

// TestBomb gives a worker files that take more memory than it may have: it is refused what it asks for, and the server
// takes no more than for any other file.
func TestBomb(t *testing.T) {
	const size = 256 << 20
	tool := outside(t)
	deadly := file(bomb(t, size))
	for name, do := range map[string]func() error{
		"about": func() error { _, err := tool.About(t.Context(), deadly); return err },
		"text":  func() error { _, err := tool.Text(t.Context(), deadly, ""); return err },
		"join": func() error {
			return tool.Join(t.Context(), []*blob.Blob{deadly, deadly}, nil, func(io.Reader) error { return nil })
		},
		"cut": func() error {
			return tool.Cut(t.Context(), Protected{deadly, ""}, Pages{1, 1}, nil, func(io.Reader) error { return nil })
		},
		"mark": func() error {
			return tool.Mark(t.Context(), Protected{deadly, ""}, bottomRight, nil, func(io.Reader) error { return nil })
		},
		"protect": func() error {
			return tool.Protect(t.Context(), deadly, "", Protection{Owner: "owner", Bits: 128}, func(io.Reader) error { return nil })
		},
		"update": func() error {
			return tool.Update(t.Context(), deadly, nil, func(io.Reader) error { return nil })
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := do()
		runtime.ReadMemStats(&after)
		if fault.Of(err) != fault.Limit || !strings.Contains(err.Error(), "memory") {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > size/16 {
			t.Errorf("%s: the server took %d bytes", name, took)
		}
	}
	if info, err := tool.About(t.Context(), file(printed(t, "text", false))); err != nil || info.Pages != 2 {
		t.Errorf("afterwards: %v, %v", info, err)
	}
}

// FuzzTasks has every task done with files that are no good ones.
func FuzzTasks(f *testing.F) {
	page := printed(f, "text", false)
	f.Add(page)
	f.Add(bytes.Replace(page, []byte("/Resources"), []byte("/Annots [<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(x)>>>>] /Resources"), 1))
	f.Add([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 1 0 R/Kids[1 0 R]>>endobj\ntrailer<</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, job := range []task{
			{Do: "about"},
			{Do: "cut", First: 1, Last: 2},
			{Do: "join"},
			{Do: "links"},
			{Do: "protect", Protection: &Protection{Owner: "o", Bits: 128}},
			{Do: "stamp", Stamp: &bottomRight},
			{Do: "unprotect"},
			{Do: "update", Texts: map[string]string{"Title": "x"}},
		} {
			job.Sizes, job.Names, job.Pages = []int64{int64(len(b))}, []string{"a.pdf"}, 100
			if _, err := job.do([]io.ReadSeeker{bytes.NewReader(b)}, io.Discard); fault.Of(err) == fault.Internal && err != nil {
				t.Errorf("%s: %v", job.Do, err)
			}
		}
	})
}
