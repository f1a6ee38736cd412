package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"catena/engine/lines"
	"catena/storage/fault"
)

// A request of a load carries at most this many records and bytes of them, and no more files than a call of the import. When a
// request comes to its end, fewer transactions are left than the server works on at a time, and it is idle until the next request.
const (
	loadRecords = 20_000
	loadBytes   = 4 << 20
	maxRecord   = 1 << 20
	maxShown    = 20 // rejected records that are informed of on the terminal
)

// loader sends the records of a file, with the files they name.
type loader struct {
	client   *client
	errs     io.Writer
	file     string
	format   lines.Format
	files    string     // the folder of the files
	query    url.Values // of each request
	dry      bool
	rejected io.Writer // nil: nobody wants them
	bar      *progressbar.ProgressBar

	chunk chunk
	done  map[string]int
}

// chunk is what is sent in one request.
type chunk struct {
	records []sent
	body    bytes.Buffer
	upload  string // the batch of the files; "": there are none
	files   int
	size    int64
}

// sent is a record on its way.
type sent struct {
	line   int
	record json.RawMessage // as it was read
}

// outcome is what became of a record, or of all of them.
type outcome struct {
	Line     int             `json:"line"`
	Status   string          `json:"status,omitempty"`
	Code     string          `json:"code"`
	Error    string          `json:"error"`
	Complete *bool           `json:"complete,omitempty"`
	Record   json.RawMessage `json:"record,omitempty"`
}

// report loads the file and says what became of its records.
func (l *loader) report(cmd *cobra.Command, g *global, rejected string) error {
	if rejected != "" {
		f, err := os.Create(rejected)
		if err != nil {
			return usage{err}
		}
		defer f.Close()
		l.rejected = f
	}
	if l.dry {
		l.query.Set("dryRun", "true")
	}
	l.done = map[string]int{"created": 0, "rejected": 0, "skipped": 0, "updated": 0}
	failed := l.run(cmd.Context())
	err := g.say(cmd.OutOrStdout(), l.done, "%d created, %d updated, %d skipped, %d rejected",
		l.done["created"], l.done["updated"], l.done["skipped"], l.done["rejected"])
	if n := l.done["rejected"]; failed == nil && n > 0 {
		failed = fault.Invalid.Errorf("%s: %d of %d records rejected", l.file, n, n+l.done["created"]+l.done["skipped"]+l.done["updated"])
	}
	return cmp.Or(failed, err)
}

func (l *loader) run(ctx context.Context) error {
	f, err := os.Open(l.file)
	if err != nil {
		return usage{err}
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	l.bar = newBar(l.errs, fi.Size())
	defer func() { _ = l.bar.Close() }() // it only draws
	l.files = cmp.Or(l.files, filepath.Dir(l.file))
	in, err := lines.NewReader(io.TeeReader(f, l.bar), l.format, maxRecord)
	if err != nil {
		return err
	}
	defer func() { l.dropFiles(ctx) }()
	for {
		rec, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return cmp.Or(l.send(ctx), l.bar.Finish())
		case err != nil:
			return fault.Wrap(cmp.Or(l.send(ctx), err), "%s", l.file)
		}
		if err := l.add(ctx, rec); err != nil {
			return err
		}
	}
}

// add puts a record into the chunk, which is sent when it is full.
func (l *loader) add(ctx context.Context, rec lines.Record) error {
	one := sent{rec.Line, bytes.Clone(rec.JSON)}
	err := rec.Err
	raw := one.record
	if err == nil && bytes.Contains(raw, []byte(`"file"`)) {
		raw, err = l.withFile(ctx, raw)
	}
	if err != nil {
		if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Limit) {
			return l.count(one, outcome{Status: "rejected", Code: fault.Word(err), Error: err.Error()})
		}
		return err
	}
	c := &l.chunk
	c.records = append(c.records, one)
	c.body.Write(raw)
	c.body.WriteByte('\n')
	if len(c.records) == loadRecords || c.body.Len() >= loadBytes || c.files == importFiles || c.size >= importBytes {
		return l.send(ctx)
	}
	return nil
}

// withFile uploads the file that a record names and has the record say where it is.
func (l *loader) withFile(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fault.Invalid.Errorf("record: %w", err)
	}
	given, has := m["file"]
	if !has {
		return raw, nil
	}
	name, _ := given.(string)
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, fault.Invalid.Errorf("file: must be a path within %s", l.files)
	}
	f, err := os.Open(filepath.Join(l.files, filepath.FromSlash(name)))
	if err != nil {
		return nil, fault.Invalid.Errorf("file: %w", err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return nil, fault.Invalid.Errorf("file: %s is not a file", name)
	}
	at, err := l.put(ctx, f, fi.Size())
	if err != nil {
		return nil, err
	}
	delete(m, "file")
	props, _ := m["properties"].(map[string]any)
	if props == nil {
		props = map[string]any{}
	}
	props["file:content"] = at
	m["properties"] = props
	return json.Marshal(m)
}

// put uploads a file for the chunk, and returns what stands for it.
func (l *loader) put(ctx context.Context, f *os.File, size int64) (map[string]string, error) {
	c := &l.chunk
	if c.upload == "" {
		resp, err := l.client.send(ctx, http.MethodPost, "/api/v1/upload", "", nil)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		var opened struct {
			BatchID string `json:"batchId"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&opened); err != nil {
			return nil, err
		}
		c.upload = opened.BatchID
	}
	number := strconv.Itoa(c.files)
	req, err := l.client.request(ctx, http.MethodPost, "/api/v1/upload/"+c.upload+"/"+number, "application/octet-stream", f)
	if err != nil {
		return nil, err
	}
	req.ContentLength = size
	req.Header.Set("X-File-Name", url.PathEscape(filepath.Base(f.Name())))
	resp, err := l.client.do(req)
	if err != nil {
		return nil, err
	}
	c.files, c.size = c.files+1, c.size+size
	return map[string]string{"upload-batch": c.upload, "upload-fileId": number}, resp.Body.Close()
}

// send sends the chunk and counts what became of its records.
func (l *loader) send(ctx context.Context) error {
	c := &l.chunk
	if len(c.records) > 0 {
		resp, err := l.client.send(ctx, http.MethodPost, "/api/v1/bulk?"+l.query.Encode(), "application/x-ndjson", &c.body)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if err := l.read(resp.Body); err != nil {
			return err
		}
	}
	l.dropFiles(ctx)
	l.chunk = chunk{}
	return nil
}

// dropFiles ends the batch of the chunk's files, which would end by itself later.
func (l *loader) dropFiles(ctx context.Context) {
	if l.chunk.upload == "" {
		return
	}
	resp, err := l.client.send(ctx, http.MethodDelete, "/api/v1/upload/"+l.chunk.upload, "", nil)
	l.chunk.upload = ""
	if err == nil {
		_ = resp.Body.Close()
	}
}

// read reads an answer: a line for each record of the chunk, in their order, and one for all.
func (l *loader) read(body io.Reader) error {
	in := json.NewDecoder(body)
	for n := 0; ; n++ {
		var o outcome
		if err := in.Decode(&o); err != nil {
			return fault.Unavailable.Errorf("%s: the answer ended after %d records; import the file again with --key: %w", l.file, n, err)
		}
		switch {
		case o.Complete != nil && !*o.Complete:
			return fault.Unavailable.Errorf("%s: %s; import the file again with --key", l.file, o.Error)
		case o.Complete != nil:
			return nil
		case n >= len(l.chunk.records):
			return fault.Internal.Errorf("%s: the answer is about more records than were sent", l.file)
		}
		if err := l.count(l.chunk.records[n], o); err != nil {
			return err
		}
	}
}

// count notes what became of a record.
func (l *loader) count(of sent, o outcome) error {
	l.done[o.Status]++
	if o.Status != "rejected" {
		return nil
	}
	o.Line, o.Status, o.Record = of.line, "", of.record
	if n := l.done["rejected"]; n <= maxShown {
		fmt.Fprintf(l.errs, "%s:%d: %s\n", l.file, o.Line, o.Error)
	} else if n == maxShown+1 && l.rejected == nil {
		fmt.Fprintf(l.errs, "%s: more records are rejected; --rejected FILE lists all\n", l.file)
	}
	if l.rejected == nil {
		return nil
	}
	return json.NewEncoder(l.rejected).Encode(o)
}
