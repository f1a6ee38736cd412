package text

import (
	"archive/zip"
	"bytes"
	"testing"

	"catena/storage/growth"
)

// FuzzGrowth looks for texts that take more time to analyse than in proportion to their length.
func FuzzGrowth(f *testing.F) {
	for _, s := range []string{"a ", "a", "running ", "é", "e\u0301", "漢", "<b>", "<script>", "<!--", "&amp;", "<a b='"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, fragment string) {
		growth.Linear(t, growth.Repeated{Fragment: fragment}, 32<<10, func(s string) { Analyse("en", s).Terms() })
		growth.Linear(t, growth.Repeated{Fragment: fragment}, 32<<10, func(s string) { HTML(s) })
		growth.Linear(t, growth.Repeated{Fragment: fragment}, 32<<10, func(s string) { Find("en", s, []Phrase{{Words: fragment}}) })
	})
}

// FuzzGrowthOffice looks for parts of office documents that take more time to read than in proportion to their length.
func FuzzGrowthOffice(f *testing.F) {
	for _, s := range []string{"<w:p><w:t>a</w:t></w:p>", "<a>", "<a b='c'/>", "&amp;", "<!-- a -->", "<![CDATA[a]]>", "<", "\n"} {
		f.Add("<w:document>", s, "</w:document>")
	}
	f.Fuzz(func(t *testing.T, before, fragment, after string) {
		if len(before)+len(after) > 200 {
			return
		}
		growth.Linear(t, growth.Repeated{Before: before, Fragment: fragment, After: after}, 32<<10, func(s string) {
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			part, err := z.Create("word/document.xml")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = part.Write([]byte(s))
			_ = z.Close()
			_, _ = Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "", "a.docx")
		})
	})
}
