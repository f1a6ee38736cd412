package program

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf16"

	"catena/engine/worker"
	"catena/storage/blob"
	"catena/storage/fault"
)

// office is a LibreOffice that is kept running, since starting it takes many times as long as converting a document. It has
// a profile of its own, in which macros and links to elsewhere are switched off, and converts one document after the other.
//
// It is told what to do by the socket over which a second soffice hands its command line to the first, so that no process
// is started for a document. It would end after a conversion if no document were open, and is therefore started with one.
type office struct {
	programs *Programs
	turn     chan struct{} // held by who uses what is below
	running  *worker.Running
	dir      string
	used     int
	idle     *time.Timer
	closed   bool
}

// Bounds of what LibreOffice is waited for.
const (
	officeStart = time.Minute
	officePoll  = 20 * time.Millisecond
)

func newOffice(p *Programs) *office { return &office{programs: p, turn: make(chan struct{}, 1)} }

// Export is what LibreOffice is to make.
type Export struct {
	From   string // extension of the source, which LibreOffice goes by where the content does not tell
	To     string // extension of the result
	Filter string // that writes it, with options; "": the usual one
	Import string // filter that reads the source; "": the one that fits
}

// Office has LibreOffice convert a document, and gives the result to take.
func (p *Programs) Office(ctx context.Context, b *blob.Blob, e Export, take func(path string) error) error {
	if err := p.Missing(LibreOffice); err != nil {
		return err
	}
	o := p.office
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := o.ready(ctx); err != nil {
		return err
	}
	job := filepath.Join(o.dir, "job")
	if err := os.Mkdir(job, 0o700); err != nil {
		return fault.Unavailable.Errorf("%s: %w", LibreOffice.Name, err)
	}
	defer func() { _ = os.RemoveAll(job) }()
	source := filepath.Join(job, "document"+e.From)
	if err := p.place(ctx, b, source); err != nil {
		return err
	}
	said, err := o.convert(ctx, b, source, e)
	if err != nil {
		return err
	}
	result := filepath.Join(job, "made", "document"+e.To)
	if _, err := os.Lstat(result); err != nil {
		return o.programs.failed(b, LibreOffice, &worker.Failure{Said: cmp.Or(said, "it made nothing")})
	}
	err = take(result)
	if o.used >= o.programs.limits.Documents {
		o.end()
	}
	return err
}

// convert has the running LibreOffice convert a file in its folder, and returns what it said, which alone tells whether it
// could.
func (o *office) convert(ctx context.Context, b *blob.Blob, source string, e Export) (said string, err error) {
	_ = o.running.Said() // of the document before
	to := strings.TrimPrefix(e.To, ".")
	if e.Filter != "" {
		to += ":" + e.Filter
	}
	args := []string{"--convert-to", to, "--outdir", filepath.Join(filepath.Dir(source), "made"), source}
	if e.Import != "" {
		args = append([]string{"--infilter=" + e.Import}, args...)
	}
	timed, stop := context.WithTimeout(ctx, o.programs.limits.Time)
	defer stop()
	asked := o.ask(timed, args)
	if o.used++; asked == nil {
		return o.running.Said(), nil
	}
	// It is in the midst of this document, or gone with it: the next one gets a new process.
	r := o.running
	r.Kill()
	ended := r.Err()
	o.end()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case timed.Err() != nil:
		return "", slow(b, LibreOffice, o.programs.limits.Time)
	case ended != nil:
		return "", o.programs.failed(b, LibreOffice, ended)
	}
	return "", fault.Invalid.Errorf("file %s: %s ended: %w", b.Name, LibreOffice.Name, asked).WithCode(fault.CodeConversion)
}

// ready sees to it that LibreOffice runs.
func (o *office) ready(ctx context.Context) error {
	if o.idle != nil {
		o.idle.Stop()
	}
	if o.closed {
		return fault.Unavailable.Errorf("%s: the server is stopping", LibreOffice.Name)
	}
	if o.running != nil {
		select {
		case <-o.running.Ended():
			o.end()
		default:
		}
	}
	if o.running == nil {
		if err := o.start(ctx); err != nil {
			o.end()
			return err
		}
	}
	o.idle = time.AfterFunc(o.programs.limits.Idle, func() {
		o.turn <- struct{}{}
		o.end()
		<-o.turn
	})
	return nil
}

// What LibreOffice ends with when it wants to be started again, as it does once with a new profile.
const restart1, restart2 = 79, 81

// start starts LibreOffice and waits until it has opened its document.
func (o *office) start(ctx context.Context) (err error) {
	if o.dir, err = folder(); err != nil {
		return err
	}
	open := filepath.Join(o.dir, "open.txt")
	settings := filepath.Join(o.dir, "profile", "user")
	if err := errors.Join(os.MkdirAll(settings, 0o700), os.WriteFile(open, nil, 0o600),
		os.WriteFile(filepath.Join(settings, "registrymodifications.xcu"), []byte(officeSettings), 0o600)); err != nil {
		return fault.Unavailable.Errorf("%s: %w", LibreOffice.Name, err)
	}
	home, err := filepath.EvalSymlinks(o.programs.paths[LibreOffice])
	if err != nil {
		return fault.Unavailable.Errorf("%s: %w", LibreOffice.Name, err).WithCode(fault.CodeProgramUnavailable)
	}
	// The command is a script that starts a program that starts this one.
	bin := filepath.Join(filepath.Dir(home), "soffice.bin")
	p := worker.Program{
		Argv: []string{
			bin, "--headless", "--nologo", "--norestore", "--nolockcheck", "--nodefault", "-env:UserInstallation=" + o.profile(), open,
		},
		Env: environment(o.dir), Dir: o.dir, Read: []string{filepath.Dir(filepath.Dir(home))}, Data: o.programs.limits.Memory, Write: o.programs.limits.Out, Local: true,
	}
	timed, stop := context.WithTimeout(ctx, officeStart)
	defer stop()
	for range 3 {
		if o.running, err = worker.Launch(o.programs.helper, p, nil, nil); err != nil {
			return unconfined(LibreOffice, err)
		}
		again, err := o.opened(timed, open)
		if err != nil {
			return err
		}
		if !again {
			return nil
		}
		_ = os.Remove(o.socket()) // it may make it, but not remove it
	}
	return fault.Unavailable.Errorf("%s: does not start", LibreOffice.Name).WithCode(fault.CodeProgramUnavailable)
}

// opened waits until LibreOffice has opened its document, beside which it then leaves a file that says so. Before that, a
// conversion would end it.
func (o *office) opened(ctx context.Context, open string) (again bool, err error) {
	mark := filepath.Join(o.dir, ".~lock."+filepath.Base(open)+"#")
	t := time.NewTicker(officePoll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, fault.Unavailable.Errorf("%s: did not start in time: %w", LibreOffice.Name, context.Cause(ctx)).WithCode(fault.CodeProgramUnavailable)
		case <-o.running.Ended():
			if code := o.running.ExitCode(); code == restart1 || code == restart2 {
				return true, nil
			}
			return false, unconfined(LibreOffice, fmt.Errorf("does not start: %w", o.running.Err()))
		case <-t.C:
			if _, err := os.Stat(mark); err != nil {
				continue
			}
			if _, err := os.Stat(o.socket()); err == nil {
				return false, nil
			}
		}
	}
}

// end ends LibreOffice and removes what it leaves.
func (o *office) end() {
	if o.running != nil {
		o.running.Kill()
		<-o.running.Ended()
		_ = os.Remove(o.socket())
	}
	if o.dir != "" {
		_ = os.RemoveAll(o.dir)
	}
	o.running, o.dir, o.used = nil, "", 0
}

func (o *office) close() {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	if o.idle != nil {
		o.idle.Stop()
	}
	o.closed = true
	o.end()
}

// profile is the address of the folder with the settings.
func (o *office) profile() string { return "file://" + filepath.Join(o.dir, "profile") }

// socket is where LibreOffice listens, which depends on the account and the address of the profile. The name holds the sum of
// the address in UTF-16; a byte below 16 has one digit.
func (o *office) socket() string {
	var address bytes.Buffer
	_ = binary.Write(&address, binary.LittleEndian, utf16.Encode([]rune(o.profile()))) // a buffer takes everything
	name := fmt.Sprintf("OSL_PIPE_%d_SingleOfficeIPC_", os.Getuid())
	for _, b := range md5.Sum(address.Bytes()) {
		name += fmt.Sprintf("%x", b)
	}
	return filepath.Join("/tmp", name)
}

// What is said over the socket; each ends with a zero byte.
const (
	saysReady = "InternalIPC::SendArguments\x00"
	takesArgs = "InternalIPC::Arguments"
	saysDone  = "InternalIPC::ProcessingDone\x00"
)

// ask hands a command line to LibreOffice and waits until it has been carried out. Whether that succeeded is not said.
func (o *office) ask(ctx context.Context, args []string) error {
	c, err := new(net.Dialer).DialContext(ctx, "unix", o.socket())
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if err := expect(c, saysReady); err != nil {
		return err
	}
	// After the prefix stands the address of the working directory, without which no file is found.
	escape := strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace
	line := takesArgs + "1" + escape("file://"+o.dir)
	for _, arg := range args {
		line += "," + escape(arg)
	}
	if _, err := io.WriteString(c, line+"\x00"); err != nil {
		return err
	}
	return expect(c, saysDone)
}

func expect(r io.Reader, text string) error {
	b := make([]byte, len(text))
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	if string(b) != text {
		return fmt.Errorf("unexpected answer %q", b)
	}
	return nil
}

// officeSettings switch off what a document could make LibreOffice do: macros, links to other files and addresses, updates.
// The confinement of the process holds whether they work or not.
const officeSettings = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>2</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Content/Update"><prop oor:name="Link" oor:op="fuse"><value>2</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Save/Document"><prop oor:name="AutoSave" oor:op="fuse"><value>false</value></prop></item>
</oor:items>
`
