package conversion

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

var result = engine.Op{
	Name:     "Conversion.Result",
	Label:    "Conversion Result",
	Category: "Conversion",
	Doc:      "Returns the file produced by a background conversion. It fails before the conversion is completed.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(resultParams.run),
}

type resultParams struct {
	ID string `json:"id" doc:"Id of the conversion."`
}

func (p resultParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	r, err := conversion(c, p.ID)
	switch {
	case err != nil:
		return nil, err
	// The failure was kept as text, so its kind is gone: all that ended in one are Invalid, since a
	// failure that could pass was tried again and never kept.
	case r.Failure != "":
		return nil, fault.Invalid.New(r.Failure)
	case r.Result == nil:
		return nil, fault.NotFound.Errorf("conversion %s: is %s", p.ID, r.Status)
	}
	// The document may have become unreadable for the caller since the conversion was scheduled.
	// Its content in another form must not outlive that permission, so it is looked up again, and
	// the error is that of the document.
	if r.Doc != "" {
		if _, err := c.Tx.Doc(storage.Ref(r.Doc)); err != nil {
			return nil, err
		}
	}
	return hold.Load(c.Tx, *r.Result), nil
}
