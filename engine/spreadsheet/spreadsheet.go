// Package spreadsheet reads and writes workbooks of spreadsheet programs (Office Open XML, files named .xlsx).
// A workbook is a ZIP file of XML that anybody may have made, so it is read in a process of its own (see engine/worker),
// whose memory and time are bounded and which can be killed when the call has ended.
package spreadsheet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"catena/engine/worker"
	"catena/storage/fault"
)

// Type is the media type of a workbook.
const Type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

const (
	maxMemory = 512 << 20        // bytes that reading a workbook may take
	maxTime   = 30 * time.Second // that reading a workbook may take
	maxRow    = 4 << 20          // bytes of a row as JSON
	atOnce    = 2                // workbooks that are read at the same time
)

// Reader reads workbooks.
type Reader struct {
	argv  []string
	turns chan struct{}
}

// NewReader returns a reader whose workers are started by a command line; without one it reads in this process, which is
// for tests only.
func NewReader(argv []string) *Reader { return &Reader{argv, make(chan struct{}, atOnce)} }

// Read calls take for each row of a sheet, or of the first one if the name is empty, until take returns an error. Cells are
// texts, numbers (float64), booleans, or nil where they are empty; dates and times are texts as ISO 8601 writes them, since
// a workbook has no zone. Of a formula it is the value that was stored with it.
func (r *Reader) Read(ctx context.Context, file io.Reader, sheet string, take func(row []any) error) error {
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if r.argv == nil {
		return inProcess(file, sheet, take)
	}
	timed, stop := context.WithTimeout(ctx, maxTime)
	defer stop()
	started := false
	err := worker.Run(timed, append(r.argv[:len(r.argv):len(r.argv)], sheet), maxMemory, file, func(out io.Reader) error {
		started = true
		return eachRow(out, take)
	})
	var failure *worker.Failure
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case timed.Err() != nil:
		return fault.Limit.Errorf("spreadsheet: reading takes more than %s", maxTime)
	case !started:
		return fault.Unavailable.Errorf("spreadsheet: %w", err)
	case !errors.As(err, &failure):
		return err
	case failure.Cause == worker.Memory:
		return fault.Limit.Errorf("spreadsheet: reading takes more than %d MiB of memory", maxMemory>>20)
	case failure.Cause == worker.CPU:
		return fault.Limit.Errorf("spreadsheet: reading takes more than %s", maxTime)
	case failure.Cause == worker.Stack, strings.HasPrefix(failure.Said, "panic:"):
		return fault.Invalid.Errorf("spreadsheet: the file is damaged")
	}
	return fault.Invalid.Errorf("spreadsheet: %.200s", failure.Said)
}

// eachRow reads what a worker writes: each row on a line, as JSON.
func eachRow(r io.Reader, take func([]any) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxRow)
	for in.Scan() {
		var row []any
		// A worker that is killed may have written half a line: how it ended is the error then.
		if json.Unmarshal(in.Bytes(), &row) != nil {
			return nil //nolint:nilerr // as said
		}
		if err := take(row); err != nil {
			return err
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return fault.Limit.Errorf("spreadsheet: a row has more than %d MiB", maxRow>>20)
	}
	return nil
}

func inProcess(file io.Reader, sheet string, take func([]any) error) error {
	var refused error
	err := rows(file, sheet, func(row []any) error {
		refused = take(row)
		return refused
	})
	if err == nil || refused != nil {
		return refused
	}
	return fault.Invalid.Errorf("spreadsheet: %w", err)
}
