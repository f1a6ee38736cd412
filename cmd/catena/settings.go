package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"catena/storage/blob/bucket"
	"catena/storage/fault"
)

// secretSettings are not shown.
var secretSettings = map[string]bool{"admin-password": true, "jwt-secret": true, "portal-secret": true, "smtp-password": true}

func configCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check the settings of serve, or print them with where each comes from"}
	cmd.AddCommand(configCheck(g), configPrint(g))
	return cmd
}

func configCheck(g *global) *cobra.Command {
	s := &serve{}
	cmd := &cobra.Command{
		Use: "check", Short: "Tell everything that would keep serve from starting with these settings and files", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			problems := []string{}
			err := s.checkAll(g)
			if err == nil {
				return g.say(cmd.OutOrStdout(), map[string]any{"problems": problems}, "settings and declarations are as they should be")
			}
			if g.json {
				problems = strings.Split(err.Error(), "\n")
				err = errors.Join(err, printJSON(cmd.OutOrStdout(), map[string]any{"problems": problems}))
			}
			return usage{err}
		},
	}
	s.flags(cmd.Flags())
	return cmd
}

// checkAll tells everything that is wrong with settings, the environment and the declarations of a data directory.
func (s *serve) checkAll(g *global) error {
	_, err := declarations(g.data)
	var nowhere error
	if g.blobs != "" {
		if _, err := bucket.Open(g.blobs); err != nil {
			nowhere = fault.Wrap(err, "blobs")
		}
	}
	return errors.Join(unknownVariables(os.Environ()), s.check(), nowhere, err)
}

// variables are those of the environment that are no settings of serve.
var variables = []string{"CATENA_CONFIG", "CATENA_KEY", "CATENA_PASSWORD", "CATENA_USER"}

// unknownVariables reports variables that look like settings and are none.
func unknownVariables(environ []string) error {
	known := map[string]bool{}
	for _, name := range variables {
		known[name] = true
	}
	settings.VisitAll(func(f *pflag.Flag) { known[variable(f.Name)] = true })
	var all []error
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, variable("")) && !known[strings.TrimSuffix(name, "_FILE")] {
			all = append(all, fmt.Errorf("%s: is not a setting%s", name, fault.Perhaps(name, maps.Keys(known))))
		}
	}
	return errors.Join(all...)
}

func configPrint(g *global) *cobra.Command {
	s, redacted := &serve{}, true
	cmd := &cobra.Command{
		Use: "print", Short: "Print every setting as a file for --config, with where it comes from", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.json {
				return printJSON(cmd.OutOrStdout(), settingsOf(cmd.Flags(), redacted))
			}
			return printSettings(cmd.OutOrStdout(), settingsOf(cmd.Flags(), redacted))
		},
	}
	s.flags(cmd.Flags())
	cmd.Flags().BoolVar(&redacted, "redacted", true, "do not show secrets")
	return cmd
}

// setting is one that is in effect.
type setting struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	From  string `json:"from"`
}

// settingsOf lists the settings in the order of their names.
func settingsOf(f *pflag.FlagSet, redacted bool) []setting {
	out := []setting{}
	settings.VisitAll(func(known *pflag.Flag) {
		flag := f.Lookup(known.Name)
		if flag == nil || flag.Name == "config" {
			return
		}
		s := setting{Name: flag.Name, Value: flag.Value.String(), From: originOf(flag)}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			s.Value = append([]string{}, list.GetSlice()...)
		}
		if redacted && secretSettings[flag.Name] && s.Value != "" {
			s.Value = "***"
		}
		out = append(out, s)
	})
	return out
}

// printSettings writes them as the file reads them.
func printSettings(out io.Writer, all []setting) error {
	file := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range all {
		value := scalar(s.Value)
		if list, ok := s.Value.([]string); ok {
			value = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
			for _, item := range list {
				value.Content = append(value.Content, scalar(item))
			}
		}
		value.LineComment = s.From
		file.Content = append(file.Content, scalar(s.Name), value)
	}
	text, err := yaml.Marshal(file)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}

func scalar(v any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	if n.Value, _ = v.(string); n.Value == "" {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
