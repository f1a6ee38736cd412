package theme

import (
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"catena/storage/fault"
)

//go:embed npm/package-lock.json
var lock []byte

// Package is an npm package that built-in files are of.
type Package struct {
	Name, Version, License string
	SHA512                 string // of the archive, in hex
}

// Packages returns what the built-in files are of, by name; none if there are none.
func Packages() ([]Package, error) {
	if _, err := Files(); err != nil {
		return nil, nil //nolint:nilerr // a program without them
	}
	var locked struct {
		Packages map[string]struct {
			Version, Integrity, License string
			Dependencies                map[string]string
		}
	}
	if err := json.Unmarshal(lock, &locked); err != nil {
		return nil, fault.Internal.Errorf("package-lock.json: %w", err)
	}
	var out []Package
	for _, name := range slices.Sorted(maps.Keys(locked.Packages[""].Dependencies)) { // make takes files of these only
		p := locked.Packages["node_modules/"+name]
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.Integrity, "sha512-"))
		if err != nil {
			return nil, fault.Internal.Errorf("package-lock.json: %s: %w", name, err)
		}
		out = append(out, Package{name, p.Version, p.License, hex.EncodeToString(sum)})
	}
	return out, nil
}
