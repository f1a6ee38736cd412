package main

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"catena/engine"
	"catena/engine/pdf"
	"catena/rest"
	"catena/scripts"
	"catena/storage"
)

// limits are the bounds that the packages hold.
type limits struct {
	rest    rest.Limits
	storage storage.Limits
	engine  engine.Limits
	pdf     pdf.Limits
	scripts scripts.Limits
}

// flags defines a flag for each bound, which has its default from then on.
func (l *limits) flags(f *pflag.FlagSet) {
	*l = limits{rest.DefaultLimits, storage.DefaultLimits, engine.DefaultLimits, pdf.DefaultLimits, scripts.DefaultLimits}
	f.IntVar(&l.rest.Rate, "rate", l.rest.Rate, "requests a minute that one key has at the deck service and its tools; negative: any number")
	f.DurationVar(&l.scripts.Wall, "script-time", l.scripts.Wall, "longest time a script may run; 10s is the most")
	f.DurationVar(&l.storage.DownloadTime, "download-time", l.storage.DownloadTime, "how long the address of an exported deck works; 15m suits servers whose addresses might leak")
	for _, b := range slices.Concat(restLimits(&l.rest), storageLimits(&l.storage), engineLimits(&l.engine), pdfLimits(&l.pdf), scriptLimits(&l.scripts)) {
		f.Var(b.v, "limit-"+b.name, b.what)
	}
}

// limit is a bound that has a flag.
type limit struct {
	name string
	v    pflag.Value
	what string
}

func restLimits(r *rest.Limits) []limit {
	return []limit{
		{"async-runs", count(&r.Runs), "asynchronous runs kept at once"},
		{"async-runs-user", count(&r.UserRuns), "asynchronous runs of one user"},
		{"async-results", size(&r.UserResults), "size of the results of one user's asynchronous runs that wait to be read"},
		{"async-time", span(&r.KeepRuns), "how long the result of an asynchronous run waits to be read"},
		{"batch-requests", count(&r.Batch), "requests of one batch"},
		{"body-time", span(&r.Body), "time to send a JSON body"},
		{"connections", count(&r.Connections), "connections open at once"},
		{"connections-address", count(&r.PeerConnections), "connections of one address that is none of trusted-proxies"},
		{"files", count(&r.Parts), "files in the body of one request"},
		{"head", size(&r.HeaderBytes), "size of a request's head"},
		{"head-time", span(&r.Header), "time to send a request's head"},
		{"idle-time", span(&r.Idle), "time between two requests of a connection"},
		{"json", size(&r.JSON), "size of a JSON body"},
		{"stall-time", span(&r.Stall), "longest pause while a file comes in or an answer goes out"},
	}
}

func storageLimits(s *storage.Limits) []limit {
	return []limit{
		{"batches", count(&s.Batches), "batches of uploaded files that one user may have open"},
		{"call-events", count(&s.EventsACall), "events of one call"},
		{"collections", count(&s.Collections), "collections that one document is in"},
		{"content-cache", size(&s.BlobCache), "size of what is read of the content in a bucket and kept on the disk, the oldest going first"},
		{"devices", count(&s.Tokens), "tokens of one user's devices"},
		{"event-depth", count(&s.EventDepth), "events fired by events"},
		{"export-style", size(&s.ExportStyle), "size of the style sheet of a deck that is exported"},
		{"file", size(&s.BlobSize), "size of one file"},
		{"folder-depth", count(&s.PathDepth), "levels of the tree of documents"},
		{"members", count(&s.Members), "documents of one collection"},
		{"name", size(&s.NameLength), "size of a document's name"},
		{"page", count(&s.PageSize), "entries of one page"},
		{"query-count", count(&s.CountLimit), "where totals of results stop that are bounded"},
		{"query-rows", count(&s.ScanRows), "rows of indexes that one query reads"},
		{"related", count(&s.Related), "documents that one document is related to"},
		{"subscriptions", count(&s.Subscriptions), "subscriptions of one user"},
		{"subscriptions-document", count(&s.DocSubscriptions), "subscriptions of all users to one document"},
		{"sync-changes", count(&s.SyncChanges), "changes that a summary for one who synchronizes tells; if there are more, everything is read again"},
		{"sync-roots", count(&s.SyncRoots), "folders that one user synchronizes"},
		{"tree", count(&s.TreeCopy), "documents that one call copies or deletes"},
		{"ui-list", count(&s.UIList), "documents of the clipboard, the worklist, or another list of a user interface"},
		{"ui-session-size", size(&s.UISessionSize), "size of one session of a user interface, and of all lists of one user"},
		{"ui-session-time", span(&s.UISessionTime), "how long a session of a user interface is kept after its last change"},
		{"ui-sessions", count(&s.UISessions), "sessions of user interfaces that one user may have"},
		{"uploads", size(&s.UploadBytes), "size of all files that one user has in batches"},
		{"workflow-actors", count(&s.WorkflowActors), "people and groups that one node of a workflow gives tasks to"},
		{"workflow-steps", count(&s.WorkflowSteps), "nodes that a workflow goes through before somebody has a task or it ends"},
	}
}

func engineLimits(e *engine.Limits) []limit {
	return []limit{
		{"call-depth", count(&e.Depth), "calls within calls"},
		{"call-operations", count(&e.Ops), "operations of one call"},
		{"call-time", span(&e.Time), "time of one call; a request may ask for less"},
		{"chain-steps", count(&e.Steps), "steps of a chain"},
		{"computations", count(&e.Computations.Total), "long evaluations of templates and expressions at once"},
		{"computations-queue", count(&e.Computations.Queue), "callers that wait for others' long evaluations to end"},
		{"computations-queue-time", span(&e.Computations.Wait), "how long they wait"},
		{"computations-user", count(&e.Computations.PerUser), "long evaluations of one user at once"},
		{"failed-runs", count(&e.Failed), "failed runs kept"},
		{"failed-runs-minute", count(&e.FailedRate), "failed runs of one user that are kept of a minute"},
		{"failed-runs-size", size(&e.FailedSize), "size of the parameters of a failed run that are kept, of its input, and of its trace"},
		{"failed-runs-time", span(&e.KeepFailed), "how long failed runs are kept"},
		{"failed-runs-user", count(&e.UserFailed), "failed runs of one user"},
		{"reply", size(&e.Replies), "size of an answer kept for an idempotency key"},
		{"template-depth", count(&e.Template.Depth), "what is within something else in a template, and macros that call macros"},
		{"template-output", size(&e.Template.Output), "size of what a template makes"},
		{"template-source", size(&e.Template.Source), "size of a template"},
		{"template-steps", count(&e.Template.Steps), "steps of one rendering of a template"},
		{"trace-steps", count(&e.TraceSteps), "steps of one trace"},
		{"trace-time", span(&e.TraceMinute), "how long a trace is kept"},
		{"traces", count(&e.TraceRuns), "traces kept"},
	}
}

func pdfLimits(p *pdf.Limits) []limit {
	return []limit{
		{"pdf-files", count(&p.Files), "PDF files that one operation reads"},
		{"pdf-pages", count(&p.Pages), "pages of the PDF files that one operation reads"},
		{"pdf-pictures", count(&p.Pictures), "pages of a PDF file that are made into pictures at once"},
		{"pdf-size", size(&p.Bytes), "size of the PDF files that one operation reads"},
	}
}

func scriptLimits(c *scripts.Limits) []limit {
	return []limit{
		{"script-calls", count(&c.Calls), "operations that one script calls"},
		{"script-cpu", span(&c.CPU), "processor time of one script"},
		{"script-log", size(&c.Log), "size of a script's console output"},
		{"script-memory", size(&c.Memory), "memory of a script's process"},
		{"script-queue", count(&c.QueueLimit), "callers that wait for a script process"},
		{"script-queue-time", span(&c.QueueWait), "how long they wait"},
		{"script-result", size(&c.Output), "size of a script's result"},
		{"script-source", size(&c.Source), "size of a script's source"},
		{"script-spares", count(&c.Spares), "script processes kept ready; 4 are the most"},
		{"script-stack", count(&c.Stack), "nested calls of a script"},
		{"script-workers", count(&c.Workers), "script processes at work at once"},
		{"script-workers-user", count(&c.PerUser), "script processes at work for one user"},
	}
}

// bound is the value of a flag that has to be more than nothing.
type bound[T int | int64 | time.Duration] struct {
	v     *T
	kind  string
	parse func(string) (T, error)
	print func(T) string
}

func count(v *int) pflag.Value { return &bound[int]{v, "number", strconv.Atoi, strconv.Itoa} }

func span(v *time.Duration) pflag.Value {
	return &bound[time.Duration]{v, "duration", time.ParseDuration, time.Duration.String}
}

// size is in bytes, and may have a unit.
func size[T int | int64](v *T) pflag.Value {
	return &bound[T]{v, "bytes", func(s string) (T, error) {
		n, err := humanize.ParseBytes(s)
		if n > math.MaxInt64 {
			return 0, strconv.ErrRange
		}
		return T(n), err
	}, func(n T) string { return exactly(int64(n)) }}
}

// exactly is a number of bytes with the largest unit that loses nothing.
func exactly(n int64) string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if shift := 40 - 10*i; n > 0 && n%(1<<shift) == 0 {
			return strconv.FormatInt(n>>shift, 10) + " " + unit
		}
	}
	return strconv.FormatInt(n, 10) + " B"
}

// forms say what values of each kind look like.
var forms = map[string]string{"bytes": "bytes, as 10 MiB", "duration": "time, as 30s or 2h", "number": "a number"}

// Set takes a text that says more than nothing.
func (b *bound[T]) Set(text string) error {
	v, err := b.parse(text)
	switch {
	case err != nil:
		return errors.New(forms[b.kind] + ", expected")
	case v <= 0:
		return errors.New("a bound has to be more than nothing")
	}
	*b.v = v
	return nil
}

func (b *bound[T]) String() string { return b.print(*b.v) }

// Type is what the help calls the value.
func (b *bound[T]) Type() string { return b.kind }
