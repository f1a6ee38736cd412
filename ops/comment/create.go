package comment

import (
	"encoding/json"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

var create = engine.Op{
	Name:     "Comment.Create",
	Label:    "Comment",
	Category: category,
	Doc:      "Adds a comment to the input document, or a reply if the input is itself a comment, and returns it. The caller is the author.",
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Comment"),
	Run:      engine.On(createParams.run),
}

type createParams struct {
	Comment    map[string]any `json:"comment" type:"object" doc:"The comment: text, and entityId, origin, entity, creationDate and modificationDate of one that comes from another system; xpath of an annotation."`
	Annotation bool           `json:"annotation" default:"false" doc:"An annotation instead of a comment."`
}

func (p createParams) run(c *engine.Ctx, d *storage.Doc) (map[string]any, error) {
	said, _ := p.Comment["text"].(string)
	said, err := words(said)
	if err != nil {
		return nil, err
	}
	subject, err := about(c, d)
	if err != nil {
		return nil, err
	}
	// Clients repeat in the body what the address says. A difference shows a mistake that would put
	// the comment in the wrong place.
	if parent, _ := p.Comment["parentId"].(string); parent != "" && parent != d.ID() {
		return nil, fault.Invalid.Errorf("parentId: %s is not the commented document", parent).In("parentId")
	}
	typ := typeOf(p.Annotation)
	above, err := ancestors(c, d)
	if err != nil {
		return nil, err
	}
	props := storage.Props{
		// The author is always the caller; a name in the body is ignored. Dates in the body are
		// taken (see dated), since imported comments keep theirs.
		"dc:title": typ, "comment:text": said, "comment:author": c.As.Name, "comment:creationDate": c.Now,
		"comment:parentId": d.ID(), "comment:ancestorIds": above,
	}
	foreign(p.Comment, props)
	if err := dated(p.Comment, props); err != nil {
		return nil, err
	}
	if xpath, _ := p.Comment["xpath"].(string); p.Annotation && xpath != "" {
		props["annotation:xpath"] = xpath
	}
	made, err := unlimited(c).Create(d, typ, "comment", props)
	if err != nil {
		return nil, err
	}
	extra := map[string]any{"comment": made.ID(), "text": said}
	// The event is fired on the document and not on the comment, as those who follow the document
	// want to hear of it.
	if err := c.Tx.Fire(storage.Event{Name: "commentAdded", Doc: subject, Extra: extra}); err != nil {
		return nil, err
	}
	return entity(c, made, false)
}

// foreign takes over what another system calls the comment.
func foreign(from map[string]any, props storage.Props) {
	for _, name := range [...]string{"entityId", "origin", "entity"} {
		switch v := from[name].(type) {
		case nil:
		case string:
			props["externalEntity:"+name] = v
		default:
			// Objects are stored as JSON text and become objects again in answers (see original).
			if raw, err := json.Marshal(v); err == nil {
				props["externalEntity:"+name] = string(raw)
			}
		}
	}
}

// dated takes over when something was said elsewhere.
func dated(from map[string]any, props storage.Props) error {
	for _, name := range [...]string{"creationDate", "modificationDate"} {
		if from[name] == nil {
			continue
		}
		said, _ := from[name].(string)
		at, err := schema.ParseDate(said)
		if err != nil {
			return fault.Invalid.Errorf("%s: must be a date, not %v", name, from[name]).In(name)
		}
		props["comment:"+name] = at
	}
	return nil
}

// ancestors are the ids of the comments replied to, nearest last, after the document.
func ancestors(c *engine.Ctx, d *storage.Doc) ([]any, error) {
	ids := []any{d.ID()}
	for d.Type().Name == typeName || d.Type().Name == noteType {
		up, err := c.Tx.Parent(d)
		if err != nil || up == nil {
			return ids, err
		}
		ids = append([]any{up.ID()}, ids...)
		d = up
	}
	return ids, nil
}
