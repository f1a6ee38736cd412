package main

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/spf13/cobra"
)

// registry is what the verbs read of the registry document.
type registry struct {
	Operations []operation `json:"operations"`
	Chains     []operation `json:"chains"`
}

type operation struct {
	ID          string   `json:"id"`
	Label       string   `json:"label"`
	Category    string   `json:"category"`
	Description string   `json:"description"`
	Signature   []string `json:"signature"`
	Params      []struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Required bool   `json:"required"`
	} `json:"params"`
}

func opsCmd(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "ops [OPERATION]", Short: "List the operations and chains, or describe one", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, done, err := g.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			path := "/api/v1/automation"
			if len(args) == 1 {
				path += "/" + args[0]
			}
			resp, err := c.send(cmd.Context(), http.MethodGet, path, "", nil)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if g.json || len(args) == 1 {
				return printAnswer(cmd.OutOrStdout(), resp)
			}
			return listOps(cmd.OutOrStdout(), resp.Body)
		},
	}
}

func listOps(out io.Writer, body io.Reader) error {
	var r registry
	if err := json.NewDecoder(body).Decode(&r); err != nil {
		return err
	}
	return printTable(out, r.Operations, "OPERATION\tINPUT → OUTPUT\tLABEL", func(o operation) string {
		in, res := "void", "void"
		if len(o.Signature) > 1 {
			in, res = o.Signature[0], o.Signature[1]
		}
		return columns(o.ID, in+" → "+res, o.Label)
	})
}
