package render

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/chromedp"
)

// process is one browser with a folder and a process group of its own. Several files may be made in it at the
// same time, each in a tab (tab.go); the renderer counts them in users.
type process struct {
	ctx     context.Context //nolint:containedctx // the browser lives as long as it
	cancel  context.CancelFunc
	wait    context.CancelFunc // waits for the end, too
	folder  string             // what it may write to
	version string
	cmd     *exec.Cmd

	pause, silence time.Duration // of the watch

	spare atomic.Pointer[tab] // for the next file

	users, files int // guarded by the renderer's lock
	retired      bool
}

// switches are set besides those that browsers under a program's control have: nothing is
// to leave the machine, and nothing is asked of it.
var switches = map[string]any{
	"disable-background-networking": true,
	"disable-component-update":      true,
	"disable-domain-reliability":    true,
	"disable-gpu":                   true,
	"disable-quic":                  true,
	"disable-sync":                  true,
	"disable-webrtc":                true,
	"dns-prefetch-disable":          true,
	// No name resolves and the proxy does not exist: what this package does not answer itself cannot leave
	// the machine.
	"host-resolver-rules":             "MAP * ~NOTFOUND",
	"no-pings":                        true,
	"proxy-bypass-list":               "<-loopback>",
	"proxy-server":                    "http://0.0.0.0:9",
	"force-webrtc-ip-handling-policy": "disable_non_proxied_udp",
	// Hinting changes the width of text with the resolution, and so the breaks of lines.
	"font-render-hinting": "none",
}

// folderPrefix stands before the number of the process that a folder belongs to.
const folderPrefix = "catena-browser-"

var removeStale sync.Once

// removeFolders removes what processes have left that were killed. Folders of processes that still run are
// kept, also those of other users, which another server may have started.
func removeFolders() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*")) // the pattern is ours
	for _, folder := range folders {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), folderPrefix), "-")
		if pid, err := strconv.Atoi(number); err == nil && pid > 0 && gone(pid) {
			_ = os.RemoveAll(folder)
		}
	}
}

// startBrowser starts a browser with a fresh folder of its own and waits, at most browserStart, until it
// answers. A root user's browser runs as nobody, since Chromium refuses to run as root with its sandbox.
// After a failure the process is ended in the background: it may not have been started yet.
func startBrowser(ctx context.Context, c *Chromium) (*process, error) {
	b := &process{pause: c.pause, silence: c.silence}
	if b.pause == 0 {
		b.pause, b.silence = pingPause, pingTime
	}
	var err error
	// A killed server cannot remove the folder of its browser. The name has the number of the process, so others can.
	removeStale.Do(removeFolders)
	if b.folder, err = os.MkdirTemp("", fmt.Sprintf("%s%d-", folderPrefix, os.Getpid())); err != nil {
		return nil, errors.Join(errStart, err)
	}
	if err := giveAway(b.folder); err != nil {
		return nil, errors.Join(errStart, err, os.RemoveAll(b.folder))
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	for name, value := range switches {
		options = append(options, chromedp.Flag(name, value))
	}
	// The browser inherits no variables: those of a server often hold its secrets.
	options = append(options, chromedp.ExecPath(c.Path), chromedp.UserDataDir(filepath.Join(b.folder, "profile")), chromedp.NoInheritEnv,
		chromedp.Env("HOME="+b.folder, "TMPDIR="+b.folder, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"),
		// The library would switch the sandbox off; decks come from people who are not trusted.
		chromedp.Flag("no-sandbox", false),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			b.cmd = cmd
			confine(cmd)
		}))
	// Not ctx: the browser outlives the request that starts it.
	allocator, wait := chromedp.NewExecAllocator(context.Background(), options...)
	b.wait = wait
	b.ctx, b.cancel = chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}), chromedp.WithLogf(func(string, ...any) {}))
	begun := make(chan error, 1)
	known := make(chan struct{}) // closed once the process is known, or never will be
	go func() {
		defer close(known)
		begun <- chromedp.Do(b.ctx)
	}()
	late := time.NewTimer(browserStart)
	defer late.Stop()
	select {
	case err = <-begun:
	case <-late.C:
		err = errors.New("no answer in time")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		b.version, err = b.ask(ctx)
	}
	if err != nil {
		go func() {
			b.cancel()
			// Closing before the process is known would leave it running.
			<-known
			b.close()
		}()
		return nil, errors.Join(errStart, err)
	}
	return b, nil
}

func (b *process) alive() bool { return b.ctx.Err() == nil }

// retire has a browser end once nobody uses it. The caller holds the renderer's lock.
func (b *process) retire() {
	b.retired = true
	if b.users == 0 {
		go b.close()
	}
}

// kill ends the browser at once, with everything it started.
func (b *process) kill() {
	if b.cmd != nil && b.cmd.Process != nil {
		killGroup(b.cmd.Process.Pid)
	}
	b.cancel()
}

// close ends the browser and removes what it has written.
func (b *process) close() {
	b.kill()
	b.wait()
	// Processes of the browser may still write for a moment after they were killed.
	// One second in all. What is left then is removed when another server starts a browser.
	for range 20 {
		if os.RemoveAll(b.folder) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
