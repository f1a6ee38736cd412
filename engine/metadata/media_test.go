package metadata

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"catena/engine/program"
	"catena/engine/program/programtest"
	"catena/storage/blob"
)

func TestMain(m *testing.M) { os.Exit(programtest.Main(m)) }

// generated has FFmpeg make a file.
func generated(t testing.TB, name, typ string, args ...string) *blob.Blob {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append(append([]string{"-v", "error"}, args...), path)
	if out, err := exec.CommandContext(t.Context(), "ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return blob.FromBytes(name, typ, data)
}

var (
	picture = []string{"-f", "lavfi", "-i", "testsrc=duration=3:size=320x240:rate=25"}
	sound   = []string{"-f", "lavfi", "-i", "sine=duration=3:sample_rate=44100"}
)

func join(all ...[]string) (out []string) {
	for _, a := range all {
		out = append(out, a...)
	}
	return out
}

// TestMedia reads what FFmpeg makes, and compares it with what FFprobe says.
func TestMedia(t *testing.T) {
	tools := Tools{Programs: programtest.Start(t, program.Limits{}, program.FFmpeg, program.FFprobe)}
	for _, test := range []struct {
		name, typ string
		args      []string
		format    string
		codecs    string
	}{
		{"a.mp4", "video/mp4", join(picture, sound), "mp4", "h264 aac"},
		{"b.mp4", "video/mp4", join(picture, []string{"-movflags", "faststart"}), "mp4", "h264"},
		{"a.mov", "video/quicktime", join(picture, sound), "mov", "h264 aac"},
		{"a.m4a", "audio/mp4", join(sound), "mp4", "aac"},
		{"a.webm", "video/webm", join(picture, sound, []string{"-deadline", "realtime", "-cpu-used", "8"}), "webm", "vp9 opus"},
		{"a.mkv", "video/x-matroska", join(picture, sound), "matroska", "h264 vorbis"},
		{"a.ogg", "audio/ogg", join(sound, []string{"-c:a", "libvorbis"}), "ogg", "vorbis"},
		{"a.opus", "audio/ogg", join(sound), "ogg", "opus"},
		{"a.ogv", "video/ogg", join(picture, sound, []string{"-c:v", "libtheora", "-c:a", "libvorbis"}), "ogg", "theora vorbis"},
		{"a.flac", "audio/flac", join(sound), "flac", "flac"},
		{"a.wav", "audio/x-wav", join(sound), "wav", "pcm"},
		{"a.mp3", "audio/mpeg", join(sound), "mp3", "mp3"},
		{"b.mp3", "audio/mpeg", join(sound, []string{"-write_xing", "0", "-b:a", "128k"}), "mp3", "mp3"},
		{"c.mp3", "audio/mpeg", join(sound, []string{"-ac", "2", "-q:a", "4", "-metadata", "title=x", "-write_id3v1", "1"}), "mp3", "mp3"},
		{"d.mp3", "audio/mpeg", join(sound, []string{"-ar", "22050"}), "mp3", "mp3"},
	} {
		b := generated(t, test.name, test.typ, test.args...)
		got, err := ReadMedia(b)
		if err != nil || got == nil {
			t.Errorf("%s: %v, %v", test.name, got, err)
			continue
		}
		var codecs []string
		for _, s := range got.Streams {
			codecs = append(codecs, s.Codec)
		}
		if got.Format != test.format || strings.Join(codecs, " ") != test.codecs || math.Abs(got.Duration-3) > 0.1 {
			t.Errorf("%s: %+v", test.name, got)
		}
		want := probe(t, tools, b)
		if got.Width != want.Width || got.Height != want.Height || math.Abs(got.FrameRate-want.FrameRate) > 0.5 || math.Abs(got.Duration-want.Duration) > 0.1 {
			t.Errorf("%s: %+v, FFprobe says %+v", test.name, got, want)
		}
		for i, s := range got.Streams {
			if w := want.Streams[i]; s.Type != w.Type || s.SampleRate != w.SampleRate || s.Channels != w.Channels && s.Codec != "flac" && (s.Codec != "aac" || got.Format != "mp4") {
				t.Errorf("%s: %+v, FFprobe says %+v", test.name, s, w)
			}
		}
	}
	// What this program cannot read is read by FFprobe.
	avi := generated(t, "a.avi", "video/x-msvideo", picture...)
	if m, err := ReadMedia(avi); m != nil || err != nil {
		t.Errorf("AVI: %v, %v", m, err)
	}
	if m, err := tools.MediaOf(t.Context(), avi); err != nil || m == nil || m.Width != 320 || m.Duration != 3 || m.FrameRate != 25 {
		t.Errorf("AVI by FFprobe: %+v, %v", m, err)
	}
	if m, err := tools.MediaOf(t.Context(), blob.FromBytes("a.avi", "video/x-msvideo", []byte("nothing"))); m != nil || err != nil {
		t.Errorf("damaged: %v, %v", m, err)
	}
	out, err := Read(t.Context(), tools, avi)
	if err != nil || out["video:width"] != int64(320) || out["video:codec"] != "mpeg4" || out["video:duration"] != 3.0 {
		t.Errorf("%v, %v", out, err)
	}
}

// probe is what FFprobe says of a file.
func probe(t *testing.T, tools Tools, b *blob.Blob) (m *Media) {
	t.Helper()
	err := tools.Programs.Do(t.Context(), program.Task{
		Program: program.FFprobe, File: b, As: "film", Args: []string{"-v", "error", "-show_format", "-show_streams", "-of", "json", "film"},
		Take: func(_, said string) (err error) {
			m, err = probed(said)
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// box is a box of MP4.
func box(kind string, content ...[]byte) []byte {
	body := bytes.Join(content, nil)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), kind...), body...)
}

func words(all ...uint32) (out []byte) {
	for _, n := range all {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	return out
}

// smallMP4 is a film of 10 seconds without a picture.
func smallMP4() []byte {
	tkhd := append(make([]byte, 76), words(640<<16, 360<<16)...)
	stsd := append(words(0, 1, 100), append([]byte("avc1"), make([]byte, 60)...)...)
	return bytes.Join([][]byte{
		box("ftyp", []byte("isom")),
		box("moov", box("mvhd", words(0, 0, 0, 1000, 10_000)), box("trak", box("tkhd", tkhd),
			box("mdia", box("mdhd", words(0, 0, 0, 25, 250, 0)), box("hdlr", words(0, 0), []byte("vide"), words(0, 0)),
				box("minf", box("stbl", box("stsd", stsd), box("stts", words(0, 1, 250, 1))))))),
	}, nil)
}

// smallMatroska is a film of 10 seconds without a picture, as Matroska or WebM has it.
func smallMatroska() []byte {
	el := func(id string, content ...[]byte) []byte {
		body := bytes.Join(content, nil)
		return append(append([]byte(id), 0x40|byte(len(body)>>8), byte(len(body))), body...)
	}
	return bytes.Join([][]byte{
		el("\x1A\x45\xDF\xA3", el("\x42\x82", []byte("webm"))),
		[]byte("\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff"), // of unknown size
		el("\x15\x49\xA9\x66", el("\x2A\xD7\xB1", []byte{0x0F, 0x42, 0x40}), el("\x44\x89", binary.BigEndian.AppendUint64(nil, math.Float64bits(10_000)))),
		el("\x16\x54\xAE\x6B",
			el("\xAE", el("\x83", []byte{1}), el("\x86", []byte("V_VP9")), el("\x23\xE3\x83", words(40_000_000)), el("\xE0", el("\xB0", []byte{2, 0x80}), el("\xBA", []byte{1, 0x68}))),
			el("\xAE", el("\x83", []byte{2}), el("\x86", []byte("A_OPUS")), el("\xE1", el("\xB5", binary.BigEndian.AppendUint32(nil, math.Float32bits(48000))), el("\x9F", []byte{2})))),
		[]byte("\x1F\x43\xB6\x75\x01\xff\xff\xff\xff\xff\xff\xff content"),
	}, nil)
}

func smallWAV() []byte {
	var b bytes.Buffer
	b.WriteString("RIFF\x00\x00\x00\x00WAVELIST\x03\x00\x00\x00abc\x00fmt \x10\x00\x00\x00\x01\x00\x02\x00")
	_ = binary.Write(&b, binary.LittleEndian, []uint32{8000, 32000}) // a buffer takes everything
	b.WriteString("\x04\x00\x10\x00data\x00\x7d\x00\x00")
	b.Write(make([]byte, 32000))
	return b.Bytes()
}

func smallFLAC() []byte {
	info := make([]byte, 34)
	binary.BigEndian.PutUint64(info[10:], 44100<<44|1<<41|15<<36|44100*10)
	return append([]byte("fLaC\x80\x00\x00\x22"), info...)
}

// TestSmallMedia reads files made by hand, wherever it runs.
func TestSmallMedia(t *testing.T) {
	for name, test := range map[string]struct {
		data []byte
		want Media
	}{
		"mp4":  {smallMP4(), Media{"mp4", 10, 640, 360, 25, []Stream{{Video, "h264", 0, 0, 0}}}},
		"webm": {smallMatroska(), Media{"webm", 10, 640, 360, 25, []Stream{{Video, "vp9", 0, 0, 0}, {Audio, "opus", 0, 48000, 2}}}},
		"wav":  {smallWAV(), Media{"wav", 1, 0, 0, 0, []Stream{{Audio, "pcm", 256000, 8000, 2}}}},
		"flac": {smallFLAC(), Media{"flac", 10, 0, 0, 0, []Stream{{Audio, "flac", 0, 44100, 2}}}},
	} {
		got, err := ReadMedia(blob.FromBytes("a", "video/mp4", test.data))
		if err != nil || got == nil || got.Format != test.want.Format || got.Duration != test.want.Duration || got.Width != test.want.Width || got.Height != test.want.Height || got.FrameRate != test.want.FrameRate {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		for i := range test.want.Streams {
			if len(got.Streams) != len(test.want.Streams) || got.Streams[i] != test.want.Streams[i] {
				t.Errorf("%s: %+v", name, got.Streams)
			}
		}
	}
	out, err := Read(t.Context(), Tools{}, blob.FromBytes("a.webm", "video/webm", smallMatroska()))
	if err != nil || out["video:duration"] != 10.0 || out["video:codec"] != "vp9" || out["video:audioCodec"] != "opus" || out["video:frameRate"] != 25.0 {
		t.Errorf("%v, %v", out, err)
	}
	info := (&Media{Duration: 2.5, Streams: []Stream{{Type: Audio, Codec: "aac"}}}).Info()
	if info["duration"] != 2.5 || info["streams"].([]any)[0].(map[string]any)["type"] != "Audio" {
		t.Errorf("%v", info)
	}
}

// FuzzMedia checks that damaged files end, with numbers that can be.
func FuzzMedia(f *testing.F) {
	for _, b := range [][]byte{
		smallMP4(), smallMatroska(), smallWAV(), smallFLAC(), []byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f\xff\xfb\x90\x00"), []byte("\xff\xfb\x90\x00" + strings.Repeat("\x00", 500)),
		[]byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x1e\x01vorbis\x00\x00\x00\x00\x02\x44\xac\x00\x00" + strings.Repeat("\x00", 15)),
		box("ftyp", nil), append(words(1), "moov\xff\xff\xff\xff\xff\xff\xff\xff"...), append(words(0), "moov"...), bytes.Repeat(box("moov"), 30_000),
	} {
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadMedia(blob.FromBytes("a", "video/mp4", data))
		if err != nil {
			t.Fatal(err)
		}
		if m == nil {
			return
		}
		if !(m.Duration >= 0 && m.Duration <= maxTime) || m.Width < 0 || m.Width > maxSide || !(m.FrameRate >= 0 && m.FrameRate < 1000) {
			t.Errorf("%+v", m)
		}
		m.tell(map[string]any{})
	})
}

func TestProbed(t *testing.T) {
	for text, want := range map[string]Media{
		`{}`: {},
		`{"format":{"format_name":"avi,x","duration":"1.5"},"streams":[{"codec_type":"data"},{"codec_type":"video","width":-1,"height":5,"avg_frame_rate":"0/0"}]}`: {Format: "avi", Duration: 1.5, Streams: make([]Stream, 1)},
		`{"format":{"duration":"NaN"}}`: {}, `{"format":{"duration":"-1"}}`: {}, `{"format":{"duration":"1e300"}}`: {},
	} {
		got, err := probed(text)
		if err != nil || got.Format != want.Format || got.Duration != want.Duration || len(got.Streams) != len(want.Streams) || got.Width != 0 {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if _, err := probed("x"); err == nil {
		t.Error("no JSON")
	}
}
