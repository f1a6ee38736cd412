package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

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
