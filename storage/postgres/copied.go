package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"time"

	"catena/storage/kv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Rows that are copied travel in the message of a batch like its statements, so that they take no round trip of their own. The batches of
// pgconn have no place for them: a batch with such rows is encoded here, and only its end is left to pgconn. Nothing is read before all
// is written, so what returns much must not be in such a batch.

// copy adds new rows to the table, all of them or, with an error, none. Nobody else may have added one of them.
func (b *batch) copy(rows []kv.Mutation) {
	size := 0
	for _, w := range rows {
		size += rowRoom + len(w.Key) + len(w.Value)
	}
	in := copyHead(size)
	for _, w := range rows {
		in = copyRow(in, w.Key, w.Value)
	}
	b.add("copy", nil)
	b.encode(&pgproto3.CopyData{Data: copyEnd(in)})
	b.encode(&pgproto3.CopyDone{})
}

// encode appends a message.
func (b *batch) encode(m pgproto3.FrontendMessage) {
	raw, err := m.Encode(b.raw)
	if b.err = cmp.Or(b.err, err); err == nil {
		b.raw = raw
	}
}

// write sends what was encoded here. With an error, the connection is closed.
func (b *batch) write(ctx context.Context) error {
	if len(b.raw) == 0 {
		return nil
	}
	c := b.conn.Conn()
	if until, ok := ctx.Deadline(); ok {
		_ = c.SetWriteDeadline(until)
	}
	_, err := c.Write(b.raw)
	if err != nil {
		_ = c.Close() // nothing more is to follow a part of a message
		_ = b.conn.Close(ctx)
		return err
	}
	return c.SetWriteDeadline(time.Time{})
}

// rowRoom is how many bytes COPY takes for a row besides its key and value.
const rowRoom = 10

// copyHead begins rows of so many bytes in the binary format of COPY: a signature, no flags, and no extension.
func copyHead(size int) []byte {
	const signature = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	return append(make([]byte, 0, len(signature)+size+2), signature...)
}

// copyRow adds a row: the number of its columns, and each behind its length.
func copyRow(in, key, value []byte) []byte {
	in = binary.BigEndian.AppendUint16(in, 2)
	in = append(binary.BigEndian.AppendUint32(in, uint32(len(key))), key...)
	return append(binary.BigEndian.AppendUint32(in, uint32(len(value))), value...)
}

// copyEnd ends the rows.
func copyEnd(in []byte) []byte { return append(in, 0xff, 0xff) }

// copyIn adds rows to the table, all of them or, with an error, none. Nobody else may have added one of them.
func copyIn(ctx context.Context, c *pgconn.PgConn, in []byte) error {
	_, err := c.CopyFrom(ctx, bytes.NewReader(copyEnd(in)), statements["copy"])
	return err
}
