package rest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"catena/engine/mail/mailtest"
	"catena/rest/resttest"
)

// program is the whole program, built once for the tests that use it as people do.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "catena-program")
	if err != nil {
		return "", err
	}
	programDir = dir
	exe := filepath.Join(dir, "catena")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", exe, "../cmd/catena")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return exe, nil
})

// programDir is where the program is, "" if it was not built.
var programDir string

// startProgram starts the program on an empty data directory, with a mail server and the addresses of this machine allowed.
func startProgram(t *testing.T, sink *mailtest.Sink) *programServer {
	t.Helper()
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	host, port := sink.Address()
	cmd := exec.Command(exe, "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), "--egress-allow", "127.0.0.0/8", "--egress-http", "--rate", "-1",
		"--smtp-host", host, "--smtp-port", strconv.Itoa(port), "--smtp-security", "none", "--smtp-from", "catena@example.org")
	cmd.Env = append(os.Environ(), "CATENA_ADMIN_PASSWORD="+resttest.Password)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if _, base, ok := strings.Cut(strings.TrimSpace(line), " on "); ok && strings.HasPrefix(line, "catena ") {
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return &programServer{t, base}
		}
		if err != nil {
			t.Fatalf("the server did not start: %s", line)
		}
	}
}

// withFlows skips a test that takes a minute unless CATENA_FLOWS is set (make flows).
func withFlows(t *testing.T) {
	t.Helper()
	if os.Getenv("CATENA_FLOWS") == "" {
		t.Skip("set CATENA_FLOWS to build long flows in the browser")
	}
}

// pdfOf is a PDF file of one page with lines of text.
func pdfOf(lines ...string) []byte {
	var text, b bytes.Buffer
	text.WriteString("BT /F1 14 Tf 60 760 Td 20 TL")
	for _, l := range lines {
		fmt.Fprintf(&text, " (%s) Tj T*", l)
	}
	text.WriteString(" ET")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()), "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

// choose gives a file to a field for files.
func (b *tab) choose(selector, name, mime string, content []byte) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(%q)`, selector))
	bytes, err := json.Marshal(content) // base64
	if err != nil {
		b.t.Fatal(err)
	}
	eval[bool](b, fmt.Sprintf(`(() => { const e = document.querySelector(%q); const d = new DataTransfer(); d.items.add(new File([Uint8Array.from(atob(%s), (c) => c.charCodeAt(0))], %q, { type: %q })); e.files = d.files; e.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`, selector, bytes, name, mime))
}

// service is the program of the bookkeepers, which can be out of order.
type service struct {
	*httptest.Server
	mu     sync.Mutex
	broken bool
	got    []string
}

func startBooks(t *testing.T) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.broken || r.Header.Get("Authorization") != "Bearer a-token-of-the-books" {
			http.Error(w, "closed for the day", http.StatusInternalServerError)
			return
		}
		s.got = append(s.got, string(body))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"number":"B-%d"}`, len(s.got))
	}))
	t.Cleanup(s.Close)
	return s
}

// bookings are what was booked, in order.
func (s *service) bookings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *service) breaks(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = yes
}
