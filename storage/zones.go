package storage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/zone"
)

// The audit log has zone maps: rows "a 4 begin end" say what occurs in the runs of records from one place in the log to
// another, so that searches skip what they are not about. They are made by Sweep of what is old enough to get no further
// records. A record that is added later all the same, because it was restored or the clock was wrong, removes the map of its
// place in the same transaction; Sweep makes it again. The log without the maps is complete, and gaps between them are read.
//
// A program of before them adds records and removes no maps. The list of complete indexes says whether there was one: it takes
// out of the list what it does not know. While one is registered, the maps are not used.

// zonesMark stands in the list of complete indexes as long as all who wrote to the log since keep its zone maps.
const zonesMark = "zones 1"

// The sizes of a run that has a map, and of its parts.
const (
	zoneRecords = 4096
	zoneBytes   = 4 << 20
)

// zoneAge is how old records are before they get a map. Fewer records that come later than that mean less work.
const zoneAge = 15 * time.Minute

// zoneBatch is how many maps are read at once.
const zoneBatch = 64

// zones is what a process knows of the zone maps.
type zones struct {
	// floor is a moment in milliseconds: who writes a record of before looks whether there is a map. Maps are made up to the floor
	// that the sweep before has set, so that a transaction that has seen an earlier one has ended.
	floor atomic.Int64

	records int // of a run, if not zoneRecords: tests have shorter ones
}

func (z *zones) raise(to int64) {
	for {
		have := z.floor.Load()
		if to <= have || z.floor.CompareAndSwap(have, to) {
			return
		}
	}
}

var zonePrefix = []byte{layout.AuditSpace, layout.AuditZone}

// place is where a row of the log is: its key behind the space.
type place [16]byte

func placeIn(key []byte) place { return place(key[2:18]) }

func placeAt(millis int64) (p place) {
	binary.BigEndian.PutUint64(p[:], uint64(millis)^1<<63)
	return p
}

func (p place) millis() int64 { return int64(binary.BigEndian.Uint64(p[:]) ^ 1<<63) }

func (p place) key() []byte {
	return append([]byte{layout.AuditSpace, layout.AuditByTime}, p[:]...)
}

func compare(a, b place) int { return bytes.Compare(a[:], b[:]) }

// zoneRow is a map, or the key of one.
type zoneRow struct {
	begin, end place
	raw        []byte
}

func zoneOf(row kv.Row) (z zoneRow, err error) {
	if len(row.Key) != len(zonePrefix)+2*len(place{}) {
		return z, fault.Internal.Errorf("zone map %x: key is invalid", row.Key)
	}
	return zoneRow{place(row.Key[2:18]), place(row.Key[18:34]), bytes.Clone(row.Value)}, nil
}

func (z *zoneRow) key() []byte {
	return append(append(slices.Clone(zonePrefix), z.begin[:]...), z.end[:]...)
}

// zoneBefore returns the last map that begins at a place or before it, without its value; the key is empty if there is none.
func zoneBefore(k *kv.Tx, at place) (z zoneRow, found bool, err error) {
	last := zoneRow{begin: at, end: place(bytes.Repeat([]byte{0xff}, len(place{})))}
	r := kv.Range{Start: zonePrefix, End: append(last.key(), 0), Reverse: true, KeysOnly: true, Limit: 1}
	for row, err := range k.Scan(r) {
		if err != nil {
			return z, false, err
		}
		z, err = zoneOf(row)
		return z, err == nil, err
	}
	return z, false, nil
}

// dropZone removes the map that covers a place, because a record comes there.
func (t *Tx) dropZone(at place) error {
	z, found, err := zoneBefore(t.kv, at)
	if err != nil || !found || compare(at, z.end) >= 0 {
		return err
	}
	return t.kv.Delete(z.key())
}

// openZones has those who write records of before the end of the maps look for one.
func (t *Tx) openZones() error {
	last, found, err := zoneBefore(t.kv, place(bytes.Repeat([]byte{0xff}, len(place{}))))
	if err == nil && found {
		t.repo.zones.raise(last.end.millis() + 1)
	}
	return err
}

// zoned reports whether all who have written to the log kept its maps.
func (t *Tx) zoned() (bool, error) {
	ready, err := t.readyIndexes()
	if err != nil || !ready.names[zonesMark] {
		return false, err
	}
	return AllAble(t, MapsZones)
}

// forgetZones removes all maps: a program that does not know of them has written to the store.
func (r *Repo) forgetZones(ctx context.Context) error {
	return r.dropRows(ctx, prefix(zonePrefix), func(*kv.Tx) (bool, error) { return true, nil })
}

// sweepZones makes maps of what has none.
func (r *Repo) sweepZones(ctx context.Context) error {
	before := placeAt(r.zones.floor.Load())
	r.zones.raise(r.clock().Add(-zoneAge).UnixMilli())
	var gaps []zoneRow
	err := r.View(ctx, r.System(), func(t *Tx) error {
		gaps = nil
		if err := t.openZones(); err != nil {
			return err
		}
		ok, err := t.zoned()
		if err != nil || !ok {
			return err
		}
		gaps, err = t.zoneGaps(before)
		return err
	})
	for i, gap := range gaps {
		for err == nil && compare(gap.begin, gap.end) < 0 {
			began := time.Now()
			if gap.begin, err = r.makeZone(ctx, gap, i == len(gaps)-1); err == nil {
				_, err = pause(ctx, time.Since(began))
			}
		}
	}
	return err
}

// zoneGaps returns what has no map. What is behind the last one comes last, up to a place.
func (t *Tx) zoneGaps(before place) (gaps []zoneRow, err error) {
	r := prefix(zonePrefix)
	r.KeysOnly = true
	at := place{}
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return nil, err
		}
		z, err := zoneOf(row)
		if err != nil {
			return nil, err
		}
		if compare(at, z.begin) < 0 {
			gaps = append(gaps, zoneRow{begin: at, end: z.begin})
		}
		at = z.end
	}
	return append(gaps, zoneRow{begin: at, end: before}), nil
}

// makeZone makes the map of the first records in a gap, and returns where the next one begins. At the end of the log, it makes
// none of fewer records than a map can have.
func (r *Repo) makeZone(ctx context.Context, gap zoneRow, last bool) (next place, err error) {
	err = r.Update(ctx, r.System(), func(t *Tx) error {
		next = gap.end
		if made, err := t.anyZone(gap); err != nil || made {
			return err // another process has made one a moment ago
		}
		var b zone.Builder
		end, err := t.buildZone(&b, gap)
		if err != nil || b.Records() == 0 || last && end == gap.end {
			return err
		}
		next = end
		z := zoneRow{begin: gap.begin, end: end}
		return t.kv.Set(z.key(), b.Bytes())
	})
	return next, err
}

// anyZone reports whether there is a map of any part of a gap.
func (t *Tx) anyZone(gap zoneRow) (bool, error) {
	z, found, err := zoneBefore(t.kv, gap.begin)
	if err != nil || found && compare(z.end, gap.begin) > 0 {
		return found, err
	}
	r := kv.Range{Start: append(slices.Clone(zonePrefix), gap.begin[:]...), End: append(slices.Clone(zonePrefix), gap.end[:]...)}
	n, more, err := t.kv.Count(r, 1)
	return n > 0 || more, err
}

// buildZone adds the first records of a gap to a map, and returns where those end that it has.
func (t *Tx) buildZone(b *zone.Builder, gap zoneRow) (end place, err error) {
	most := cmp.Or(t.repo.zones.records, zoneRecords)
	part := most / zone.MaxParts
	size, inPart := 0, part
	for row, err := range t.kv.Scan(kv.Range{Start: gap.begin.key(), End: gap.end.key()}) {
		if err != nil {
			return end, err
		}
		at := placeIn(row.Key)
		if b.Records() >= most || size >= zoneBytes || inPart >= part && b.Parts() == zone.MaxParts {
			return at, nil
		}
		if inPart >= part {
			b.Begin(at)
			inPart = 0
		}
		size += len(row.Value)
		for block := row.Value; len(block) > 0; inPart++ {
			var e Entry
			if block, err = e.parse(block); err != nil {
				return end, fault.Wrap(err, "audit record %x", at[:])
			}
			b.Add(e.zoneRecord())
		}
	}
	return gap.end, nil
}

func (e *Entry) zoneRecord() *zone.Record {
	r := &zone.Record{ID: e.ID, Logged: e.Logged.UnixMilli()}
	r.Values[zone.Event], r.Values[zone.Category], r.Values[zone.User] = e.Event, e.Category, e.User
	r.Values[zone.Type], r.Values[zone.State], r.Values[zone.Source], r.Values[zone.Path] = e.DocType, e.DocState, e.Source, e.DocPath
	return r
}

// zoneParts returns the parts of a run that may have records which the filter selects.
func (f *EntryFilter) zoneParts(m *zone.Map) zone.Parts {
	in := m.Parts()
	for field, values := range map[byte][]string{zone.Event: f.Events, zone.Category: f.Categories, zone.User: f.Users} {
		if len(values) > 0 {
			in &= m.With(field, values...)
		}
	}
	if f.Parts != nil {
		in &= f.Parts(m)
	}
	return in
}

// logWalk visits the records of a range that a filter selects.
type logWalk struct {
	t    *Tx
	f    *EntryFilter
	fn   func(at []byte, e Entry) bool
	done bool // fn has enough
}

// log walks a range of the whole log with the help of its maps.
func (w *logWalk) log(r kv.Range) error {
	// What has no maps yet comes first in a list of the newest records, and is often enough.
	floor := placeAt(w.t.repo.zones.floor.Load()).key()
	if bytes.Compare(floor, r.Start) <= 0 {
		return w.rows(r)
	}
	if r.Reverse && bytes.Compare(floor, r.End) < 0 {
		newest := r
		newest.Start, r.End = floor, floor
		if err := w.rows(newest); err != nil || w.done {
			return err
		}
	}
	ok, err := w.t.zoned()
	if err != nil {
		return err
	}
	if !ok {
		return w.rows(r)
	}
	for most := 1; !w.done; most = zoneBatch {
		zones, err := w.t.zonesIn(r, most)
		if err != nil {
			return err
		}
		for i := range zones {
			if r, err = w.upTo(&zones[i], r); err != nil || w.done {
				return err
			}
		}
		if len(zones) < most {
			return w.rows(r)
		}
	}
	return nil
}

// rows walks the rows of a range.
func (w *logWalk) rows(r kv.Range) error {
	var entries []Entry
	var places []int
	rows := w.t.kv.Scan(r)
	if w.f.DocID != "" {
		rows = w.t.scanWith(r, func(row kv.Row) []byte {
			key, _ := auditedIn(row.Key[len(row.Key)-16:], row.Value)
			return key
		})
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		moment, block := row.Key[len(row.Key)-16:], row.Value
		if w.f.DocID != "" {
			if block, err = w.t.auditedAt(moment, row.Value); err != nil {
				return err
			}
		}
		entries, places = entries[:0], places[:0]
		for whole := len(block); len(block) > 0 && (w.f.DocID == "" || len(entries) == 0); {
			var e Entry
			places = append(places, whole-len(block))
			if block, err = e.parse(block); err != nil {
				return fault.Wrap(err, "audit record %x", moment)
			}
			entries = append(entries, e)
		}
		for i := range entries {
			if r.Reverse {
				i = len(entries) - 1 - i
			}
			if !w.f.selects(&entries[i]) {
				continue
			}
			if at := binary.BigEndian.AppendUint16(bytes.Clone(moment), uint16(places[i])); !w.fn(at, entries[i]) {
				w.done = true
				return nil
			}
		}
	}
	return nil
}

// zonesIn returns the first maps of a range of the log, in its order.
func (t *Tx) zonesIn(r kv.Range, most int) (zones []zoneRow, err error) {
	in := kv.Range{Start: zonePrefix, End: prefix(zonePrefix).End, Reverse: r.Reverse, Limit: most}
	if len(r.End) > len(zonePrefix) {
		in.End = append(slices.Clone(zonePrefix), r.End[len(zonePrefix):]...)
	}
	if !r.Reverse {
		in.Start = append(slices.Clone(zonePrefix), r.Start[len(zonePrefix):]...)
		var at place
		copy(at[:], r.Start[len(zonePrefix):])
		z, found, err := zoneBefore(t.kv, at)
		if err != nil {
			return nil, err
		}
		if found && bytes.Compare(z.end.key(), r.Start) > 0 {
			in.Start = z.key()
		}
	}
	for row, err := range t.kv.Scan(in) {
		if err != nil {
			return nil, err
		}
		z, err := zoneOf(row)
		if err != nil {
			return nil, err
		}
		if bytes.Compare(z.end.key(), r.Start) <= 0 {
			break // the range begins behind it
		}
		zones = append(zones, z)
	}
	return zones, nil
}

// upTo walks a range up to the end of a run that has a map, and returns what is left of it.
func (w *logWalk) upTo(z *zoneRow, r kv.Range) (rest kv.Range, err error) {
	begin, end := z.begin.key(), z.end.key()
	before, inside := r, r
	inside.Start, inside.End = later(r.Start, begin), earlier(r.End, end)
	rest = r
	if r.Reverse {
		before.Start, rest.End = later(r.Start, end), earlier(r.End, begin)
	} else {
		before.End, rest.Start = earlier(r.End, begin), later(r.Start, end)
	}
	if err := w.rows(before); err != nil || w.done {
		return rest, err
	}
	return rest, w.zone(z, inside)
}

func later(a, b []byte) []byte {
	if bytes.Compare(a, b) > 0 {
		return a
	}
	return b
}

func earlier(a, b []byte) []byte {
	if bytes.Compare(a, b) < 0 {
		return a
	}
	return b
}

// farGap is how many parts of a run between others are read with them from a store across a network, where each range costs a
// round trip.
const farGap = 8

// zone walks what a range has of a run.
func (w *logWalk) zone(z *zoneRow, r kv.Range) error {
	m, err := zone.Parse(z.raw)
	if err != nil {
		return w.rows(r) // a hint that cannot be read is none
	}
	all := w.f.Whole != nil && w.f.all() && bytes.Equal(r.Start, z.begin.key()) && bytes.Equal(r.End, z.end.key())
	if all && w.f.Whole(m.Records) {
		return nil
	}
	gap := 0
	if w.t.kv.Remote() {
		gap = farGap
	}
	parts := w.f.zoneParts(&m)
	var runs []kv.Range
	for first, end := parts.Next(0, gap); first < zone.MaxParts; first, end = parts.Next(end, gap) {
		run := r
		run.Start = later(r.Start, place(m.Start(first)).key())
		if end < bits.Len64(uint64(m.Parts())) {
			run.End = earlier(r.End, place(m.Start(end)).key())
		}
		runs = append(runs, run)
	}
	if r.Reverse {
		slices.Reverse(runs)
	}
	for _, run := range runs {
		if err := w.rows(run); err != nil || w.done {
			return err
		}
	}
	return nil
}

// all reports whether the filter selects every record of a range.
func (f *EntryFilter) all() bool {
	return f.DocID == "" && len(f.Events)+len(f.Categories)+len(f.Users) == 0 && f.Parts == nil
}
