package kv

import "catena/storage/fault"

// Claim is Set for a key that the caller takes to be absent from the store. If the store is remote, the transaction runs
// again if it is not, and there is no need to read it before: such a read would conflict with what others write near
// the key. In any other store it is the caller who reads or guards the key.
func (t *Tx) Claim(key, value []byte) error {
	if t.remote == nil {
		return t.Set(key, value)
	}
	if err := t.fits(key, value); err != nil {
		return err
	}
	row := kvRow(t.take(len(key)+RowGap+len(value)), key, value)
	return t.putRow(row, len(key), entry{create: true, claim: true})
}

// Buffered returns what the transaction has written to a key, nil if it deleted it, and whether it has.
func (t *Tx) Buffered(key []byte) (v []byte, written bool) {
	e, written := t.own.Get(key)
	return e.value(), written
}

// Latest returns the committed value of a key as it is now, outside of the transaction. The store must be remote.
func (t *Tx) Latest(key []byte) ([]byte, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	stored, err := t.remote.Latest(key)
	if err != nil || stored == nil {
		return nil, err
	}
	return unseal(key, stored)
}

// claimed is an error of a commit, with ErrConflict for a key that was claimed and is there.
func (t *Tx) claimed(err error) error {
	if t.remote == nil || !fault.Is(err, fault.Exists) {
		return err
	}
	claims := false
	for c := t.own.Range(nil, nil, false); c.Next(); {
		e := c.Value()
		if claims = claims || e.claim; !e.create || e.claim {
			continue
		}
		if stored, down := t.remote.Latest(c.Key()); down != nil || stored != nil {
			return err
		}
	}
	if claims {
		return ErrConflict
	}
	return err
}
