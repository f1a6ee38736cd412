package decks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/decks/asset"
	"catena/decks/file"
	"catena/engine/egress"
	"catena/storage/outbox"
)

// TestRemotePictures imports a deck with pictures on other servers: they are reported, and those that can be fetched
// become files of the deck.
func TestRemotePictures(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/blue.png?x=1", http.StatusFound)
		case "/text.png":
			fmt.Fprint(w, "<p>no picture</p>")
		case "/large.png":
			_, _ = w.Write(append(b.Bytes(), make([]byte, file.MaxSize)...))
		case "/missing.png":
			http.NotFound(w, r)
		default:
			_, _ = w.Write(b.Bytes())
		}
	}))
	t.Cleanup(other.Close)
	at := other.URL
	source := `<html><head><style>body { background: url(` + at + `/blue.png) } p { a: url(` + at + `/css.png) }</style></head><div class="slides">` + "<section data-markdown><script type=\"text/template\">![a](" + at + "/blue.png)</script></section>\n" + `<section data-background-image="` + at + `/blue.png"><img data-src="` + at + `/blue.png"><img src="` + at + `/text.png"><img src="files/1/a.png">` +
		`<iframe src="` + at + `/frame"></iframe><img src="` + at + `/large.png"><img src="` + at + `/missing.png"><img src="` + at + `/moved" alt="&lt;a&gt;"><img src="http://10.0.0.1/private.png"></section></div>`
	s := newService(t)
	params := func(assets string) string {
		raw, err := json.Marshal(map[string]any{"source": source, "format": "html", "assets": assets})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	kept := s.do("alice", "Deck.Import", params("keep"))
	meta, _ := kept["meta"].(map[string]any)
	if got, want := fmt.Sprint(meta["remote"]), fmt.Sprintf("[%[1]s/blue.png %[1]s/text.png %[1]s/large.png %[1]s/missing.png %[1]s/moved http://10.0.0.1/private.png %[1]s/css.png]", at); got != want {
		t.Errorf("reported: %s, want %s", got, want)
	}
	s.do("alice", "Deck.Import", params("copy"))

	client, err := egress.New(egress.Config{Allow: []string{"127.0.0.1"}, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	copier := &asset.Copier{Repo: s.Repo(), Client: client, Log: slog.New(slog.DiscardHandler)}
	go func() { _ = outbox.Run(ctx, s.Repo(), copier.Jobs()) }()
	html := func(id int) string {
		return s.do("alice", "Deck.Get", fmt.Sprintf(`{"id":%d}`, id))["data"].(map[string]any)["data"].(string)
	}
	for end := time.Now().Add(20 * time.Second); !strings.Contains(html(2), "files/1/blue"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the pictures are not copied")
		}
	}
	want := "<section data-markdown><script type=\"text/template\">![a](files/1/blue.png)</script></section>\n" + `<section data-background-image="files/1/blue.png"><img data-src="files/1/blue.png"><img src="` + at + `/text.png"><img src="files/1/a.png">` +
		`<iframe src="` + at + `/frame"></iframe><img src="` + at + `/large.png"><img src="` + at + `/missing.png"><img src="files/1/blue.png" alt="&lt;a&gt;"><img src="http://10.0.0.1/private.png"></section>`
	if got := html(2); got != want {
		t.Errorf("copied:\n got %s\nwant %s", got, want)
	}
	if got := html(1); got != source[strings.Index(source, "<section"):strings.Index(source, "</div>")] {
		t.Errorf("kept: %s", got)
	}
	css := func(id int, field string) string {
		text, _ := s.do("alice", "Deck.Get", fmt.Sprintf(`{"id":%d}`, id))["data"].(map[string]any)[field].(string)
		return strings.Join(strings.Fields(text), " ")
	}
	if got := css(2, "css"); got != "body { background: url(files/1/blue.png) } p { a: url(files/1/blue.png) }" {
		t.Errorf("style sheet: %s", got)
	}
	if got := css(2, "css_output"); got != ".reveal-viewport { background: url(files/1/blue.png); } .reveal p { a: url(files/1/blue.png); }" {
		t.Errorf("shown: %s", got)
	}
	if got := fmt.Sprint(meta["sanitized"]); css(1, "css_output") != "" || !strings.HasPrefix(got, "[declaration background of the style sheet at line 1, column 8 declaration a of the style sheet") {
		t.Errorf("shown before: %s, reported %s", css(1, "css_output"), got)
	}
	if n := asked.Load(); n != 7 { // with the redirection
		t.Errorf("%d requests", n)
	}
	if files := s.do("alice", "Deck.ListFiles", `{"id":2}`)["data"].([]any); len(files) != 1 {
		t.Errorf("files: %v", files)
	}
}
