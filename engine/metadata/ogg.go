package metadata

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Bounds of what is read at the beginning and at the end of an Ogg file, in bytes. A page has at most 65,307.
const (
	oggHead = 64 << 10
	oggTail = 128 << 10
)

// oggStream is a stream of an Ogg file.
type oggStream struct {
	rate  float64 // units of the position a second
	skip  int64   // units that are not played
	shift uint    // of a film: bits of the position that count from the last whole picture
}

func readOgg(s *section) (*Media, error) {
	head, _ := s.at(0, oggHead)
	m, streams := &Media{Format: "ogg"}, map[uint32]oggStream{}
	for at := 0; len(head) >= at+27 && string(head[at:at+4]) == "OggS"; {
		page := head[at:]
		segments := int(page[26])
		if len(page) < 27+segments {
			break
		}
		length := 0
		for _, n := range page[27 : 27+segments] {
			length += int(n)
		}
		body := page[27+segments:]
		if page[5]&2 == 0 || len(body) < min(length, 30) { // the pages that begin streams stand together
			break
		}
		if st, of, ok := oggBegins(body[:min(length, len(body))], m); ok {
			m.Streams = append(m.Streams, st)
			streams[binary.LittleEndian.Uint32(page[14:])] = of
		}
		at += 27 + segments + length
	}
	if len(m.Streams) == 0 {
		return nil, errUnknown
	}
	tail, err := s.at(max(0, s.size-oggTail), oggTail)
	if err != nil {
		return nil, err
	}
	oggEnds(tail, streams, m)
	return m, nil
}

// oggBegins reads the packet that begins a stream.
func oggBegins(b []byte, m *Media) (st Stream, of oggStream, ok bool) {
	text := string(b)
	switch {
	case strings.HasPrefix(text, "\x01vorbis") && len(b) >= 24:
		rate := int64(binary.LittleEndian.Uint32(b[12:]))
		return Stream{Audio, "vorbis", float64(int32(binary.LittleEndian.Uint32(b[20:]))), rate, int64(b[11])}, oggStream{rate: float64(rate)}, rate > 0
	case strings.HasPrefix(text, "OpusHead") && len(b) >= 12:
		return Stream{Audio, "opus", 0, 48000, int64(b[9])}, oggStream{rate: 48000, skip: int64(binary.LittleEndian.Uint16(b[10:]))}, true
	case strings.HasPrefix(text, "\x7fFLAC") && len(b) >= 35:
		rate := int64(binary.BigEndian.Uint64(b[27:]) >> 44)
		return Stream{Audio, "flac", 0, rate, 0}, oggStream{rate: float64(rate)}, rate > 0
	case strings.HasPrefix(text, "\x80theora") && len(b) >= 42:
		m.Width, m.Height = int64(whole(b[14:17])), int64(whole(b[17:20]))
		rate := float64(binary.BigEndian.Uint32(b[22:])) / float64(max(1, binary.BigEndian.Uint32(b[26:])))
		m.FrameRate = rate
		return Stream{Video, "theora", 0, 0, 0}, oggStream{rate: rate, shift: uint(binary.BigEndian.Uint16(b[40:])>>5) & 31}, rate > 0
	}
	return st, of, false
}

// oggEnds finds the last positions of streams.
func oggEnds(tail []byte, streams map[uint32]oggStream, m *Media) {
	for {
		i := bytes.Index(tail, []byte("OggS"))
		if i < 0 || len(tail) < i+27 {
			return
		}
		page := tail[i:]
		position := int64(binary.LittleEndian.Uint64(page[6:]))
		if of, ok := streams[binary.LittleEndian.Uint32(page[14:])]; ok && position > 0 {
			if of.shift > 0 {
				position = position>>of.shift + position&(1<<of.shift-1)
			}
			m.Duration = max(m.Duration, float64(position-of.skip)/of.rate)
		}
		tail = page[4:]
	}
}
