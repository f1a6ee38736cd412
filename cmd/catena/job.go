package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// listenerCmd manages listeners as chains are.
func listenerCmd(g *global) *cobra.Command {
	return kind{noun: "listener", family: "Listener", ext: ".yaml .yml .json"}.command(g)
}

// waitingJob is a job of the outbox as the operations show it.
type waitingJob struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	State   string    `json:"state"`
	User    string    `json:"user"`
	Due     time.Time `json:"due"`
	Created time.Time `json:"created"`
	Tries   int       `json:"tries"`
	Failure string    `json:"failure,omitempty"`
}

func jobCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "job", Aliases: []string{"jobs"}, Short: "List, retry and delete jobs of the outbox"}
	cmd.AddCommand(jobList(g), jobVerb(g, "retry", "Job.Retry", "Try a job again at once"), jobVerb(g, "delete", "Job.Delete", "Remove a job that waits or was given up"))
	return cmd
}

func jobList(g *global) *cobra.Command {
	var state, kind string
	cmd := &cobra.Command{
		Use: "list", Short: "List jobs: those given up, those that run, those that wait", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			params := map[string]any{}
			if state != "" {
				params["state"] = state
			}
			if kind != "" {
				params["kind"] = kind
			}
			jobs := []waitingJob{}
			if err := g.object(cmd, call{op: "Job.List", params: params}, &jobs); err != nil {
				return err
			}
			if g.json {
				return printJSON(cmd.OutOrStdout(), jobs)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, j := range jobs {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", j.ID, j.Kind, j.State, j.Due.Format(time.RFC3339), j.Tries, j.Failure)
			}
			return w.Flush()
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "only these: dead, running or waiting")
	cmd.Flags().StringVar(&kind, "kind", "", "only jobs of this kind, for example mail")
	return cmd
}

func jobVerb(g *global, verb, op, short string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.object(cmd, call{op: op, params: map[string]any{"id": args[0]}}, nil)
		},
	}
}
