package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// linkKey is where a connection has its link.
const linkKey = "catena link"

// link is what belongs to a connection: its slot, and its prepared statements by name.
type link struct {
	slot       slot
	statements map[string]*pgconn.StatementDescription
}

func linkOf(c *pgconn.PgConn) *link {
	l, _ := c.CustomData()[linkKey].(*link)
	return l
}

// batch is what goes to the database in one message: prepared statements with their parameters, and what reads the results. All
// values travel in their binary formats. The types are few, so they are written and read here, which costs a third of what
// it costs to find out how from the types of Go.
type batch struct {
	conn   *pgconn.PgConn
	link   *link
	sent   pgconn.Batch
	copies bool // all of it is in raw instead of sent
	raw    []byte
	reads  []func(row [][]byte) error // for the rows of each statement; nil: they are passed over
	err    error
}

func newBatch(c *pgconn.PgConn) *batch { return &batch{conn: c, link: linkOf(c)} }

// binary says that all parameters, or all columns, are in their binary formats.
var binaryFormat = []int16{pgtype.BinaryFormatCode}

// add appends a statement; read gets each of its rows, which are valid until it returns.
func (b *batch) add(name string, read func(row [][]byte) error, parameters ...[]byte) {
	s := b.link.statements[name]
	if s == nil {
		b.err = cmp.Or(b.err, fmt.Errorf("statement %s is not prepared", name))
		return
	}
	b.reads = append(b.reads, read)
	if !b.copies {
		b.sent.ExecStatement(s, parameters, binaryFormat, binaryFormat)
		return
	}
	b.encode(&pgproto3.Bind{PreparedStatement: name, ParameterFormatCodes: binaryFormat, Parameters: parameters, ResultFormatCodes: binaryFormat})
	if len(s.Fields) > 0 {
		b.encode(&pgproto3.Describe{ObjectType: 'P'})
	}
	b.encode(&pgproto3.Execute{})
}

// send waits for the results of all statements.
func (b *batch) send(ctx context.Context) error {
	if b.err != nil {
		return b.err
	}
	if err := b.write(ctx); err != nil {
		return err
	}
	results := b.conn.ExecBatch(ctx, &b.sent) // if it copies, that is empty and only ends the message
	var failed error
	for i := 0; results.NextResult(); i++ {
		rows := results.ResultReader()
		for rows.NextRow() {
			if read := b.reads[i]; read != nil && failed == nil {
				failed = read(rows.Values())
			}
		}
		if _, err := rows.Close(); err != nil {
			break // Close below returns it as well
		}
	}
	return cmp.Or(results.Close(), failed)
}

// room is where what a connection has received is copied to.
type room []byte

// roomSize is what is taken from the heap at a time.
const roomSize = 2 << 10

// own is a copy of what a connection has received; nil stays nil.
func (r *room) own(b []byte) []byte {
	switch {
	case b == nil:
		return nil
	case len(b) > roomSize/4:
		return bytes.Clone(b)
	case *r == nil || len(b) > len(*r):
		*r = make([]byte, roomSize)
	}
	own := (*r)[:len(b):len(b)]
	copy(own, b)
	*r = (*r)[len(b):]
	return own
}

// number is a bigint.
func number(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// readNumber reads a column of type bigint.
func readNumber(column []byte, to *int64) error {
	if len(column) != 8 {
		return fmt.Errorf("a number of %d bytes", len(column))
	}
	*to = int64(binary.BigEndian.Uint64(column))
	return nil
}

// byteArray is an array of bytea.
func byteArray(values [][]byte) []byte {
	size := 20
	for _, v := range values {
		size += 4 + len(v)
	}
	out := arrayHead(make([]byte, 0, size), pgtype.ByteaOID, len(values))
	for _, v := range values {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(v))), v...)
	}
	return out
}

// placeArray is an array of tid, null for places that are not known.
func placeArray(values []pgtype.TID) []byte {
	out := arrayHead(make([]byte, 0, 20+10*len(values)), pgtype.TIDOID, len(values))
	for _, v := range values {
		if !v.Valid {
			out = binary.BigEndian.AppendUint32(out, math.MaxUint32)
			continue
		}
		out = binary.BigEndian.AppendUint32(out, 6)
		out = binary.BigEndian.AppendUint32(out, v.BlockNumber)
		out = binary.BigEndian.AppendUint16(out, v.OffsetNumber)
	}
	return out
}

// arrayHead is what stands before the elements of an array of one dimension: the number of dimensions, whether elements are null, which
// the database finds out for itself, the type, and the size and lower bound of the dimension.
func arrayHead(out []byte, of uint32, n int) []byte {
	dimensions := uint32(1)
	if n == 0 {
		dimensions = 0
	}
	for _, v := range []uint32{dimensions, 0, of, uint32(n), 1}[:3+2*dimensions] {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	return out
}

// prepared prepares the statements of a connection.
func prepared(ctx context.Context, c *pgx.Conn) (map[string]*pgconn.StatementDescription, error) {
	all := make(map[string]*pgconn.StatementDescription, len(statements))
	for name, sql := range statements {
		s, err := c.PgConn().Prepare(ctx, name, sql, nil)
		if err != nil {
			return nil, err
		}
		all[name] = s
	}
	return all, nil
}
