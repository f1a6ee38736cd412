package metadata

import (
	"archive/zip"
	"bytes"
	"reflect"
	"testing"
	"time"

	"catena/storage/blob"
)

func archive(t *testing.T, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range parts {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestOfficeMetadata reads the properties of both families of office documents.
func TestOfficeMetadata(t *testing.T) {
	at := time.Date(2024, 5, 2, 10, 15, 30, 0, time.UTC)
	for _, c := range []struct {
		typ   string
		parts map[string]string
		want  map[string]any
	}{
		{
			"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
			map[string]string{
				"docProps/core.xml": `<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>Offer</dc:title><dc:creator>Ada</dc:creator>` +
					`<cp:keywords/><dcterms:created>2024-05-02T10:15:30Z</dcterms:created></cp:coreProperties>`,
				"docProps/app.xml": `<Properties><Pages>3</Pages><Company>Acme</Company></Properties>`,
			},
			map[string]any{"office:title": "Offer", "office:author": "Ada", "office:created": at, "office:pages": int64(3), "office:company": "Acme"},
		},
		{
			"application/vnd.oasis.opendocument.text",
			map[string]string{
				"meta.xml": `<office:document-meta xmlns:office="o" xmlns:meta="m" xmlns:dc="d"><office:meta><dc:title>Brief</dc:title><dc:date>2024-05-02T10:15:30</dc:date>` +
					`<meta:keyword>a</meta:keyword><meta:document-statistic meta:page-count="2" meta:word-count="9"/></office:meta></office:document-meta>`,
			},
			map[string]any{"office:title": "Brief", "office:modified": at, "office:keywords": "a", "office:pages": int64(2), "office:words": int64(9)},
		},
		{"application/vnd.oasis.opendocument.text", map[string]string{"content.xml": "<x/>"}, map[string]any{}},
	} {
		got, err := Read(t.Context(), Tools{}, blob.FromBytes("a", c.typ, archive(t, c.parts)))
		for name := range got {
			if name[:5] == "file:" {
				delete(got, name)
			}
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.typ, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "no archive"} {
		if got, err := Read(t.Context(), Tools{}, blob.FromBytes("a", "application/vnd.oasis.opendocument.text", []byte(bad))); err == nil {
			t.Errorf("%q: got %v", bad, got)
		}
	}
}
