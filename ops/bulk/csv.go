package bulk

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// The names, the states and the members of results are the platform's, whose front end has a page that imports
// CSV: it starts an import, polls its status, and then shows the log and the result.

var importCSV = engine.Op{
	Name:     "CSV.Import",
	Label:    "CSVImport",
	Category: "Document",
	Doc: "Creates documents from the rows of a CSV file, or updates those that exist, as the caller, after the commit, in transactions of 50 rows; returns the identifier of the import. " +
		"The first row names the columns: name, the path of a document relative to the folder; type; and properties by xpath. Items of lists are separated by |. " +
		"A row that is rejected changes nothing and does not stop the others. A column of a property that the type of a row does not have is ignored for that row. " +
		"A table that csvExport has written, with the column uid and no column name, updates the documents it was made of: cells that were edited, also to be empty, change properties. " +
		"Rows without an edit are skipped, and rows of documents that have changed since the export are rejected, unless the column changeToken was removed.",
	Callers: engine.Anyone,
	Run:     engine.On(csvParams.run).As("blob", "string"),
}

var csvStatus = engine.Op{
	Name:     "CSV.ImportStatus",
	Label:    "CSVImportStatus",
	Category: "Document",
	Doc:      "Returns the progress of one of the caller's imports of CSV: its state (SCHEDULED, RUNNING, COMPLETED, or ERROR if it failed as a whole) and the numbers of rows. Administrators see those of all users. It is kept for a week.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Fixed("state numberOfProcessedDocument:integer totalNumberOfDocument:integer scheduled:boolean running:boolean complete:boolean", "errorMessage"),
	Run:      engine.On(csvSeen.status).As("string", "map"),
}

var csvLog = engine.Op{
	Name:     "CSV.ImportLog",
	Label:    "CSVImportLog",
	Category: "Document",
	Doc:      "Returns what became of the rows of an import of CSV: for each its line, its status (SUCCESS, SKIPPED or ERROR) and a message. It has at most 10,000 rows, of which at most 1000 succeeded.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.List(openapi.Fields("line:integer status message localizedMessage localizedMessageParams:array", true)),
	Run:      engine.On(csvSeen.log).As("string", "list"),
}

var csvResult = engine.Op{
	Name:     "CSV.ImportResult",
	Label:    "CSVImportResults",
	Category: "Document",
	Doc:      "Returns how many rows of an import of CSV succeeded, were skipped and failed.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Fields("totalLineCount:integer successLineCount:integer skippedLineCount:integer errorLineCount:integer", true),
	Run:      engine.On(csvSeen.result).As("string", "map"),
}

const (
	csvImports = "csv import"
	csvLogs    = "csv import log" // of an import, in batches
	csvBatch   = 50               // rows in one transaction
	csvMost    = 500_000          // rows of a file
	csvLogged  = 10_000           // rows that the log has, so that it fits into a response
	csvSuccess = 1000             // of which so many may be rows that succeeded
	failed     = "ERROR"
)

// csvImport is how an import is kept. Its JSON is a format on disk, like that of a command.
type csvImport struct {
	credential.Actor

	ID, Into     string // Into: identifier of the folder
	File         storage.Blob
	Report, Keep bool // send a report; keep the dates and contributors of the rows

	State                       string
	Total                       int // rows of the file; -1 until they are counted
	Done, Good, Skipped, Failed int
	Logged, Batches             int // entries and batches of the log
	Failure                     string
	Submitted, Changed          time.Time
}

// csvEntry is what the log says of a row. Label is a key of the platform's translations, which Params are filled into.
type csvEntry struct {
	Line    int      `json:"line"`
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Label   string   `json:"localizedMessage"`
	Params  []string `json:"localizedMessageParams,omitempty"`
}

type csvParams struct {
	Path   string `json:"path" doc:"Path or id of the folder that names are relative to."`
	Report bool   `json:"sendReport" default:"false" doc:"Sends a report to the caller by mail when the import has ended."`
	Keep   bool   `json:"documentMode" default:"false" doc:"Keeps dc:created, dc:modified, dc:contributors and dc:lastContributor of the rows. Only for administrators."`
}

// run keeps the file and has it imported after the commit, for the same reasons as command.submit.
func (p csvParams) run(c *engine.Ctx, b *storage.Blob) (string, error) {
	folder, err := c.Tx.Doc(storage.Ref(p.Path))
	if err != nil {
		return "", fault.Wrap(err, "path").In("path")
	}
	if p.Keep && !c.As.Admin && !c.As.System {
		return "", fault.Denied.Errorf("documentMode: only for administrators").In("documentMode")
	}
	im := &csvImport{
		Actor: credential.ActorOf(c.As), ID: c.NewID(), Into: folder.ID(), Report: p.Report, Keep: p.Keep,
		File:  storage.Blob{Name: b.Name, Type: b.Type, Encoding: b.Encoding, Digest: b.Digest, Size: b.Size},
		State: scheduled, Total: -1, Submitted: c.Now, Changed: c.Now,
	}
	if err := hold.Keep(c.Tx, im.ID, b); err != nil {
		return "", err
	}
	for _, o := range []order{{Command: im.ID}, {Command: im.ID, Forget: true}} {
		data, err := json.Marshal(o)
		if err != nil {
			return "", err
		}
		j := outbox.Job{Kind: CSVJobKind, Data: data}
		if o.Forget {
			j.Due = c.Now.Add(kept)
		}
		if err := outbox.Enqueue(c.Tx, j); err != nil {
			return "", err
		}
	}
	return im.ID, im.put(c.Tx)
}

func (im *csvImport) put(tx *storage.Tx) error { return tx.Table(csvImports).Put(im.ID, im) }

func (im *csvImport) over() bool { return im.State == completed || im.State == failed }

// findCSV returns an import of the caller, as find does a command.
func findCSV(tx *storage.Tx, id string) (*csvImport, error) {
	im, as := &csvImport{}, tx.Principal()
	missing := fault.NotFound.Errorf("CSV import %s", id)
	if id == "" {
		return nil, missing
	}
	ok, err := tx.Table(csvImports).Get(id, im)
	if err != nil {
		return nil, err
	}
	if !ok || !im.Is(as) && !as.Admin && !as.System {
		return nil, missing
	}
	return im, nil
}

type csvSeen struct{}

func (csvSeen) status(c *engine.Ctx, id string) (map[string]any, error) {
	im, err := findCSV(c.Tx, id)
	if err != nil {
		return nil, err
	}
	m := map[string]any{
		"state": im.State, "numberOfProcessedDocument": int64(im.Good), "totalNumberOfDocument": int64(im.Total),
		"scheduled": im.State == scheduled, "running": im.State == running, "complete": im.State == completed,
	}
	if im.Failure != "" {
		m["errorMessage"] = im.Failure
	}
	return m, nil
}

func (csvSeen) result(c *engine.Ctx, id string) (map[string]any, error) {
	im, err := findCSV(c.Tx, id)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"totalLineCount": int64(im.Done), "successLineCount": int64(im.Good), "skippedLineCount": int64(im.Skipped), "errorLineCount": int64(im.Failed),
	}, nil
}

func (csvSeen) log(c *engine.Ctx, id string) ([]any, error) {
	if _, err := findCSV(c.Tx, id); err != nil {
		return nil, err
	}
	out := []any{}
	for _, raw := range c.Tx.Table(csvLogs).Scan(id+"/", id+"0", false, 0) {
		var batch []csvEntry
		if err := json.Unmarshal(raw, &batch); err != nil {
			return nil, err
		}
		for _, e := range batch {
			params := make([]any, len(e.Params))
			for i, p := range e.Params {
				params[i] = p
			}
			out = append(out, map[string]any{
				"line": int64(e.Line), "status": e.Status, "message": e.Message, "localizedMessage": e.Label, "localizedMessageParams": params,
			})
		}
	}
	return out, c.Tx.Err()
}

// note counts what became of rows, and puts it into the log as far as that has room.
func (im *csvImport) note(tx *storage.Tx, entries []csvEntry) error {
	for _, e := range entries {
		switch e.Status {
		case "SUCCESS":
			im.Good++
		case "SKIPPED":
			im.Skipped++
		default:
			im.Failed++
		}
	}
	full := im.Good > csvSuccess
	entries = slices.DeleteFunc(entries, func(e csvEntry) bool { return full && e.Status == "SUCCESS" })
	entries = entries[:min(len(entries), csvLogged-im.Logged)]
	if len(entries) == 0 {
		return nil
	}
	key := fmt.Sprintf("%s/%09d", im.ID, im.Batches)
	im.Logged, im.Batches = im.Logged+len(entries), im.Batches+1
	return tx.Table(csvLogs).Put(key, entries)
}
