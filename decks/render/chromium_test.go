package render

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/storage/fault"
)

var quiet = slog.New(slog.DiscardHandler)

// attacks are what a hostile deck would have the renderer reach, given the address of a
// server and of a file. They are stronger than what decks can hold: those are cleaned.
func attacks(address, file string) string {
	list := []string{
		`<img src="%[1]s/img">`, `<img srcset="%[1]s/srcset 2x">`, `<img src="file://%[2]s">`, `<iframe src="%[1]s/iframe"></iframe>`,
		`<iframe src="file://%[2]s"></iframe>`, `<iframe srcdoc="<script>fetch('%[1]s/srcdoc')</script>"></iframe>`,
		`<object data="%[1]s/object"></object>`, `<embed src="file://%[2]s">`, `<link rel="stylesheet" href="%[1]s/link">`,
		`<link rel="prefetch" href="%[1]s/prefetch">`, `<link rel="preconnect" href="%[1]s">`, `<style>@import "%[1]s/import"; @font-face { font-family: x; src: url(%[1]s/font) } p { background: url(%[1]s/css); font-family: x }</style>`,
		`<p style="background: url(%[1]s/inline)">x</p>`, `<video src="%[1]s/video" poster="%[1]s/poster" autoplay></video>`, `<audio src="%[1]s/audio" autoplay></audio>`,
		`<script>fetch("%[1]s/fetch"); navigator.sendBeacon("%[1]s/beacon"); new WebSocket("%[1]s/ws".replace("http", "ws")); location = "%[1]s/location"</script>`,
		`<script src="%[1]s/script"></script>`, `<script type="module">import "%[1]s/module"</script>`, `<img src="x" onerror="fetch('%[1]s/onerror')">`,
		`<svg><image href="%[1]s/svg"/><use href="%[1]s/use#x"/></svg>`, `<form action="%[1]s/form"><button autofocus onfocus="this.form.submit()"></button></form>`,
		`<a ping="%[1]s/ping" href="%[1]s/a">a</a>`, `<meta http-equiv="refresh" content="0;url=%[1]s/refresh">`, `<base href="%[1]s/">`,
		`<img src="data:image/svg+xml,%%3Csvg xmlns='http://www.w3.org/2000/svg'%%3E%%3Cimage href='%[1]s/nested'/%%3E%%3C/svg%%3E">`,
		`<script>const c = new RTCPeerConnection({iceServers: [{urls: "stun:" + "%[1]s".slice(7)}]}); c.createDataChannel("x"); c.createOffer().then(o => c.setLocalDescription(o))</script>`,
		`<script>new Worker(URL.createObjectURL(new Blob(["fetch('%[1]s/worker')"])))</script>`, `<script>window.open("%[1]s/open")</script>`,
	}
	return fmt.Sprintf(strings.Join(list, "\n"), address, file)
}

// TestAttacks prints hostile decks beside a server and a file that wait for them: nothing
// arrives at the one, and nothing of the other is in the PDF.
func TestAttacks(t *testing.T) {
	c := needChromium(t)
	var hits sync.Map
	var addresses []string
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", at)
		if err != nil {
			continue // a machine without the newer protocol
		}
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits.Store(r.URL.Path, true)
			fmt.Fprint(w, "CANARY")
		}), ReadHeaderTimeout: time.Second, ConnState: func(_ net.Conn, s http.ConnState) { hits.Store("connection "+s.String(), true) }}
		go func() { _ = s.Serve(l) }()
		defer s.Close()
		addresses = append(addresses, "http://"+l.Addr().String())
	}
	file := filepath.Join(t.TempDir(), "canary.txt")
	if err := os.WriteFile(file, []byte("CANARY of a file"), 0o644); err != nil { //nolint:gosec // to be readable
		t.Fatal(err)
	}
	for _, r := range []Renderer{c, Embedded{}} {
		for _, address := range addresses {
			d := deck
			d.HTML = "<section><p>before</p>" + attacks(address, file) + "<p>after</p></section>"
			d.CSS = "@import '" + address + "/deckcss'; body { background: url(" + address + "/body) }"
			data, err := r.PDF(context.Background(), &d, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if text := textIn(t, data); strings.Contains(text, "CANARY") || !strings.Contains(text, "before") {
				t.Errorf("%T: %s", r, text)
			}
		}
	}
	hits.Range(func(what, _ any) bool { t.Errorf("reached: %v", what); return true })
}

func textIn(t *testing.T, data []byte) string {
	t.Helper()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("poppler-utils, which reads text, is not installed")
	}
	cmd := exec.CommandContext(t.Context(), "pdftotext", "-", "-")
	cmd.Stdin = strings.NewReader(string(data))
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBrowserFaults has the browser missing, killed, and stopped: files are made all the
// same, and soon.
func TestBrowserFaults(t *testing.T) {
	missing := &Chromium{Path: "/no/such/browser", Log: quiet}
	_, err := missing.PDF(context.Background(), fresh(), Options{})
	wantCode(t, fault.CodeRendererUnavailable, err)
	without := deck
	if data, err := (Auto{Browser: missing, Log: quiet}).PDF(context.Background(), &without, Options{}); err != nil || len(data) == 0 {
		t.Errorf("without a browser: %v", err)
	}
	if notes := without.Warnings(); !slices.ContainsFunc(notes, func(s string) bool { return strings.HasPrefix(s, "made without a browser") }) {
		t.Errorf("without a browser: warnings %q", notes)
	}
	if err := (&Chromium{Path: "/bin/true", Log: quiet}).Ping(context.Background()); !errors.Is(err, errStart) {
		t.Errorf("a program that is no browser: %v", err)
	}

	c := needChromium(t)
	c.pause, c.silence = 50*time.Millisecond, 4*time.Second
	if err := c.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	small := deck
	small.HTML = "<section>x</section>"
	for name, harm := range map[string]func(pid int){"killed": killGroup, "stopped": stopGroup} {
		c.mu.Lock()
		b := c.current
		c.mu.Unlock()
		harm(b.cmd.Process.Pid)
		start := time.Now()
		if _, err := c.PDF(context.Background(), &small, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s: the next file took %s", name, took)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err = c.PDF(ctx, &small, Options{})
	wantCode(t, fault.CodeRenderTimeout, err)
}

// TestBrowserShared prints several decks at once, and leaves no process and no folder.
func TestBrowserShared(t *testing.T) {
	c := needChromium(t)
	var failed atomic.Value
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			d := deck
			d.HTML = fmt.Sprintf("<section>deck %d</section>", i)
			data, err := c.PDF(context.Background(), &d, Options{})
			if err != nil {
				failed.Store(err)
			} else if text := textIn(t, data); !strings.Contains(text, fmt.Sprintf("deck %d", i)) {
				failed.Store(errors.New(text))
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(err)
	}
	b := c.current
	c.Close()
	if _, err := os.Stat(b.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder of the browser: %v", err)
	}
	if b.cmd.ProcessState == nil {
		t.Error("the browser still runs")
	}
}
