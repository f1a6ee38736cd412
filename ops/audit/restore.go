package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Bounds of a file of records, all of which are in memory, and of the records in one transaction.
const (
	maxRestored = 64 << 20 // bytes
	maxBatch    = 1000
)

// restore is for administrators only and not for stored chains: who may write the past of the log may write anything.
var restore = engine.Op{
	Name:     "Audit.Restore",
	Label:    "Restore log entries",
	Category: "Services",
	Doc: "Restores audit records from a file: the input, or the main file of the document that auditStorage names. The file has the records " +
		"as Audit.Query or @audit return them, as a JSON array, an object with entries, or JSON Lines. Records keep their time, user and document, are " +
		"marked as written by a client, and name in their extended part who restored them. Records that are in the log already are left alone, so the operation can be repeated. " +
		"Each batch has a transaction of its own, which stays when a later one fails. With a file as input, the result has the numbers of records restored and skipped.",
	Callers: engine.Admins,
	Result:  openapi.Fields("restored:integer skipped:integer", true),
	Run:     engine.Overload(engine.On(restoreParams.void), engine.On(restoreParams.blob)),
}

type restoreParams struct {
	Storage   string `json:"auditStorage,omitzero" doc:"Path or id of the document whose main file has the records; required without an input."`
	Batch     int    `json:"batchSize" type:"int" default:"100" min:"1" max:"1000" doc:"Records in one transaction, at most 1000."`
	KeepAlive int    `json:"keepAlive" type:"int" default:"10" unused:"true" doc:"Accepted but ignored."`
}

func (p restoreParams) void(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	if p.Storage == "" {
		return engine.Void{}, fault.Invalid.Errorf("auditStorage: is missing, and there is no file as input").In("auditStorage").WithCode(fault.CodeMissingParameter)
	}
	d, err := c.Tx.Doc(storage.Ref(p.Storage))
	if err != nil {
		return engine.Void{}, err
	}
	b, err := d.MainBlob()
	if err != nil {
		return engine.Void{}, err
	}
	if b == nil {
		return engine.Void{}, fault.Invalid.Errorf("auditStorage: document %s has no file", d.Path()).In("auditStorage")
	}
	_, err = p.blob(c, b)
	return engine.Void{}, err
}

func (p restoreParams) blob(c *engine.Ctx, b *storage.Blob) (map[string]any, error) {
	if p.Batch < 1 || p.Batch > maxBatch {
		return nil, fault.Invalid.Errorf("batchSize: %d is not between 1 and %d", p.Batch, maxBatch).In("batchSize")
	}
	data, err := b.Bytes(maxRestored)
	if err != nil {
		return nil, err
	}
	entries, err := entriesIn(c, data)
	if err != nil {
		return nil, fault.Wrap(err, "file %q", b.Name).In("input")
	}
	batches := slices.Collect(slices.Chunk(entries, p.Batch))
	numbers := make([]any, len(batches))
	for i := range batches {
		numbers[i] = int64(i)
	}
	added := 0
	if len(batches) > 0 {
		outs, err := c.Apart(engine.Part{Op: "Audit.Restore", Input: b.Digest, Items: numbers, Isolate: true, Run: func(c *engine.Ctx, _, item any) (any, error) {
			return restoreBatch(c, batches[item.(int64)])
		}})
		if err != nil {
			return nil, err
		}
		for _, n := range outs {
			added += int(n.(int64))
		}
	}
	if err := c.Tx.LogEntry(storage.Entry{Event: "auditRestored", Category: "Automation", Comment: fmt.Sprintf("%d of %d records", added, len(entries))}); err != nil {
		return nil, err
	}
	return map[string]any{"restored": int64(added), "skipped": int64(len(entries) - added)}, nil
}

// restoreBatch writes the records that are missing and returns their number.
func restoreBatch(c *engine.Ctx, batch []storage.Entry) (any, error) {
	n := int64(0)
	for i := range batch {
		added, err := batch[i].Restore(c.Tx)
		if err != nil {
			return nil, err
		}
		if added {
			n++
		}
	}
	return n, nil
}

// savedRecord is a record in either of the forms in which the server gives records away; names of one form that differ in the
// other have a field each.
type savedRecord struct {
	ID        int64           `json:"id"`
	Event     string          `json:"eventId"`
	Category  string          `json:"category"`
	Date      json.RawMessage `json:"eventDate"` // milliseconds, or a text
	User      string          `json:"principalName"`
	Principal string          `json:"principal"`
	DocID     string          `json:"docUUID"`
	DocType   string          `json:"docType"`
	DocPath   string          `json:"docPath"`
	DocState  string          `json:"docLifeCycle"`
	Repo      string          `json:"repositoryId"`
	RepoID    string          `json:"repoId"`
	Comment   string          `json:"comment"`
	Source    string          `json:"source"`
	Extended  map[string]any  `json:"extended"`
}

// entriesIn reads records from a file: an array, an object with a member entries, or an object a line.
func entriesIn(c *engine.Ctx, data []byte) ([]storage.Entry, error) {
	data = bytes.TrimSpace(data)
	var raws []json.RawMessage
	if len(data) > 0 && data[0] == '[' {
		if err := json.Unmarshal(data, &raws); err != nil {
			return nil, fault.Invalid.Errorf("is not a JSON array: %w", err)
		}
	} else {
		dec := json.NewDecoder(bytes.NewReader(data))
		for {
			var raw json.RawMessage
			if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fault.Invalid.Errorf("record %d: is not JSON: %w", len(raws)+1, err)
			}
			raws = append(raws, raw)
		}
		var page struct{ Entries []json.RawMessage }
		if len(raws) == 1 && json.Unmarshal(raws[0], &page) == nil && page.Entries != nil {
			raws = page.Entries
		}
	}
	entries := make([]storage.Entry, len(raws))
	for i, raw := range raws {
		if i&1023 == 0 && c.Err() != nil {
			return nil, c.Err()
		}
		var err error
		if entries[i], err = entryIn(raw, c.Tx.Repo().Name(), c.Now); err != nil {
			return nil, fault.Wrap(err, "record %d", i+1)
		}
	}
	return entries, nil
}

// entryIn reads one record, of this repository.
func entryIn(raw json.RawMessage, repo string, now time.Time) (e storage.Entry, err error) {
	var r savedRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return e, fault.Invalid.Errorf("is not an audit record: %w", err)
	}
	for _, other := range []string{r.Repo, r.RepoID} {
		if other != "" && other != repo {
			return e, fault.Invalid.Errorf("repositoryId: is of repository %s, not of %s", other, repo)
		}
	}
	e = storage.Entry{
		ID: r.ID, Event: r.Event, Category: r.Category, User: r.User, Comment: r.Comment, Source: r.Source, Extended: r.Extended,
		DocID: r.DocID, DocPath: r.DocPath, DocType: r.DocType, DocState: r.DocState,
	}
	if e.User == "" {
		e.User = r.Principal
	}
	var text string
	var millis int64
	switch {
	case json.Unmarshal(r.Date, &text) == nil && text != "":
		if e.Time, err = schema.ParseDate(text); err != nil {
			return e, fault.Invalid.Errorf("eventDate: %q is not a date", text)
		}
	case json.Unmarshal(r.Date, &millis) == nil:
		e.Time = time.UnixMilli(millis)
	}
	switch {
	case e.Event == "":
		return e, fault.Invalid.Errorf("eventId: is missing")
	case e.Time.IsZero():
		return e, fault.Invalid.Errorf("eventDate: is missing")
	case e.Time.After(now):
		return e, fault.Invalid.Errorf("eventDate: %s is in the future", e.Time.UTC().Format(time.RFC3339))
	}
	return e, nil
}
