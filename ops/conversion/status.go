package conversion

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/fault"
)

var status = engine.Op{
	Name:     "Conversion.Status",
	Label:    "Conversion Status",
	Category: "Conversion",
	Doc:      "Returns the state of a background conversion: scheduled, running or completed. Only the user who started it sees it.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("ConversionStatus"),
	Run:      engine.On(statusParams.run).As("void", "map"),
}

type statusParams struct {
	ID   string `json:"id" doc:"Id of the conversion."`
	Base string `json:"base,omitzero" doc:"Address of the server."`
}

func (p statusParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	r, err := conversion(c, p.ID)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"entity-type": "conversionStatus", "conversionId": p.ID, "status": r.Status, "resultURL": resultURL(p.Base, p.ID),
	}, nil
}

// conversion returns the record of one of the caller's conversions.
func conversion(c *engine.Ctx, id string) (*row, error) {
	r := &row{}
	// Ids are UUIDs of 36 characters. What is longer cannot be one, and keys of tables are limited.
	if id == "" || len(id) > 100 {
		return nil, fault.NotFound.Errorf("conversion %.100s", id)
	}
	found, err := c.Tx.Table(table).Get(id, r)
	// Somebody else's conversion is answered like one that does not exist: an id must not confirm
	// that it is in use.
	if err == nil && (!found || r.Owner != c.As.Identity()) {
		err = fault.NotFound.Errorf("conversion %s", id)
	}
	return r, err
}
