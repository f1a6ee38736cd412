package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func versionCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.json {
				return printJSON(cmd.OutOrStdout(), map[string]string{"version": version, "go": runtime.Version()})
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "catena %s (%s)\n", version, runtime.Version())
			return err
		},
	}
}
