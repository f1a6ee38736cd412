package main

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"catena/storage/blob"
	"catena/storage/blob/bucket"
)

const (
	// contentTime is how long the object store may take for all that it is asked.
	contentTime = 30 * time.Second
	// tryName is the object that is written to see whether that can be done.
	tryName = "doctor"
)

// content looks whether the bucket that the content of files is in can be read and written, and is this data directory's.
func (d *doctor) content(ctx context.Context) finding {
	const name = "content"
	p, err := placeIn(d.data)
	if err != nil {
		return finding{name, failed, err.Error(), "restore the file: it says where content is"}
	}
	address := cmp.Or(d.global.blobs, p.Address)
	if address == "" {
		return finding{name, fine, "in the data directory", ""}
	}
	b, err := bucket.Open(address)
	if err != nil {
		return finding{name, failed, err.Error(), "correct --blobs"}
	}
	ctx, stop := context.WithTimeout(ctx, contentTime)
	defer stop()
	owner, err := blob.Owner(ctx, b)
	switch {
	case err != nil:
		return finding{name, failed, err.Error(), "correct --blobs and the keys, or make the bucket; the server does not start without it"}
	case owner != "" && owner != p.Owner:
		return finding{name, failed, b.At("") + ": belongs to another data directory", "give each a bucket or a prefix of its own"}
	case owner == "" && p.Address != "":
		return finding{name, failed, b.At("") + ": has nothing of this data directory", "correct --blobs; content is in " + p.Address}
	}
	err = b.Put(ctx, tryName, bytes.NewReader(nil), 0)
	if err == nil {
		err = b.Remove(ctx, tryName)
	}
	if err != nil {
		return finding{name, failed, err.Error(), "give the keys the rights to list, read, write and remove objects"}
	}
	return finding{name, fine, b.At("") + ": can be read and written", ""}
}
