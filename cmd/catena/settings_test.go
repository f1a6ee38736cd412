package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// line carries out one command line.
func line(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

func inFile(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestConfigCheck has everything told at once that is wrong with a file, the environment and declarations.
func TestConfigCheck(t *testing.T) {
	data := t.TempDir()
	wrong := inFile(t, "wrong.yaml", "addr: a:1\nlimit-jsn: 5MB\nlimit-json: five\nlog-level: [x]\nchromium: {a: b}\naddr: b:2\nlimit-page: 0\n")
	code, out, errs := line(t, "config", "check", "--data", data, "--config", wrong)
	want := strings.NewReplacer("FILE", wrong).Replace(`catena: FILE:2: "limit-jsn" is not a setting, perhaps limit-json
FILE:5: chromium: must be a single value or a list
FILE:6: addr: set twice
FILE:3: limit-json: "five": must be a size such as 10 MiB
FILE:7: limit-page: "0": must be greater than 0
FILE:4: log-level: must be a single value, not a list
`)
	if code != 2 || out != "" || errs != want {
		t.Errorf("file: %d %s%s, want %s", code, out, errs, want)
	}

	t.Setenv("CATENA_LIMIT_JSON", "0")
	if code, _, errs := line(t, "config", "check", "--data", data); code != 2 || errs != "catena: CATENA_LIMIT_JSON: limit-json: \"0\": must be greater than 0\n" {
		t.Errorf("environment: %d %s", code, errs)
	}
	t.Setenv("CATENA_LIMIT_JSON", "1 MiB")
	t.Setenv("CATENA_ADR", "x")
	for name, text := range map[string]string{"types": "types:\n  A: {parent: Fil}", "mail": ""} {
		if err := os.MkdirAll(filepath.Join(data, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, name, "a.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, _, errs = line(t, "config", "check", "--data", data, "--chromium", "/nowhere", "--egress-allow", "10.0.0.0/99", "--rate-exempt", "nowhere", "--security-contact", "me")
	for _, want := range []string{"CATENA_ADR: is not a setting, perhaps CATENA_ADDR\n", "chromium: ", "10.0.0.0/99", "rate-exempt: \"nowhere\" is not an address or network", "security-contact: \"me\": must begin with", "a.yaml:2: type A: unknown type Fil, perhaps File"} {
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%d %s, want %s", code, errs, want)
		}
	}
	if err := os.Unsetenv("CATENA_ADR"); err != nil {
		t.Fatal(err)
	}
	chain := "name: Test.Chain\ninput: blob\nsteps:\n  - op: Test.Inner\n    params: {word: \"@{wrd}\"}\n"
	flow := "workflows:\n  Short:\n    nodes:\n      one: {start: true, input: Blob.CreateZip, transitions: {go: {to: two, when: WorkflowVariable.x}}}\n      two: {end: true}\n"
	files := map[string]string{
		"chains/a.yaml": chain, "chains/b.yaml": "name: Test.Inner\ninput: blob\nparams: [{name: word}]\nsteps:\n  - op: Blob.CreateZip\n", "workflows/short.yaml": flow,
		"listeners/c.yaml": "name: Test.Listener\nevents: [documentCreated]\nrun: Test.Inner\n",
	}
	whole := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(whole, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(whole, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, _, errs = line(t, "config", "check", "--data", whole)
	for _, want := range []string{
		`a.yaml:5:23: step 1: Test.Inner: expression: unknown variable "wrd"`, "c.yaml:3:6: run: operation Test.Inner takes blob or bloblist, not document",
		"short.yaml:4: workflow Short: node one: operation Blob.CreateZip takes bloblist or blob, not documents", `unknown variable "WorkflowVariable", perhaps WorkflowVariables`,
	} {
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%d: no %s in %s", code, want, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(whole, "store")); err == nil {
		t.Error("the check made a store")
	}
	if code, out, errs := line(t, "config", "check", "--data", t.TempDir()); code != 0 || out != "settings and declarations are correct\n" {
		t.Errorf("nothing wrong: %d %s%s", code, out, errs)
	}
}

// TestConfigPrint prints settings from everywhere, without secrets, and reads what it printed.
func TestConfigPrint(t *testing.T) {
	file := inFile(t, "c.yaml", "allow-host: [a.example, b.example]\nlimit-json: 5MB\nsmtp-port: 25\nlog-level: debug\n")
	t.Setenv("CATENA_SMTP_PORT", "26")
	t.Setenv("CATENA_JWT_SECRET_FILE", inFile(t, "secret", "canary: # 'x\n"))
	t.Setenv("CATENA_DECK_SOURCE", "https://a.example, https://b.example")
	_, out, errs := line(t, "config", "print", "--config", file, "--log-level", "warn")
	for _, want := range []string{
		"allow-host: [a.example, b.example] # list, from " + file + ":1\n", "deck-source: ['https://a.example', 'https://b.example'] # list, from CATENA_DECK_SOURCE\n",
		"limit-json: 5000000 B # bytes, default 10 MiB, from " + file + ":2\n", "smtp-port: 26 # number, default 0, from CATENA_SMTP_PORT\n", "log-level: warn # text, default info, from flag\n", "addr: 127.0.0.1:8080 # text, default\n", "limit-file: 5 GiB # bytes, default\n",
		"jwt-secret: '***' # text, from CATENA_JWT_SECRET\n", "smtp-password: \"\" # text, default\n",
	} {
		if !strings.Contains("\n"+out, "\n"+want) {
			t.Errorf("no %s in %s%s", want, out, errs)
		}
	}
	if strings.Contains(out, "canary") {
		t.Error("a secret is shown")
	}
	_, whole, _ := line(t, "config", "print", "--redacted=false", "--json", "--config", file)
	_, text, _ := line(t, "config", "print", "--redacted=false", "--config", file)
	for _, name := range []string{"CATENA_SMTP_PORT", "CATENA_JWT_SECRET_FILE", "CATENA_DECK_SOURCE"} {
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	_, again, errs := line(t, "config", "print", "--redacted=false", "--json", "--config", inFile(t, "again.yaml", text))
	if got, want := values(again), values(whole); got != want || !strings.Contains(got, `"canary: # 'x"`) {
		t.Errorf("read again: %s%s, want %s", errs, got, want)
	}
}

// values are the lines of JSON that do not tell where a setting comes from.
func values(text string) string {
	var out []string
	for l := range strings.Lines(text) {
		if !strings.Contains(l, `"from"`) {
			out = append(out, l)
		}
	}
	return strings.Join(out, "")
}
