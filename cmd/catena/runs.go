package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

const runsAt = "/api/v1/automation/runs"

// shownRun is an entry of the list of runs.
type shownRun struct {
	ID         string        `json:"id"`
	Op         string        `json:"op"`
	User       string        `json:"user"`
	EntryPoint string        `json:"door"`
	Start      time.Time     `json:"start"`
	Duration   time.Duration `json:"duration"`
	Version    int64         `json:"version"`
	Code       string        `json:"code"`
	Error      string        `json:"error"`
}

func runsCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "runs", Short: "List, show, cancel and retry the calls of a running server"}
	cmd.AddCommand(
		runsList(g), runsRetry(g),
		runsVerb(g, "show", "Show a run as JSON", http.MethodGet),
		runsVerb(g, "end", "Cancel a running call: it is rolled back, and the caller receives an error that names you", http.MethodDelete),
	)
	return cmd
}

func runsList(g *global) *cobra.Command {
	var q struct {
		operation, user, request, code, since, before string
		failed, done                                  bool
		limit                                         int
	}
	cmd := &cobra.Command{
		Use: "list", Short: "List running calls, oldest first, or those that have ended, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := url.Values{"operation": {q.operation}, "user": {q.user}, "requestId": {q.request}}
			if q.failed || q.done {
				since, err := sinceWhen(q.since, time.Now())
				if err != nil {
					return err
				}
				state := "failed"
				if q.done {
					state = "done"
				}
				query["state"], query["code"], query["before"], query["since"] = []string{state}, []string{q.code}, []string{q.before}, []string{since}
				query.Set("limit", strconv.Itoa(q.limit))
			}
			return g.answered(cmd, http.MethodGet, runsAt+"?"+query.Encode(), listRuns)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&q.failed, "failed", false, "list failed calls, which the server keeps for a week")
	f.BoolVar(&q.done, "done", false, "list calls that succeeded and were recorded")
	cmd.MarkFlagsMutuallyExclusive("failed", "done")
	f.StringVar(&q.operation, "operation", "", "only calls of this operation or chain")
	f.StringVar(&q.user, "user", "", "only calls of this user")
	f.StringVar(&q.request, "request", "", "only calls of this request")
	f.StringVar(&q.code, "code", "", "with --failed: only calls with this error code")
	f.StringVar(&q.since, "since", "", "with --failed or --done: only calls since a date-time, such as 2006-01-02T15:04:05Z, or a duration, such as 2h")
	f.StringVar(&q.before, "before", "", "with --failed or --done: only calls before the one with this ID")
	f.IntVar(&q.limit, "limit", 100, "with --failed or --done: number of calls")
	return cmd
}

// sinceWhen is a time as the server takes it, given as such or as a while before now.
func sinceWhen(text string, now time.Time) (string, error) {
	if text == "" {
		return "", nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(-d).UTC().Format(time.RFC3339Nano), nil
	}
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return "", usage{fmt.Errorf("since: %q must be a date-time, such as 2006-01-02T15:04:05Z, or a duration, such as 2h", text)}
	}
	return text, nil
}

func runsVerb(g *global, verb, short, method string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.answered(cmd, method, runsAt+"/"+url.PathEscape(args[0]), nil)
		},
	}
}

func runsRetry(g *global) *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use: "retry ID", Short: "Run a call again, with your own permissions", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.answered(cmd, http.MethodPost, runsAt+"/"+url.PathEscape(args[0])+"/retry?"+url.Values{"version": {version}}.Encode(), nil)
		},
	}
	cmd.Flags().StringVar(&version, "version", "same", "version of the chain or script: same (as it was) or latest")
	return cmd
}

// answered sends a request and prints its answer: by print, or as JSON.
func (g *global) answered(cmd *cobra.Command, method, path string, print func(io.Writer, io.Reader) error) error {
	c, done, err := g.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer done()
	resp, err := c.send(cmd.Context(), method, path, "", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if g.json || print == nil {
		return printAnswer(cmd.OutOrStdout(), resp)
	}
	return print(cmd.OutOrStdout(), resp.Body)
}

func listRuns(out io.Writer, body io.Reader) error {
	return listEntries(out, body, "ID\tSTART\tOPERATION\tUSER\tORIGIN\tDURATION\tCODE\tERROR", func(r shownRun) string {
		op := r.Op
		if r.Version > 0 {
			op += " version " + strconv.FormatInt(r.Version, 10)
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", r.ID, r.Start.Format(time.RFC3339), op, r.User, r.EntryPoint, r.Duration.Round(time.Millisecond), r.Code, r.Error)
	})
}

// listEntries prints a line of columns for each entry of a list.
func listEntries[T any](out io.Writer, body io.Reader, header string, line func(T) string) error {
	var list struct {
		Entries []T `json:"entries"`
	}
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return err
	}
	return printTable(out, list.Entries, header, line)
}
