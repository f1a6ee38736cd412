package main

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"catena/decks/theme"
)

func versionCmd(g *global) *cobra.Command {
	sbom := false
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch out := cmd.OutOrStdout(); {
			case sbom:
				b, err := bill()
				if err != nil {
					return err
				}
				return printJSON(out, b)
			case g.json:
				return printJSON(out, map[string]string{"version": version, "go": runtime.Version()})
			default:
				_, err := fmt.Fprintf(out, "catena %s (%s)\n", version, runtime.Version())
				return err
			}
		},
	}
	cmd.Flags().BoolVar(&sbom, "sbom", false, "print the components of the program as CycloneDX JSON")
	return cmd
}

// bill is this program's.
func bill() (*bom, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errors.New("version: the program was built without the list of its components")
	}
	info.Main.Version = version
	packages, err := theme.Packages()
	if err != nil {
		return nil, err
	}
	return billOf(info, packages), nil
}

// bom lists what the program is made of, in the form of CycloneDX 1.6. It says nothing of when or where it was
// written, so that one program has one.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   bomMetadata `json:"metadata"`
	Components []component `json:"components"`
}

type bomMetadata struct {
	Component component `json:"component"`
}

// component is a module of Go's, or an npm package.
type component struct {
	Ref      string             `json:"bom-ref"`
	Type     string             `json:"type"`
	Name     string             `json:"name"`
	Version  string             `json:"version"`
	Hashes   []componentHash    `json:"hashes,omitempty"`
	Licenses []componentLicense `json:"licenses,omitempty"`
	PURL     string             `json:"purl"`
}

type componentHash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type componentLicense struct {
	Expression string `json:"expression"`
}

// billOf makes the list of a program that the compiler describes, and of the packages built into it.
func billOf(info *debug.BuildInfo, packages []theme.Package) *bom {
	b := &bom{Format: "CycloneDX", Spec: "1.6", Version: 1}
	b.Metadata.Component = newComponent("golang", info.Main.Path, info.Main.Version)
	b.Metadata.Component.Type = "application"
	b.Components = append(b.Components, newComponent("golang", "std", strings.TrimPrefix(info.GoVersion, "go")))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := newComponent("golang", m.Path, m.Version)
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
			c.Hashes = []componentHash{{"SHA-256", hex.EncodeToString(sum)}}
		}
		b.Components = append(b.Components, c)
	}
	for _, p := range packages {
		c := newComponent("npm", p.Name, p.Version)
		c.Hashes = []componentHash{{"SHA-512", p.SHA512}}
		if p.License != "" {
			c.Licenses = []componentLicense{{p.License}}
		}
		b.Components = append(b.Components, c)
	}
	return b
}

// newComponent is a library of a registry's type, by the name and version it has there.
func newComponent(registry, name, version string) component {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = strings.ReplaceAll(url.PathEscape(parts[i]), "@", "%40")
	}
	purl := "pkg:" + registry + "/" + strings.Join(parts, "/") + "@" + url.QueryEscape(version)
	return component{Ref: purl, Type: "library", Name: name, Version: version, PURL: purl}
}
