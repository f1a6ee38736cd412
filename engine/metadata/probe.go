package metadata

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"catena/engine/program"
	"catena/storage/blob"
	"catena/storage/fault"
)

// MediaOf is what a file of audio or video says about itself: what this program reads, or else FFprobe, if it is installed.
// Nil means that nothing is known.
func (t Tools) MediaOf(ctx context.Context, b *blob.Blob) (*Media, error) {
	m, err := ReadMedia(b)
	if m != nil || err != nil || t.Programs.Missing(program.FFprobe) != nil {
		return m, err
	}
	err = t.Programs.Do(ctx, program.Task{
		Program: program.FFprobe, File: b, As: "film",
		Args: []string{"-v", "error", "-protocol_whitelist", "file", "-show_format", "-show_streams", "-of", "json", "film"},
		Take: func(_, said string) (err error) {
			m, err = probed(said)
			return err
		},
	})
	if fault.Is(err, fault.Invalid) || fault.Is(err, fault.Limit) {
		return nil, nil // the file is damaged
	}
	return m, err
}

// probed reads what FFprobe says.
func probed(said string) (*Media, error) {
	var all struct {
		Format struct {
			Name     string `json:"format_name"`
			Duration string `json:"duration"`
		} `json:"format"`
		Streams []struct {
			Type       string `json:"codec_type"`
			Codec      string `json:"codec_name"`
			Width      int64  `json:"width"`
			Height     int64  `json:"height"`
			BitRate    string `json:"bit_rate"`
			SampleRate string `json:"sample_rate"`
			Channels   int64  `json:"channels"`
			FrameRate  string `json:"avg_frame_rate"`
		} `json:"streams"`
	}
	if err := json.Unmarshal([]byte(said), &all); err != nil {
		return nil, fault.Invalid.Errorf("FFprobe: %w", err)
	}
	m := &Media{}
	m.Format, _, _ = strings.Cut(all.Format.Name, ",")
	m.Duration = number(all.Format.Duration)
	for _, s := range all.Streams {
		if s.Type != Video && s.Type != Audio {
			continue
		}
		if s.Type == Video && m.Width == 0 {
			m.Width, m.Height = s.Width, s.Height
			if a, b, ok := strings.Cut(s.FrameRate, "/"); ok && number(b) > 0 {
				m.FrameRate = number(a) / number(b)
			}
		}
		m.Streams = append(m.Streams, Stream{s.Type, s.Codec, number(s.BitRate), int64(number(s.SampleRate)), s.Channels})
	}
	return m.sane(), nil
}

// number reads a number; what is none, or not finite, is 0.
func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0
	}
	return n
}

// tell adds what is known as metadata. Of several streams the first of its type counts.
func (m *Media) tell(out map[string]any) {
	group := "audio:"
	for _, s := range m.Streams {
		if s.Type == Video {
			group = "video:"
		}
	}
	put := func(name string, v any) {
		switch v {
		case "", int64(0), float64(0):
		default:
			if out[group+name] == nil {
				out[group+name] = v
			}
		}
	}
	put("format", m.Format)
	put("duration", m.Duration)
	put("width", m.Width)
	put("height", m.Height)
	put("frameRate", m.FrameRate)
	for _, s := range m.Streams {
		if s.Type == Audio && group == "video:" {
			put("audioCodec", s.Codec)
			continue
		}
		put("codec", s.Codec)
		put("bitRate", math.Round(s.BitRate))
		put("sampleRate", s.SampleRate)
		put("channels", s.Channels)
	}
}

// Info is what is known as the property vid:info holds it.
func (m *Media) Info() map[string]any {
	streams := make([]any, len(m.Streams))
	for i, s := range m.Streams {
		streams[i] = map[string]any{"type": strings.ToUpper(s.Type[:1]) + s.Type[1:], "codec": s.Codec, "bitRate": s.BitRate, "streamInfo": ""}
	}
	return map[string]any{
		"duration": m.Duration, "format": m.Format, "frameRate": m.FrameRate, "width": m.Width, "height": m.Height, "streams": streams,
	}
}
