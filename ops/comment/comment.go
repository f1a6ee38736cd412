// Package comment holds operations on comments, replies, and annotations of a part of a document. Each is a document
// below the one it is about, so that anyone who may read the document may read them, and they go where it goes.
// Anyone who may read may also comment; only the author, or somebody who may do everything there, changes a comment.
//
// A comment is stored by the system, since its author needs no right to create documents below the one
// commented on. What the author may do is decided before, by the operation. The number of comments is a property of the document.
package comment

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// Ops are the operations on comments.
var Ops = []engine.Op{
	count,
	create,
	list,
	moderate,
	read,
	remove,
	update,
}

const (
	category = "Comments"
	typeName = "Comment"
	noteType = "Annotation"
	maxText  = 100_000 // bytes

	numberKey = "infocom:numberOfComments"
)

// subject is what every operation on one comment is told.
type subject struct {
	ID         string `json:"id,omitzero" doc:"The comment's id."`
	EntityID   string `json:"entityId,omitzero" doc:"The comment's id in the system it comes from, used instead of its own."`
	Annotation bool   `json:"annotation" default:"false" doc:"Annotations instead of comments."`
	Summary    bool   `json:"repliesSummary" default:"false" doc:"Include the number of replies and the date of the last one."`
}

// typeOf is the type of documents meant.
func typeOf(annotation bool) string {
	if annotation {
		return noteType
	}
	return typeName
}

// find returns the comment that is meant. It is about d, or a reply to what is.
// Every reason for not finding it gives the same error, so nobody learns of comments elsewhere. The
// permission to read a comment is inherited from the document that it is about.
func (s subject) find(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	typ := typeOf(s.Annotation)
	if s.EntityID != "" {
		return s.external(c, d, typ)
	}
	if s.ID == "" {
		return nil, fault.Invalid.Errorf("comment: neither id nor entityId given").In("id")
	}
	missing := fault.NotFound.Errorf("%s", s.ID)
	found, err := c.Tx.Doc(storage.Ref(s.ID))
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, missing
	case err != nil:
		return nil, err
	case found.Type().Name != typ:
		return nil, missing
	}
	if found.ParentID() == d.ID() {
		return found, nil
	}
	above, err := c.Tx.Ancestors(found)
	if err != nil {
		return nil, err
	}
	for _, a := range above {
		if a.ID() == d.ID() {
			return found, nil
		}
	}
	return nil, missing
}

func (s subject) external(c *engine.Ctx, d *storage.Doc, typ string) (*storage.Doc, error) {
	// Ids of other systems are not checked for uniqueness; of several comments with one id, any is
	// returned.
	page, err := search.Query(c.Tx, "SELECT * FROM Comment WHERE ecm:ancestorId = ? AND ecm:primaryType = ? AND externalEntity:entityId = ?", search.Options{
		Args: []any{d.ID(), typ, s.EntityID}, PageOptions: storage.PageOptions{Limit: 1, CountLimit: -1},
	})
	if err != nil {
		return nil, err
	}
	if len(page.Docs) == 0 {
		return nil, fault.NotFound.Errorf("%s", s.EntityID)
	}
	return page.Docs[0], nil
}

// unlimited is the transaction with the rights of the server, on behalf of who acts.
// The caller must have been checked before: by reading the document for a new comment, by mine for
// a change.
func unlimited(c *engine.Ctx) *storage.Tx {
	as := *c.Tx.Repo().System()
	as.Actor = c.As.Name
	return c.Tx.As(&as)
}

// mine refuses unless the caller wrote the comment or may do everything with it.
func mine(c *engine.Ctx, d *storage.Doc) error {
	if storage.Prop[string](d, "comment:author") == c.As.Name || c.Tx.Can(d, "Everything") {
		return nil
	}
	return fault.Denied.Errorf("comment %s: only its author may change it", d.ID())
}

// words checks what a comment says.
func words(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", fault.Invalid.Errorf("text: must not be empty").In("text")
	}
	if len(s) > maxText {
		return "", fault.Limit.Errorf("text: %d bytes, limit %d", len(s), maxText).In("text")
	}
	return s, nil
}

// about is the document at the end of a line of replies.
// The loop ends because documents form a tree.
func about(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	for d.Type().Name == typeName || d.Type().Name == noteType {
		up, err := c.Tx.Parent(d)
		if err != nil || up == nil {
			return d, err
		}
		d = up
	}
	return d, nil
}
