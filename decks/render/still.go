package render

import (
	"bytes"
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"golang.org/x/net/html"

	"catena/storage/fault"
)

// Still is a picture of a slide.
type Still struct {
	Data []byte
	Type string
}

const (
	stillWidth = 800 // pixels
	// Of JPEG, out of 100: text is still free of visible artefacts.
	stillQuality = 82
)

// Drawer makes pictures of slides.
type Drawer interface {
	// Still draws a slide, all of its fragments shown; the first is 1.
	Still(ctx context.Context, d *Deck, slide int) (*Still, error)
}

// Still draws a slide as the browser shows it.
func (c *Chromium) Still(ctx context.Context, d *Deck, slide int) (*Still, error) {
	only, err := d.only(ctx, slide)
	if err != nil {
		return nil, err
	}
	// As for paper: nothing moves, and all fragments are shown.
	p, err := only.page(ctx, &Options{})
	if err != nil {
		return nil, err
	}
	data, _, err := c.attempt(ctx, func(b *process) ([]byte, error) { return b.still(ctx, p, d.Width, d.Height) })
	if err != nil {
		return nil, err
	}
	return &Still{data, "image/jpeg"}, nil
}

// only is the deck with one slide, and with the style sheets of all.
func (d *Deck) only(ctx context.Context, number int) (*Deck, error) {
	root, slides, err := parse(ctx, d)
	if err != nil {
		return nil, err
	}
	if number < 1 || number > len(slides) {
		return nil, fault.NotFound.Errorf("slide %d: does not exist, the deck has %d", number, len(slides))
	}
	section := slides[number-1].section
	var sheets []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "style" && !within(n, section) {
			sheets = append(sheets, n)
		}
	}
	// A style element in another slide counts for the whole deck, so it must come along.
	for _, s := range sheets {
		s.Parent.RemoveChild(s)
		section.InsertBefore(s, section.FirstChild)
	}
	top := section
	if stack := section.Parent; stack != nil && stack.Data == "section" {
		top = &html.Node{Type: html.ElementNode, Data: stack.Data, DataAtom: stack.DataAtom, Attr: stack.Attr}
		stack.RemoveChild(section)
		top.AppendChild(section)
	}
	var b bytes.Buffer
	if err := html.Render(&b, top); err != nil {
		return nil, err
	}
	out := *d
	out.HTML = b.String()
	return &out, nil
}

func within(n, of *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == of {
			return true
		}
	}
	return false
}

// still takes a picture of the first page.
func (b *process) still(ctx context.Context, p *webPage, width, height int) ([]byte, error) {
	return b.use(ctx, p, func(tab context.Context) ([]byte, error) {
		_, err := chromedp.Call(tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: int64(width), Height: int64(height), DeviceScaleFactor: 1,
		})
		if err != nil {
			return nil, err
		}
		if _, err := chromedp.Call(tab, page.BringToFront, cdp.Empty{}); err != nil {
			return nil, err
		}
		quality, above := int64(stillQuality), true
		got, err := chromedp.Call(tab, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormatJpeg, Quality: &quality, FromSurface: &above, CaptureBeyondViewport: &above,
			Clip: &page.Viewport{Width: float64(width), Height: float64(height), Scale: stillWidth / float64(max(width, 1))},
		})
		return got.Data, err
	})
}
