package main

import (
	"io"

	"github.com/spf13/cobra"
)

func scriptCmd(g *global) *cobra.Command {
	k := kind{noun: "script", family: "Script", ext: ".js"}
	cmd := k.command(g)
	cmd.AddCommand(scriptTypes(g))
	return cmd
}

func scriptTypes(g *global) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "types", Short: "Write catena.d.ts: every operation typed and documented, for an editor", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			resp, err := c.run(cmd.Context(), call{op: "Script.Types"})
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if file == "-" {
				_, err = io.Copy(cmd.OutOrStdout(), resp.Body)
				return err
			}
			return writeWhole(file, copyOf(resp.Body))
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "catena.d.ts", "file to write; - for standard output")
	return cmd
}
