package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
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
}

func runsCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "runs", Short: "List the calls that a server carries out now, show one, end one"}
	cmd.AddCommand(
		runsList(g),
		runsVerb(g, "show", "Show what is known of a run, as JSON", http.MethodGet),
		runsVerb(g, "end", "End a call that runs: nothing of it is kept, and whoever called is told who ended it", http.MethodDelete),
	)
	return cmd
}

func runsList(g *global) *cobra.Command {
	var operation, user, request string
	cmd := &cobra.Command{
		Use: "list", Short: "List the calls that run, the oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query := url.Values{"operation": {operation}, "user": {user}, "requestId": {request}}
			return g.answered(cmd, http.MethodGet, runsAt+"?"+query.Encode(), listRuns)
		},
	}
	f := cmd.Flags()
	f.StringVar(&operation, "operation", "", "only calls of this operation or chain")
	f.StringVar(&user, "user", "", "only those of this user")
	f.StringVar(&request, "request", "", "only those of this request")
	return cmd
}

func runsVerb(g *global, verb, short, method string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.answered(cmd, method, runsAt+"/"+url.PathEscape(args[0]), nil)
		},
	}
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
	var list struct {
		Entries []shownRun `json:"entries"`
	}
	if err := json.NewDecoder(body).Decode(&list); err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, r := range list.Entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Start.Format(time.RFC3339), r.Op, r.User, r.Door, r.Duration.Round(time.Millisecond))
	}
	return w.Flush()
}
