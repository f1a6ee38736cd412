package export_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"catena/decks/export"
	"catena/decks/render"
	"catena/engine/pdf"
	"catena/storage"
)

// dot is a picture of one colour.
func dot(t *testing.T, c color.Color) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 20, 20))
	for i := range 400 {
		img.Set(i%20, i/20, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// keep puts a picture into a document that only its owner may read, and returns the id.
func (s *service) keep(owner string, data []byte) (id string) {
	s.t.Helper()
	err := s.Repo.Update(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
		b, err := s.Repo.Blobs().Spool(tx.Context(), "a b.png", "image/png", bytes.NewReader(data), 0)
		if err != nil {
			return err
		}
		root, err := tx.Doc("/")
		if err != nil {
			return err
		}
		d, err := tx.Create(root, "File", owner+" picture", storage.Props{"file:content": b})
		if err != nil {
			return err
		}
		id = d.ID()
		_, err = tx.SetACL(d, "local", []storage.ACE{{User: owner, Permission: "Everything", Granted: true}, {User: "Everyone", Permission: "Everything"}})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// TestStoredPictures has files of documents shown in exports: those that the caller for
// the export may read, by all the addresses there are, and no others.
func TestStoredPictures(t *testing.T) {
	s := newService(t)
	s.User("bob")
	mine, secret := dot(t, color.NRGBA{200, 0, 0, 255}), dot(t, color.NRGBA{0, 0, 200, 255})
	id, other := s.keep("alice", mine), s.keep("bob", secret)
	addresses := []string{
		"/nuxeo/nxfile/default/" + id + "/file:content/a%20b.png?changeToken=1-0",
		s.URL + "/nuxeo/nxfile/default/" + id,
		"/nuxeo/api/v1/id/" + id + "/@blob/file:content",
		"/nuxeo/api/v1/repo/default/path/alice%20picture/@blob/blobholder:0",
		"/api/v1/path/alice%20picture/@blob/",
		"/nuxeo/nxfile/default/" + other + "/file:content/b.png",
		"/nuxeo/nxfile/elsewhere/" + id + "/file:content/b.png",
		"https://elsewhere.example/nuxeo/nxfile/default/" + id,
	}
	var html strings.Builder
	for i, a := range addresses {
		fmt.Fprintf(&html, `<section data-background-image=%q><p style="background: url(%s)"><img src=%q></p></section>`, a, a, addresses[(i+1)%len(addresses)])
	}
	s.call("PATCH", "/v1/decks/1", fmt.Sprintf(`{"data":%q}`, html.String()), http.StatusOK)
	defer s.start(&export.Worker{PDF: render.Embedded{}})()
	printed, archive := s.await(s.ask("pdf")), s.await(s.ask("zip"))
	// Three of the addresses are also backgrounds of style sheets, which a PDF without a browser reports by their number.
	for undrawn, e := range map[string]map[string]any{"backgrounds: not drawn without a browser (3) ": printed, "": archive} {
		want := "[" + undrawn + "2 from elsewhere.example: not fetched " + addresses[5] + ": not found " + addresses[6] + ": not found]"
		if got := fmt.Sprint(e["warnings"]); e["status"] != "completed" || got != want {
			t.Errorf("%v, warnings\n%s\nwant\n%s", e["status"], got, want)
		}
	}
	text := s.file(archive)
	z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	page, files := "", 0
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		switch {
		case err != nil:
			t.Fatal(err)
		case bytes.Equal(data, mine):
			files++
		case bytes.Equal(data, secret):
			t.Error("somebody else's picture is in the archive")
		case f.Name == "index.html":
			page = string(data)
		}
	}
	if files != 5 || strings.Count(page, "assets/") != 3*5 {
		t.Errorf("%d files and %d addresses of them in %s", files, strings.Count(page, "assets/"), page[strings.Index(page, "<section"):])
	}
	pictures, err := api.Images(strings.NewReader(s.file(printed)), nil, pdf.Settings())
	if err != nil {
		t.Fatal(err)
	}
	with := 0
	for _, page := range pictures {
		if len(page) > 0 {
			with++
		}
	}
	if with != 6 { // those of the fifth are also on the page before
		t.Errorf("%d of %d pages have pictures", with, len(pictures))
	}
}

// file returns the file of a completed export.
func (s *service) file(e map[string]any) string {
	s.t.Helper()
	address, ok := e["download_url"].(string)
	if !ok {
		s.t.Fatal(e)
	}
	return s.Do("GET", strings.TrimPrefix(address, s.URL), "", "as", "").Text
}
