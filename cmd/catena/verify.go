package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"catena/storage/maintenance"
)

func verifyCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Read everything and check it: checksums, indexes, the content of files", Args: cobra.NoArgs,
		Long: "Read everything and check it: checksums, indexes, the content of files.\n\n" +
			"Long content is compared with the checksums of its blocks where they are known, and all other content with its\n" +
			"SHA-256 digest. The scrubber of a running server compares all content with its digest once a month.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.server != "" {
				return usage{errNotLocal}
			}
			v, err := g.verify(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if g.json {
				err = printJSON(cmd.OutOrStdout(), v)
			} else {
				err = v.print(cmd.OutOrStdout())
			}
			if err != nil {
				return err
			}
			if n := len(v.Problems) + len(v.Damaged); n > 0 {
				return fmt.Errorf("problems found: %d: %w", n, errCorrupt)
			}
			_, err = fmt.Fprintln(cmd.ErrOrStderr(), "everything is as it should be")
			return err
		},
	}
}

// verified is what a verification has found.
type verified struct {
	Problems []string             `json:"problems"`
	Damaged  []maintenance.Damage `json:"damaged,omitempty"`
}

func (v *verified) print(out io.Writer) error {
	for _, p := range v.Problems {
		if _, err := fmt.Fprintln(out, p); err != nil {
			return err
		}
	}
	for _, d := range v.Damaged {
		if _, err := fmt.Fprintln(out, d); err != nil {
			return err
		}
	}
	return nil
}

// verify reads the closed data directory and shows on out how far it is.
func (g *global) verify(ctx context.Context, out io.Writer) (v *verified, err error) {
	if err := g.made(); err != nil {
		return nil, err
	}
	a, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if what, _ := a.db.Dropped(); what != "" {
		a.log.Warn("the end of the redo log was dropped after a crash", "what", what)
	}
	p := startProgress(out, g.json)
	defer p.stop()
	found, err := maintenance.VerifyAll(ctx, a.repo, p.add)
	if err != nil {
		return nil, err
	}
	return &verified{append([]string{}, found.Problems...), found.Damage}, nil
}

// progress shows how much was verified: in one line that changes on a terminal, elsewhere in a line now and then.
type progress struct {
	out              io.Writer
	json, terminal   bool
	documents, bytes atomic.Int64
	end, done        chan struct{}
}

const (
	progressTerminal = 200 * time.Millisecond
	progressLines    = 10 * time.Second
)

func startProgress(out io.Writer, asJSON bool) *progress {
	f, ok := out.(*os.File)
	p := &progress{out: out, json: asJSON, terminal: ok && !asJSON && term.IsTerminal(int(f.Fd())), end: make(chan struct{}), done: make(chan struct{})}
	every := progressLines
	if p.terminal {
		every = progressTerminal
	}
	go p.run(every)
	return p
}

func (p *progress) add(documents, bytes int64) {
	p.documents.Add(documents)
	p.bytes.Add(bytes)
}

func (p *progress) run(every time.Duration) {
	defer close(p.done)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-p.end:
			p.show()
			if p.terminal {
				fmt.Fprintln(p.out)
			}
			return
		case <-t.C:
			p.show()
		}
	}
}

func (p *progress) show() {
	documents, bytes := p.documents.Load(), p.bytes.Load()
	if p.json {
		_ = json.NewEncoder(p.out).Encode(map[string]int64{"documents": documents, "bytes": bytes})
		return
	}
	line := fmt.Sprintf("verified %s documents, %s of content", humanize.Comma(documents), humanize.IBytes(uint64(bytes)))
	if p.terminal {
		fmt.Fprintf(p.out, "\r%s\x1b[K", line)
		return
	}
	fmt.Fprintln(p.out, line)
}

// stop shows the final state and ends.
func (p *progress) stop() {
	close(p.end)
	<-p.done
}
