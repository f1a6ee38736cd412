package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSnippets runs the calls that the console offers for copying, by curl and by the npm package, as they are.
func TestSnippets(t *testing.T) {
	p := startServer(t, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	modules, err := filepath.Abs("testdata/client/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file.txt"), []byte("content of the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CATENA_USER=Administrator", "CATENA_PASSWORD="+adminPassword, "NODE_PATH="+modules)
		var complaints strings.Builder
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s%s\n%s", name, err, out, complaints.String(), strings.Join(args, " "))
		}
		return string(out)
	}
	page, err := filepath.Abs("../../rest/web/static/snippets.js")
	if err != nil {
		t.Fatal(err)
	}
	maker, err := filepath.Abs("testdata/snippets.js")
	if err != nil {
		t.Fatal(err)
	}
	const folder = "/default-domain/workspaces"
	ask := func(method, path, body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, method, p.base+"/api/v1"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("Administrator", adminPassword)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("properties", "*")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= http.StatusBadRequest {
			t.Fatalf("%s %s: %v %s", method, path, err, text)
		}
		return string(text)
	}
	for i, tt := range []struct {
		name, wanted string // with NOTE for the path of a document
		output       string // part of what is printed
		result       bool   // what the document's file holds is in a file
		attached     bool   // the document has the file
	}{
		{name: "input and parameters", wanted: `{"op":"Document.Create","input":"NOTE","params":{"type":"Folder","name":"one's; \"$x\" \\ 100% é","properties":{"dc:title":"T"}}}`, output: `one's; `},
		{name: "made up", wanted: `{"op":"Document.GetChild","input":"` + folder + `","params":{"name":"beside"}}`, output: `beside`},
		{name: "without input", wanted: `{"op":"Repository.Query","params":{"query":"SELECT * FROM Workspace WHERE ecm:name = 'beside'"}}`, output: `beside`},
		{name: "nothing in return", wanted: `{"op":"Log","params":{"level":"info","message":"said"}}`},
		{name: "a file as input", wanted: `{"op":"Blob.AttachOnDocument","params":{"document":"NOTE"}}`, attached: true},
		{name: "a file in return", wanted: `{"op":"Document.GetBlob","input":"NOTE"}`, result: true},
		{name: "upload", wanted: `{"upload":"NOTE"}`, attached: true},
	} {
		if i == 0 {
			ask("POST", "/path"+folder, `{"entity-type":"document","type":"Workspace","name":"beside"}`)
		}
		for language, command := range map[string][]string{"curl": {"sh", "-c"}, "JavaScript": {"node", "-e"}} {
			name := fmt.Sprintf("doc%d%s", i, language)
			file := `,"properties":{"file:content":{"name":"kept.txt","data":"what is kept","mime-type":"text/plain"}}`
			if tt.attached {
				file = ""
			}
			ask("POST", "/path"+folder, `{"entity-type":"document","type":"File","name":"`+name+`"`+file+`}`)
			var calls map[string]string
			made := run("node", maker, page, p.base, "Administrator", adminPassword, strings.ReplaceAll(tt.wanted, "NOTE", folder+"/"+name))
			if err := json.Unmarshal([]byte(made), &calls); err != nil || calls["Python"] == "" {
				t.Fatalf("%s: %v: %s", tt.name, err, made)
			}
			out := run(command[0], command[1], calls[language])
			if strings.Contains(out, "exception") || !strings.Contains(out, tt.output) {
				t.Errorf("%s, %s: printed %s\n%s", tt.name, language, out, calls[language])
			}
			if now := ask("GET", "/path"+folder+"/"+name, ""); tt.attached && !strings.Contains(now, `"name":"file.txt"`) {
				t.Errorf("%s, %s: no file on %s\n%s", tt.name, language, now, calls[language])
			}
			if !tt.result {
				continue
			}
			got, err := os.ReadFile(filepath.Join(dir, "result"))
			if err != nil || string(got) != "what is kept" {
				t.Errorf("%s, %s: %v, %s\n%s", tt.name, language, err, got, calls[language])
			}
			if err := os.Remove(filepath.Join(dir, "result")); err != nil {
				t.Error(err)
			}
		}
	}
}
