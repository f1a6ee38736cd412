package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"catena/storage/trace"
)

func runCmd(g *global) *cobra.Command {
	var r runner
	cmd := &cobra.Command{
		Use:   "run OPERATION",
		Short: "Run an operation, a chain or a scripted operation in one transaction",
		Example: `  catena run Document.GetChildren --input /default-domain
  catena run Document.Create --input /default-domain/workspaces --param type=File --param name=a.txt --dry-run
  catena run FileManager.Import --file report.pdf --context currentDocument=/default-domain/workspaces`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			r.op, r.errs = args[0], cmd.ErrOrStderr()
			return r.run(cmd.Context(), c, cmd.OutOrStdout())
		},
	}
	cmd.ValidArgsFunction = g.completeOperation
	r.flags(cmd)
	cmd.Flags().StringArrayVar(&r.files, "file", nil, "file to send as the input blob, repeatable")
	_ = cmd.RegisterFlagCompletionFunc("param", g.completeParam) // the flag exists
	return cmd
}

// flags are those of every command that runs something.
func (r *runner) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&r.input, "input", "i", "", "input: a path, an ID, doc:…, docs:a,b or JSON")
	f.StringArrayVarP(&r.pairs, "param", "p", nil, "parameter name=value, repeatable; the value may be JSON")
	f.StringVar(&r.params, "params", "", "all parameters as a JSON object")
	f.StringArrayVar(&r.vars, "context", nil, "context variable name=value, repeatable")
	f.BoolVar(&r.dry, "dry-run", false, "run everything, list the changes and roll back")
	f.BoolVar(&r.trace, "trace", false, "print the tree of steps to standard error")
}

// runner is the run verb's command line.
type runner struct {
	op, input, params  string
	script             string // file of a script that is not deployed, run in place of op
	pairs, vars, files []string
	dry, trace         bool
	brief              bool // only what scripts printed is shown of the trace
	errs               io.Writer
}

func (r *runner) call() (call, error) {
	c := call{op: r.op, query: url.Values{}}
	var err error
	if c.params, err = parsePairs(r.pairs); err != nil {
		return c, err
	}
	if r.params != "" {
		if err := json.Unmarshal([]byte(r.params), &c.params); err != nil {
			return c, usage{fmt.Errorf("params: %w", err)}
		}
	}
	if r.script != "" {
		source, err := readText(r.script)
		if err != nil {
			return c, err
		}
		c.op, c.params = "Script.Run", map[string]any{"source": source, "name": filepath.Base(r.script), "params": c.params}
	}
	if c.vars, err = parsePairs(r.vars); err != nil {
		return c, err
	}
	if r.input != "" {
		c.input = r.input
		if t := strings.TrimSpace(r.input); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			if err := json.Unmarshal([]byte(t), &c.input); err != nil {
				return c, usage{fmt.Errorf("input: %w", err)}
			}
		}
	}
	if r.dry {
		c.query.Set("dryRun", "true")
	}
	if r.trace {
		c.query.Set("trace", "true")
	}
	return c, nil
}

func (r *runner) run(ctx context.Context, c *client, out io.Writer) error {
	op, err := r.call()
	if err != nil {
		return err
	}
	for _, name := range r.files {
		if _, err := os.Stat(name); err != nil {
			return usage{err}
		}
	}
	if r.trace && !r.dry { // the answer of a call that fails does not tell the id of its trace
		c.trace = trace.New()
	}
	var resp *http.Response
	if len(r.files) == 0 {
		resp, err = c.run(ctx, op)
	} else {
		resp, err = c.upload(ctx, op, r.files)
	}
	if err != nil {
		if c.trace.ID != "" {
			_ = r.printTrace(ctx, c, c.trace.ID) // there is none of a call that did not begin
		}
		return err
	}
	defer resp.Body.Close()
	if names, err := url.QueryUnescape(resp.Header.Get("Catena-Ignored")); err == nil && names != "" {
		fmt.Fprintf(r.errs, "catena: %s: ignored unknown parameters: %s\n", r.op, names)
	}
	if err := printAnswer(out, resp); err != nil {
		return err
	}
	if id := resp.Header.Get("Catena-Trace"); id != "" && !r.dry {
		return r.printTrace(ctx, c, id)
	}
	return nil
}

// step is one operation of a trace.
type step struct {
	Op       string        `json:"op"`
	Input    string        `json:"input"`
	Output   string        `json:"output"`
	Error    string        `json:"error"`
	Line     int           `json:"line"`
	Duration time.Duration `json:"duration"`
	Console  []string      `json:"console"`
	Warnings []string      `json:"warnings"`
	Steps    []step        `json:"steps"`
}

// printTrace fetches the tree of steps and prints it beside the answer.
func (r *runner) printTrace(ctx context.Context, c *client, id string) error {
	resp, err := c.send(ctx, http.MethodGet, "/api/v1/automation/traces/"+id, "", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var root step
	if err := json.NewDecoder(resp.Body).Decode(&root); err != nil {
		return err
	}
	if r.brief {
		root.printed(r.errs, 0)
	} else {
		root.print(r.errs, 0)
	}
	return nil
}

func (s step) print(w io.Writer, depth int) {
	line := ""
	if s.Line > 0 {
		line = fmt.Sprintf(" line %d", s.Line)
	}
	out := cmp.Or(s.Output, "void")
	if s.Error != "" {
		out = "failed: " + s.Error
	}
	fmt.Fprintf(w, "%s%s%s: %s → %s (%s)\n", strings.Repeat("  ", depth), s.Op, line, cmp.Or(s.Input, "void"), out, s.Duration.Round(time.Microsecond))
	for _, text := range s.Warnings {
		fmt.Fprintf(w, "%s! %s\n", strings.Repeat("  ", depth+1), text)
	}
	for _, text := range s.Console {
		fmt.Fprintf(w, "%s| %s\n", strings.Repeat("  ", depth+1), text)
	}
	for _, inner := range s.Steps {
		inner.print(w, depth+1)
	}
}

// printed writes what scripts printed, and nothing else.
func (s step) printed(w io.Writer, _ int) {
	for _, text := range s.Console {
		fmt.Fprintln(w, text)
	}
	for _, inner := range s.Steps {
		inner.printed(w, 0)
	}
}

// printAnswer indents JSON and copies anything else.
func printAnswer(out io.Writer, resp *http.Response) error {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		_, err := io.Copy(out, resp.Body)
		return err
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if json.Indent(&buf, b, "", "  ") != nil {
		_, err = out.Write(b)
		return err
	}
	_, err = fmt.Fprintln(out, buf.String())
	return err
}

// upload sends files as the operation's blob input, streaming them.
func (c *client) upload(ctx context.Context, op call, files []string) (*http.Response, error) {
	head, err := op.body()
	if err != nil {
		return nil, err
	}
	pr, pw := io.Pipe()
	m := multipart.NewWriter(pw)
	go func() { pw.CloseWithError(writeParts(m, head, files)) }()
	defer func() { _ = pr.Close() }() // ends the writer if the server did not read to the end
	return c.send(ctx, http.MethodPost, op.address(), m.FormDataContentType(), pr)
}

func writeParts(m *multipart.Writer, head []byte, files []string) error {
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", `form-data; name="params"`)
	h.Set("Content-Type", "application/json")
	w, err := m.CreatePart(h)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for i, name := range files {
		if err := writeFile(m, i, name); err != nil {
			return err
		}
	}
	return m.Close()
}

func writeFile(m *multipart.Writer, i int, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := m.CreateFormFile(fmt.Sprintf("input#%d", i), filepath.Base(name))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
