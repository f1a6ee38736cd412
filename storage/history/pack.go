package history

import (
	"encoding/json"
	"sync"

	"github.com/klauspost/compress/zstd"

	"catena/storage/fault"
)

// packed is the row of the details of a run that went well: the steps of a chain resemble one another, so that they take
// a fraction of their size.
type packed struct {
	Z []byte // JSON, compressed
}

// maxDetails bounds what the details of a run may unpack to. The engine bounds what goes in.
const maxDetails = 64 << 20

var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(64<<10), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // the options are fixed
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDetails))
		if err != nil {
			panic(err) // the options are fixed
		}
		return d
	})
)

// pack packs details into the room of those before, with raw as room for what is packed.
func (p *packed) pack(d *Details, raw []byte) ([]byte, error) {
	raw, err := d.appendJSON(raw[:0])
	if err != nil {
		return nil, fault.Internal.Errorf("details of a run: %w", err)
	}
	p.Z = encoder().EncodeAll(raw, p.Z[:0])
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
	raw, err := decoder().DecodeAll(p.Z, nil)
	if err == nil {
		err = json.Unmarshal(raw, d)
	}
	if err != nil {
		return fault.Internal.Errorf("details of a run: %w", err)
	}
	return nil
}
