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

func pack(d *Details) (*packed, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fault.Internal.Errorf("details of a run: %w", err)
	}
	return &packed{encoder().EncodeAll(raw, nil)}, nil
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
