package metadata

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"

	"catena/storage/blob"
)

// Media is what a file of audio or video says about itself. Zero values are not known.
type Media struct {
	Format    string
	Duration  float64 // seconds
	Width     int64   // pixels
	Height    int64
	FrameRate float64 // frames a second
	Streams   []Stream
}

// Stream is one of the streams of a file.
type Stream struct {
	Type       string // video or audio
	Codec      string
	BitRate    float64 // bits a second
	SampleRate int64   // samples a second
	Channels   int64
}

// Video and Audio are the types of streams.
const (
	Video = "video"
	Audio = "audio"
)

// Bounds of what is read of a file: boxes are skipped by their sizes, so that few bytes of a large file are read.
const (
	maxBoxes = 20_000
	maxDepth = 10
	maxSide  = 1 << 16
	maxTime  = 10 * 365 * 24 * 3600 // seconds
)

// errUnknown is the error of what cannot be read.
var errUnknown = errors.New("unknown format")

// mediaReader reads one format. Sizes and numbers are written by strangers.
type mediaReader struct {
	begins func(head []byte) bool
	read   func(s *section) (*Media, error)
}

var mediaReaders = []mediaReader{
	{func(h []byte) bool { return len(h) > 8 && isTop(string(h[4:8])) }, readMP4},
	{func(h []byte) bool { return strings.HasPrefix(string(h), "\x1a\x45\xdf\xa3") }, readMatroska},
	{func(h []byte) bool { return strings.HasPrefix(string(h), "OggS") }, readOgg},
	{func(h []byte) bool { return strings.HasPrefix(string(h), "fLaC") }, readFLAC},
	{func(h []byte) bool { return len(h) >= 12 && string(h[:4]) == "RIFF" && string(h[8:12]) == "WAVE" }, readWAV},
	{func(h []byte) bool { return strings.HasPrefix(string(h), "ID3") || frameOf(h) != nil }, readMP3},
}

// ReadMedia reads what a file of audio or video says about itself: of MP4, QuickTime, Matroska, WebM, Ogg, FLAC, WAV and
// MP3. Nil means that it is in another format or damaged.
func ReadMedia(b *blob.Blob) (*Media, error) {
	r, err := b.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s := &section{r: r, size: b.Size}
	head, _ := s.at(0, 16)
	for _, of := range mediaReaders {
		if !of.begins(head) {
			continue
		}
		m, err := of.read(s)
		if s.failed != nil {
			return nil, s.failed // of the store, not of the file
		}
		if err != nil || m == nil {
			return nil, nil //nolint:nilerr // damaged
		}
		return m.sane(), nil
	}
	return nil, s.failed
}

// sane leaves out what cannot be.
func (m *Media) sane() *Media {
	if !(m.Duration > 0 && m.Duration < maxTime) {
		m.Duration = 0
	}
	m.Duration = math.Round(m.Duration*1000) / 1000
	if m.Width <= 0 || m.Height <= 0 || m.Width > maxSide || m.Height > maxSide {
		m.Width, m.Height = 0, 0
	}
	if !(m.FrameRate > 0 && m.FrameRate < 1000) {
		m.FrameRate = 0
	}
	m.FrameRate = math.Round(m.FrameRate*1000) / 1000
	return m
}

// section reads pieces of a file.
type section struct {
	r      io.ReadSeeker
	size   int64
	boxes  int
	failed error
}

// at reads n bytes, or fewer at the end of the file.
func (s *section) at(offset int64, n int) ([]byte, error) {
	if offset < 0 || offset > s.size || s.failed != nil {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := s.r.Seek(offset, io.SeekStart); err != nil {
		s.failed = err
		return nil, err
	}
	b := make([]byte, min(int64(n), s.size-offset))
	got, err := io.ReadFull(s.r, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		s.failed = err
	}
	return b[:got], err
}

// whole reads n bytes and fails if there are fewer.
func (s *section) whole(offset int64, n int) ([]byte, error) {
	b, err := s.at(offset, n)
	if err == nil && len(b) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// count bounds how many boxes are looked at.
func (s *section) count() error {
	if s.boxes++; s.boxes > maxBoxes {
		return errUnknown
	}
	return nil
}

func readWAV(s *section) (*Media, error) {
	m := &Media{Format: "wav"}
	rate := 0.0
	for at := int64(12); ; {
		h, err := s.whole(at, 8)
		if err != nil || s.count() != nil {
			return nil, errUnknown
		}
		size := int64(binary.LittleEndian.Uint32(h[4:]))
		switch string(h[:4]) {
		case "fmt ":
			f, err := s.whole(at+8, 16)
			if err != nil {
				return nil, err
			}
			rate = float64(binary.LittleEndian.Uint32(f[8:]))
			codec := map[uint16]string{1: "pcm", 3: "pcm_float", 6: "alaw", 7: "mulaw", 0xFFFE: "pcm"}[binary.LittleEndian.Uint16(f)]
			m.Streams = []Stream{{Audio, codec, rate * 8, int64(binary.LittleEndian.Uint32(f[4:])), int64(binary.LittleEndian.Uint16(f[2:]))}}
		case "data":
			if rate == 0 {
				return nil, errUnknown
			}
			m.Duration = float64(min(size, s.size-at-8)) / rate
			return m, nil
		}
		at += 8 + size + size&1
	}
}

func readFLAC(s *section) (*Media, error) {
	h, err := s.whole(4, 4+34)
	if err != nil || h[0]&0x7F != 0 {
		return nil, errUnknown
	}
	n := binary.BigEndian.Uint64(h[4+10:])
	rate, channels, samples := int64(n>>44), int64(n>>41&7)+1, int64(n&(1<<36-1))
	if rate == 0 {
		return nil, errUnknown
	}
	return &Media{Format: "flac", Duration: float64(samples) / float64(rate), Streams: []Stream{{Audio, "flac", 0, rate, channels}}}, nil
}
