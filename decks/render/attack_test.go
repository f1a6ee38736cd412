package render

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"catena/decks/decktest"
)

// canary counts the connections to addresses of this machine that no file may ask for, and
// keeps a file whose content no file may hold.
type canary struct {
	addresses []string
	file      string
	calls     atomic.Int64
}

func setCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{file: filepath.Join(t.TempDir(), "canary.txt")}
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", at)
		if err != nil {
			continue // a machine without the newer protocol
		}
		t.Cleanup(func() { _ = l.Close() })
		c.addresses = append(c.addresses, "http://"+l.Addr().String())
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				c.calls.Add(1)
				_ = conn.Close()
			}
		}()
	}
	// Nobody answers there, in a machine without a cloud around it; what counts is that a deck with them is made all the same.
	c.addresses = append(c.addresses, "http://169.254.169.254", "http://10.0.0.1", "file://"+c.file, "FILE:///etc/passwd", "http://[::ffff:127.0.0.1]")
	if err := os.WriteFile(c.file, []byte("CANARY of a file"), 0o644); err != nil { //nolint:gosec // to be readable
		t.Fatal(err)
	}
	return c
}

// armed is attack number i, aimed at one canary after another.
func (c *canary) armed(i int, attack string) string {
	address := c.addresses[i%len(c.addresses)]
	return decktest.Arm(attack, fmt.Sprintf("fetch('%s/%d')", address, i), fmt.Sprintf("%s/%d", address, i))
}

// check reports calls, and bytes of the canary's in a file.
func (c *canary) check(t *testing.T, what string, file []byte) {
	t.Helper()
	if n := c.calls.Swap(0); n > 0 {
		t.Errorf("%s: %d connections", what, n)
	}
	if bytes.Contains(file, []byte("CANARY of a file")) || bytes.Contains(file, []byte("root:x:0:0")) {
		t.Errorf("%s: holds a file of the server's", what)
	}
}

// content is the text of all streams of a PDF file, unpacked.
func content(t *testing.T, file []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	conf := settings()
	if err := api.Optimize(bytes.NewReader(file), &out, conf); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// hostile are decks of all attacks as they are: many on one, except for those that leave
// something open, which would hide the others.
func (c *canary) hostile(size int) (out []Deck) {
	var group strings.Builder
	held := 0
	add := func(html, text string) {
		d := deck
		d.Title, d.Author, d.Description, d.CSS, d.HTML = text, text, text, text, html
		out = append(out, d)
	}
	for i, attack := range decktest.Attacks() {
		text := c.armed(i, attack)
		slide := "<section>" + text + "</section>\n"
		if !closed(slide) {
			add(slide, text)
			continue
		}
		const each = 8 // attacks on a slide
		if held%each == 0 {
			group.WriteString("<section>")
		}
		group.WriteString("<div>" + text + "</div>\n")
		if held++; held%each == 0 {
			group.WriteString("</section>\n")
		}
		if held%size == 0 {
			add(group.String(), text)
			group.Reset()
		}
	}
	add(group.String()+"</section>", "the last")
	return out
}

// payloads counts the attacks in a deck's HTML: each in a box of its own, or alone.
func payloads(html string) int { return max(1, strings.Count(html, "</div>\n")) }

// closed reports whether a slide ends where it says.
func closed(slide string) bool {
	_, slides, err := parse(context.Background(), &Deck{HTML: slide + "<section>after</section>"})
	return err == nil && len(slides) == 2 && !within(slides[1].section, slides[0].section)
}

// TestEmbeddedCorpus has the embedded renderer draw every attack as it is, and the card that
// stands for a slide: requests to servers inside and files of the machine come to nothing,
// nothing panics, and none costs much.
func TestEmbeddedCorpus(t *testing.T) {
	c := setCanary(t)
	var before, after runtime.MemStats
	const most = 256 << 20 // bytes that drawing a deck may allocate
	whole := c.hostile(64)
	all := decktest.Some(whole)
	attacks := 0
	for _, d := range all {
		attacks += payloads(d.HTML)
	}
	if t.Logf("%d of %d decks, %d attacks", len(all), len(whole), attacks); len(whole) < 30 || attacks < 450 {
		t.Fatal("the test does not test much")
	}
	for i := range all {
		d := &all[i]
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		runtime.ReadMemStats(&before)
		file, err := Embedded{}.PDF(ctx, d, Options{SeparateFragments: true, SlideNotes: true, SlideNumber: true})
		if err != nil {
			t.Errorf("%s: %v", d.Title, err)
		}
		runtime.ReadMemStats(&after)
		cancel()
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("%s: allocates %d bytes", d.Title, n)
		}
		c.check(t, d.Title, file)
		if i%4 > 0 {
			continue
		}
		card, err := Card(t.Context(), d, 1)
		if err != nil {
			t.Fatalf("card of %s: %v", d.Title, err)
		}
		c.check(t, d.Title, card.Data)
	}
}

// TestChromiumCorpus prints attacks as they are with the browser, and takes pictures of
// slides. What would reach the network or a file is refused. Those that leave something open
// keep their page from starting; of them a few, and not for long.
func TestChromiumCorpus(t *testing.T) {
	b := needChromium(t)
	c := setCanary(t)
	made, open, attacks := 0, 0, 0
	for _, d := range c.hostile(1024) {
		most := 60 * time.Second
		if len(d.HTML) < 4096 {
			if open++; open%64 != 1 {
				continue
			}
			most = 2 * time.Second
		}
		d.HTML = hiding.ReplaceAllString(d.HTML, "") // what keeps the framework from starting is taken out of decks, too
		ctx, cancel := context.WithTimeout(t.Context(), most)
		file, err := b.PDF(ctx, &d, Options{})
		switch {
		case err == nil:
			made, attacks = made+1, attacks+payloads(d.HTML)
			c.check(t, "PDF of "+d.Title, content(t, file))
		case len(d.HTML) >= 4096:
			t.Errorf("%s: %v", d.Title, err)
		}
		if still, err := b.Still(ctx, &d, 1); err == nil {
			c.check(t, "picture of "+d.Title, still.Data)
		}
		cancel()
		c.check(t, d.Title, nil)
	}
	if t.Logf("%d files of %d attacks", made, attacks); made < 2 || attacks < 500 {
		t.Errorf("only %d files of %d attacks", made, attacks)
	}
}

var hiding = regexp.MustCompile(` name=\w+`)
