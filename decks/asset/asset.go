// Package asset copies pictures that a deck loads from other servers into the deck's own files. An import reports
// them; on request a job of the outbox fetches them, outside of any transaction and through the client for all that
// leaves the server (engine/egress), and then puts their new addresses into the deck in one transaction. What cannot
// be fetched keeps its address: the number, the size and the time of the pictures are bounded, and only what
// decks/file accepts is a picture.
package asset

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	xhtml "golang.org/x/net/html"

	"catena/decks/deck"
	"catena/decks/file"
	"catena/decks/html"
	"catena/decks/style"
	"catena/engine/egress"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/lazy"
	"catena/storage/outbox"
)

// Job is the kind of job that copies the pictures of a deck.
const Job = "deck.assets"

const (
	// MaxRemote is how many addresses of pictures on other servers are reported and copied.
	MaxRemote = 100
	perFile   = 15 * time.Second
	perDeck   = 2 * time.Minute
)

// cssField is the style sheet of a deck.
const cssField = "deck:css"

type jobData struct {
	storage.Owned
	Doc string
}

// Remote lists the addresses on other servers from which slides show pictures, in the order of the slides, and those of
// the style sheet after them.
func Remote(src, css string) (out []string) {
	seen := map[string]bool{}
	note := func(address string) (string, bool) {
		if !seen[address] && len(out) < MaxRemote {
			seen[address] = true
			out = append(out, address)
		}
		return "", false
	}
	visit(src, note)
	visitSheet(css, note)
	return out
}

// visit calls f with the addresses of pictures on other servers, and returns the HTML with those that it gives instead.
func visit(src string, f func(address string) (string, bool)) string {
	return html.Rewrite(src, html.Rewriter{
		Sheet:    func(css string) string { return visitSheet(css, f) },
		Markdown: func(text string) string { return visitMarkdown(text, f) },
		Attribute: func(element string, a xhtml.Attribute) (string, bool) {
			if a.Key == "style" {
				css := visitSheet(a.Val, f)
				return css, css != a.Val
			}
			address := strings.TrimSpace(a.Val)
			switch {
			case !html.Loads(element, a), a.Key == "data-background-video", !isRemote(address):
				return "", false
			case slices.Contains([]string{"iframe", "audio", "video", "source", "track"}, element) && a.Key != "poster":
				return "", false
			}
			return f(address)
		},
	})
}

func isRemote(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// visitSheet is visit for a style sheet. Fonts and other style sheets are not pictures.
func visitSheet(css string, f func(address string) (string, bool)) string {
	return style.Addresses(css, func(address string) (string, bool) {
		address = strings.TrimSpace(address)
		u, err := url.Parse(address)
		if err != nil || !isRemote(address) || slices.Contains([]string{".css", ".eot", ".otf", ".ttf", ".woff", ".woff2"}, strings.ToLower(path.Ext(u.Path))) {
			return "", false
		}
		return f(address)
	})
}

// What shows a picture in Markdown: the picture itself, an element of HTML, and a remark with attributes of a slide.
var (
	mdPicture = lazy.Regexp(`(!\[(?:[^\]\\]|\\.)*\]\(\s*<?)(https?://(?:[^\s<>()"]|\([^\s<>()]*\))+)`)
	mdTag     = lazy.Regexp(`(?i)<(?:img|image)\s[^>]*>|<!--\s*\.(?:slide|element):[^>]*-->`)
	mdValue   = lazy.Regexp(`(?i)((?:\ssrc|\sdata-src|\sdata-background|\sdata-background-image|\shref)\s*=\s*["'])(https?://[^"'\s]+)`)
	mdFence   = lazy.Regexp("^ {0,3}(```|~~~)")
)

// visitMarkdown is visit for Markdown, which shows no pictures in its blocks of code.
func visitMarkdown(text string, f func(address string) (string, bool)) string {
	if !strings.Contains(text, "http") {
		return text
	}
	replace := func(pattern *regexp.Regexp) func(string) string {
		return func(s string) string {
			return pattern.ReplaceAllStringFunc(s, func(s string) string {
				m := pattern.FindStringSubmatch(s)
				if name, ok := f(xhtml.UnescapeString(m[2])); ok {
					return m[1] + name
				}
				return s
			})
		}
	}
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		m := mdFence().FindStringSubmatch(line)
		switch {
		case m != nil && fence == "":
			fence = m[1]
		case m != nil && m[1] == fence:
			fence = ""
		case fence == "":
			line = replace(mdPicture())(line)
			line = mdTag().ReplaceAllStringFunc(line, replace(mdValue()))
		}
		b.WriteString(line)
	}
	return b.String()
}

// Ask has the pictures of a deck copied once the call is committed.
func Ask(tx *storage.Tx, d *storage.Doc) error {
	data, err := json.Marshal(jobData{storage.OwnedBy(tx.Principal()), d.ID()})
	if err != nil {
		return err
	}
	return outbox.Enqueue(tx, outbox.Job{Kind: Job, As: tx.Principal().Name, Data: data})
}

// Copier carries out the jobs.
type Copier struct {
	Repo   *storage.Repo
	Client *egress.Client
	Log    *slog.Logger
}

// Jobs are the handlers of the jobs.
func (c *Copier) Jobs() outbox.Handlers { return outbox.Handlers{Job: {Do: c.do}} }

func (c *Copier) do(ctx context.Context, j outbox.Job) error {
	var data jobData
	if err := json.Unmarshal(j.Data, &data); err != nil {
		return fault.Internal.Errorf("job %s: %w", j.Kind, err)
	}
	var remote []string
	err := c.Repo.View(ctx, c.Repo.System(), func(tx *storage.Tx) error {
		d, source, err := data.deck(tx)
		if err == nil {
			remote = Remote(source, storage.Prop[string](d, cssField))
		}
		return err
	})
	if err != nil || len(remote) == 0 {
		return gone(err)
	}
	got, err := c.fetch(ctx, remote)
	if err != nil || len(got) == 0 {
		return err
	}
	return gone(c.Repo.Update(ctx, c.Repo.System(), func(tx *storage.Tx) error { return data.keep(tx, got) }))
}

// gone is no error: there is nothing left to do for a deck that is gone.
func gone(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// deck returns the deck and its HTML, if it is still there and its owner's.
func (d *jobData) deck(tx *storage.Tx) (*storage.Doc, string, error) {
	doc, err := tx.Doc(storage.Ref(d.Doc))
	if err != nil {
		return nil, "", err
	}
	if doc.IsTrashed() || !deck.MayStill(tx, doc, d.Owned) {
		return nil, "", fault.NotFound.Errorf("deck %d: does not exist", deck.Number(doc))
	}
	source, err := deck.Source(tx, doc)
	return doc, source, err
}

// fetch gets what is at the addresses. What cannot be had is left out, and logged.
func (c *Copier) fetch(ctx context.Context, addresses []string) (map[string]*storage.Blob, error) {
	ctx, cancel := context.WithTimeout(ctx, perDeck)
	defer cancel()
	got := map[string]*storage.Blob{}
	for _, address := range addresses {
		b, err := c.get(ctx, address)
		switch {
		case err == nil:
			got[address] = b
		case errors.Is(ctx.Err(), context.Canceled): // the server stops
			return nil, ctx.Err()
		default:
			c.Log.Warn("picture of a deck not copied", "error", err)
		}
	}
	return got, nil
}

func (c *Copier) get(ctx context.Context, address string) (*storage.Blob, error) {
	ctx, cancel := context.WithTimeout(ctx, perFile)
	defer cancel()
	a, err := c.Client.Get(ctx, address)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	if a.Status != http.StatusOK {
		return nil, fault.Unavailable.Errorf("picture: %s responded with status %d", a.URL.Host, a.Status).WithCode(fault.CodeUnreachable)
	}
	return c.Repo.Blobs().Spool(ctx, path.Base(a.URL.Path), blob.Unknown, a.Body, file.MaxSize)
}

// keep adds the pictures to the deck's files and shows them from there.
func (d *jobData) keep(tx *storage.Tx, got map[string]*storage.Blob) error {
	doc, source, err := d.deck(tx)
	if err != nil {
		return err
	}
	own := map[string]string{}
	css := storage.Prop[string](doc, cssField)
	for _, address := range Remote(source, css) {
		b := got[address]
		if b == nil {
			continue
		}
		f, err := file.Add(tx, doc.ID(), b)
		switch {
		case fault.Is(err, fault.Invalid), fault.Is(err, fault.Limit): // no picture, or too many
			continue
		case err != nil:
			return err
		}
		own[address] = f.Address()
	}
	kept := func(address string) (string, bool) {
		name, ok := own[address]
		return name, ok
	}
	changed, sheet := visit(source, kept), visitSheet(css, kept)
	if changed == source && sheet == css {
		return nil
	}
	props := storage.Props{cssField: sheet}
	if changed != source {
		if _, err := (deck.Input{"data": changed}).ApplyHTML(tx, props); err != nil {
			return err
		}
	}
	for xpath, v := range props {
		if err := doc.Set(xpath, v); err != nil {
			return err
		}
	}
	if doc, err = tx.Save(doc, storage.SaveOptions{}); err != nil {
		return err
	}
	return tx.Fire(storage.Event{Name: "deck.updated", Doc: doc, Extra: map[string]any{"deck": deck.Number(doc)}})
}
