package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"catena/cmd/catena/telemetry"
	"catena/decks/export"
	"catena/engine"
	"catena/engine/pdf"
	"catena/engine/program"
	"catena/engine/workflow"
	"catena/ops/collection"
	"catena/ops/drive"
	"catena/rest"
	"catena/scripts"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/limit"
	"catena/storage/relation"
	"catena/storage/subscription"
	"catena/storage/uisession"
	"catena/storage/upload"
)

// secretSettings are not shown.
var secretSettings = map[string]bool{"admin-password": true, "store": true, "replica": true, "jwt-secret": true, "portal-secret": true, "smtp-password": true, telemetry.HeadersFlag: true}

func configCmd(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check or print the settings of the server"}
	cmd.AddCommand(configCheck(g), configPrint(g))
	return cmd
}

func configCheck(g *global) *cobra.Command {
	s := &serve{}
	cmd := &cobra.Command{
		Use: "check", Short: "Report everything that would prevent serve from starting with these settings and files", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			problems := []string{}
			err := s.checkAll(cmd.Context(), g)
			if err == nil {
				return g.say(cmd.OutOrStdout(), map[string]any{"problems": problems}, "settings and declarations are correct")
			}
			if g.json {
				problems = strings.Split(err.Error(), "\n")
				err = errors.Join(err, printJSON(cmd.OutOrStdout(), map[string]any{"problems": problems}))
			}
			return usage{err}
		},
	}
	s.accept(cmd)
	return cmd
}

// checkAll tells everything that is wrong with settings, the environment and the declarations of a data directory.
func (s *serve) checkAll(ctx context.Context, g *global) error {
	d := readDeclared(g.data)
	err := d.declare()
	bad := s.check()
	if err == nil && bad == nil {
		err = s.rehearse(ctx, g, d)
	}
	if err == nil && bad != nil {
		err = d.wrong
	}
	return errors.Join(unknownVariables(os.Environ()), bad, g.checkPlaces(), s.checkReplica(g), err)
}

// variables are those of the environment that are no settings of serve.
var variables = []string{"CATENA_CONFIG", "CATENA_KEY", "CATENA_PASSWORD", "CATENA_USER"}

// unknownVariables reports variables that look like settings and are none.
func unknownVariables(environ []string) error {
	known := map[string]bool{}
	for _, name := range variables {
		known[name] = true
	}
	settings().VisitAll(func(f *pflag.Flag) { known[variable(f.Name)] = true })
	var all []error
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		// A secret may be in a file, whose name is in a variable that ends in _FILE.
		if strings.HasPrefix(name, variable("")) && !known[strings.TrimSuffix(name, "_FILE")] {
			all = append(all, fmt.Errorf("%s: is not a setting%s", name, fault.Perhaps(name, maps.Keys(known))))
		}
	}
	return errors.Join(all...)
}

func configPrint(g *global) *cobra.Command {
	s, redacted := &serve{}, true
	cmd := &cobra.Command{
		Use: "print", Short: "Print every setting as a file for --config, with its unit, its default and where its value comes from", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if g.json {
				return printJSON(cmd.OutOrStdout(), settingsOf(cmd.Flags(), redacted))
			}
			return printSettings(cmd.OutOrStdout(), settingsOf(cmd.Flags(), redacted))
		},
	}
	s.accept(cmd)
	cmd.Flags().BoolVar(&redacted, "redacted", true, "replace secrets with ***")
	return cmd
}

// setting is one that is in effect.
type setting struct {
	Name    string `json:"name"`
	Value   any    `json:"value"`
	Unit    string `json:"unit"` // bytes, duration, number, text, switch
	Default any    `json:"default"`
	From    string `json:"from"` // default, flag, a variable, or a file and its line
	Doc     string `json:"doc"`
}

// settingsOf lists the settings in the order of their names.
func settingsOf(f *pflag.FlagSet, redacted bool) []setting {
	out := []setting{}
	settings().VisitAll(func(known *pflag.Flag) {
		flag := f.Lookup(known.Name)
		if flag == nil || flag.Name == "config" {
			return
		}
		s := setting{Name: flag.Name, Value: flag.Value.String(), Unit: unitOf(flag), Default: flag.DefValue, From: originOf(flag), Doc: flag.Usage}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			s.Value, s.Default = append([]string{}, list.GetSlice()...), []string{}
		}
		// The output is meant to be shown to others, in a ticket for example.
		if redacted && secretSettings[flag.Name] && s.Value != "" {
			s.Value = "***"
		}
		out = append(out, s)
	})
	return out
}

// unitOf is what the value of a flag is counted in, or its kind.
func unitOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "switch"
	case "int":
		return limit.Number
	case "string":
		return "text"
	case "stringSlice":
		return "list"
	}
	return f.Value.Type()
}

// remark is what the printed file says about a setting.
func (s setting) remark() string {
	if s.From == "default" {
		return s.Unit + ", default"
	}
	if text, ok := s.Default.(string); ok && text != "" {
		return fmt.Sprintf("%s, default %s, from %s", s.Unit, text, s.From)
	}
	return s.Unit + ", from " + s.From
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
		value.LineComment = s.remark()
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

// topic is a group of settings that the help of serve shows together.
type topic struct {
	title string
	names []string
}

// topics are the settings that the help of serve shows. All others are rarely changed: they belong into the file or the
// environment. The command line accepts them all the same, because one table serves all three, and because command lines
// written before they had moved must work.
var topics = []topic{
	{"Network", []string{"addr", "base-url", "context-path", "tls-cert", "tls-key", "trusted-proxies", "allow-host", "allow-origin", "ui"}},
	{"Data", []string{"repository", "relaxed", "export-folder"}},
	{"Sign-in", []string{"admin-password", "jwt-secret", "portal-secret"}},
	{"Backups", []string{"backup-folder", "backup-every", "backup-keep"}},
	{"Operation", []string{"access-log", "metrics-addr", "drain", "rate"}},
	{"Outgoing requests", []string{"egress-allow", "egress-http"}},
	{"Mail", []string{"smtp-host", "smtp-port", "smtp-security", "smtp-user", "smtp-password", "smtp-from"}},
	{"Decks", []string{"chromium"}},
}

// show hides the flags that topics does not list.
func show(f *pflag.FlagSet) {
	shown := map[string]bool{}
	for _, t := range topics {
		for _, name := range t.names {
			shown[name] = true
		}
	}
	f.VisitAll(func(flag *pflag.Flag) { flag.Hidden = !shown[flag.Name] })
}

// accept defines the settings as flags that no help shows, for commands that examine them.
func (s *serve) accept(cmd *cobra.Command) {
	s.flags(cmd.Flags())
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	cmd.Long = cmd.Short + ".\n\nThe command accepts the flags of catena serve."
}

// topicUsage prints how serve is used, with its flags by topic.
func topicUsage(cmd *cobra.Command) error {
	out := cmd.OutOrStderr()
	fmt.Fprintf(out, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
	for _, t := range topics {
		f := pflag.NewFlagSet(t.title, pflag.ContinueOnError)
		f.SortFlags = false
		for _, name := range t.names {
			f.AddFlag(cmd.Flags().Lookup(name))
		}
		fmt.Fprintf(out, "\n%s:\n%s", t.title, f.FlagUsages())
	}
	_, err := fmt.Fprintf(out, "\nGlobal flags:\n%s", cmd.InheritedFlags().FlagUsages())
	return err
}

// limits are those of all packages. Each package declares its own.
type limits struct {
	rest       rest.Limits
	storage    storage.Limits
	engine     engine.Limits
	pdf        pdf.Limits
	program    program.Limits
	scripts    scripts.Limits
	collection collection.Limits
	credential credential.Limits
	drive      drive.Limits
	export     export.Limits
	relation   relation.Limits
	subscribe  subscription.Limits
	uisession  uisession.Limits
	upload     upload.Limits
	workflow   workflow.Limits
}

// all lists the limits, each of which has its default from then on.
func (l *limits) all() []*limit.Limit {
	var all []*limit.Limit
	for _, of := range []any{
		&l.rest, &l.storage, &l.engine, &l.pdf, &l.program, &l.scripts,
		&l.collection, &l.credential, &l.drive, &l.export, &l.relation, &l.subscribe, &l.uisession, &l.upload, &l.workflow,
	} {
		limit.Fill(of)
		all = slices.Concat(all, limit.All(of))
	}
	return all
}

// bounds are the limits of packages that stand on storage.
func (l *limits) bounds() limit.Set {
	return limit.Set{}.With(l.collection, l.credential, l.drive, l.export, l.relation, l.subscribe, l.uisession, l.upload, l.workflow)
}
