package comment

import (
	"encoding/json"

	"catena/engine"
	"catena/storage"
	"catena/storage/search"
)

// entity is a comment as answers have it.
func entity(c *engine.Ctx, d *storage.Doc, summary bool) (map[string]any, error) {
	up, err := c.Tx.Parent(d)
	if err != nil {
		return nil, err
	}
	above, err := ancestors(c, up)
	if err != nil {
		return nil, err
	}
	note := d.Type().Name == noteType
	out := map[string]any{
		"entity-type": "comment", "id": d.ID(), "parentId": d.ParentID(), "ancestorIds": above, "permissions": c.Tx.Permissions(d),
		"entity": original(storage.Prop[string](d, "externalEntity:entity")),
	}
	for name, xpath := range map[string]string{
		"author": "comment:author", "text": "comment:text", "creationDate": "comment:creationDate",
		"modificationDate": "comment:modificationDate", "entityId": "externalEntity:entityId", "origin": "externalEntity:origin",
	} {
		if out[name], err = d.Get(xpath); err != nil {
			return nil, err
		}
	}
	if note {
		out["entity-type"] = "annotation"
		if out["xpath"], err = d.Get("annotation:xpath"); err != nil {
			return nil, err
		}
	}
	// Only on request: it costs a query for each comment of a list.
	if summary {
		return out, replies(c, d, out)
	}
	return out, nil
}

// original is what another system keeps of a comment: JSON if it is, text if not.
func original(s string) any {
	if s == "" {
		return nil
	}
	var v any
	if json.Unmarshal([]byte(s), &v) == nil {
		return v
	}
	return s
}

// replies adds how many direct replies a comment has.
func replies(c *engine.Ctx, d *storage.Doc, out map[string]any) error {
	page, err := search.Query(c.Tx, "SELECT * FROM Comment WHERE ecm:parentId = ? AND ecm:isTrashed = 0 ORDER BY comment:creationDate DESC", search.Options{
		Args: []any{d.ID()}, PageOptions: storage.PageOptions{Limit: 1},
	})
	if err != nil {
		return err
	}
	out["numberOfReplies"] = page.Total
	if len(page.Docs) > 0 {
		out["lastReplyDate"], err = page.Docs[0].Get("comment:creationDate")
	}
	return err
}
