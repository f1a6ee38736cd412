package history

import (
	"cmp"
	"encoding/json"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"catena/storage/fault"
)

// packed is the row of the details of a run that went well: the steps of a chain resemble one another, so that they take
// a fraction of their size. Most of the time of Zstandard goes to tables of codes, which pay for themselves in longer texts only.
type packed struct {
	S []byte `json:",omitempty"` // JSON, compressed by S2
	Z []byte `json:",omitempty"` // of rows of before, compressed by Zstandard
}

// maxDetails bounds what the details of a run may unpack to. The engine bounds what goes in.
const maxDetails = 64 << 20

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDetails))
	if err != nil {
		panic(err) // the options are fixed
	}
	return d
})

// pack packs details into the room of those before, with raw as room for what is packed.
func (p *packed) pack(d *Details, raw []byte) ([]byte, error) {
	raw, err := d.appendJSON(raw[:0])
	if err != nil {
		return nil, fault.Internal.Errorf("details of a run: %w", err)
	}
	p.S = s2.EncodeBetter(p.S[:cap(p.S)], raw)
	return raw, nil
}

// appendJSON appends the details as JSON. Their members are JSON already, which encoding/json would read once more.
func (d *Details) appendJSON(b []byte) ([]byte, error) {
	first := byte('{')
	member := func(name string, raw []byte) {
		if len(raw) > 0 {
			b = append(append(append(append(b, first, '"'), name...), '"', ':'), raw...)
			first = ','
		}
	}
	member("Input", d.Input)
	member("Params", d.Params)
	member("Context", d.Context)
	if len(d.Left) > 0 {
		raw, err := json.Marshal(d.Left)
		if err != nil {
			return nil, err
		}
		member("Left", raw)
	}
	member("Trace", d.Trace)
	if !d.Expires.IsZero() {
		raw, err := json.Marshal(d.Expires)
		if err != nil {
			return nil, err
		}
		member("expires", raw)
	}
	if first == '{' {
		b = append(b, '{')
	}
	return append(b, '}'), nil
}

func (p *packed) unpack(d *Details) error {
	raw, err := p.unpacked()
	if err == nil {
		err = json.Unmarshal(raw, d)
	}
	if err != nil {
		return fault.Internal.Errorf("details of a run: %w", err)
	}
	return nil
}

func (p *packed) unpacked() ([]byte, error) {
	if len(p.S) == 0 {
		return decoder().DecodeAll(p.Z, nil)
	}
	if n, err := s2.DecodedLen(p.S); err != nil || n > maxDetails {
		return nil, cmp.Or(err, s2.ErrTooLarge)
	}
	return s2.Decode(nil, p.S)
}
