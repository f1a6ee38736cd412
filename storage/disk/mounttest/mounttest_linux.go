// Package mounttest mounts a folder a second time, through a user-space file system that can fail any kernel
// operation on it. Package disktest fails what a program asks of a disk.FS; this reaches what passes that by, as the
// tables that Badger maps into memory. The file system is a process of its own: a page fault that a process must
// answer itself would stop it for good.
package mounttest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Op is a kind of operations.
type Op string

// The operations that can fail.
const (
	Create Op = "create"
	Open   Op = "open"
	Read   Op = "read"
	Write  Op = "write"
	Sync   Op = "sync"
	Resize Op = "resize"
	Rename Op = "rename"
	Remove Op = "remove"
)

// Fault is which operations fail: those of a kind on files whose name matches a pattern of path.Match, from the N-th one on,
// so many times; negative: for good.
type Fault struct {
	Op    Op
	Name  string
	N     int
	Times int
	Errno syscall.Errno // default EIO
}

// variable has a test binary serve a file system; it is what to serve, and where.
const variable = "MOUNTTEST"

// Main runs the tests of a package that mounts file systems, or serves one of them.
func Main(m interface{ Run() int }) int {
	if at := os.Getenv(variable); at != "" {
		if err := serve(filepath.Join(at, "root"), filepath.Join(at, "mount"), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	return m.Run()
}

// Disk is a mounted folder.
type Disk struct {
	Root  string // what is on the disk
	Mount string // where it can be used

	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// New mounts an empty folder until the test ends. The test is skipped where file systems cannot be mounted.
func New(t testing.TB) *Disk {
	t.Helper()
	dir := t.TempDir()
	d := &Disk{Root: filepath.Join(dir, "root"), Mount: filepath.Join(dir, "mount"), t: t}
	for _, folder := range []string{d.Root, d.Mount} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0]) //nolint:gosec // this binary
	d.cmd.Env, d.cmd.Stderr = append(os.Environ(), variable+"="+dir), os.Stderr
	out, err := d.cmd.StdoutPipe()
	if err == nil {
		d.in, err = d.cmd.StdinPipe()
	}
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	d.out = bufio.NewScanner(out)
	t.Cleanup(d.Stop)
	if !d.out.Scan() {
		t.Skip("a file system in user space cannot be mounted here")
	}
	return d
}

// Set replaces the faults; operations count from now on.
func (d *Disk) Set(faults ...Fault) {
	d.t.Helper()
	if err := json.NewEncoder(d.in).Encode(append([]Fault{}, faults...)); err != nil || !d.out.Scan() {
		d.t.Fatalf("the file system is gone: %v", err)
	}
}

// Hits returns how many operations have failed since Set.
func (d *Disk) Hits() (n int) {
	d.t.Helper()
	if _, err := fmt.Fprintln(d.in, "null"); err != nil || !d.out.Scan() {
		d.t.Fatalf("the file system is gone: %v", err)
	}
	_, _ = fmt.Sscan(d.out.Text(), &n)
	return n
}

// Stop ends the file system; what is in Root stays. Anyone who has files open in Mount can use them no more.
func (d *Disk) Stop() {
	if d.cmd.ProcessState != nil {
		return
	}
	_ = unix.Unmount(d.Mount, unix.MNT_DETACH)
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

// serve serves a file system until the input ends. Each line of it replaces the faults, unless it is null, and is answered
// with the number of operations that failed.
func serve(root, mount string, in io.Reader, out io.Writer) error {
	p := &plan{}
	loop := &fs.LoopbackRoot{Path: root}
	top := &node{&fs.LoopbackNode{RootData: loop}, p}
	loop.RootNode = top
	server, err := fs.Mount(mount, top, &fs.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: root, MaxWrite: 1 << 20}})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "mounted"); err != nil {
		return err
	}
	for lines := json.NewDecoder(in); ; {
		var faults []Fault
		if err := lines.Decode(&faults); err != nil {
			return server.Unmount()
		}
		if _, err := fmt.Fprintln(out, p.set(faults)); err != nil {
			return err
		}
	}
}

// plan is what fails.
type plan struct {
	mu     sync.Mutex
	faults []Fault
	counts []int
	hits   int
}

// set replaces the faults, if there are any to replace them, and returns how many operations failed.
func (p *plan) set(faults []Fault) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if faults != nil {
		p.faults, p.counts, p.hits = faults, make([]int, len(faults)), 0
	}
	return p.hits
}

// verdict counts an operation and returns how it fails, 0 if it does not.
func (p *plan) verdict(op Op, name string) (failed syscall.Errno) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, f := range p.faults {
		if ok, _ := filepath.Match(f.Name, filepath.Base(name)); f.Op != op || !ok {
			continue
		}
		p.counts[i]++
		if n := p.counts[i] - f.N; failed == 0 && n >= 0 && (f.Times < 0 || n < max(1, f.Times)) {
			failed = cmp.Or(f.Errno, syscall.EIO)
			p.hits++
		}
	}
	return failed
}

// node is a file or a folder.
type node struct {
	*fs.LoopbackNode

	plan *plan
}

// WrapChild makes what is in a folder fail as well.
func (n *node) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{child.(*fs.LoopbackNode), n.plan}
}

// Open opens a file.
func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	name := n.Path(nil)
	if failed := n.plan.verdict(Open, name); failed != 0 {
		return nil, 0, failed
	}
	return n.opened(n.LoopbackNode.Open(ctx, flags))
}

func (n *node) opened(h fs.FileHandle, flags uint32, failed syscall.Errno) (fs.FileHandle, uint32, syscall.Errno) {
	if failed != 0 {
		return nil, 0, failed
	}
	return &file{h.(*fs.LoopbackFile), n}, flags, 0
}

// Create makes and opens a file.
func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if failed := n.plan.verdict(Create, name); failed != 0 {
		return nil, nil, 0, failed
	}
	child, h, open, failed := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	if failed != 0 {
		return nil, nil, 0, failed
	}
	h, open, failed = child.Operations().(*node).opened(h, open, 0)
	return child, h, open, failed
}

// Rename gives a file another name.
func (n *node) Rename(ctx context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if failed := n.plan.verdict(Rename, name); failed != 0 {
		return failed
	}
	return n.LoopbackNode.Rename(ctx, name, to, newName, flags)
}

// Unlink removes a file.
func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	if failed := n.plan.verdict(Remove, name); failed != 0 {
		return failed
	}
	return n.LoopbackNode.Unlink(ctx, name)
}

// Setattr changes the size of a file, or what else is known of it.
func (n *node) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if _, sized := in.GetSize(); sized {
		if failed := n.plan.verdict(Resize, n.Path(nil)); failed != 0 {
			return failed
		}
	}
	if f, ok := h.(*file); ok {
		h = f.LoopbackFile
	}
	return n.LoopbackNode.Setattr(ctx, h, in, out)
}

// Fsync syncs a folder.
func (n *node) Fsync(ctx context.Context, h fs.FileHandle, flags uint32) syscall.Errno {
	if f, ok := h.(*file); ok {
		return f.Fsync(ctx, flags)
	}
	return 0
}

// file is an open file.
type file struct {
	*fs.LoopbackFile

	of *node
}

// PassthroughFd has every operation come here.
func (f *file) PassthroughFd() (int, bool) { return 0, false }

// Read reads.
func (f *file) Read(ctx context.Context, buf []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if failed := f.of.plan.verdict(Read, f.of.Path(nil)); failed != 0 {
		return nil, failed
	}
	return f.LoopbackFile.Read(ctx, buf, off)
}

// Write writes.
func (f *file) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if failed := f.of.plan.verdict(Write, f.of.Path(nil)); failed != 0 {
		return 0, failed
	}
	return f.LoopbackFile.Write(ctx, data, off)
}

// Writev writes.
func (f *file) Writev(ctx context.Context, data [][]byte, off int64) (uint32, syscall.Errno) {
	if failed := f.of.plan.verdict(Write, f.of.Path(nil)); failed != 0 {
		return 0, failed
	}
	return f.LoopbackFile.Writev(ctx, data, off)
}

// Fsync syncs.
func (f *file) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	if failed := f.of.plan.verdict(Sync, f.of.Path(nil)); failed != 0 {
		return failed
	}
	return f.LoopbackFile.Fsync(ctx, flags)
}

// Allocate makes room.
func (f *file) Allocate(ctx context.Context, off, size uint64, mode uint32) syscall.Errno {
	if failed := f.of.plan.verdict(Resize, f.of.Path(nil)); failed != 0 {
		return failed
	}
	return f.LoopbackFile.Allocate(ctx, off, size, mode)
}
