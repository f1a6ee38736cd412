package metadata

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strings"
)

// Elements of Matroska and WebM.
const (
	ebmlHead     = 0x1A45DFA3
	ebmlDocType  = 0x4282
	mkvSegment   = 0x18538067
	mkvInfo      = 0x1549A966
	mkvScale     = 0x2AD7B1
	mkvDuration  = 0x4489
	mkvTracks    = 0x1654AE6B
	mkvTrack     = 0xAE
	mkvType      = 0x83
	mkvCodec     = 0x86
	mkvFrameTime = 0x23E383
	mkvVideo     = 0xE0
	mkvWidth     = 0xB0
	mkvHeight    = 0xBA
	mkvAudio     = 0xE1
	mkvRate      = 0xB5
	mkvChannels  = 0x9F
	mkvCluster   = 0x1F43B675
)

// mkv gathers what the elements of a file say.
type mkv struct {
	s        *section
	m        *Media
	scale    float64 // nanoseconds
	duration float64
	track    Stream
	kind     uint64
	frame    float64 // nanoseconds
	width    int64
	height   int64
}

func readMatroska(s *section) (*Media, error) {
	p := &mkv{s: s, m: &Media{Format: "matroska"}, scale: 1e6}
	if err := p.walk(0, s.size, 0); err != nil {
		return nil, err
	}
	if len(p.m.Streams) == 0 {
		return nil, errUnknown
	}
	p.m.Duration = p.duration * p.scale / 1e9
	return p.m, nil
}

// errDone ends a walk: the first cluster is where the content begins.
var errDone = errors.New("done")

// number reads a number of a length that its first bits say; of identifiers, these bits are part.
func (p *mkv) number(at int64, isID bool) (n uint64, length int, unknown bool, err error) {
	b, err := p.s.at(at, 8)
	if err != nil && len(b) == 0 {
		return 0, 0, false, err
	}
	length = bits.LeadingZeros8(b[0]) + 1
	if length > 8 || len(b) < length {
		return 0, 0, false, errUnknown
	}
	for i := range length {
		n = n<<8 | uint64(b[i])
	}
	if !isID {
		most := uint64(1)<<(7*length) - 1
		n &= most
		unknown = n == most
	}
	return n, length, unknown, nil
}

func (p *mkv) walk(at, end int64, depth int) error {
	if depth > maxDepth {
		return errUnknown
	}
	for at < end {
		if err := p.s.count(); err != nil {
			return err
		}
		id, n, _, err := p.number(at, true)
		if err != nil {
			return err
		}
		size, k, unknown, err := p.number(at+int64(n), false)
		if err != nil {
			return err
		}
		start := at + int64(n+k)
		last := start + int64(size)
		if unknown || size > uint64(end-start) {
			last = end // a stream, or a truncated file
		}
		switch err := p.element(id, start, last, depth); {
		case errors.Is(err, errDone):
			if depth > 0 {
				return err
			}
			return nil
		case err != nil:
			return err
		}
		at = last
	}
	return nil
}

func (p *mkv) element(id uint64, at, end int64, depth int) error {
	switch id {
	case mkvCluster:
		return errDone
	case ebmlHead, mkvSegment, mkvInfo, mkvTracks, mkvVideo, mkvAudio:
		return p.walk(at, end, depth+1)
	case mkvTrack:
		p.track, p.kind, p.frame = Stream{}, 0, 0
		if err := p.walk(at, end, depth+1); err != nil {
			return err
		}
		p.add()
		return nil
	case ebmlDocType, mkvScale, mkvDuration, mkvType, mkvCodec, mkvFrameTime, mkvWidth, mkvHeight, mkvRate, mkvChannels:
		b, err := p.s.whole(at, int(min(end-at, 64)))
		if err != nil {
			return err
		}
		p.value(id, b)
	}
	return nil
}

// value takes in a value.
func (p *mkv) value(id uint64, b []byte) {
	switch id {
	case ebmlDocType:
		p.m.Format = textOr(strings.TrimRight(string(b), "\x00"))
	case mkvScale:
		p.scale = float64(whole(b))
	case mkvDuration:
		p.duration = float(b)
	case mkvType:
		p.kind = whole(b)
	case mkvCodec:
		p.track.Codec = mkvCodecName(textOr(strings.TrimRight(string(b), "\x00")))
	case mkvFrameTime:
		p.frame = float64(whole(b))
	case mkvWidth:
		p.width = int64(whole(b))
	case mkvHeight:
		p.height = int64(whole(b))
	case mkvRate:
		if rate := float(b); rate > 0 && rate < 1e7 {
			p.track.SampleRate = int64(rate)
		}
	case mkvChannels:
		p.track.Channels = int64(whole(b))
	}
}

// add adds a track that has been read.
func (p *mkv) add() {
	switch p.kind {
	case 1:
		p.track.Type = Video
		if p.m.Width == 0 {
			p.m.Width, p.m.Height = p.width, p.height
			if p.frame > 0 {
				p.m.FrameRate = 1e9 / p.frame
			}
		}
	case 2:
		p.track.Type = Audio
	default:
		return
	}
	p.m.Streams = append(p.m.Streams, p.track)
}

func mkvCodecName(id string) string {
	if name := map[string]string{"V_MPEG4/ISO/AVC": "h264", "V_MPEGH/ISO/HEVC": "hevc", "A_MPEG/L3": "mp3", "A_PCM/INT/LIT": "pcm"}[id]; name != "" {
		return name
	}
	_, name, _ := strings.Cut(id, "_")
	name, _, _ = strings.Cut(name, "/")
	return strings.ToLower(name)
}

// whole is a number of up to eight bytes.
func whole(b []byte) (n uint64) {
	for _, c := range b[:min(len(b), 8)] {
		n = n<<8 | uint64(c)
	}
	return n
}

// float is a number of four or eight bytes.
func float(b []byte) float64 {
	switch len(b) {
	case 4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return 0
}
