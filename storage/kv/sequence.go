package kv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"catena/storage/fault"
)

// maxLease is the most numbers of a sequence leased at once, by default.
const maxLease = 1000

// lease is a block of a sequence's numbers that only this process gives out.
type lease struct {
	key       []byte        // of the first number that nobody leased
	turn      chan struct{} // has room for who takes numbers: while a block is asked for, others wait no longer than their calls may take
	next, end int64         // next is the first number not given out
	size      int64
}

// Next returns the next number of a sequence: 1, 2, 3 and so on, each once. Numbers
// are leased in blocks by a transaction of their own, so that a caller's transaction
// never conflicts over them; a crash or a rollback leaves a gap.
func (d *DB) Next(ctx context.Context, sequence string) (int64, error) {
	l, err := d.sequence(sequence)
	if err != nil {
		return 0, err
	}
	if err := d.take(ctx, l); err != nil {
		return 0, err
	}
	defer func() { <-l.turn }()
	if l.next == l.end {
		if err := d.lease(ctx, l); err != nil {
			return 0, err
		}
	}
	l.next++
	return l.next - 1, nil
}

// sequence returns the block of a sequence that this process has, empty at first.
func (d *DB) sequence(name string) (*lease, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.sequences[name]; l != nil {
		return l, nil
	}
	key, err := sequenceKey(name)
	if err != nil {
		return nil, err
	}
	l := &lease{key: key, turn: make(chan struct{}, 1), size: 8}
	d.sequences[name] = l
	return l, nil
}

// take waits until no other takes numbers. A context may start a timer when it is asked for its end, so it is asked only by those who
// have to wait.
func (d *DB) take(ctx context.Context, l *lease) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if d.opts.Waited != nil {
		d.opts.Waited(ctx)
	}
	return nil
}

// lease takes a new block, twice as long as the last.
func (d *DB) lease(ctx context.Context, l *lease) error {
	size := min(d.opts.Lease, l.size*2)
	first, err := d.advance(ctx, l.key, size)
	if err == nil {
		l.next, l.end, l.size = first, first+size, size
	}
	return err
}

// advance adds to the first number of a sequence that nobody leased, and returns what it was.
func (d *DB) advance(ctx context.Context, key []byte, n int64) (first int64, err error) {
	store, full := d.store, key
	if p, ok := store.(*part); ok {
		store, full = p.Store, p.key(key)
	}
	if s, ok := store.(Swapper); ok {
		for o := (outage{}); ; {
			first, done, err := swapNumber(ctx, s, full, n)
			switch {
			case errors.Is(err, ErrDown):
				if err := d.outlast(ctx, &o, err); err != nil {
					return 0, err
				}
			case err != nil || done:
				return first, err
			}
		}
	}
	err = d.Update(ctx, func(t *Tx) (err error) {
		if first, err = number(t, key); err != nil {
			return err
		}
		return t.Set(key, binary.BigEndian.AppendUint64(nil, uint64(first+n)))
	})
	return first, err
}

// swapNumber tries once to add to a number. Somebody else may do so at the same time; then it is not done. A connection
// that is lost may leave a gap.
func swapNumber(ctx context.Context, s Swapper, key []byte, n int64) (first int64, done bool, err error) {
	before, err := s.Value(ctx, key)
	if err != nil {
		return 0, false, err
	}
	first = 1
	if before != nil {
		value, err := unseal(key, before)
		if err != nil {
			return 0, false, err
		}
		if len(value) != 8 {
			return 0, false, errNumber(key, value)
		}
		first = int64(binary.BigEndian.Uint64(value))
	}
	_, after := sealRow(binary.BigEndian.AppendUint64(AppendRow(nil, key), uint64(first+n)), len(key))
	done, err = s.Swap(ctx, key, before, after)
	return first, done, err
}

func errNumber(key, value []byte) error {
	return fault.Internal.Errorf("sequence %q: stored number has %d bytes", key, len(value))
}

// returnLeases gives back the numbers not given out, so that a clean stop leaves no
// gap. It is a courtesy: what fails stays a gap.
func (d *DB) returnLeases() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, l := range d.sequences {
		l.turn <- struct{}{}
		err := d.Update(context.Background(), func(t *Tx) error {
			n, err := number(t, l.key)
			if err != nil || n != l.end || l.next == l.end {
				return err
			}
			return t.Set(l.key, binary.BigEndian.AppendUint64(nil, uint64(l.next)))
		})
		if err != nil {
			d.opts.Log.Warn("sequence has a gap", "sequence", name, "err", err)
		}
		l.end = l.next
		<-l.turn
	}
}

// number reads the first number of a sequence nobody leased.
func number(t *Tx, key []byte) (int64, error) {
	v, err := t.Get(key)
	switch {
	case err != nil:
		return 0, err
	case v == nil:
		return 1, nil
	case len(v) != 8:
		return 0, errNumber(key, v)
	}
	return int64(binary.BigEndian.Uint64(v)), nil
}

// Upcoming returns a number below which all numbers of a sequence are that have been given, by whichever process.
func (t *Tx) Upcoming(sequence string) (int64, error) {
	key, err := sequenceKey(sequence)
	if err != nil {
		return 0, err
	}
	return number(t, key)
}

func sequenceKey(sequence string) ([]byte, error) {
	if sequence == "" || len(sequence) > 200 {
		return nil, fault.Invalid.Errorf("sequence %q: name must have 1 to 200 bytes", sequence)
	}
	return append(bytes.Clone([]byte("\x00sequence\x00")), sequence...), nil
}
