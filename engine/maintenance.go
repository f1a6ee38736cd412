package engine

import (
	"context"
	"io"

	"catena/storage"
	"catena/storage/maintenance"
	"catena/storage/outbox"
)

// Backup writes a consistent copy of everything that is stored, while it is in use, for administrators.
func (e *Engine) Backup(ctx context.Context, as *storage.Principal, w io.Writer) error {
	return maintenance.Backup(ctx, e.Repo(), as, w)
}

// Explain returns an error that damaged content caused as one that names the documents with this content that the
// principal may read.
func (e *Engine) Explain(ctx context.Context, as *storage.Principal, err error) error {
	return maintenance.Explain(ctx, e.Repo(), as, err)
}

// WatchJobs returns a channel that receives after a job was carried out or has failed: a hint to look again.
func (e *Engine) WatchJobs() (settled <-chan struct{}, stop func()) { return outbox.Watch(e.Repo()) }
