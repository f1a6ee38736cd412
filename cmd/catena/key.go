package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// key is an API key as the operations show it.
type key struct {
	ID       int64      `json:"id"`
	Key      string     `json:"key,omitempty"`
	User     string     `json:"user"`
	Scope    string     `json:"scope"`
	Name     string     `json:"name"`
	Created  *time.Time `json:"created,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"`
	LastUsed *time.Time `json:"lastUsed,omitempty"`
	Revoked  *time.Time `json:"revoked,omitempty"`
}

func keyCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Create, list and revoke API keys"}
	cmd.AddCommand(keyCreate(g), keyList(g), keyRevoke(g))
	return cmd
}

func keyCreate(g *global) *cobra.Command {
	var user, scope, name, expires, revision string
	cmd := &cobra.Command{
		Use: "create", Short: "Create a key and print it; it is shown only once", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			params := map[string]any{"user": user, "scope": scope, "name": name}
			if expires != "" {
				params["expires"] = expires
			}
			if revision != "" {
				params["revision"] = revision
			}
			var k key
			if err := g.object(cmd, call{op: "Key.Create", params: params}, &k); err != nil {
				return err
			}
			if g.json {
				return printJSON(cmd.OutOrStdout(), k)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), k.Key)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&user, "user", "", "user that the key acts for")
	f.StringVar(&scope, "scope", "read_only", "read_only or read_write")
	f.StringVar(&name, "name", "", "description of the key")
	f.StringVar(&expires, "expires", "", "date-time when the key expires, ISO 8601 (default: never)")
	f.StringVar(&revision, "revision", "", "deck revision of the clients: A or B (default: both)")
	return cmd
}

func keyList(g *global) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use: "list", Short: "List keys", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys := []key{}
			if err := g.object(cmd, call{op: "Key.List", params: map[string]any{"user": user}}, &keys); err != nil {
				return err
			}
			return list(g, cmd, keys, "ID\tUSER\tSCOPE\tSTATE\tNAME", func(k key) string {
				state := "active"
				if k.Revoked != nil {
					state = "revoked"
				}
				return columns(strconv.FormatInt(k.ID, 10), k.User, k.Scope, state, k.Name)
			})
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "only keys of this user")
	return cmd
}

func keyRevoke(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "Revoke a key immediately", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return usage{fmt.Errorf("id: %q is not a number", args[0])}
			}
			return g.object(cmd, call{op: "Key.Revoke", params: map[string]any{"id": id}}, nil)
		},
	}
}

// object connects, carries out one operation and decodes its answer.
func (g *global) object(cmd *cobra.Command, op call, into any) error {
	c, done, err := g.connect(cmd.Context())
	if err != nil {
		return err
	}
	defer done()
	return c.object(cmd.Context(), op, into)
}
