package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"catena/storage/limit"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manualDir holds the pages of the manual.
var manualDir = filepath.Join("..", "..", "rest", "web", "docs")

// TestGoldenManual holds the pages of the manual that are made from the commands and their flags, and the page for man.
func TestGoldenManual(t *testing.T) {
	unixPage := filepath.Join(deliveredAt, "deploy", "deb", "catena.1")
	for file, got := range map[string]string{
		filepath.Join(manualDir, "commands.md"): commandsPage(), filepath.Join(manualDir, "settings.md"): settingsPage(), unixPage: manPage(t, unixPage),
	} {
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(want, []byte(got)) {
			t.Errorf("%s does not match the flags (%v): run make golden", file, err)
		}
	}
}

// manCommands is the list of commands in the page for man.
var manCommands = regexp.MustCompile(`(?s)(The commands are:\n\.Bl [^\n]*\n).*?(\.El\n)`)

// manPage is the page for man with the commands that there are.
func manPage(t *testing.T, file string) string {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil || !manCommands.Match(page) {
		t.Fatalf("%s has no list of commands: %v", file, err)
	}
	var b strings.Builder
	b.WriteString("${1}")
	for _, c := range newRoot(&global{}).Commands() {
		if c.Name() != "help" && c.Name() != "completion" {
			fmt.Fprintf(&b, ".It Cm %s\n%s.\n", c.Name(), c.Short)
		}
	}
	return manCommands.ReplaceAllString(string(page), b.String()+"${2}")
}

// commandsPage describes every command with its flags, except the settings of the server.
func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is generated from the program. `catena COMMAND --help` prints the same information. " +
		"All commands also have the [global settings](settings.md#global-settings).\n")
	for _, c := range newRoot(&global{}).Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		fmt.Fprintf(&b, "\n## catena %s\n\n%s.\n", c.Name(), c.Short)
		if c.HasSubCommands() {
			b.WriteString("\n| Command | Purpose |\n|---|---|\n")
			for _, sub := range c.Commands() {
				fmt.Fprintf(&b, "| `catena %s %s` | %s |\n", c.Name(), cell(sub.Use), cell(sub.Short))
			}
		} else {
			fmt.Fprintf(&b, "\n`catena %s`\n", c.Use)
		}
		b.WriteString(commandFlags(c))
	}
	return b.String()
}

// commandFlags lists the flags of a command and of those below it.
func commandFlags(c *cobra.Command) string {
	if c.Flags().Lookup("addr") != nil {
		return "\nThe command accepts the [settings of the server](settings.md#settings-of-the-server) as flags.\n"
	}
	var b strings.Builder
	rows := func(c *cobra.Command) {
		if c.Flags().Lookup("addr") != nil {
			return
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			fmt.Fprintf(&b, "| `%s --%s` | %s | %s |\n", c.Name(), f.Name, defaultOf(f), cell(f.Usage))
		})
	}
	rows(c)
	for _, sub := range c.Commands() {
		rows(sub)
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n| Flag | Default | Meaning |\n|---|---|---|\n" + b.String()
}

// settingsPage lists the settings of the server.
func settingsPage() string {
	cmd := serveCmd(&global{})
	const header = "\n| Setting | Default | Meaning |\n|---|---|---|\n"
	var server, rare, limits, shared strings.Builder
	for _, t := range topics {
		fmt.Fprintf(&server, "\n### %s\n%s", t.title, header)
		for _, name := range t.names {
			settingRow(&server, cmd.Flags().Lookup(name))
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Hidden:
		case strings.HasPrefix(f.Name, "limit-"):
			settingRow(&limits, f)
		default:
			settingRow(&rare, f)
		}
	})
	newRoot(&global{}).PersistentFlags().VisitAll(func(f *pflag.Flag) { settingRow(&shared, f) })
	return "# Settings\n\nThis page is generated from the program. Every setting is a key of the YAML file that `--config` names and an environment variable: " +
		"`backup-keep: 3` or `CATENA_BACKUP_KEEP=3`. The settings of the server listed first, and the global settings, are also flags: `--backup-keep 3`. " +
		"The variables of settings that begin with `otel-` are those of OpenTelemetry: `OTEL_SERVICE_NAME` for `otel-service-name`. " +
		"[Operating a server](operate.md#configure) explains how they combine.\n" +
		"\n## Settings of the server\n" + server.String() +
		"\n## Rarely changed settings\n" + header + rare.String() +
		"\n## Limits\n\nSizes may have units, such as `10 MiB`. Durations have units, such as `30s` or `2h`.\n" + header + limits.String() +
		"\n## Global settings\n\nThese apply to every command.\n" + header + shared.String()
}

func settingRow(b *strings.Builder, f *pflag.Flag) {
	if f.Name != "help" {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Name, defaultOf(f), cell(f.Usage))
	}
}

func defaultOf(f *pflag.Flag) string {
	if l, ok := f.Value.(*limit.Limit); ok && strings.Contains(l.Default, "processor") {
		return l.Default
	}
	switch f.DefValue {
	case "", "[]":
		return ""
	}
	return "`" + f.DefValue + "`"
}

// cell makes a text fit into a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s)
}
