package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"catena/cmd/catena/host"
	"catena/cmd/catena/startup"
	"catena/decks/render"
	"catena/engine/mail"
	"catena/engine/program"
	"catena/engine/worker"
	"catena/storage/badger"
	"catena/storage/blob"
	"catena/storage/blob/bucket"
	"catena/storage/disk"
	"catena/storage/search"
)

// What a finding may be.
const (
	fine    = "ok"
	warning = "warning" // the server works, perhaps not as is wanted
	failed  = "failed"  // it would not start, or would refuse writes
)

// finding is what the doctor has to say of one thing.
type finding struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"` // what to do; "" if all is well
}

// doctor looks at everything that serve needs, with its settings.
type doctor struct {
	serve

	global   *global
	data     string
	wrong    error // with what the environment and the file of settings say
	in       string
	inUse    bool
	now      time.Time
	readOnly bool // the data directory cannot be written to
}

func doctorCmd(g *global) *cobra.Command {
	d := &doctor{}
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check everything that serve needs with these settings, and advise what to do", Args: cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			defer startup.Collect()
			d.wrong = configure(cmd.Flags(), g.config) // it is one of the findings
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.server != "" {
				return usage{errors.New("examines this machine; omit --server")}
			}
			d.global, d.data, d.now = g, g.data, time.Now()
			all := d.examine(cmd.Context())
			if err := tell(cmd.OutOrStdout(), all, g.json); err != nil {
				return err
			}
			if n := len(slices.DeleteFunc(slices.Clone(all), func(f finding) bool { return f.State != failed })); n > 0 {
				return fmt.Errorf("%d of %d checks found a problem that prevents the server from working", n, len(all))
			}
			return nil
		},
	}
	d.accept(cmd)
	return cmd
}

// tell prints the findings, what to do below each.
func tell(out io.Writer, all []finding, asJSON bool) error {
	if asJSON {
		return printJSON(out, map[string]any{"checks": all})
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, f := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.State, f.Name, strings.Join(strings.FieldsFunc(f.Text, func(r rune) bool { return r == '\n' }), "; "))
		if f.Advice != "" {
			fmt.Fprintf(w, "\t\t→ %s\n", f.Advice)
		}
	}
	return w.Flush()
}

// examine looks at one thing after the other; some need to know what was found before.
func (d *doctor) examine(ctx context.Context) []finding {
	clock := d.clock() // first, because checking the settings may open the store, which then looks as written now
	all := []finding{
		{"version", fine, fmt.Sprintf("catena %s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH), ""},
		d.settings(ctx),
		d.directory(),
		d.space(),
		d.writes(),
		d.content(ctx),
		openFiles(d.limits.rest.Connections),
		clock,
		d.browser(ctx),
	}
	all = append(append(all, converters()...), d.address(ctx, "address", d.addr))
	if d.metricsAddr != "" {
		all = append(all, d.address(ctx, "metrics-addr", d.metricsAddr))
	}
	return append(all, d.post(ctx), d.copies(ctx), d.queries())
}

func (d *doctor) settings(ctx context.Context) finding {
	if err := errors.Join(d.wrong, d.checkAll(ctx, d.global)); err != nil {
		return finding{"settings", failed, err.Error(), "correct them; catena config print shows where each comes from"}
	}
	return finding{"settings", fine, "settings and declarations are correct", ""}
}

// directory looks at the data directory, or at the one that it would be made in.
func (d *doctor) directory() finding {
	const name = "data directory"
	info, err := os.Stat(d.data)
	if d.in = d.data; errors.Is(err, fs.ErrNotExist) {
		// The nearest folder that exists shows whether the directory could be created, and on which disk.
		for d.in = filepath.Dir(d.data); d.in != filepath.Dir(d.in); d.in = filepath.Dir(d.in) {
			if _, err := os.Stat(d.in); err == nil {
				break
			}
		}
	} else if err != nil || !info.IsDir() {
		d.readOnly = true
		return finding{name, failed, fmt.Sprintf("%s: not a readable folder", d.data), "choose another folder with --data, or give the account that runs the server access to it"}
	}
	// Trying is the only reliable test: permissions, read-only mounts and quotas look different on each
	// system.
	probe, tried := os.CreateTemp(d.in, partPrefix+"*")
	if tried != nil {
		d.readOnly = true
		return finding{name, failed, tried.Error(), "give the account that runs the server write access"}
	}
	_, _ = probe.Close(), os.Remove(probe.Name())
	if err != nil {
		return finding{name, fine, d.data + ": does not exist yet; serve creates it", ""}
	}
	d.inUse, err = badger.InUse(filepath.Join(d.data, "store"))
	switch {
	case d.inUse:
		return finding{name, warning, d.data + ": in use by a process", "nothing to do if that is the server; a second server cannot use the directory"}
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errors.ErrUnsupported):
		return finding{name, failed, err.Error(), "give the account that runs the server access to everything in it"}
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		return finding{name, warning, fmt.Sprintf("%s: other users can read it (%s)", d.data, info.Mode().Perm()), "chmod 700 " + d.data}
	}
	return finding{name, fine, d.data + ": exists and is not in use", ""}
}

func (d *doctor) space() finding {
	s, err := disk.Of(d.in)
	if err != nil {
		return finding{"disk", warning, "free space: " + err.Error(), "check that there is enough free space"}
	}
	kept := badger.KeptFree(s.Whole)
	f := finding{"disk", fine, fmt.Sprintf("%s free of %s, %s are kept free", humanize.IBytes(s.Free), humanize.IBytes(s.Whole), humanize.IBytes(kept)), ""}
	switch {
	case s.Free < kept:
		f.State, f.Advice = failed, "free disk space: writes are refused"
	case s.Free < 2*kept:
		f.State, f.Advice = warning, "free disk space before writes are refused"
	}
	return f
}

const (
	syncTries = 15
	slowSync  = 20 * time.Millisecond
)

// writes measures how long the disk takes to keep what a small commit writes.
func (d *doctor) writes() finding {
	const name = "synced write"
	if d.readOnly {
		return finding{name, warning, "not measured", "see data directory"}
	}
	took, err := syncTime(d.in)
	if err != nil {
		return finding{name, failed, err.Error(), "check the disk: no commit can be stored"}
	}
	f := finding{name, fine, fmt.Sprintf("%s (median of %d writes of 4 KiB)", took.Round(10*time.Microsecond), syncTries), ""}
	if took > slowSync {
		f.State, f.Advice = warning, "every commit waits that long: a faster disk helps, or --relaxed, which can lose one second of writes"
	}
	return f
}

// syncTime is the median time of a small write that is on the disk of a folder when it ends.
func syncTime(dir string) (time.Duration, error) {
	f, err := os.CreateTemp(dir, partPrefix+"*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var took [syncTries]time.Duration
	for i := range took {
		start := time.Now()
		if _, err := f.Write(make([]byte, 4<<10)); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took[i] = time.Since(start)
	}
	// The median, since single writes wait for whatever else the disk does.
	slices.Sort(took[:])
	return took[syncTries/2], nil
}

// ownFiles are those that a server has open besides connections.
const ownFiles = 512

// openFiles compares the limit of the process, which a server raises as far as it may, with the connections it accepts.
func openFiles(connections int) finding {
	const name = "open files"
	most, err := host.MaxFiles()
	if err != nil {
		return finding{name, fine, "limit: " + err.Error(), ""}
	}
	f := finding{name, fine, fmt.Sprintf("%s at most, for %s connections", humanize.Comma(int64(min(most, math.MaxInt64))), humanize.Comma(int64(connections))), ""}
	if most < uint64(connections+ownFiles) {
		f.State, f.Advice = warning, fmt.Sprintf("raise it to %d (LimitNOFILE of systemd, ulimit -n), or lower limit-connections", connections+ownFiles)
	}
	return f
}

// clock looks whether time has gone backwards, and what the system says of it.
func (d *doctor) clock() finding {
	f := finding{"clock", fine, d.now.UTC().Format(time.RFC3339), ""}
	state, err := os.Stat(filepath.Join(d.data, "store", "STATE"))
	switch {
	case err == nil && state.ModTime().After(d.now.Add(time.Minute)):
		f.State, f.Advice = warning, "set the clock: the store was last written at "+state.ModTime().UTC().Format(time.RFC3339)
	case !host.Synchronised():
		f.Text += ", not synchronised as far as the system knows"
		f.State, f.Advice = warning, "run a time service: expiry times, tokens and the audit log depend on the clock"
	}
	return f
}

// converters looks for the programs that convert files.
func converters() (all []finding) {
	p := program.New(nil, worker.Installed, program.Limits{})
	for _, k := range program.Kinds {
		f := finding{k.Name, fine, p.Path(k), ""}
		switch missing := p.Missing(k); {
		case f.Text == "":
			f.Text, f.Advice = "none", "install "+k.Package+" for "+k.Purpose
		case missing != nil:
			f.State, f.Text, f.Advice = warning, missing.Error(), "use a system with Landlock (Linux 5.13 or later) for "+k.Purpose
		}
		all = append(all, f)
	}
	return all
}

func (d *doctor) browser(ctx context.Context) finding {
	const name = "browser"
	path, err := browserProgram(d.chromium)
	switch {
	case err != nil:
		return finding{name, failed, err.Error(), "correct --chromium"}
	case path == "":
		return finding{name, fine, "none: decks are printed by the embedded renderer", ""}
	}
	b := &render.Chromium{Path: path, Log: slog.New(slog.DiscardHandler)}
	defer b.Close()
	if err := b.Ping(ctx); err != nil {
		return finding{name, warning, fmt.Sprintf("%s: %v", path, err), "reinstall it with the libraries that it needs, or set --chromium off"}
	}
	if made, old := outdated(path, d.now); old {
		return finding{name, warning, path + ": starts, built on " + made.Format(time.DateOnly), "update it; catena does not include it"}
	}
	return finding{name, fine, path + ": starts", ""}
}

// address looks whether an address can be listened on.
func (d *doctor) address(ctx context.Context, name, at string) finding {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err == nil {
		_ = l.Close()
		return finding{name, fine, at + ": is free", ""}
	}
	// Most likely the server itself.
	if d.inUse {
		return finding{name, warning, err.Error(), "nothing to do if the server that uses the data directory listens there"}
	}
	return finding{name, failed, err.Error(), "stop the program that listens there, or choose another --addr or --metrics-addr"}
}

// postTime is how long the mail server may take to answer.
const postTime = 10 * time.Second

func (d *doctor) post(ctx context.Context) finding {
	const name = "mail"
	if d.smtp.host == "" {
		return finding{name, fine, "no smtp-host: no mail is sent", ""}
	}
	s, err := mail.New(d.smtp.config())
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, postTime)
		defer cancel()
		err = s.Ping(ctx)
	}
	if err != nil {
		return finding{name, warning, fmt.Sprintf("%s: %v", d.smtp.host, err), "correct the settings smtp-…; messages wait in the outbox until it answers"}
	}
	return finding{name, fine, d.smtp.host + ": answers", ""}
}

// copies looks for the newest backup.
func (d *doctor) copies(ctx context.Context) finding {
	const name = "backup"
	if d.backups.folder == "" {
		return finding{name, warning, "no backups are made", "set --backup-folder, preferably on another disk, or run catena backup regularly"}
	}
	last, err := d.backups.newest(ctx, d.now)
	switch {
	case err != nil:
		return finding{name, warning, err.Error(), "give the account that runs the server access to it"}
	case last.IsZero():
		return finding{name, warning, d.backups.folder + ": contains no backup", "nothing to do if the server has never started; it makes a backup at once"}
	}
	f := finding{name, fine, "the newest is from " + last.Format(time.RFC3339) + ", " + humanize.RelTime(last, d.now, "ago", "ahead"), ""}
	if d.backups.status(d.now) != nil {
		f.State, f.Advice = warning, "look in the log for the reason, or start the server"
	}
	return f
}

// slowFile is where the server writes its slow queries, in the data directory.
const slowFile = "slow-queries.json"

// noteSlow writes the slow queries since the start to a file, once a minute if there are new ones, and at the end.
func (a *app) noteSlow(ctx context.Context) error {
	path, written := filepath.Join(a.dir, slowFile), 0
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // those of the run before
	}
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		all, count := search.Slowest(a.repo), 0
		for _, q := range all {
			count += q.Count
		}
		if count != written {
			b, err := json.Marshal(all)
			if err == nil {
				err = os.WriteFile(path, b, 0o600)
			}
			if err != nil {
				return err
			}
			written = count
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// shownQueries is how many slow queries the doctor names.
const shownQueries = 3

// queries reads which queries of the server were slow.
func (d *doctor) queries() finding {
	const name = "queries"
	b, err := os.ReadFile(filepath.Join(d.data, slowFile))
	if errors.Is(err, fs.ErrNotExist) {
		return finding{name, fine, "none is known to be slow", ""}
	}
	var all []search.SlowQuery
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return finding{name, warning, err.Error(), "nothing: the server writes the file again"}
	}
	f := finding{name, warning, fmt.Sprintf("slow or refused: %d kinds of query", len(all)), "ask Repository.Explain what they read"}
	var advice []string
	for i, q := range all {
		if q.Advice != "" && q.Automatic == "" && !slices.Contains(advice, q.Advice) {
			advice = append(advice, q.Advice)
		}
		if i < shownQueries {
			f.Text += fmt.Sprintf("\n%d times, up to %s: %s", q.Count, q.Longest.Round(time.Millisecond), q.Shape)
			if q.Automatic != "" {
				f.Text += "; the server has declared an index for it, which is " + q.Automatic
			}
		}
	}
	if len(advice) > 0 {
		f.Advice = strings.Join(advice[:min(len(advice), shownQueries)], "; ")
	}
	return f
}

const (
	// contentTime is how long the object store may take for all that it is asked.
	contentTime = 30 * time.Second
	// tryName is the object that is written to see whether that can be done.
	tryName = "doctor"
)

// content looks whether the bucket that the content of files is in can be read and written, and is this data directory's.
func (d *doctor) content(ctx context.Context) finding {
	const name = "content"
	p, err := locationIn(d.data)
	if err != nil {
		return finding{name, failed, err.Error(), "restore the file: it says where content is"}
	}
	address := cmp.Or(d.global.blobs, p.Address)
	if address == "" {
		return finding{name, fine, "in the data directory", ""}
	}
	b, err := bucket.Open(address)
	if err != nil {
		return finding{name, failed, err.Error(), "correct --blobs"}
	}
	ctx, stop := context.WithTimeout(ctx, contentTime)
	defer stop()
	owner, err := blob.Owner(ctx, b)
	switch {
	case err != nil:
		return finding{name, failed, err.Error(), "correct --blobs and the keys, or create the bucket; the server does not start without it"}
	case owner != "" && owner != p.Owner:
		return finding{name, failed, b.At("") + ": belongs to another data directory", "give each a bucket or a prefix of its own"}
	case owner == "" && p.Address != "":
		return finding{name, failed, b.At("") + ": does not belong to this data directory", "correct --blobs; content is in " + p.Address}
	}
	err = b.Put(ctx, tryName, bytes.NewReader(nil), 0)
	if err == nil {
		err = b.Remove(ctx, tryName)
	}
	if err != nil {
		return finding{name, failed, err.Error(), "permit the keys to list, read, write and remove objects"}
	}
	return finding{name, fine, b.At("") + ": can be read and written", ""}
}
