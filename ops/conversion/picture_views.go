package conversion

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"maps"
	"slices"

	"catena/engine"
	"catena/engine/convert"
	"catena/storage"
	"catena/storage/fault"
)

// pictureFacet marks pictures.
const pictureFacet = "Picture"

// Where a picture keeps its views, and its measures.
const (
	viewsField  = "picture:views"
	pictureInfo = "picture:info"
)

// maxViews bounds the views of a picture. Each is a file that is made during the call and kept with the
// document. The platform declares five, and pictures are drawn one after the other on the whole server
// (engine/convert), so a longer list would hold up everyone.
const maxViews = 20

// usualView is a view that every picture has, with its measures in pixels; the original has none.
type usualView struct {
	name          string
	width, height int
}

// usualViews are the usual views in their order.
var usualViews = []usualView{{"Original", 0, 0}, {"FullHD", 1920, 1080}, {"Medium", 1000, 1000}, {"Small", 300, 300}, {"Thumbnail", 100, 100}}

// viewTemplate describes a view that is to be made. The members are those of the platform's
// PictureTemplate; a client may send a template as an object or as JSON text.
type viewTemplate struct {
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Tag         string      `json:"tag"`
	MaxSize     json.Number `json:"maxsize"` // longest side in pixels; none: as the original
}

// views makes the views that the templates describe.
func (p pictureCreateParams) views(c *engine.Ctx, b *storage.Blob) ([]any, error) {
	if len(p.Templates) > maxViews {
		return nil, fault.Limit.Errorf("pictureTemplates: %d views, at most %d are allowed", len(p.Templates), maxViews).In("pictureTemplates")
	}
	list := make([]any, 0, len(p.Templates))
	for _, name := range slices.Sorted(maps.Keys(p.Templates)) {
		t, err := templateOf(p.Templates[name])
		if err != nil {
			return nil, fault.Wrap(err, "pictureTemplates: %s", name).In("pictureTemplates")
		}
		// A size that is missing or is not an integer gives 0, which leaves the view as large as
		// the original.
		side, _ := t.MaxSize.Int64()
		view, err := viewOf(c, tools(c), b, usualView{cmp.Or(t.Title, name), int(side), int(side)})
		if err != nil {
			return nil, err
		}
		view["description"], view["tag"] = t.Description, t.Tag
		list = append(list, view)
	}
	return list, nil
}

func templateOf(v any) (t viewTemplate, err error) {
	raw, isText := v.(string)
	if !isText {
		b, err := json.Marshal(v)
		if err != nil {
			return t, err
		}
		raw = string(b)
	}
	if err := json.Unmarshal([]byte(raw), &t); err != nil {
		return t, fault.Invalid.Errorf("%w", err)
	}
	return t, nil
}

// viewOf makes a view of a file and describes it. A file that is not a picture is its own view, whose measures are not known.
func viewOf(ctx context.Context, t convert.Tools, of *storage.Blob, u usualView) (map[string]any, error) {
	b := of
	if u.width > 0 && isPicture(of) {
		var err error
		if b, err = shown(ctx, t, of, u.width, u.height); err != nil {
			return nil, err
		}
	}
	// Source is ours and not in the platform's schema: the digest of the file the view was made of.
	// It shows when the file was replaced and the kept views are out of date (keptView).
	view := map[string]any{"title": u.name, "filename": b.Name, "content": b, "source": of.Digest}
	if !isPicture(b) {
		return view, nil
	}
	head, err := b.Bytes(maxHead)
	// Too large to be measured is no failure: the view is complete without width and height, which
	// are optional.
	if fault.Is(err, fault.Limit) {
		return view, nil
	}
	if err != nil {
		return nil, err
	}
	if conf, format, err := image.DecodeConfig(bytes.NewReader(head)); err == nil {
		view["width"], view["height"] = int64(conf.Width), int64(conf.Height)
		depth, space := colorsOf(conf.ColorModel)
		view["info"] = map[string]any{"width": int64(conf.Width), "height": int64(conf.Height), "format": format, "depth": depth, "colorSpace": space}
	}
	return view, nil
}

// colorsOf are the bits of each colour of a picture, and its colours by the names that ImageMagick, and so the platform, has.
func colorsOf(m color.Model) (depth int64, space string) {
	switch m {
	case color.GrayModel:
		return 8, "Gray"
	case color.Gray16Model:
		return 16, "Gray"
	case color.CMYKModel:
		return 8, "CMYK"
	case color.RGBA64Model, color.NRGBA64Model:
		return 16, "sRGB"
	}
	return 8, "sRGB"
}

// viewsOf makes the usual views of a picture. Each is made of the one before, which is smaller than the file: decoding a
// photograph takes longer than all the rest.
func viewsOf(ctx context.Context, t convert.Tools, of *storage.Blob) ([]any, error) {
	list := make([]any, len(usualViews))
	from := of
	for i, u := range usualViews {
		view, err := viewOf(ctx, t, from, u)
		if err != nil {
			return nil, err
		}
		if b, ok := view["content"].(*storage.Blob); ok {
			from = b
		}
		view["source"], list[i] = of.Digest, view
	}
	return list, nil
}

// shown makes a picture fit, in a format that browsers show.
func shown(ctx context.Context, t convert.Tools, b *storage.Blob, width, height int) (*storage.Blob, error) {
	by := resizer
	if convert.Unshown(b.Type) {
		by = "pictureToJPEG"
	}
	return scaled(ctx, t, by, b, usualView{width: width, height: height})
}

// maxHead bounds the bytes of a file that is read for its measures. The measures are at the beginning of
// a file, but formats may put long metadata before them, and Bytes reads all or nothing. 32 MiB hold
// nearly every photograph, and bound the memory that one view takes.
const maxHead = 32 << 20

var pictureView = engine.Op{
	Name:     "Picture.GetView",
	Aliases:  []string{"Picture.getView"},
	Label:    "Get image view",
	Category: "Conversion",
	Doc: "Returns a view of a picture: one of its own, or Original, FullHD, Medium, Small or Thumbnail; without a name, its file. " +
		"Returns nothing if the document is not a picture or the view does not exist.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(pictureViewParams.run),
}

type pictureViewParams struct {
	Name string `json:"viewName,omitzero" doc:"Name of the view."`
}

func (p pictureViewParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	if !d.HasFacet(pictureFacet) {
		return nil, nil
	}
	b, err := d.MainBlob()
	if err != nil || b == nil || p.Name == "" || p.Name == "Original" {
		return b, err
	}
	// Kept views come first, since a picture may have views of its own under any name; one of the
	// usual names that is not kept is made for this answer and not stored, because reading a
	// document must not change it.
	kept, err := keptView(d, p.Name, b)
	if kept != nil || err != nil {
		return kept, err
	}
	i := slices.IndexFunc(usualViews, func(u usualView) bool { return u.name == p.Name })
	if i < 0 {
		return nil, nil
	}
	return shown(c, tools(c), b, usualViews[i].width, usualViews[i].height)
}

// keptView returns a view that the picture itself has of its file, nil if there is none of the name.
func keptView(d *storage.Doc, name string, of *storage.Blob) (*storage.Blob, error) {
	v, err := d.Get(viewsField)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	for _, item := range list {
		view, _ := item.(map[string]any)
		// A view without a source was written by a client or imported from the platform, and is
		// trusted; one of another file than the present one is passed over and made again.
		if source := view["source"]; view["title"] == name && (source == nil || source == "" || source == of.Digest) {
			b, _ := view["content"].(*storage.Blob)
			return b, nil
		}
	}
	return nil, nil
}

var computeViews = engine.Op{
	Name:     "Picture.ComputeViews",
	Label:    "Compute Picture Views",
	Category: "Services",
	Doc: "Makes the usual views of a picture, Original, FullHD, Medium, Small and Thumbnail, stores them in picture:views and returns the document. " +
		"A document that is not a picture, or has no file that can be made smaller, is left unchanged.",
	Callers: engine.Anyone,
	Run:     engine.Each(computeViewsParams.run),
}

type computeViewsParams struct{}

func (computeViewsParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	b, err := d.MainBlob()
	if err != nil || !d.HasFacet(pictureFacet) || !isPicture(b) {
		return d, err
	}
	list, err := viewsOf(c, tools(c), b)
	if err != nil {
		return nil, err
	}
	if err := d.Set(viewsField, list); err != nil {
		return nil, err
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}

var recomputeViews = engine.Op{
	Name:     "Picture.RecomputeViews",
	Label:    "Recompute Picture Views",
	Category: "Services",
	Since:    "10.3",
	Doc:      "Makes the views of all pictures that a query finds again, after the commit, in batches.",
	Callers:  engine.Admins,
	Run:      engine.On(recomputeViewsParams.run),
}

type recomputeViewsParams struct {
	Query string `json:"query" names:"query" values:"SELECT * FROM Document WHERE ecm:mixinType = 'Picture' AND picture:views/*/title IS NULL" doc:"Query that finds the pictures."`
}

func (p recomputeViewsParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, inBulk(c, p.Query, computeViews.Name)
}

// inBulk has an operation run on all that a query finds, after the commit. The query runs with the
// rights of the administrator who calls. The work is a bulk command of its own after the commit: the
// pictures of a whole repository would exceed the time and the size of one transaction.
func inBulk(c *engine.Ctx, query, op string) error {
	parameters, err := json.Marshal(map[string]any{"operationId": op})
	if err != nil {
		return err
	}
	_, err = c.Call("Bulk.RunAction", nil, map[string]any{"action": "automation", "query": query, "parameters": string(parameters)})
	return err
}

var recomputeThumbnails = engine.Op{
	Name:     "RecomputeThumbnails",
	Label:    "Recompute Thumbnails",
	Category: "Services",
	Since:    "10.10",
	Doc:      "Makes the thumbnails of all documents that a query finds again, after the commit, in batches.",
	Callers:  engine.Admins,
	Run:      engine.On(recomputeThumbnailsParams.run),
}

type recomputeThumbnailsParams struct {
	Query string `json:"query" names:"query" values:"SELECT * FROM Document WHERE ecm:mixinType = 'Thumbnail' AND thumb:thumbnail IS NULL AND ecm:isVersion = 0 AND ecm:isProxy = 0 AND ecm:isTrashed = 0" doc:"Query that finds the documents."`
}

func (p recomputeThumbnailsParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, inBulk(c, p.Query, computeThumbnail.Name)
}
