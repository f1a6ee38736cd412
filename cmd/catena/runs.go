package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

const runsAt = "/api/v1/automation/runs"

// shownRun is an entry of the list of runs.
type shownRun struct {
	ID       string        `json:"id"`
	Op       string        `json:"op"`
	User     string        `json:"user"`
	Door     string        `json:"door"`
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"duration"`
	Version  int64         `json:"version"`
	Code     string        `json:"code"`
	Error    string        `json:"error"`
}

func runsCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "runs", Short: "List the calls that a server carries out now, and those that failed; show, end and repeat one"}
	cmd.AddCommand(
		runsList(g), runsRetry(g),
		runsVerb(g, "show", "Show what is known of a run, as JSON", http.MethodGet),
		runsVerb(g, "end", "End a call that runs: nothing of it is kept, and whoever called is told who ended it", http.MethodDelete),
	)
	return cmd
}

func runsList(g *global) *cobra.Command {
	var q struct {
		operation, user, request, code, since, before string
		failed                                        bool
		limit                                         int
	}
	cmd := &cobra.Command{
		Use: "list", Short: "List the calls that run, the oldest first, or those that failed, the newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := url.Values{"operation": {q.operation}, "user": {q.user}, "requestId": {q.request}}
			if q.failed {
				since, err := sinceWhen(q.since, time.Now())
				if err != nil {
					return err
				}
				query["state"], query["code"], query["before"], query["since"] = []string{"failed"}, []string{q.code}, []string{q.before}, []string{since}
				query.Set("limit", strconv.Itoa(q.limit))
			}
			return g.answered(cmd, http.MethodGet, runsAt+"?"+query.Encode(), listRuns)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&q.failed, "failed", false, "those that failed; a server keeps them for a week")
	f.StringVar(&q.operation, "operation", "", "only calls of this operation or chain")
	f.StringVar(&q.user, "user", "", "only those of this user")
	f.StringVar(&q.request, "request", "", "only those of this request")
	f.StringVar(&q.code, "code", "", "with --failed: only those with this code of error")
	f.StringVar(&q.since, "since", "", "with --failed: only those since then, a time as 2006-01-02T15:04:05Z or a while as 2h")
	f.StringVar(&q.before, "before", "", "with --failed: only those before the one of this id")
	f.IntVar(&q.limit, "limit", 100, "with --failed: how many, the newest first")
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
		return "", usage{fmt.Errorf("since: %q is neither a time as 2006-01-02T15:04:05Z nor a while as 2h", text)}
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
		Use: "retry ID", Short: "Make a failed run again, with your own rights", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.answered(cmd, http.MethodPost, runsAt+"/"+url.PathEscape(args[0])+"/retry?"+url.Values{"version": {version}}.Encode(), nil)
		},
	}
	cmd.Flags().StringVar(&version, "version", "same", "same: the chain or script as it was; latest: as it is now")
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
	return listEntries(out, body, func(r shownRun) string {
		op := r.Op
		if r.Version > 0 {
			op += " version " + strconv.FormatInt(r.Version, 10)
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", r.ID, r.Start.Format(time.RFC3339), op, r.User, r.Door, r.Duration.Round(time.Millisecond), r.Code, r.Error)
	})
}

// listEntries prints a line of columns for each entry of a list.
func listEntries[T any](out io.Writer, body io.Reader, line func(T) string) error {
	var list struct {
		Entries []T `json:"entries"`
	}
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, entry := range list.Entries {
		fmt.Fprintln(w, line(entry))
	}
	return w.Flush()
}
