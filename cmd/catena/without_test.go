package main

import (
	"encoding/binary"
	"encoding/json"
	"maps"
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

// film is an AVI of two seconds without pictures, of bytes that JSON takes as text: only FFprobe reads of it what it says.
var film = func() string {
	word := func(numbers ...uint32) (out string) {
		for _, n := range numbers {
			out += string(binary.LittleEndian.AppendUint32(nil, n))
		}
		return out
	}
	chunk := func(name, content string) string { return name + word(uint32(len(content))) + content }
	stream := chunk("LIST", "strl"+
		chunk("strh", "vidsMJPG"+word(0, 0, 0, 1, 25, 0, 50, 0, 0, 0, 0, 0))+
		chunk("strf", word(40, 32, 32, 1|24<<16)+"MJPG"+word(0, 0, 0, 0, 0)))
	head := "hdrl" + chunk("avih", word(0x4240, 0, 0, 16, 50, 0, 1, 0, 32, 32, 0, 0, 0, 0)) + stream
	head += chunk("JUNK", strings.Repeat("\x00", 256-len(head)-8)) // has the length be of such bytes, too
	return chunk("RIFF", "AVI "+chunk("LIST", head)+chunk("LIST", "movi"))
}()

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
// else is converted, what FFprobe reads is there or is left out, files without a conversion are stored and read, and the server
// goes on.
func TestWithoutTools(t *testing.T) {
	commands := map[string][]string{"FFprobe": {"ffprobe"}}
	for _, c := range converted {
		commands[c.program] = c.commands
	}
	for program, names := range commands {
		if !slices.ContainsFunc(names, func(command string) bool { _, err := exec.LookPath(command); return err == nil }) {
			t.Skip(program, "is not installed")
		}
	}
	for _, missing := range append(slices.Sorted(maps.Keys(commands)), "") {
		dir := t.TempDir()
		for program, names := range commands {
			for _, command := range names {
				if path, err := exec.LookPath(command); err == nil && program != missing {
					if err := os.Symlink(path, filepath.Join(dir, command)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		p := startBy(t, []string{"env", "PATH=" + dir}, t.TempDir())
		store := func(name, typ, data string) (at string) {
			doc, err := json.Marshal(map[string]any{"entity-type": "document", "type": "File", "name": name, "properties": map[string]any{
				"file:content": map[string]string{"data": data, "name": name, "mime-type": typ},
			}})
			if err != nil {
				t.Fatal(err)
			}
			p.want(t, http.StatusCreated, "Administrator", "POST", "/nuxeo/api/v1/path/default-domain/workspaces", string(doc))
			return "/nuxeo/api/v1/path/default-domain/workspaces/" + name
		}
		at := store("film.avi", "video/x-msvideo", film)
		said := p.want(t, http.StatusOK, "Administrator", "POST", at+"/@blob/file:content/@op/Blob.ReadMetadata", `{}`)
		if strings.Contains(said, `"duration":2`) != (missing != "FFprobe") {
			t.Errorf("without %q: a film says %s", missing, said)
		}
		for _, c := range converted {
			at := store(c.name, c.typ, c.data)
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
