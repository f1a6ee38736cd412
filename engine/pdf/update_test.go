package pdf

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"catena/storage/blob"
)

// TestPDFUpdate changes files with both kinds of tables, twice.
func TestPDFUpdate(t *testing.T) {
	scenario, err := os.ReadFile("../../ops/context/testdata/set_metadata.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, plain, _ := bytes.Cut(scenario, []byte("-- report.pdf --\n"))
	plain, _, _ = bytes.Cut(plain, []byte("-- broken.pdf --\n"))
	var packed bytes.Buffer
	if err := api.Optimize(bytes.NewReader(plain), &packed, Settings()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(packed.Bytes(), []byte("/XRef")) {
		t.Fatal("the packed file has no table in a stream")
	}
	for name, file := range map[string][]byte{"plain": plain, "packed": packed.Bytes()} {
		for _, texts := range []map[string]string{{"Title": "Größe (1)", "Author": ""}, {"Subject": "sums"}} {
			file = bytes.Clone(file)
			err := New(nil, "", Limits{}).Update(t.Context(), blob.FromBytes("a.pdf", "application/pdf", file), texts, func(update io.Reader) error {
				b, err := io.ReadAll(update)
				file = append(file, b...)
				return err
			})
			if err != nil {
				t.Fatal(name, err)
			}
			if err := api.Validate(bytes.NewReader(file), nil); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		info, err := New(nil, "", Limits{}).About(t.Context(), blob.FromBytes("a.pdf", "application/pdf", file))
		if err != nil {
			t.Fatal(name, err)
		}
		if info.Title != "Größe (1)" || info.Author != "" || info.Subject != "sums" || info.Pages != 1 {
			t.Errorf("%s: %q by %q about %q, %d pages", name, info.Title, info.Author, info.Subject, info.Pages)
		}
	}
}
