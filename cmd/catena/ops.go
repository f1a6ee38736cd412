package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"catena/decks"
	"catena/engine"
	"catena/ops"
)

// registry is what the verbs read of the registry document.
type registry struct {
	Operations []operation `json:"operations"`
	Chains     []operation `json:"chains"`
}

type operation struct {
	ID          string    `json:"id"`
	Label       string    `json:"label"`
	Category    string    `json:"category"`
	Description string    `json:"description"`
	Signature   []string  `json:"signature"`
	Params      []opParam `json:"params"`
}

type opParam struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Type        string   `json:"type"`
	Required    bool     `json:"required"`
	Values      []string `json:"values"`
}

func opsCmd(g *global) *cobra.Command {
	return &cobra.Command{
		ValidArgsFunction: g.completeOperation,
		Use:               "ops [OPERATION]", Short: "List the operations and chains, or describe one", Args: cobra.MaximumNArgs(1),
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

// completionTime is how long a shell waits for the names of operations.
const completionTime = 3 * time.Second

// registered returns the operations and chains: those of the server or the data directory if it answers, otherwise those
// of the program.
func (g *global) registered(cmd *cobra.Command) []operation {
	if configure(cmd.Flags(), g.config) != nil { // completion runs no hooks
		return nil
	}
	g.logLevel = "error"
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	c, done, err := g.connect(ctx)
	if err != nil {
		return builtinOperations()
	}
	defer done()
	resp, err := c.send(ctx, http.MethodGet, "/api/v1/automation", "", nil)
	if err != nil {
		return builtinOperations()
	}
	defer resp.Body.Close()
	var r registry
	if json.NewDecoder(resp.Body).Decode(&r) != nil {
		return builtinOperations()
	}
	return append(r.Operations, r.Chains...)
}

// builtinOperations are those that every server has.
func builtinOperations() (all []operation) {
	set, err := engine.NewSet(append(ops.All(ops.Config{}), decks.Ops())...)
	if err != nil {
		return nil
	}
	for _, name := range set.Names() {
		def, ok := set.Op(name)
		if !ok || def.Name != name {
			continue
		}
		o := operation{ID: name, Label: def.Label}
		for _, p := range def.Params() {
			o.Params = append(o.Params, opParam{Name: p.Name, Description: p.Doc, Required: p.Required, Values: p.Values})
		}
		all = append(all, o)
	}
	return all
}

// completeOperation completes the name of an operation.
func (g *global) completeOperation(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, o := range g.registered(cmd) {
			names = append(names, cobra.CompletionWithDesc(o.ID, o.Label))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeParam completes NAME= of a parameter of the operation named before, or its value if the values are listed.
func (g *global) completeParam(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	name, _, value := strings.Cut(text, "=")
	for _, o := range g.registered(cmd) {
		if o.ID != args[0] {
			continue
		}
		var found []string
		for _, p := range o.Params {
			switch {
			case !value:
				found = append(found, cobra.CompletionWithDesc(p.Name+"=", p.Description))
			case p.Name == name:
				for _, v := range p.Values {
					found = append(found, name+"="+v)
				}
			}
		}
		if value {
			return found, cobra.ShellCompDirectiveNoFileComp
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
