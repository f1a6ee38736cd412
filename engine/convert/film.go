package convert

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"catena/engine/program"
	"catena/storage/blob"
	"catena/storage/fault"
)

// Arguments of FFmpeg that every task begins with. The source is the file that stands there and nothing else: lists that
// name other files and addresses are not followed.
var ffmpegFirst = []string{"-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-protocol_whitelist", "file", "-threads", "1"}

// codecs are the arguments that make a format.
var codecs = map[string][]string{
	"audio/mpeg": {"-vn", "-c:a", "libmp3lame", "-q:a", "4"},
	"video/mp4":  {"-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "128k", "-movflags", "+faststart"},
	"video/ogg":  {"-c:v", "libtheora", "-q:v", "6", "-c:a", "libvorbis", "-q:a", "4"},
	"video/webm": {"-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "5", "-crf", "24", "-b:v", "2M", "-c:a", "libvorbis", "-q:a", "4"},
}

// transcode makes a film or a sound of another format, no higher than the parameter height, with its sides in proportion.
func transcode(s *source) (made *blob.Blob, err error) {
	typ := s.params["type"]
	height, err := side(s.params["height"])
	if err != nil {
		return nil, err
	}
	const in, out = "film", "made"
	args := append([]string{}, ffmpegFirst...)
	args = append(args, "-i", in, "-map_metadata", "-1", "-map_chapters", "-1", "-sn", "-dn")
	args = append(args, codecs[typ]...)
	if typ != "audio/mpeg" {
		// Both sides must be even; no picture becomes larger.
		args = append(args, "-vf", fmt.Sprintf("scale=-2:'2*trunc(min(ih,%d)/2)'", height))
	}
	args = append(args, out+extensions[typ])
	err = s.tools.Programs.Do(s.ctx, program.Task{
		Program: program.FFmpeg, File: s.blob, As: in, Args: args, Long: true,
		Take: func(dir, _ string) error {
			made, err = s.kept(filepath.Join(dir, out+extensions[typ]), typ)
			return s.about(err)
		},
	})
	return made, err
}

// kept takes in a file that a program made and that is too large for memory.
func (s *source) kept(path, typ string) (*blob.Blob, error) {
	f, err := program.Open(path, maxFilm)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name := renamed(s.blob.Name, typ)
	if s.tools.Blobs != nil {
		return s.tools.Blobs.Spool(s.ctx, name, typ, f, 0)
	}
	data, err := io.ReadAll(f)
	return blob.FromBytes(name, typ, data), err
}

// maxFilm is more than a program may make.
const maxFilm = 1 << 40

// frame makes a picture of a film, at the second that the parameter position says, or at its beginning.
func frame(s *source) (data []byte, typ string, err error) {
	at := 0.0
	if text := s.params["position"]; text != "" {
		if at, err = strconv.ParseFloat(text, 64); err != nil || !(at >= 0 && at < 1e7) {
			return nil, "", fault.Invalid.Errorf("position %q: must be a number of seconds", text)
		}
	}
	longest, err := s.longestSide()
	if err != nil {
		return nil, "", err
	}
	const in, out = "film", "made"
	ext := ".jpg"
	if typ = s.params["type"]; typ == "image/png" {
		ext = ".png"
	} else {
		typ = "image/jpeg"
	}
	args := append([]string{}, ffmpegFirst...)
	if at > 0 {
		args = append(args, "-ss", strconv.FormatFloat(at, 'f', 3, 64))
	}
	args = append(args, "-i", in, "-frames:v", "1", "-q:v", "3", "-vf",
		fmt.Sprintf("scale='min(iw,%s)':'min(ih,%s)':force_original_aspect_ratio=decrease", longest, longest), "-update", "1", out+ext)
	err = s.tools.Programs.Do(s.ctx, program.Task{
		Program: program.FFmpeg, File: s.blob, As: in, Args: args,
		Take: func(dir, _ string) error {
			data, err = program.Read(filepath.Join(dir, out+ext), maxMade)
			return s.about(err)
		},
	})
	return data, typ, err
}

// maxStills bounds the pictures of one film.
const maxStills = 20

// Stills makes pictures of a film at some seconds, in JPEG, whose longest side has so many pixels at most. One is nil if the
// film has no picture at that time.
func Stills(ctx context.Context, t Tools, b *blob.Blob, seconds []float64, longest int) ([]*blob.Blob, error) {
	if len(seconds) > maxStills {
		return nil, fault.Limit.Errorf("film: %d pictures, at most %d are allowed", len(seconds), maxStills)
	}
	out, err := stillsAt(ctx, t, b, seconds, longest)
	if !fault.Is(err, fault.Limit) || len(seconds) == 1 {
		return out, err
	}
	// The film is opened once for each picture, which may take more memory than a program gets.
	out = make([]*blob.Blob, len(seconds))
	for i := range seconds {
		one, err := stillsAt(ctx, t, b, seconds[i:i+1], longest)
		if err != nil {
			return nil, err
		}
		out[i] = one[0]
	}
	return out, nil
}

// stillsAt makes all pictures in one run of FFmpeg, which seeks to each instead of decoding what is between them.
func stillsAt(ctx context.Context, t Tools, b *blob.Blob, seconds []float64, longest int) ([]*blob.Blob, error) {
	const in = "film"
	var args, outputs []string
	for i, at := range seconds {
		// Options count for the next file only, those that confine what is read too.
		args = append(append(args, ffmpegFirst...), "-ss", strconv.FormatFloat(max(at, 0), 'f', 3, 64), "-i", in)
		outputs = append(outputs, "-map", strconv.Itoa(i)+":v:0", "-frames:v", "1", "-q:v", "3", "-vf",
			fmt.Sprintf("scale='min(iw,%[1]d)':'min(ih,%[1]d)':force_original_aspect_ratio=decrease", longest), "-update", "1", stillName(i))
	}
	out := make([]*blob.Blob, len(seconds))
	err := t.Programs.Do(ctx, program.Task{
		Program: program.FFmpeg, File: b, As: in, Args: append(args, outputs...),
		Take: func(dir, _ string) error {
			for i := range out {
				data, err := program.Read(filepath.Join(dir, stillName(i)), maxMade)
				switch {
				case err == nil:
					out[i] = blob.FromBytes(renamed(b.Name, "image/jpeg"), "image/jpeg", data)
				case !fault.Is(err, fault.Invalid): // nothing was made where the film has no picture
					return err
				}
			}
			return nil
		},
	})
	return out, err
}

func stillName(i int) string { return fmt.Sprintf("made%d.jpg", i) }
