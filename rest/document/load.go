package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"slices"

	"catena/engine"
	"catena/engine/lines"
	"catena/rest"
	"catena/storage/fault"
)

// Bounds of a transaction of a load, and of a record.
const (
	maxLoadRecords = 1000
	loadBytes      = 1 << 20
	maxRecord      = 1 << 20
	maxLoadWorkers = 8
)

// usualLoad is how many records a transaction has, and how many run at a time, unless batchSize and workers say otherwise. A database that
// other servers may use is asked across a network: it works on some transactions while others are prepared. If records are looked for
// by a key, that would be in vain: a document that is not there is made by one of them, which has the others run again.
func usualLoad(shared bool, key string) (records, workers int) {
	switch {
	case !shared:
		return 100, 1
	case key != "":
		return 200, 1
	}
	return 200, 4
}

// loadQuery are the parameters of Bulk.Load that the query gives, and those of the load.
const loadQuery = "into type key existing format batchSize workers dryRun"

// load makes documents of the records in the body, in transactions of bounded size, and answers with a line for each
// record once its transaction is committed. The last line is the sum. The body is taken in first, for few clients read
// an answer while they send.
func load(x *rest.Request) error {
	l, format, err := newLoading(x)
	if err != nil {
		return err
	}
	body, err := x.SpoolFrom("records", "text/plain", x.Moving())
	if err != nil {
		return err
	}
	x.BodyRead()
	in, err := body.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	if l.in, err = lines.NewReader(in, format, maxRecord); err != nil {
		return err
	}
	err = l.all()
	switch {
	case err == nil:
		return l.end(nil)
	case x.Status == 0:
		return err
	case rest.Gone(x.HTTP.Context(), err):
		x.Abort()
		return nil
	}
	if !fault.Shown(err) {
		x.Report(http.StatusInternalServerError, "load was interrupted", err)
		err = fault.Internal.Errorf("internal error")
	}
	return l.end(err)
}

// loading is a load on its way.
type loading struct {
	x       *rest.Request
	in      *lines.Reader
	params  rest.RawParams // of every call
	about   lines.Loading  // what records say nothing about
	dry     bool
	most    int           // records of a transaction
	workers int           // transactions at a time
	busy    chan struct{} // has an element for each of them that is under way
	batch   []lines.Record
	bytes   int
	under   []*part          // what is being carried out, in the order of the records
	begun   int64            // records of the parts so far
	order   engine.Sequence  // of the parts
	done    map[string]int64 // records by what became of them
}

// part are records of one transaction.
type part struct {
	records []lines.Record
	before  int64            // records of earlier parts
	links   *lines.Links     // nil: there is no other one at the same time
	results []map[string]any // of those that could be read
	err     error
	ended   chan struct{}
}

func (p *part) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *part) hasFailed() bool { return p.hasEnded() && p.err != nil }

func newLoading(x *rest.Request) (*loading, lines.Format, error) {
	typ, _, err := x.Media()
	if err != nil {
		return nil, "", err
	}
	q, repo := x.Query(), x.Engine.Repo()
	l := &loading{x: x, about: lines.Loading{Into: q.Get("into"), Key: q.Get("key"), Name: func(name, title string) (string, error) {
		return repo.CleanName(cmp.Or(name, repo.NameOf(title)))
	}}, dry: x.Flag("dryRun"), done: map[string]int64{}}
	l.most, l.workers = usualLoad(repo.Shared(), l.about.Key)
	for _, name := range []string{"into", "type", "key", "existing"} {
		if v := q.Get(name); v != "" {
			l.params = l.params.Text(name, v)
		}
	}
	for _, bound := range []struct {
		name string
		most int
		to   *int
	}{{"batchSize", maxLoadRecords, &l.most}, {"workers", maxLoadWorkers, &l.workers}} {
		text := q.Get(bound.name)
		if text == "" {
			continue
		}
		n, err := rest.Number(bound.name, text)
		if err != nil {
			return nil, "", err
		}
		if n < 1 || n > bound.most {
			return nil, "", fault.Invalid.Errorf("%s: must be between 1 and %d", bound.name, bound.most).In(bound.name)
		}
		*bound.to = n
	}
	l.busy = make(chan struct{}, l.workers)
	format := lines.Types[typ]
	if f := q.Get("format"); f != "" {
		format = lines.Format(f)
	}
	return l, format, nil
}

// all reads all records and carries them out. Nothing is under way when it returns.
func (l *loading) all() (err error) {
	defer func() { err = cmp.Or(err, l.drain(0)) }()
	for {
		rec, err := l.in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return l.flush()
		case err != nil:
			return errors.Join(l.flush(), err)
		}
		if rec.Err == nil {
			rec.Err = rest.CheckJSON(rec.JSON)
		}
		rec.JSON = slices.Clone(rec.JSON)
		l.batch, l.bytes = append(l.batch, rec), l.bytes+len(rec.JSON)
		if len(l.batch) >= l.most || l.bytes >= loadBytes {
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
}

// flush has the records that were read carried out once a worker is free, whichever it is, and says what became of earlier ones. More
// are read meanwhile. Records wait for those before them that they may depend on. After a part that failed, none begins.
func (l *loading) flush() error {
	if len(l.batch) == 0 {
		return nil
	}
	p := &part{records: l.batch, before: l.begun, ended: make(chan struct{})}
	if l.workers > 1 {
		p.links = l.about.Links(p.records)
		for _, earlier := range l.under {
			if !earlier.hasEnded() && earlier.links.Meet(p.links) {
				<-earlier.ended
			}
		}
	}
	select {
	case <-l.x.Server.Done():
		return fault.Unavailable.Errorf("the server is stopping")
	case l.busy <- struct{}{}:
	}
	if slices.ContainsFunc(l.under, (*part).hasFailed) {
		return l.drain(0)
	}
	l.batch, l.bytes, l.under, l.begun = nil, 0, append(l.under, p), l.begun+int64(len(p.records))
	go l.carryOut(p)
	return l.drain(2*l.workers - 1)
}

// carryOut carries out a part.
func (l *loading) carryOut(p *part) {
	defer func() {
		close(p.ended)
		<-l.busy
	}()
	defer func() {
		if r := recover(); r != nil {
			p.err = fault.Internal.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	good := slices.DeleteFunc(slices.Clone(p.records), func(r lines.Record) bool { return r.Err != nil })
	p.results, p.err = l.run(p.before, good)
}

// drain says what became of the first parts that have ended, and waits for them until only so many are left, or none after an error.
func (l *loading) drain(left int) (err error) {
	for len(l.under) > left || len(l.under) > 0 && l.under[0].hasEnded() {
		p := l.under[0]
		l.under = l.under[1:]
		<-p.ended
		if failed := l.tell(p); failed != nil {
			err, left = cmp.Or(err, failed), 0
		}
	}
	return err
}

// tell says what became of the records of a part.
func (l *loading) tell(p *part) error {
	if p.err != nil {
		return p.err
	}
	all, results := make([]map[string]any, 0, len(p.records)), p.results
	for _, r := range p.records {
		var one map[string]any
		if r.Err != nil {
			one = rejected(r.Err)
		} else {
			one, results = results[0], results[1:]
		}
		one["line"] = int64(r.Line)
		status, _ := one["status"].(string)
		l.done[status]++
		all = append(all, one)
	}
	if err := l.write(all...); err != nil {
		return err
	}
	_ = http.NewResponseController(l.x.Writer).Flush() // not every writer can
	return nil
}

func rejected(err error) map[string]any {
	return map[string]any{"status": "rejected", "code": fault.Word(err), "error": err.Error()}
}

// run carries out records, behind so many others, in one transaction. If that is too large, or loses every race, each gets one of its own.
func (l *loading) run(before int64, records []lines.Record) ([]map[string]any, error) {
	if len(records) == 0 {
		return nil, nil
	}
	raw := []byte{'['}
	for i, r := range records {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = append(raw, r.JSON...)
	}
	params := slices.Clone(l.params).Add("records", append(raw, ']')).Close()
	ctx := l.x.HTTP.Context()
	if l.workers > 1 {
		ctx = l.order.Behind(ctx, before)
	}
	v, err := l.x.ValueIn(ctx, engine.Call{Op: "Bulk.Load", RawParams: params, Expect: l.about.Into, DryRun: l.dry, KeepUploads: true})
	switch {
	case err == nil:
	case !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Limit):
		return nil, err
	case len(records) == 1:
		return []map[string]any{rejected(err)}, nil
	default:
		return l.each(before, records)
	}
	list, _ := v.([]any)
	out := make([]map[string]any, len(records))
	for i := range out {
		out[i], _ = list[i].(map[string]any)
	}
	return out, nil
}

func (l *loading) each(before int64, records []lines.Record) ([]map[string]any, error) {
	var out []map[string]any
	for i := range records {
		one, err := l.run(before+int64(i), records[i:i+1])
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return out, nil
}

// end writes the sum, with why there is no more.
func (l *loading) end(failed error) error {
	sum := map[string]any{"entity-type": "bulkLoad", "complete": failed == nil}
	for _, status := range []string{"created", "rejected", "skipped", "updated"} {
		sum[status] = l.done[status]
	}
	if failed != nil {
		sum["code"], sum["error"] = fault.Word(failed), failed.Error()
	}
	return l.write(sum)
}

// write writes lines of the answer, which begins with the first.
func (l *loading) write(all ...map[string]any) error {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	for _, one := range all {
		if err := out.Encode(one); err != nil {
			return err
		}
	}
	x := l.x
	if x.Status == 0 {
		h := x.Writer.Header()
		h.Set("Content-Type", "application/x-ndjson")
		h["Cache-Control"] = rest.NoCache
		h.Set("X-Accel-Buffering", "no")
		x.Status = http.StatusOK
		x.Writer.WriteHeader(x.Status)
	}
	_, err := x.Writer.Write(text.Bytes())
	return err
}
