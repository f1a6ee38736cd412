package main

import (
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestOpenAPIClient has two validators find nothing wrong with the description of the built server, and compiles and runs a
// TypeScript client that is generated from it.
func TestOpenAPIClient(t *testing.T) {
	modules, err := filepath.Abs("testdata/openapi/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "openapi-typescript")); err != nil {
		t.Fatal("the validators are missing: run make client")
	}
	p := startForClients(t)
	status, description := administer(t, http.MethodGet, p.base+"/nuxeo/api/v1/openapi.json", "", "")
	if status != http.StatusOK {
		t.Fatal(status, description)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("api.json", description)
	write("package.json", `{"type": "module"}`)
	for _, name := range []string{"check.mjs", "client.ts"} {
		text, err := os.ReadFile(filepath.Join("testdata/openapi", name))
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(text))
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	authorization := "Basic " + base64.StdEncoding.EncodeToString([]byte("Administrator:"+adminPassword))
	for _, args := range [][]string{
		{"check.mjs", "api.json"},
		{"node_modules/openapi-typescript/bin/cli.js", "api.json", "-o", "api.ts"},
		{"node_modules/typescript/bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "client.ts"},
		{"client.js", p.base + "/nuxeo", authorization},
	} {
		cmd := exec.CommandContext(ctx, "node", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
}
