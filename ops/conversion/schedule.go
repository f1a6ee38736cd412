package conversion

import (
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/hold"
	"catena/storage/outbox"
)

var schedule = engine.Op{
	Name:     "Conversion.Schedule",
	Label:    "Schedule Conversion",
	Category: "Conversion",
	Doc:      "Starts converting a file, or the main file of a document, in the background, and returns the addresses of its state and its result, which are kept for a day.",
	Callers:  engine.Anyone,
	Result:   openapi.Ref("ConversionScheduled"),
	Run:      engine.Overload(engine.On(scheduleParams.blob), engine.On(scheduleParams.doc)),
}

type scheduleParams struct {
	wanted

	Base string `json:"base,omitzero" doc:"Address of the server."`
}

// Kinds of jobs: one converts, the other forgets. Both are enqueued with the record, in the transaction
// of the call: if it fails, there is neither a job without a record nor a record that nobody forgets.
// The names are stored with the jobs and must not change.
const (
	convertJob = "conversion.run"
	endJob     = "conversion.end"
)

const (
	table   = "conversion"
	keptFor = 24 * time.Hour
)

// row is the record of a conversion. Its JSON is a format on disk.
type row struct {
	Owner     string        `json:"owner"`         // an Identity
	Doc       string        `json:"doc,omitempty"` // whose file it is
	Status    string        `json:"status"`
	Converter string        `json:"converter"`
	Source    storage.Blob  `json:"source"`
	Result    *storage.Blob `json:"result,omitempty"`
	Failure   string        `json:"failure,omitempty"`
}

// States of a conversion. One that failed is completed too: its result says what was wrong.
const (
	scheduled = "scheduled"
	running   = "running"
	completed = "completed"
)

func (p scheduleParams) blob(c *engine.Ctx, b *storage.Blob) (map[string]any, error) {
	return p.begin(c, b, "")
}

func (p scheduleParams) begin(c *engine.Ctx, b *storage.Blob, doc string) (map[string]any, error) {
	by, err := p.find(b)
	if err != nil {
		return nil, err
	}
	// A program that is missing now will hardly be there in a moment: better to say so at once.
	if err := by.Missing(tools(c), b.Type); err != nil {
		return nil, err
	}
	id := c.NewID()
	// The file may be an upload, or the document may get another one before the job runs: the hold
	// keeps the content that was asked about.
	if err := hold.Keep(c.Tx, id, b); err != nil {
		return nil, err
	}
	if err := c.Tx.Table(table).Put(id, row{Owner: c.As.Identity(), Doc: doc, Status: scheduled, Converter: by.Name, Source: *b}); err != nil {
		return nil, err
	}
	if err := c.Enqueue(convertJob, id); err != nil {
		return nil, err
	}
	if err := outbox.Enqueue(c.Tx, outbox.Job{Kind: endJob, Due: c.Now.Add(keptFor), Data: []byte(`"` + id + `"`)}); err != nil {
		return nil, err
	}
	return map[string]any{
		"entity-type": "conversionScheduled", "conversionId": id,
		"pollingURL": p.Base + "/api/v1/conversions/" + id + "/poll", "resultURL": resultURL(p.Base, id),
	}, nil
}

func (p scheduleParams) doc(c *engine.Ctx, d *storage.Doc) (map[string]any, error) {
	b, err := mainBlob(d)
	if err != nil {
		return nil, err
	}
	return p.begin(c, b, d.ID())
}

func resultURL(base, id string) string { return base + "/api/v1/conversions/" + id + "/result" }
