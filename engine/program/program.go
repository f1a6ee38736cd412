// Package program has programs of others convert files: LibreOffice, FFmpeg, ImageMagick and poppler. It finds what is
// installed, and runs it confined and bounded: a program sees the files that it is given and what is installed on the
// machine, no other file and no network, and is ended with all that it started when it exceeds a limit or its caller has
// gone. What is converted to what, and by which arguments, is for engine/convert to know.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"catena/engine/worker"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/limit"
	"catena/storage/work"
)

// Limits bound what programs may use; zero values take the defaults.
type Limits struct {
	Programs    int           `setting:"limit-programs" default:"2" doc:"programs that convert files at the same time, beside LibreOffice, which converts one document after the other"`
	Time        time.Duration `setting:"limit-program-time" default:"2m" doc:"time of one conversion by a program"`
	Transcoding time.Duration `setting:"limit-transcoding-time" default:"30m" doc:"time in which a film is converted to another format"`
	Film        int64         `setting:"limit-transcoding-size" unit:"bytes" default:"2 GiB" doc:"size of a film that is kept in other formats; larger ones have no copies"`
	Memory      int64         `setting:"limit-program-memory" unit:"bytes" default:"1 GiB" doc:"memory of one program"`
	In          int64         `setting:"limit-program-input" unit:"bytes" default:"2 GiB" doc:"size of a file that a program converts"`
	Out         int64         `setting:"limit-program-output" unit:"bytes" default:"1 GiB" doc:"size of a file that a program makes"`
	Documents   int           `setting:"limit-office-documents" default:"200" doc:"documents that LibreOffice converts before it is started again"`
	Idle        time.Duration `setting:"office-idle-time" default:"10m" doc:"time after which LibreOffice is ended if there is nothing to convert"`
}

// Kind is a program that can be used.
type Kind struct {
	Name     string
	Package  string   // of Debian
	Purpose  string   // what is refused without it
	commands []string // the first that is found is used
}

// The programs.
var (
	FFmpeg      = &Kind{"FFmpeg", "ffmpeg", "pictures of videos, and other formats of audio and video", []string{"ffmpeg"}}
	FFprobe     = &Kind{"FFprobe", "ffmpeg", "metadata of formats of audio and video that catena cannot read by itself", []string{"ffprobe"}}
	ImageMagick = &Kind{"ImageMagick", "imagemagick", "pictures in formats such as PSD, HEIC or EPS", []string{"magick", "convert"}}
	LibreOffice = &Kind{"LibreOffice", "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui", "office documents as PDF and HTML", []string{"soffice", "libreoffice"}}
	PDFToHTML   = &Kind{"pdftohtml", "poppler-utils", "PDF files as HTML", []string{"pdftohtml"}}
	PDFToPPM    = &Kind{"pdftoppm", "poppler-utils", "pictures of pages of PDF files", []string{"pdftoppm"}}
)

// Kinds are all programs.
var Kinds = []*Kind{FFmpeg, FFprobe, ImageMagick, LibreOffice, PDFToHTML, PDFToPPM}

// Programs are those that are installed. Nil: there are none.
type Programs struct {
	helper []string
	paths  map[*Kind]string
	limits Limits
	turns  chan struct{}
	office *office
}

// New finds the programs. The command line of the helper ends in worker.ProgramMain. LibreOffice is started with the first
// document; Close ends it.
func New(helper []string, look func(command string) (path string, err error), limits Limits) *Programs {
	limit.Fill(&limits)
	p := &Programs{helper: helper, paths: map[*Kind]string{}, limits: limits, turns: make(chan struct{}, max(1, limits.Programs))}
	for _, k := range Kinds {
		for _, command := range k.commands {
			path, err := look(command)
			if err == nil {
				path, err = filepath.Abs(path)
			}
			if err == nil {
				p.paths[k] = path
				break
			}
		}
	}
	p.office = newOffice(p)
	return p
}

// Path is where a program is; "" if it is not installed.
func (p *Programs) Path(k *Kind) string {
	if p == nil {
		return ""
	}
	return p.paths[k]
}

// Missing returns why a program cannot be used, or nil.
func (p *Programs) Missing(k *Kind) error {
	if p.Path(k) == "" {
		return fault.Unavailable.Errorf("%s is not installed (Debian: %s)", k.Name, k.Package).WithCode(fault.CodeProgramUnavailable)
	}
	if err := worker.Confinable(); err != nil {
		return unconfined(k, err)
	}
	return nil
}

func unconfined(k *Kind, err error) error {
	return fault.Unavailable.Errorf("%s: %w", k.Name, err).WithCode(fault.CodeProgramUnavailable)
}

// Close ends what still runs.
func (p *Programs) Close() {
	if p != nil {
		p.office.close()
	}
}

// Task is the work of a program on one file.
type Task struct {
	Program *Kind
	File    *blob.Blob
	As      string   // the name that the file gets in the folder of the program
	Args    []string // after the program; names are relative to that folder
	Long    bool     // it may take as long as transcoding
	// Take is given the folder once the program has ended well.
	Take func(dir string, said string) error
}

// Do has a program work. An error of kind Invalid is about the file, a Limit about what the work takes, and Unavailable about
// the program.
func (p *Programs) Do(ctx context.Context, t Task) error {
	if err := p.Missing(t.Program); err != nil {
		return err
	}
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	dir, err := folder()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := p.place(ctx, t.File, filepath.Join(dir, t.As)); err != nil {
		return err
	}
	said, err := p.run(ctx, dir, t)
	if err == nil {
		err = t.Take(dir, said)
	}
	return err
}

// run has a program work in a folder.
func (p *Programs) run(ctx context.Context, dir string, t Task) (said string, err error) {
	most := p.limits.Time
	if t.Long {
		most = p.limits.Transcoding
	}
	timed, stop := context.WithTimeout(ctx, most)
	defer stop()
	r, err := worker.Launch(p.helper, worker.Program{
		Argv: append([]string{p.paths[t.Program]}, t.Args...), Env: environment(dir), Dir: dir, Data: p.limits.Memory, Write: p.limits.Out,
	}, nil, nil)
	if err != nil {
		return "", unconfined(t.Program, err)
	}
	select {
	case <-r.Ended():
	case <-timed.Done():
		r.Kill()
	}
	err = r.Err()
	switch {
	case err == nil:
		return r.Said(), nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case timed.Err() != nil:
		return "", slow(t.File, t.Program, most)
	}
	return "", p.failed(t.File, t.Program, err)
}

func slow(b *blob.Blob, k *Kind, most time.Duration) error {
	return fault.Limit.Errorf("file %s: %s takes more than %s", b.Name, k.Name, most).WithCode(fault.CodeConversion)
}

// failed is the error of a program that has ended without its work.
func (p *Programs) failed(b *blob.Blob, k *Kind, err error) error {
	failure := &worker.Failure{}
	if !errors.As(err, &failure) {
		return unconfined(k, err)
	}
	switch failure.Cause {
	case worker.Memory:
		return fault.Limit.Errorf("file %s: %s takes more than %d MiB of memory", b.Name, k.Name, p.limits.Memory>>20).WithCode(fault.CodeConversion)
	case worker.Size:
		return fault.Limit.Errorf("file %s: %s makes a file of more than %d MiB", b.Name, k.Name, p.limits.Out>>20).WithCode(fault.CodeConversion)
	}
	return fault.Invalid.Errorf("file %s: cannot be converted by %s: %.200s", b.Name, k.Name, failure.Said).WithCode(fault.CodeConversion)
}

// folder makes an empty folder for a program, that nobody else sees.
func folder() (string, error) {
	dir, err := os.MkdirTemp("", "catena-program-*")
	if err != nil {
		return "", fault.Unavailable.Errorf("conversion: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}

// environment is what a program is told: its home is its folder, so it finds no settings of an account.
func environment(dir string) []string {
	return []string{"HOME=" + dir, "TMPDIR=" + dir, "MAGICK_TEMPORARY_PATH=" + dir, "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "SAL_USE_VCLPLUGIN=svp"}
}

// place copies a file to where a program finds it.
func (p *Programs) place(ctx context.Context, b *blob.Blob, path string) (err error) {
	if b.Size > p.limits.In {
		return fault.Limit.Errorf("file %s: %d bytes, at most %d can be converted", b.Name, b.Size, p.limits.In).WithCode(fault.CodeConversion)
	}
	in, err := b.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.Unavailable.Errorf("conversion: %w", err)
	}
	_, err = io.Copy(out, work.Reader(ctx, in))
	if closed := out.Close(); err == nil && closed != nil {
		err = fault.Unavailable.Errorf("conversion: %w", closed)
	}
	return err
}

// Read reads a file that a program made, which may have at most so many bytes. Only plain files count: a program could leave
// a link to somewhere else.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Open opens a file as Read does.
func Open(path string, most int64) (io.ReadCloser, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular():
		return nil, fault.Invalid.Errorf("the program made nothing").WithCode(fault.CodeConversion)
	case err != nil:
		return nil, err
	case info.Size() > most:
		return nil, fault.Limit.Errorf("the result has %d bytes, at most %d are allowed", info.Size(), most).WithCode(fault.CodeConversion)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return f, nil
}
