package bulk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"catena/engine"
	"catena/engine/lines"
	"catena/engine/mail"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// CSVJobKind is the kind of the jobs that import CSV. It is stored with the jobs and must not change.
const CSVJobKind = "csv import"

// CSVJob returns what imports CSV on an engine.
func CSVJob(e *engine.Engine) func(context.Context, outbox.Job) error {
	return jobOf("CSV import", func(id string) task { return &csvWorker{e: e, id: id} })
}

// CSVBuried returns what ends an import whose job was given up, as Buried does for commands.
func CSVBuried(e *engine.Engine) func(context.Context, outbox.Job) error {
	return buriedOf(func(id string) task { return &csvWorker{e: e, id: id} })
}

// csvWorker carries out one import.
type csvWorker struct {
	e  *engine.Engine
	id string
	as *storage.Principal // whose import it is

	columns []string // of the file
}

// update changes the import in a transaction of the system's, unless it has ended or gone.
func (w *csvWorker) update(ctx context.Context, fn func(tx *storage.Tx, im *csvImport) error) (over bool, err error) {
	repo := w.e.Repo()
	err = repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		over, err = w.change(tx, fn)
		return err
	})
	return over, err
}

func (w *csvWorker) change(tx *storage.Tx, fn func(tx *storage.Tx, im *csvImport) error) (over bool, err error) {
	im, err := findCSV(tx, w.id)
	switch {
	case fault.Is(err, fault.NotFound):
		return true, nil
	case err != nil:
		return false, err
	case im.over():
		return true, nil
	}
	if err := fn(tx, im); err != nil {
		return false, err
	}
	im.Changed = tx.Now()
	return im.over(), im.put(tx)
}

// work reads the file from its beginning, and goes on behind the rows that are done: it is entered again after a
// restart or a temporary error. The row that says how far the import has got is written by the transaction of each
// batch, so that a row of the file is never imported twice.
func (w *csvWorker) work(ctx context.Context) error {
	var file *storage.Blob
	skip, total := 0, -1
	over, err := w.update(ctx, func(tx *storage.Tx, im *csvImport) (err error) {
		if w.as, err = im.Principal(tx); err != nil {
			return err
		}
		file, skip, total = hold.Load(tx, im.File), im.Done, im.Total
		im.State = running
		return nil
	})
	if err != nil || over {
		return err
	}
	if total < 0 {
		if total, err = countCSV(ctx, file); err != nil {
			return err
		}
		over, err = w.update(ctx, func(_ *storage.Tx, im *csvImport) error { im.Total = total; return nil })
		if err != nil || over {
			return err
		}
	}
	in, err := file.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := lines.NewReader(in, lines.CSV, maxRecord)
	if err != nil {
		return err
	}
	for !over {
		batch, err := nextRows(ctx, r, skip)
		if err != nil {
			return err
		}
		w.columns = r.Columns()
		if over, err = w.batch(ctx, batch); err != nil {
			return err
		}
		skip = 0
	}
	return nil
}

// countCSV counts the rows of a file, and refuses one that has too many or names no columns.
func countCSV(ctx context.Context, file *storage.Blob) (n int, err error) {
	in, err := file.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	r, err := lines.NewReader(in, lines.CSV, maxRecord)
	if err != nil {
		return 0, err
	}
	for ; ; n++ {
		_, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return 0, fault.Wrap(err, "file %s", file.Name)
		case n == csvMost:
			return 0, fault.Limit.Errorf("file %s: more than %d rows", file.Name, csvMost)
		case n%1000 == 0 && ctx.Err() != nil:
			return 0, ctx.Err()
		}
	}
}

// nextRows reads the rows of the next transaction after those that are done; none at the end of the file.
func nextRows(ctx context.Context, r *lines.Reader, skip int) (batch []lines.Record, err error) {
	for len(batch) < csvBatch {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return batch, nil
		case err != nil:
			return nil, err
		case skip > 0:
			skip--
			continue
		}
		rec.JSON = bytes.Clone(rec.JSON)
		batch = append(batch, rec)
	}
	return batch, ctx.Err()
}

// batch imports rows in one transaction; without rows it ends the import.
func (w *csvWorker) batch(ctx context.Context, rows []lines.Record) (over bool, err error) {
	call := engine.Call{Op: "csv import " + w.id, As: w.as, EntryPoint: engine.Server}
	err = w.e.Work(ctx, call, engine.Writes, func(tx *storage.Tx) error {
		over, err = w.change(tx, func(tx *storage.Tx, im *csvImport) error { return w.rows(tx, im, rows) })
		return err
	})
	return over, err
}

// rows imports rows in a transaction, as the user of the import and with the rights of what that user sends.
func (w *csvWorker) rows(tx *storage.Tx, im *csvImport, rows []lines.Record) error {
	as, err := im.Principal(tx)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		im.State = completed
		if err := hold.Release(tx, im.ID, im.File.Digest); err != nil || !im.Report {
			return err
		}
		return im.report(tx)
	}
	var entries []csvEntry
	err = w.e.Within(tx, as, engine.REST, "csv import "+w.id, func(c *engine.Ctx) error {
		folder, err := c.Tx.Doc(storage.Ref(im.Into))
		if err != nil {
			return fault.Wrap(err, "path")
		}
		run := csvRun{c: c, folder: folder, keep: im.Keep, columns: w.columns}
		for _, row := range rows {
			e, err := run.row(row)
			if err != nil {
				return fault.Wrap(err, "line %d", row.Line)
			}
			entries = append(entries, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	im.Done += len(rows)
	return im.note(tx, entries)
}

// report sends the user of an import a summary by mail, if the user has an address.
func (im *csvImport) report(tx *storage.Tx) error {
	_, err := mail.Send(tx, mail.Mail{
		To: []string{"user:" + im.User}, Subject: "CSV import of " + im.File.Name,
		Text: fmt.Sprintf("%d rows of %s were imported.\n\nSuccessful: %d\nSkipped: %d\nFailed: %d\n", im.Done, im.File.Name, im.Good, im.Skipped, im.Failed),
	})
	return err
}

// fail ends an import that can never be carried out.
func (w *csvWorker) fail(ctx context.Context, cause error) error {
	_, err := w.update(ctx, func(tx *storage.Tx, im *csvImport) error {
		im.State, im.Failure = failed, cause.Error()
		return hold.Release(tx, im.ID, im.File.Digest)
	})
	return err
}

// forget removes an import of which nothing has been heard for long.
func (w *csvWorker) forget(ctx context.Context) error {
	repo := w.e.Repo()
	return repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
		im := &csvImport{}
		ok, err := tx.Table(csvImports).Get(w.id, im)
		if err != nil || !ok {
			return err
		}
		if end := im.Changed.Add(kept); end.After(tx.Now()) {
			return &outbox.Later{At: end, Why: "the import has changed since"}
		}
		for i := range im.Batches {
			if err := tx.Table(csvLogs).Delete(fmt.Sprintf("%s/%09d", im.ID, i)); err != nil {
				return err
			}
		}
		if !im.over() {
			if err := hold.Release(tx, im.ID, im.File.Digest); err != nil {
				return err
			}
		}
		return tx.Table(csvImports).Delete(w.id)
	})
}
