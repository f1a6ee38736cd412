package render

import (
	"archive/zip"
	"bytes"
	"context"
	"image"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const formulas = `<section><h2>Formulas</h2><p>\[\sqrt{x^2+1} = \frac{-b \pm \sqrt{b^2-4ac}}{2a}\]</p><p>inline \(\int_0^\infty e^{-x^2}\,dx\)</p>
<script type="math/tex; mode=display">\mathbb{R} < \mathcal{F}, \sum_{i=1}^n i</script></section>`

// TestFormulas has formulas drawn with the built-in faces: in the archive, on paper and on pictures. Without a
// browser the file says that they are not drawn.
func TestFormulas(t *testing.T) {
	d := deck
	d.HTML = formulas
	data, err := ZIP(context.Background(), &d)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	for _, want := range []string{"katex.css", "reveal/katex.js", "fonts/KaTeX_Main-Regular.woff2", "fonts/KaTeX_Size2-Regular.woff2", "licenses/katex.txt"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not in the archive", want)
		}
	}
	if _, err := (Embedded{}).PDF(context.Background(), &d, Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(d.Warnings(), "|"), "formulas: not drawn without a browser (3)"; got != want {
		t.Errorf("warnings %q, want %q", got, want)
	}

	c := needChromium(t)
	still, err := c.Still(context.Background(), &d, 1)
	if err != nil {
		t.Fatal(err)
	}
	if img, _, err := image.Decode(bytes.NewReader(still.Data)); err != nil || img.Bounds().Dx() != stillWidth {
		t.Errorf("picture: %v", err)
	}
	data, err = c.PDF(context.Background(), &d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	faces := facesIn(t, data)
	for _, face := range []string{"KaTeX_Main", "KaTeX_Math", "KaTeX_AMS", "KaTeX_Caligraphic"} {
		if !strings.Contains(faces, face) {
			t.Errorf("the PDF has no letters of %s: %s", face, faces)
		}
	}
	if dir := os.Getenv("CATENA_SHOTS"); dir != "" {
		_ = os.WriteFile(dir+"/formulas.jpg", still.Data, 0o600)
		_ = os.WriteFile(dir+"/formulas.pdf", data, 0o600)
	}
}

// facesIn are the faces that letters of a PDF have, as poppler lists them.
func facesIn(t *testing.T, data []byte) string {
	t.Helper()
	if _, err := exec.LookPath("pdffonts"); err != nil {
		t.Skip("poppler-utils, which lists faces, is not installed")
	}
	cmd := exec.CommandContext(t.Context(), "pdffonts", "-")
	cmd.Stdin = bytes.NewReader(data)
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
