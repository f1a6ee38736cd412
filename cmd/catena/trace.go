package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// traced is an entry of the list of traces.
type traced struct {
	ID       string        `json:"id"`
	Op       string        `json:"op"`
	Status   string        `json:"status"`
	Error    string        `json:"error,omitempty"`
	User     string        `json:"user"`
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"duration"`
	Request  string        `json:"requestId,omitempty"`
}

func traceCmd(g *global) *cobra.Command {
	var q struct {
		operation, status, user, requestID string
		limit                              int
	}
	cmd := &cobra.Command{
		Use: "trace [ID]", Aliases: []string{"traces"}, Short: "List the traces of a running server, or show the steps of one", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			const at = "/api/v1/automation/traces"
			switch {
			case len(args) == 0:
				query := url.Values{
					"operation": {q.operation}, "status": {q.status}, "user": {q.user}, "requestId": {q.requestID}, "limit": {strconv.Itoa(q.limit)},
				}
				return g.answered(cmd, http.MethodGet, at+"?"+query.Encode(), listTraces)
			case g.json:
				return g.answered(cmd, http.MethodGet, at+"/"+url.PathEscape(args[0]), nil)
			}
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			return (&runner{errs: cmd.OutOrStdout()}).printTrace(cmd.Context(), c, url.PathEscape(args[0]))
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.operation, "operation", "", "only calls of this operation or chain")
	f.StringVar(&q.status, "status", "", "only calls with this status: ok or failed")
	f.StringVar(&q.user, "user", "", "only calls of this user")
	f.StringVar(&q.requestID, "request", "", "only calls of this request")
	f.IntVar(&q.limit, "limit", 100, "number of traces, newest first")
	return cmd
}

func listTraces(out io.Writer, body io.Reader) error {
	return listEntries(out, body, "ID\tSTART\tOPERATION\tUSER\tSTATUS\tDURATION\tERROR", func(t traced) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", t.ID, t.Start.Format(time.RFC3339), t.Op, t.User, t.Status, t.Duration.Round(time.Microsecond), t.Error)
	})
}
