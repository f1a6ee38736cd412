package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const rightScript = `/**
 * @operation Test.Right
 * @description Uses what scripts have.
 * @param {string} name
 */
/** @param {Doc} input @param {{name: string}} params */
function run(input, params) {
  const folder = Document.Create(input, { type: "Folder", name: params.name });
  folder["dc:title"] = folder.path + ", " + params.name;
  Document.Save(folder);
  const source = Proxy.GetSourceDocument(folder);
  console.log(source.title, CurrentDate.format("yyyy"), new URL("https://example.org").searchParams.get("a"));
  const groups = Object.groupBy([1, 2, 3], n => (n % 2 ? "odd" : "even"));
  const file = Blob_(folder);
  return { count: groups.odd?.length, id: crypto.randomUUID(), text: file.text(), day: new Date(0).toLocaleDateString("de") };
}

/** @param {Doc} doc @returns {Blob} */
function Blob_(doc) {
  return doc["file:content"];
}

await null;
`

const wrongScript = `/** @param {Doc} input */
function run(input) {
  Document.Create(input, { typ: "Folder" });
  Document.Creat(input, {});
  input.tilte;
  document.title;
  Document.Create(input, { type: "Folder" }).path = 1;
  Proxy.GetSource(input);
  window.alert("x");
}
`

// TestTypings has the compiler of TypeScript accept a script that is right and refuse one that is wrong, by the files that
// "script types" writes: with the configuration beside the typings, and with nothing but the typings.
func TestTypings(t *testing.T) {
	modules, err := filepath.Abs("testdata/openapi/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "typescript")); err != nil {
		t.Fatal("the compiler is missing: run make client")
	}
	data, dir := filepath.Join(t.TempDir(), "data"), t.TempDir()
	t.Setenv("CATENA_ADMIN_PASSWORD", adminPassword)
	if code, _, errs := line(t, "init", "--data", data); code != 0 {
		t.Fatalf("%d %s", code, errs)
	}
	const rates = "/** @module tax/rates */\nexport const rate = 19\nexport function total(n, more) { return n * rate }\nexport default class { }\n"
	if code, _, errs := line(t, "run", "Module.Save", "--data", data, "-p", "source="+rates); code != 0 {
		t.Fatalf("%d %s", code, errs)
	}
	types := func() {
		t.Helper()
		if code, _, errs := line(t, "script", "types", "--data", data, "-o", filepath.Join(dir, "catena.d.ts")); code != 0 {
			t.Fatalf("%d %s", code, errs)
		}
	}
	types()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tsc := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(modules, "typescript/bin/tsc"), "--pretty", "false"}, args...)...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	alone := []string{"--noEmit", "--checkJs", "--allowJs", "--moduleDetection", "force", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "catena.d.ts"}
	write("script.js", rightScript)
	if out := tsc(append(slices.Clone(alone), "script.js")...); out != "" {
		t.Errorf("the right script, without configuration:\n%s", out)
	}
	if out := tsc("-p", "jsconfig.json"); out != "" {
		t.Errorf("the right script:\n%s", out)
	}
	write("script.js", "import Tax, { rate, total } from 'tax/rates'\nimport * as all from 'tax/rates'\nnew Tax(total(rate), all.total(1, 2))\n")
	if out := tsc("-p", "jsconfig.json"); out != "" {
		t.Errorf("a script with modules:\n%s", out)
	}
	write("script.js", "import { totl } from 'tax/rates'\nimport { total } from 'tax'\nimport { rate } from 'tax/rates'\nrate = total\n")
	if out := tsc("-p", "jsconfig.json"); !strings.Contains(out, "script.js(1,10): error") || !strings.Contains(out, "script.js(2,23): error") || !strings.Contains(out, "script.js(4,1): error") {
		t.Errorf("a script that imports what there is not:\n%s", out)
	}
	write("script.js", wrongScript)
	for _, args := range [][]string{{"-p", "jsconfig.json"}, append(slices.Clone(alone), "script.js")} {
		out := tsc(args...)
		for _, want := range []string{"script.js(3,12)", "script.js(4,12)", "script.js(5,9)", "script.js(6,3)", "script.js(7,46)", "script.js(8,9)", "script.js(9,3)"} {
			if !strings.Contains(out, want+": error TS") {
				t.Errorf("no error at %s in:\n%s", want, out)
			}
		}
	}
	write("jsconfig.json", "{}")
	types()
	if text, err := os.ReadFile(filepath.Join(dir, "jsconfig.json")); err != nil || string(text) != "{}" {
		t.Errorf("a configuration of the user is replaced: %s %v", text, err)
	}
}
