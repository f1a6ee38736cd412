package metadata

import (
	"bytes"
	"encoding/binary"
)

// mp3Frame is the head of a frame of MPEG audio.
type mp3Frame struct {
	version1   bool
	mono       bool
	layer      int
	bitRate    int64 // bits a second
	sampleRate int64
	samples    int64 // of a frame
	length     int64 // bytes
}

// kilobits are the rates of layers 1 to 3 of version 1, and of layer 1 and of 2 and 3 of version 2.
var kilobits = [5][16]int64{
	{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}

// frameOf reads the head of a frame; nil if there is none.
func frameOf(h []byte) *mp3Frame {
	if len(h) < 4 || h[0] != 0xFF || h[1]&0xE0 != 0xE0 {
		return nil
	}
	version, layer, rate, frequency := h[1]>>3&3, int(4-h[1]>>1&3), h[2]>>4, h[2]>>2&3
	if version == 1 || layer == 4 || rate == 0 || rate == 15 || frequency == 3 {
		return nil
	}
	f := &mp3Frame{version1: version == 3, mono: h[3]>>6 == 3, layer: layer}
	table := layer - 1
	if !f.version1 {
		table = min(layer, 2) + 2
	}
	f.bitRate = 1000 * kilobits[table][rate]
	f.sampleRate = [3]int64{44100, 48000, 32000}[frequency] / map[byte]int64{3: 1, 2: 2, 0: 4}[version]
	f.samples = 1152
	switch {
	case layer == 1:
		f.samples = 384
	case layer == 3 && !f.version1:
		f.samples = 576
	}
	f.length = f.samples/8*f.bitRate/f.sampleRate + int64(h[2]>>1&1)
	return f
}

// mp3Search bounds where the first frame is looked for, behind the tag.
const mp3Search = 64 << 10

func readMP3(s *section) (*Media, error) {
	at := int64(0)
	if h, err := s.whole(0, 10); err == nil && string(h[:3]) == "ID3" {
		at = 10 + int64(h[6]&0x7F)<<21 + int64(h[7]&0x7F)<<14 + int64(h[8]&0x7F)<<7 + int64(h[9]&0x7F)
	}
	area, _ := s.at(at, mp3Search)
	f, start := firstFrame(area)
	if f == nil {
		return nil, errUnknown
	}
	m := &Media{Format: "mp3"}
	st := Stream{Audio, map[int]string{1: "mp1", 2: "mp2", 3: "mp3"}[f.layer], float64(f.bitRate), f.sampleRate, 2}
	if f.mono {
		st.Channels = 1
	}
	size := s.size - at - int64(start)
	if tail, err := s.whole(s.size-128, 3); err == nil && string(tail) == "TAG" {
		size -= 128
	}
	m.Duration = float64(size) * 8 / float64(f.bitRate)
	// A file of a changing rate says in its first frame how many there are.
	if n := framesSaid(area[start:]); n > 0 {
		m.Duration = float64(n*f.samples) / float64(f.sampleRate)
		st.BitRate = float64(size) * 8 / m.Duration
	}
	m.Streams = []Stream{st}
	return m, nil
}

// firstFrame finds a frame that another one follows.
func firstFrame(area []byte) (*mp3Frame, int) {
	for i := 0; i+4 <= len(area); i++ {
		f := frameOf(area[i:])
		if f == nil {
			continue
		}
		next := i + int(f.length)
		if next+4 > len(area) || frameOf(area[next:]) != nil {
			return f, i
		}
	}
	return nil, 0
}

// framesSaid is the number of frames that the first one says, 0 if it does not.
func framesSaid(area []byte) int64 {
	head := area[:min(len(area), 200)]
	for _, mark := range []string{"Xing", "Info"} {
		if i := bytes.Index(head, []byte(mark)); i >= 0 && len(area) >= i+12 && area[i+7]&1 != 0 {
			return int64(binary.BigEndian.Uint32(area[i+8:]))
		}
	}
	if i := bytes.Index(head, []byte("VBRI")); i >= 0 && len(area) >= i+18 {
		return int64(binary.BigEndian.Uint32(area[i+14:]))
	}
	return 0
}
