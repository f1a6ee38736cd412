package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
)

// Runs that went well are kept in blocks: one row with what lists show of them and one with the details, each packed as a
// whole. The key of both is the last id and the first one, so that the runs of a time are found without an index: a block
// has only runs whose calls began within a span.
var (
	blocks       = row.Secret{Name: "runblocks"}
	blockDetails = row.Secret{Name: "runblockdetails"}
)

const (
	blockSpan = time.Second // between the beginnings of the first and the last call of a block
	// maxBlock is the size from which on another block begins. A run may exceed it by as much as the engine keeps of one, and
	// a row has room for both.
	maxBlock     = 24 << 10
	maxBlockRuns = 500
)

// Block is a number of runs that went well, as they are kept.
type Block struct {
	runs           int
	key            string
	heads, details []byte
	marks          []Run // those with which a chain went on
}

// Len is how many runs the block has.
func (b *Block) Len() int { return b.runs }

// Size is how many bytes it takes.
func (b *Block) Size() int { return len(b.heads) + len(b.details) }

// Runs are its runs as lists show them, oldest first.
func (b *Block) Runs() ([]Run, error) {
	if b.heads == nil { // nothing is in it
		return nil, nil
	}
	return runsOf(b.heads)
}

// Run returns a run of the block with its details, if there is one of the id.
func (b *Block) Run(id string) (r Run, d Details, found bool, err error) {
	runs, err := b.Runs()
	if err != nil {
		return r, d, false, err
	}
	i, found := placeOf(runs, id)
	if !found {
		return r, d, false, nil
	}
	d, err = detailAt(b.details, i)
	return runs[i], d, true, err
}

func placeOf(runs []Run, id string) (i int, found bool) {
	return slices.BinarySearchFunc(runs, id, func(r Run, id string) int { return strings.Compare(r.ID, id) })
}

// Pack makes blocks of runs that went well, in whatever order they come.
func Pack(ended []Ended) []Block {
	order := make([]*Ended, len(ended))
	for i := range ended {
		order[i] = &ended[i]
	}
	slices.SortFunc(order, func(a, b *Ended) int { return strings.Compare(a.Run.ID, b.Run.ID) })
	var out []Block
	p := packers.Get().(*blockPacker)
	defer packers.Put(p)
	for _, e := range order {
		if p.full(&e.Run) {
			out = append(out, p.block())
		}
		p.add(e)
	}
	if p.runs > 0 {
		out = append(out, p.block())
	}
	return out
}

// blockPacker makes one block after the other.
type blockPacker struct {
	heads, details Packer
	runs           int
	first, last    string
	marks          []Run
	raw            []byte
}

// packers are kept for their room.
var packers = sync.Pool{New: func() any { return new(blockPacker) }}

// full reports whether a run belongs in another block.
func (p *blockPacker) full(r *Run) bool {
	return p.runs > 0 && (p.runs >= maxBlockRuns || p.heads.size() >= maxBlock || p.details.size() >= maxBlock || !near(p.first, r.ID))
}

// begin adds a run but for its details.
func (p *blockPacker) begin(r *Run) {
	if p.runs == 0 {
		p.heads.reset()
		p.details.reset()
		p.first = r.ID
	}
	p.last = r.ID
	p.runs++
	p.head(r)
	if r.Began != "" {
		p.marks = append(p.marks, *r)
	}
}

func (p *blockPacker) add(e *Ended) {
	p.begin(&e.Run)
	d := &p.details
	for _, raw := range []json.RawMessage{e.Details.Input, e.Details.Params, e.Details.Context, e.Details.Trace} {
		d.Text(string(raw))
	}
	d.Int(int64(len(e.Details.Left)))
	for _, name := range e.Details.Left {
		d.Text(name)
	}
	if e.Steps != nil {
		e.Steps(d)
	}
	d.end()
}

// head packs what lists show. A run that went well has no error.
func (p *blockPacker) head(r *Run) {
	h := &p.heads
	began, server, number := idParts(r.ID)
	if h.Text(server); server == "" {
		h.Text(r.ID)
	} else {
		h.Int(began)
		h.Int(number)
	}
	h.Int(r.Start.UnixNano() - began*int64(time.Millisecond))
	remote := ""
	if r.Remote.IsValid() {
		remote = r.Remote.String()
	}
	for _, text := range [...]string{r.Owner, r.Repository, r.Op, r.EntryPoint, r.Request, remote, r.Repeats, r.Began} {
		h.Text(text)
	}
	for _, n := range [...]int64{r.OwnerID, r.Version, int64(r.Duration), r.Expires.Unix() - r.Start.Unix()} {
		h.Int(n)
	}
	h.end()
}

// block ends a block.
func (p *blockPacker) block() Block {
	b := Block{runs: p.runs, key: p.last + "/" + p.first, heads: p.seal(&p.heads), details: p.seal(&p.details), marks: p.marks}
	p.runs, p.marks = 0, nil
	return b
}

// The first byte of a row of a block says how the rest is written.
const (
	plainRow = 1
	zstdRow  = 2
)

// minZstd is from how many bytes of a run on compression is worth its time: fewer are mostly numbers, which it does not make smaller.
const minZstd = 300

func (p *blockPacker) seal(of *Packer) []byte {
	p.raw = of.append(p.raw[:0])
	if len(p.raw) >= minZstd*p.runs {
		if z := encoder().EncodeAll(p.raw, []byte{zstdRow}); len(z) <= len(p.raw) {
			return z
		}
	}
	return append([]byte{plainRow}, p.raw...)
}

// opened are the items of a row of a block.
func opened(raw []byte) ([]Unpacker, error) {
	var err error
	switch {
	case len(raw) > 0 && raw[0] == plainRow:
		raw = raw[1:]
	case len(raw) > 0 && raw[0] == zstdRow:
		raw, err = decoder().DecodeAll(raw[1:], nil)
	default:
		err = errPacked
	}
	var items []Unpacker
	if err == nil {
		items, err = unpack(raw)
	}
	if err != nil {
		return nil, fault.Internal.Errorf("runs: %w", err)
	}
	return items, nil
}

// runsOf are the runs of a block as lists show them, oldest first.
func runsOf(raw []byte) ([]Run, error) {
	items, err := opened(raw)
	if err != nil {
		return nil, err
	}
	out := make([]Run, len(items))
	for i := range items {
		u, r := &items[i], &out[i]
		began := int64(0)
		if server := u.Text(); server == "" {
			r.ID = u.Text()
		} else {
			began = u.Int()
			r.ID = fmt.Sprintf("%x%s-%0*x", began, server, numberDigits, u.Int())
		}
		r.Start = time.Unix(0, began*int64(time.Millisecond)+u.Int()).UTC()
		remote := ""
		for _, into := range [...]*string{&r.Owner, &r.Repository, &r.Op, &r.EntryPoint, &r.Request, &remote, &r.Repeats, &r.Began} {
			*into = u.Text()
		}
		for _, into := range [...]*int64{&r.OwnerID, &r.Version, (*int64)(&r.Duration)} {
			*into = u.Int()
		}
		r.Expires = time.Unix(r.Start.Unix()+u.Int(), 0).UTC()
		if remote != "" {
			r.Remote, err = netip.ParseAddr(remote)
		}
		if err = cmp.Or(err, u.Err()); err != nil {
			return nil, fault.Internal.Errorf("runs: %w", err)
		}
	}
	return out, nil
}

// detailsOf are the details of a run of a block.
func detailsOf(u Unpacker) (d Details, err error) {
	for _, into := range []*json.RawMessage{&d.Input, &d.Params, &d.Context, &d.Trace} {
		if text := u.Text(); text != "" {
			*into = json.RawMessage(text)
		}
	}
	for range u.Len() {
		d.Left = append(d.Left, u.Text())
	}
	if len(u.item) > 0 {
		d.Steps = &u
	}
	if err := u.Err(); err != nil {
		return d, fault.Internal.Errorf("details of a run: %w", err)
	}
	return d, nil
}

// idParts takes an id of the engine apart into what it can be made of again; server is "" if it is none.
func idParts(id string) (began int64, server string, number int64) {
	at := strings.IndexByte(id, '-')
	if at <= serverDigits || id[0] == '0' || len(id)-at-1 < numberDigits || len(id)-at-1 > numberDigits && id[at+1] == '0' || strings.ToLower(id) != id {
		return 0, "", 0
	}
	began, err := strconv.ParseInt(id[:at-serverDigits], 16, 64)
	if err == nil {
		number, err = strconv.ParseInt(id[at+1:], 16, 64)
	}
	if err != nil || id[0] == '+' || id[0] == '-' || id[at+1] == '+' || id[at+1] == '-' {
		return 0, "", 0
	}
	return began, id[at-serverDigits : at], number
}

// The digits of ids: milliseconds, the server, a number of its own.
const (
	timeDigits   = 11
	serverDigits = 6
	numberDigits = 10
)

// idTime is when the call of an id began; ok is false for ids of another kind.
func idTime(id string) (ms int64, ok bool) {
	if len(id) < timeDigits {
		return 0, false
	}
	ms, err := strconv.ParseInt(id[:timeDigits], 16, 64)
	return ms, err == nil
}

// near reports whether a run may be in one block with another one that began before.
func near(first, id string) bool {
	a, known := idTime(first)
	b, also := idTime(id)
	return known == also && b-a <= blockSpan.Milliseconds()
}

// beyond is a key behind all blocks that have runs of an id or before; "": there is none.
func beyond(id string) string {
	ms, ok := idTime(id)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%0*x", timeDigits, ms+blockSpan.Milliseconds()+1)
}

// keep writes a block.
func (b *Block) keep(tx *storage.Tx) error {
	return errors.Join(tx.Secret(blocks).PutRow(b.key, b.heads), tx.Secret(blockDetails).PutRow(b.key, b.details))
}

// holding calls take with the blocks that may have the run of an id, until it returns false.
func holding(tx *storage.Tx, id string, take func(key string, heads []byte) bool) error {
	for key, raw := range tx.Secret(blocks).Scan(id, beyond(id), false, 0) {
		if _, first, _ := strings.Cut(key, "/"); first <= id && !take(key, raw) {
			break
		}
	}
	return tx.Err()
}

func findInBlocks(tx *storage.Tx, id string) (r Run, details func() (Details, error), err error) {
	failure := holding(tx, id, func(key string, heads []byte) bool {
		var runs []Run
		if runs, err = runsOf(heads); err != nil {
			return false
		}
		i, found := placeOf(runs, id)
		if found {
			r, details = runs[i], func() (Details, error) { return blockDetail(tx, key, i) }
		}
		return !found
	})
	return r, details, cmp.Or(err, failure)
}

// blockDetail returns the details of a run at a place of a block.
func blockDetail(tx *storage.Tx, key string, at int) (Details, error) {
	raw, err := tx.Secret(blockDetails).Row(key)
	if err != nil {
		return Details{}, err
	}
	return detailAt(raw, at)
}

func detailAt(raw []byte, at int) (Details, error) {
	items, err := opened(raw)
	if err == nil && at >= len(items) {
		err = fault.Internal.Errorf("runs: %w", errPacked)
	}
	if err != nil {
		return Details{}, err
	}
	return detailsOf(items[at])
}

// seenInBlocks walks the runs of blocks that fit and that the caller may see, newest first. Blocks of several servers, and
// those of one, overlap: a run is told once no later block can have a newer one.
func seenInBlocks(tx *storage.Tx, f *Filter) iter.Seq2[*Run, error] {
	to := ""
	if f.Before != "" {
		to = beyond(f.Before)
	}
	return func(yield func(*Run, error) bool) {
		var open [][]Run // what is left of blocks
		tell := func(until string) bool {
			for {
				newest := -1
				for i := range open {
					if last := open[i][len(open[i])-1].ID; last > until && (newest < 0 || last > open[newest][len(open[newest])-1].ID) {
						newest = i
					}
				}
				if newest < 0 {
					return true
				}
				n := len(open[newest]) - 1
				r := &open[newest][n]
				if open[newest] = open[newest][:n]; n == 0 {
					open = slices.Delete(open, newest, newest+1)
				}
				if r.SeenBy(tx) && f.Fits(r) && !yield(r, nil) {
					return false
				}
			}
		}
		for key, raw := range tx.Secret(blocks).Scan("", to, true, 0) {
			last, first, _ := strings.Cut(key, "/")
			if f.Before != "" && first >= f.Before {
				continue
			}
			if !tell(last) {
				return
			}
			runs, err := runsOf(raw)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(runs) > 0 {
				open = append(open, runs)
			}
		}
		tell("")
	}
}

// rewrite leaves out of a block the runs that do not stay.
func rewrite(tx *storage.Tx, key string, stays func(r *Run) bool) error {
	heads, err := tx.Secret(blocks).Row(key)
	if err != nil || heads == nil {
		return err
	}
	details, err := tx.Secret(blockDetails).Row(key)
	if err != nil {
		return err
	}
	b, err := without(heads, details, stays)
	if err != nil {
		return err
	}
	if err := dropBlock(tx, key); err != nil || b.key == "" {
		return err
	}
	return b.keep(tx)
}

// without makes a block of the runs of another one that stay. Nothing of the others is left, which the lists of texts would have.
func without(heads, details []byte, stays func(r *Run) bool) (b Block, err error) {
	runs, err := runsOf(heads)
	if err != nil {
		return b, err
	}
	items, err := opened(details)
	if err != nil || len(items) != len(runs) {
		return b, cmp.Or(err, error(fault.Internal.Errorf("runs: %w", errPacked)))
	}
	var p blockPacker
	for i := range runs {
		if !stays(&runs[i]) {
			continue
		}
		p.begin(&runs[i])
		if err := p.details.again(items[i]); err != nil {
			return b, fault.Internal.Errorf("runs: %w", err)
		}
		p.details.end()
	}
	if p.runs > 0 {
		b = p.block()
	}
	return b, nil
}

func dropBlock(tx *storage.Tx, key string) error {
	return errors.Join(tx.Secret(blocks).Delete(key), tx.Secret(blockDetails).Delete(key))
}
