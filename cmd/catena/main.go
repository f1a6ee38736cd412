// Command catena is the content automation server and its tools in one binary. This package holds flags and
// wiring only: it is the one place that knows every other package, opens the store, puts the tables of
// operations together and starts a server.
//
// Read main.go for the commands, open.go for what a data directory consists of and the order in which its
// parts start, and serve.go for the server. Most other files are one command each. A command that changes
// documents calls operations through a client (client.go): over HTTP if --server names a server, and
// otherwise through the same handler in this process, with the data directory opened for it. Commands that
// maintain data (backup, restore, copy, verify, compact) work on the store itself.
//
// The program also starts itself as a worker: scripts and PDF files are processed in processes that can be
// killed (workerVerb). What runs before that is looked for must stay cheap.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"catena/cmd/catena/startup"
	"catena/engine/pdf"
	"catena/engine/spreadsheet"
	"catena/engine/worker"
	"catena/scripts"
	"catena/storage/badger"
	"catena/storage/fault"
	"catena/storage/kv"
)

// version is set by the linker.
var version = "dev"

func main() {
	if len(os.Args) > 1 && os.Args[1] == workerVerb {
		startup.Collect()
		os.Exit(workerMain(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// workerVerb starts a worker: of scripts, or of PDF files, spreadsheets or programs of others if that word follows. It is looked
// for before anything else because a worker has to be ready within milliseconds.
const workerVerb, ofPDF, ofProgram, ofSheets = "worker", "pdf", "program", "spreadsheet"

// workerMain is a worker and returns its exit code.
func workerMain(args []string) int {
	if slices.Equal(args, []string{ofPDF}) {
		return pdf.WorkerMain(os.Stdin, os.Stdout)
	}
	if len(args) > 0 && args[0] == ofProgram {
		return worker.ProgramMain(args[1:])
	}
	if len(args) == 2 && args[0] == ofSheets {
		return spreadsheet.WorkerMain(os.Stdin, os.Stdout, os.Stderr, args[1])
	}
	return scripts.WorkerMain(os.Stdin, os.Stdout)
}

// run carries out one command line and returns the exit code. Tests call it in place of the process: commands
// use the streams that are given, and return errors instead of ending the process. The access log "-" is the
// one thing that goes to the standard output of the process itself.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	g := &global{}
	root := newRoot(g)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	printError(errs, err, g.json || slices.Contains(args, "--json"))
	return exitCode(err)
}

// printError prints an error: a line of text, or a line of JSON. That goes to the same stream, so that standard output has
// results only.
func printError(out io.Writer, err error, asJSON bool) {
	if !asJSON {
		fmt.Fprintln(out, "catena: "+fault.Of(err).Explain(err.Error()))
		return
	}
	e := problemOf(err)
	_ = json.NewEncoder(out).Encode(map[string]any{"error": e})
}

// shownError is an error as --json shows it.
type shownError struct {
	Kind     string `json:"kind"` // a kind of fault, or usage
	Code     string `json:"code,omitempty"`
	Message  string `json:"message"`
	Field    string `json:"field,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	ExitCode int    `json:"exitCode"`
}

func problemOf(err error) shownError {
	out := shownError{Kind: fault.Of(err).String(), Message: err.Error(), ExitCode: exitCode(err)}
	var u usage
	if errors.As(err, &u) {
		out.Kind = "usage"
	}
	var f *fault.Error
	if errors.As(err, &f) {
		out.Code, out.Field, out.Line, out.Column = f.Code.String(), f.Field, f.Line, f.Column
	}
	return out
}

// usage marks an error of the command line or the configuration.
type usage struct{ error }

// Unwrap returns the cause.
func (u usage) Unwrap() error { return u.error }

// exitCode is 0 ok, 1 failed, 2 wrong use or configuration, 3 not found or refused, 4 damage.
func exitCode(err error) int {
	var u usage
	switch {
	case errors.Is(err, badger.ErrCorrupt), errors.Is(err, kv.ErrDamaged), fault.CodeOf(err) == fault.CodeContentDamaged:
		return 4
	case errors.As(err, &u):
		return 2
	}
	switch fault.Of(err) {
	case fault.NotFound, fault.Denied:
		return 3
	default:
		return 1
	}
}

// newRoot returns the whole command tree, by purpose.
func newRoot(g *global) *cobra.Command {
	root := &cobra.Command{
		Use:           "catena",
		Short:         "A content automation server: operations, chains and scripts on one transactional store",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			defer startup.Collect() // serve goes on without collecting
			return configure(cmd.Flags(), g.config)
		},
	}
	root.SetFlagErrorFunc(flagError)
	g.flags(root.PersistentFlags())
	for _, purpose := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Run a server", []*cobra.Command{initCmd(g), serveCmd(g), configCmd(g), doctorCmd(g)}},
		{"Run operations", []*cobra.Command{runCmd(g), opsCmd(g), importCmd(g), deckCmd(g), mcpCmd(g)}},
		{"Program the server", programCmds(g)},
		{"Manage users", []*cobra.Command{userCmd(g), groupCmd(g), teamCmd(g), keyCmd(g)}},
		{"Watch a server", []*cobra.Command{runsCmd(g), traceCmd(g), jobCmd(g), nodesCmd(g)}},
		{"Maintain data", []*cobra.Command{backupCmd(g), restoreCmd(g), copyCmd(g), verifyCmd(g), compactCmd(g), blobsCmd(g)}},
		{"Other commands", []*cobra.Command{versionCmd(g)}},
	} {
		root.AddGroup(&cobra.Group{ID: purpose.title, Title: purpose.title + ":"})
		for _, c := range purpose.commands {
			c.GroupID = purpose.title
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("Other commands")
	root.SetCompletionCommandGroupID("Other commands")
	strict(root)
	return root
}

// strict makes every wrong use of a command an error of usage that says how it is used. The library by itself
// would print help and exit with 0 for a subcommand that does not exist.
func strict(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		strict(c)
	}
	check := cmd.Args
	if cmd.HasSubCommands() {
		check = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usage{unknownCommand(cmd, args[0])}
		}
	}
	if check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				if strings.Contains(err.Error(), "arg(s)") { // the library's own words
					err = fmt.Errorf("wrong number of arguments: %d", len(args))
				}
				return usage{fmt.Errorf("%w; usage: %s", err, cmd.UseLine())}
			}
			return nil
		}
	}
}

// flagError says which flag was probably meant, or where a setting of the server belongs.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return usage{err}
	}
	name := missing.GetSpecifiedName()
	if settings().has(name) {
		return usage{fmt.Errorf("%w: %s does not have this setting of catena serve", err, cmd.CommandPath())}
	}
	return usage{fmt.Errorf("%w%s", err, fault.Perhaps("--"+name, func(yield func(string) bool) {
		more := true
		cmd.Flags().VisitAll(func(f *pflag.Flag) { more = more && yield("--"+f.Name) })
	}))}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	near := fault.Perhaps(name, func(yield func(string) bool) {
		for _, c := range cmd.Commands() {
			if !yield(c.Name()) {
				return
			}
		}
	})
	if near == "" {
		near = `; "` + cmd.CommandPath() + ` --help" lists the commands`
	}
	return fmt.Errorf("no command %q of %s%s", name, cmd.CommandPath(), near)
}
