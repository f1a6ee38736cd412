package conversion

import (
	"bytes"
	"cmp"
	"encoding/json"
	"image"
	"maps"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// viewsField is where a picture keeps its views.
const viewsField = "picture:views"

// maxViews bounds the views of a picture.
const maxViews = 20

// views are the measures of the usual views, in pixels.
var views = map[string][2]int{"FullHD": {1920, 1080}, "Medium": {1000, 1000}, "Small": {300, 300}, "Thumbnail": {100, 100}}

// viewTemplate describes a view that is to be made.
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
		side, _ := t.MaxSize.Int64()
		small := b
		if side > 0 && isPicture(b) {
			if small, err = resized(c, b, int(side), int(side)); err != nil {
				return nil, err
			}
		}
		view, err := viewOf(cmp.Or(t.Title, name), small)
		if err != nil {
			return nil, err
		}
		view["description"], view["tag"], view["source"] = t.Description, t.Tag, b.Digest
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

// viewOf describes a file as a view; the measures of what is no picture are not known.
func viewOf(title string, b *storage.Blob) (map[string]any, error) {
	view := map[string]any{"title": title, "filename": b.Name, "content": b}
	if !isPicture(b) {
		return view, nil
	}
	head, err := b.Bytes(maxHead)
	if fault.Is(err, fault.Limit) {
		return view, nil
	}
	if err != nil {
		return nil, err
	}
	if conf, format, err := image.DecodeConfig(bytes.NewReader(head)); err == nil {
		view["width"], view["height"] = int64(conf.Width), int64(conf.Height)
		view["info"] = map[string]any{"width": int64(conf.Width), "height": int64(conf.Height), "format": format}
	}
	return view, nil
}

// maxHead bounds the bytes of a file that is read for its measures.
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
	if !d.HasFacet("Picture") {
		return nil, nil
	}
	b, err := d.MainBlob()
	if err != nil || b == nil || p.Name == "" || p.Name == "Original" {
		return b, err
	}
	kept, err := keptView(d, p.Name, b)
	if kept != nil || err != nil {
		return kept, err
	}
	size, ok := views[p.Name]
	if !ok {
		return nil, nil
	}
	return resized(c, b, size[0], size[1])
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
	if err != nil || !d.HasFacet("Picture") || !isPicture(b) {
		return d, err
	}
	var list []any
	for _, name := range []string{"Original", "FullHD", "Medium", "Small", "Thumbnail"} {
		small := b
		if size, ok := views[name]; ok {
			if small, err = resized(c, b, size[0], size[1]); err != nil {
				return nil, err
			}
		}
		view, err := viewOf(name, small)
		if err != nil {
			return nil, err
		}
		view["source"] = b.Digest
		list = append(list, view)
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

// inBulk has an operation run on all that a query finds, after the commit.
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
