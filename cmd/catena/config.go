package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// global are the flags every command has.
type global struct {
	config, data, server string
	logLevel, logFormat  string
	json                 bool
}

func (g *global) flags(f *pflag.FlagSet) {
	f.StringVar(&g.config, "config", "", "YAML file with a value for any flag, by the flag's name")
	f.StringVar(&g.data, "data", "data", "data directory")
	f.StringVar(&g.server, "server", "", "address of a running server, signed in to by CATENA_USER and CATENA_PASSWORD, or CATENA_KEY; empty: work on the data directory")
	f.StringVar(&g.logLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&g.logFormat, "log-format", "text", "text or json")
	f.BoolVar(&g.json, "json", false, "print machine-readable JSON")
}

// logger writes to standard error, which leaves standard output to results.
func (g *global) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(g.logLevel)); err != nil {
		return nil, usage{fmt.Errorf("log-level: %q is not debug, info, warn or error", g.logLevel)}
	}
	o := &slog.HandlerOptions{Level: level}
	switch g.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, o)), nil
	}
	return nil, usage{fmt.Errorf("log-format: %q is not text or json", g.logFormat)}
}

// configure fills flags the command line left out: from the environment (CATENA_ADDR
// for --addr, CATENA_KEY_FILE for a file holding --key's value), then from the file.
func configure(f *pflag.FlagSet, file string) error {
	if file == "" {
		file = os.Getenv("CATENA_CONFIG")
	}
	values, err := readConfig(file)
	if err != nil {
		return usage{err}
	}
	var first error
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || first != nil || !settings.has(flag.Name) {
			return
		}
		v, ok, err := fromEnv(flag.Name)
		if err == nil && !ok {
			v, ok = values[flag.Name]
		}
		if err == nil && ok {
			err = f.Set(flag.Name, v)
		}
		if err != nil {
			first = usage{fmt.Errorf("%s: %w", flag.Name, err)}
		}
	})
	return first
}

// fromEnv reads CATENA_NAME, or the file that CATENA_NAME_FILE names.
func fromEnv(flag string) (string, bool, error) {
	name := "CATENA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	if v, ok := os.LookupEnv(name); ok {
		return v, true, nil
	}
	path, ok := os.LookupEnv(name + "_FILE")
	if !ok {
		return "", false, nil
	}
	b, err := os.ReadFile(path)
	return strings.TrimRight(string(b), "\r\n"), err == nil, err
}

// readConfig reads the file; a key that is no flag is an error with its line.
func readConfig(file string) (map[string]string, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: not a map of settings", file, m.Line)
	}
	out := map[string]string{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		if !settings.has(k.Value) {
			return nil, fmt.Errorf("%s:%d: %q is not a setting", file, k.Line, k.Value)
		}
		if v.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("%s:%d: %s: not a single value", file, v.Line, k.Value)
		}
		out[k.Value] = v.Value
	}
	return out, nil
}

// settings are the flags that the environment and the file may set: those that say how
// catena works, not what one command is asked to do.
var settings = newSettings()

type settingSet struct{ *pflag.FlagSet }

func newSettings() settingSet {
	f := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	(&global{}).flags(f)
	(&serve{}).flags(f)
	return settingSet{f}
}

func (s settingSet) has(name string) bool { return s.Lookup(name) != nil }
