package waiting

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

// fill writes down what the chain needs to go on.
func (w *row) fill(s *engine.Suspension, k *engine.ValueWriter) (err error) {
	if w.Input, err = k.Keep(s.Input); err != nil {
		return fault.Wrap(err, "input")
	}
	if w.Vars, err = k.Keep(s.Vars); err != nil {
		return fault.Wrap(err, "variable")
	}
	if w.Params, err = k.Keep(s.Params); err != nil {
		return fault.Wrap(err, "parameter")
	}
	return nil
}

// holdFiles holds the content of files until the run ends. What an earlier turn has held stays, since items of batches to come
// may have it.
func (w *row) holdFiles(c *engine.Ctx, files []storage.Blob) error {
	if w.Holder == "" && len(files) > 0 {
		w.Holder = c.NewID()
	}
	for i := range files {
		if slices.Contains(w.Files, files[i].Digest) {
			continue
		}
		if err := hold.Keep(c.Tx, w.Holder, &files[i]); err != nil {
			return fault.Wrap(err, "file %s", files[i].Name)
		}
		w.Files = append(w.Files, files[i].Digest)
	}
	return nil
}

// release lets go of the content of files.
func (w *row) release(tx *storage.Tx) error {
	for _, digest := range w.Files {
		if err := hold.Release(tx, w.holder(), digest); err != nil {
			return err
		}
	}
	return nil
}

// holder is the id by which the content of files is held. In rows of older versions that is the id of the run.
func (w *row) holder() string { return cmp.Or(w.Holder, w.Run) }

// itemKey is where the items of a batch are.
func (w *row) itemKey(n int) string { return fmt.Sprintf("%s/%08d", w.key(), n) }

// keepItems writes down the items, each batch in a row of its own.
func (w *row) keepItems(c *engine.Ctx, items []any, k *engine.ValueWriter) error {
	for part := range slices.Chunk(items, w.Batch) {
		raw, err := k.Keep(part)
		if err != nil {
			return fault.Wrap(err, "each")
		}
		if len(raw) > maxRow {
			return fault.Limit.Errorf("each: a batch has at most %d bytes, not %d", maxRow, len(raw))
		}
		if err := c.Tx.Table(itemTable).Put(w.itemKey(w.Batches), raw); err != nil {
			return err
		}
		w.Batches++
	}
	return nil
}

// suspension is where the chain stands.
func (w *row) suspension(c *engine.Ctx) (s *engine.Suspension, err error) {
	s = &engine.Suspension{
		Run: w.Run, Chain: w.Chain, Version: w.Version, Step: w.Step, Line: w.Line,
		Batched: w.Batched, Batch: w.Batch, More: w.Done+1 < w.Batches, Action: w.Action, Latest: w.Latest,
	}
	if s.Input, err = c.Kept(w.Input); err != nil {
		return nil, err
	}
	if s.Vars, err = keptMap(c, w.Vars); err != nil {
		return nil, err
	}
	if s.Params, err = keptMap(c, w.Params); err != nil {
		return nil, err
	}
	if !w.Batched || w.Done >= w.Batches {
		return s, nil
	}
	items := c.Tx.As(c.Tx.Repo().System()).Table(itemTable)
	raw, err := items.Row(w.itemKey(w.Done))
	if err != nil {
		return nil, err
	}
	v, err := c.Kept(raw)
	if err != nil {
		return nil, err
	}
	s.Items, _ = v.([]any)
	return s, items.Delete(w.itemKey(w.Done))
}

func keptMap(c *engine.Ctx, raw json.RawMessage) (map[string]any, error) {
	v, err := c.Kept(raw)
	m, _ := v.(map[string]any)
	return m, err
}
