package comment

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
)

var update = engine.Op{
	Name:     "Comment.Update",
	Label:    "Update Comment",
	Category: category,
	Doc:      "Changes the text of a comment on the input document and returns it. The author stays the same.",
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Comment"),
	Run:      engine.On(updateParams.run),
}

type updateParams struct {
	ID         string         `json:"id,omitzero" doc:"The comment's id."`
	EntityID   string         `json:"entityId,omitzero" doc:"The comment's id in the system it comes from, used instead of its own."`
	Annotation bool           `json:"annotation" default:"false" doc:"An annotation instead of a comment."`
	Comment    map[string]any `json:"comment" type:"object" doc:"New content of the comment; omitted fields are unchanged."`
}

func (p updateParams) run(c *engine.Ctx, d *storage.Doc) (map[string]any, error) {
	found, err := subject{ID: p.ID, EntityID: p.EntityID, Annotation: p.Annotation}.find(c, d)
	if err != nil {
		return nil, err
	}
	if err := mine(c, found); err != nil {
		return nil, err
	}
	props := storage.Props{"comment:modificationDate": c.Now}
	if said, given := p.Comment["text"].(string); given {
		if props["comment:text"], err = words(said); err != nil {
			return nil, err
		}
	}
	// The date of creation is not taken from the body here, unlike in Comment.Create: it is history
	// by now.
	foreign(p.Comment, props)
	if xpath, given := p.Comment["xpath"].(string); given && p.Annotation {
		props["annotation:xpath"] = xpath
	}
	for name, v := range props {
		if err := found.Set(name, v); err != nil {
			return nil, err
		}
	}
	if found, err = unlimited(c).Save(found, storage.SaveOptions{}); err != nil {
		return nil, err
	}
	if err := tell(c, found, "commentUpdated"); err != nil {
		return nil, err
	}
	return entity(c, found, false)
}

// tell fires an event on the document that a comment is about.
func tell(c *engine.Ctx, d *storage.Doc, event string) error {
	subject, err := about(c, d)
	if err != nil {
		return err
	}
	return c.Tx.Fire(storage.Event{Name: event, Doc: subject, Extra: map[string]any{"comment": d.ID()}})
}
