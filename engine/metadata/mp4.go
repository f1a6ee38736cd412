package metadata

import (
	"encoding/binary"
	"slices"
)

// isTop reports whether a box may be the first of a file.
func isTop(kind string) bool {
	return slices.Contains([]string{"ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"}, kind)
}

// mp4 gathers what the boxes of a file say.
type mp4 struct {
	s     *section
	m     *Media
	track mp4Track
}

type mp4Track struct {
	kind            string
	scale, duration float64
	width, height   int64
	frames          int64
	stream          Stream
}

func readMP4(s *section) (*Media, error) {
	p := &mp4{s: s, m: &Media{Format: "mp4"}}
	if h, err := s.whole(0, 12); err == nil && string(h[4:8]) == "ftyp" && string(h[8:12]) == "qt  " || err == nil && string(h[4:8]) != "ftyp" {
		p.m.Format = "mov"
	}
	if err := p.walk(0, s.size, 0); err != nil {
		return nil, err
	}
	if len(p.m.Streams) == 0 && p.m.Duration == 0 {
		return nil, errUnknown
	}
	return p.m, nil
}

// inner are the boxes that hold others that matter.
var inner = []string{"moov", "trak", "mdia", "minf", "stbl", "mvex"}

// walk looks at the boxes between two places.
func (p *mp4) walk(at, end int64, depth int) error {
	if depth > maxDepth {
		return errUnknown
	}
	for at+8 <= end {
		if err := p.s.count(); err != nil {
			return err
		}
		h, err := p.s.whole(at, 8)
		if err != nil {
			return err
		}
		size, start := int64(binary.BigEndian.Uint32(h)), at+8
		switch size {
		case 0:
			size = end - at
		case 1:
			long, err := p.s.whole(at+8, 8)
			if err != nil {
				return err
			}
			size, start = int64(binary.BigEndian.Uint64(long)), at+16
		}
		if size < start-at || size > end-at {
			// The last box of a truncated file: what came before it counts.
			if depth == 0 && len(p.m.Streams) > 0 {
				return nil
			}
			return errUnknown
		}
		if err := p.box(string(h[4:8]), start, at+size, depth); err != nil {
			return err
		}
		at += size
	}
	return nil
}

// box looks at one box.
func (p *mp4) box(kind string, at, end int64, depth int) error {
	if kind == "trak" {
		p.track = mp4Track{}
	}
	if slices.Contains(inner, kind) {
		if err := p.walk(at, end, depth+1); err != nil {
			return err
		}
		if kind == "trak" {
			p.add()
		}
		return nil
	}
	read := map[string]func(b []byte){"mvhd": p.movie, "mehd": p.fragments, "mdhd": p.media, "tkhd": p.head, "hdlr": p.handler, "stsd": p.description, "stts": p.times}[kind]
	if read == nil {
		return nil
	}
	b, err := p.s.at(at, int(min(end-at, 64<<10)))
	if err == nil && len(b) >= 16 {
		read(b)
	}
	return err
}

// add adds a track that has been read.
func (p *mp4) add() {
	t := &p.track
	switch t.kind {
	case Video:
		if p.m.Width == 0 {
			p.m.Width, p.m.Height = t.width, t.height
			if t.duration > 0 && t.scale > 0 {
				p.m.FrameRate = float64(t.frames) * t.scale / t.duration
			}
		}
	case Audio:
	default:
		return
	}
	t.stream.Type = t.kind
	p.m.Streams = append(p.m.Streams, t.stream)
	if p.m.Duration == 0 && t.scale > 0 {
		p.m.Duration = t.duration / t.scale
	}
}

// times32or64 reads a time scale and a duration, which follow two dates.
func times32or64(b []byte) (scale, duration float64) {
	if b[0] == 1 && len(b) >= 32 {
		return float64(binary.BigEndian.Uint32(b[20:])), float64(binary.BigEndian.Uint64(b[24:]))
	}
	if len(b) < 20 {
		return 0, 0
	}
	return float64(binary.BigEndian.Uint32(b[12:])), float64(binary.BigEndian.Uint32(b[16:]))
}

func (p *mp4) movie(b []byte) {
	scale, duration := times32or64(b)
	if scale > 0 && duration > 0 {
		p.m.Duration = duration / scale
	}
	p.track.scale = scale // for the duration of fragments
}

// fragments is the duration of a film in fragments.
func (p *mp4) fragments(b []byte) {
	if p.m.Duration == 0 && p.track.scale > 0 && b[0] == 0 {
		p.m.Duration = float64(binary.BigEndian.Uint32(b[4:])) / p.track.scale
	}
}

func (p *mp4) media(b []byte) { p.track.scale, p.track.duration = times32or64(b) }

// head has the measures of a track in 65536ths of a pixel at its end.
func (p *mp4) head(b []byte) {
	n := 84
	if b[0] == 1 {
		n = 96
	}
	if len(b) >= n {
		p.track.width, p.track.height = int64(binary.BigEndian.Uint32(b[n-8:])>>16), int64(binary.BigEndian.Uint32(b[n-4:])>>16)
	}
}

func (p *mp4) handler(b []byte) {
	if kind := map[string]string{"vide": Video, "soun": Audio}[string(b[8:12])]; kind != "" && p.track.kind == "" {
		p.track.kind = kind
	}
}

// codecNames are those of the codes of MP4.
var codecNames = map[string]string{
	"avc1": "h264", "avc3": "h264", "hvc1": "hevc", "hev1": "hevc", "mp4v": "mpeg4", "vp08": "vp8", "vp09": "vp9", "av01": "av1", "jpeg": "mjpeg",
	"mp4a": "aac", ".mp3": "mp3", "ac-3": "ac3", "ec-3": "eac3", "Opus": "opus", "fLaC": "flac", "alac": "alac", "sowt": "pcm", "twos": "pcm", "lpcm": "pcm",
}

// description has the code of the codec, and measures of the stream.
func (p *mp4) description(b []byte) {
	if len(b) < 8+36 {
		return
	}
	entry := b[8:]
	code := string(entry[4:8])
	if p.track.stream.Codec = codecNames[code]; p.track.stream.Codec == "" {
		p.track.stream.Codec = textOr(code)
	}
	if p.track.kind == Audio {
		p.track.stream.Channels = int64(binary.BigEndian.Uint16(entry[24:]))
		p.track.stream.SampleRate = int64(binary.BigEndian.Uint32(entry[32:]) >> 16)
	}
}

// textOr is a code, if it is readable.
func textOr(code string) string {
	for _, r := range code {
		if r < ' ' || r > '~' {
			return ""
		}
	}
	return code
}

// times counts the frames.
func (p *mp4) times(b []byte) {
	n := int(min(binary.BigEndian.Uint32(b[4:]), uint32((len(b)-8)/8)))
	for i := range n {
		p.track.frames += int64(binary.BigEndian.Uint32(b[8+8*i:]))
	}
}
