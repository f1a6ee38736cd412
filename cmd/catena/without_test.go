package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sound is a tenth of a second of a WAV, of bytes that JSON takes as text.
var sound = "RIFF\x24\x03\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x03\x00\x00" + strings.Repeat("\x40\x41", 0x180)

const page = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n" +
	"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Resources << >> >>\nendobj\ntrailer\n<< /Root 1 0 R /Size 4 >>\n%%EOF\n"

// converted are files of people and what is made of them by one program of others each.
var converted = []struct {
	program, name, typ, data, converter string
	commands                            []string
}{
	{"LibreOffice", "letter.rtf", "application/rtf", `{\rtf1 Dear all}`, "any2pdf", []string{"soffice", "libreoffice"}},
	{"ImageMagick", "dot.ppm", "image/x-portable-pixmap", "P3 2 2 255 1 2 3 4 5 6 7 8 9 9 9 9\n", "pictureToPNG", []string{"magick", "convert"}},
	{"FFmpeg", "beep.wav", "audio/x-wav", sound, "convertToMP3", []string{"ffmpeg"}},
	{"pdftohtml", "page.pdf", "application/pdf", page, "pdf2html", []string{"pdftohtml"}},
	{"pdftoppm", "sheet.pdf", "application/pdf", page, "pdf2image", []string{"pdftoppm"}},
}

// TestWithoutTools starts the built server with all programs of others, and without each of them: what is missing is named, all
// else is converted, files without a conversion are stored and read, and the server goes on.
func TestWithoutTools(t *testing.T) {
	for _, c := range converted {
		if !slices.ContainsFunc(c.commands, func(command string) bool { _, err := exec.LookPath(command); return err == nil }) {
			t.Skip(c.program, "is not installed")
		}
	}
	for i := -1; i < len(converted); i++ {
		missing := ""
		if i >= 0 {
			missing = converted[i].program
		}
		dir := t.TempDir()
		for _, c := range converted {
			for _, command := range c.commands {
				if path, err := exec.LookPath(command); err == nil && c.program != missing {
					if err := os.Symlink(path, filepath.Join(dir, command)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		p := startBy(t, []string{"env", "PATH=" + dir}, t.TempDir())
		for _, c := range converted {
			doc, err := json.Marshal(map[string]any{"entity-type": "document", "type": "File", "name": c.name, "properties": map[string]any{
				"file:content": map[string]string{"data": c.data, "name": c.name, "mime-type": c.typ},
			}})
			if err != nil {
				t.Fatal(err)
			}
			p.want(t, http.StatusCreated, "Administrator", "POST", "/nuxeo/api/v1/path/default-domain/workspaces", string(doc))
			at := "/nuxeo/api/v1/path/default-domain/workspaces/" + c.name
			status, said := p.ask(t, "Administrator", "GET", at+"/@blob/file:content/@convert?converter="+c.converter, "")
			switch {
			case c.program == missing:
				if status != http.StatusServiceUnavailable || !strings.Contains(said, c.program+" is not installed") || !strings.Contains(said, "program_unavailable") {
					t.Errorf("without %s: %s of %s: %d %.300s", missing, c.converter, c.name, status, said)
				}
			case status != http.StatusOK || said == "":
				t.Errorf("without %q: %s of %s: %d %.300s", missing, c.converter, c.name, status, said)
			}
			if got := p.want(t, http.StatusOK, "Administrator", "GET", at+"/@blob/file:content", ""); got != c.data {
				t.Errorf("without %q: %s has changed: %.100q", missing, c.name, got)
			}
		}
		p.want(t, http.StatusOK, "Administrator", "GET", "/healthz", "")
		p.stop(t)
	}
}
