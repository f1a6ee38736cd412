package program_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/engine/program"
	"catena/engine/program/programtest"
	"catena/storage/blob"
	"catena/storage/fault"
)

func TestMain(m *testing.M) { os.Exit(programtest.Main(m)) }

// convert has LibreOffice make a PDF of a text, and returns its bytes.
func convert(t testing.TB, p *program.Programs, name string) (data []byte, err error) {
	t.Helper()
	err = p.Office(t.Context(), blob.FromBytes(name, "text/plain", []byte("some text, with a comma")), program.Export{From: ".txt", To: ".pdf"}, func(path string) error {
		data, err = program.Read(path, 10<<20)
		return err
	})
	return data, err
}

// folders are those of programs, as many as there are.
func folders(t testing.TB) int {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(os.TempDir(), "catena-program-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestOfficeAgain converts more documents than one process is used for, and after it was ended because it had nothing to do.
func TestOfficeAgain(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, limits := range map[string]program.Limits{"documents": {Documents: 2}, "idle": {Idle: time.Millisecond}} {
		p := programtest.Start(t, limits, program.LibreOffice)
		for range 3 {
			if data, err := convert(t, p, "a, b\\c.txt"); err != nil || !strings.HasPrefix(string(data), "%PDF") {
				t.Errorf("%s: %.20q, %v", name, data, err)
			}
		}
		p.Close()
		if n := folders(t); n > 0 {
			t.Errorf("%s: %d folders are left", name, n)
		}
		if _, err := convert(t, p, "a.txt"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: after the end: %v", name, err)
		}
	}
}

// TestOfficeSlow ends a conversion that takes too long. The next one gets another process.
func TestOfficeSlow(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := programtest.Start(t, program.Limits{Time: time.Nanosecond}, program.LibreOffice)
	for range 2 {
		if _, err := convert(t, p, "a.txt"); !fault.Is(err, fault.Limit) || !strings.Contains(err.Error(), "takes more than") {
			t.Error(err)
		}
	}
	if n := folders(t); n > 0 {
		t.Errorf("%d folders are left", n)
	}
}

// TestRead takes in plain files of a size, and nothing else that a program could leave.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("file"), at("link")); err != nil {
		t.Fatal(err)
	}
	if data, err := program.Read(at("file"), 5); string(data) != "12345" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := program.Read(at("file"), 4); !fault.Is(err, fault.Limit) {
		t.Error(err)
	}
	for _, name := range []string{"link", "none", "."} {
		if _, err := program.Read(at(name), 100); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNone says what is missing where nothing is installed.
func TestNone(t *testing.T) {
	for _, p := range []*program.Programs{nil, programtest.None()} {
		for _, k := range program.Kinds {
			err := p.Missing(k)
			if !fault.Is(err, fault.Unavailable) || fault.CodeOf(err) != fault.CodeProgramUnavailable || !strings.Contains(err.Error(), k.Name) || !strings.Contains(err.Error(), k.Package) {
				t.Errorf("%s: %v", k.Name, err)
			}
			if p.Path(k) != "" {
				t.Error(p.Path(k))
			}
		}
		if _, err := convert(t, p, "a.txt"); !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
		p.Close()
	}
}

// BenchmarkOffice converts a document of some pages by a LibreOffice that runs.
func BenchmarkOffice(b *testing.B) {
	p := programtest.Start(b, program.Limits{Documents: 1 << 30}, program.LibreOffice)
	text := blob.FromBytes("a.txt", "text/plain", []byte(strings.Repeat("A line of a document that is not short.\n", 400)))
	var odt []byte
	export := func(from *blob.Blob, e program.Export) {
		if err := p.Office(b.Context(), from, e, func(path string) (err error) {
			odt, err = program.Read(path, 10<<20)
			return err
		}); err != nil {
			b.Fatal(err)
		}
	}
	export(text, program.Export{From: ".txt", To: ".docx"})
	document := blob.FromBytes("a.docx", "", odt)
	export(document, program.Export{From: ".docx", To: ".pdf"}) // what is loaded once
	b.Run("catena", func(b *testing.B) {
		for b.Loop() {
			export(document, program.Export{From: ".docx", To: ".pdf"})
		}
	})
	b.Run("alone", func(b *testing.B) {
		alone, stop := program.Alone(p, content(b, document))
		defer stop()
		for b.Loop() {
			if err := alone(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func content(b *testing.B, of *blob.Blob) []byte {
	b.Helper()
	data, err := of.Bytes(0)
	if err != nil {
		b.Fatal(err)
	}
	return data
}
