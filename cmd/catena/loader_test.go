package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportRecords imports files of records with the files they name, more than one request holds, and again.
func TestImportRecords(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "d")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "scans"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("scans/1.txt", "one")
	write("secret.txt", "a secret")
	write("few.csv", "name,type,dc:title,file\na,File,One,1.txt\nb,File,Two,\nc,File,Three,2.txt\nd,File,Four,../secret.txt\ne,Nope,Five,\n")
	var many strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&many, "{\"name\":\"m%d\",\"dc:title\":\"Title %d\"}\n", i, i)
	}
	write("many.jsonl", many.String())
	write("more.jsonl", many.String()+"no record\n{\"name\":\"m1200\"}\n")
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, test := range []struct {
		args string
		code int
		want []string
	}{
		{"init", 0, nil},
		{"import " + in("few.csv") + " --key name --files " + in("scans") + " --rejected " + in("rejected"), 1, []string{
			"2 created, 0 updated, 0 skipped, 3 rejected", "few.csv:4: file: open ", "few.csv:5: file: must be a path within", "few.csv:6: Type: Nope does not exist",
		}},
		{"import " + in("few.csv") + " --key name --existing update --files " + in("scans"), 1, []string{"0 created, 2 updated, 0 skipped, 3 rejected"}},
		{"run Blob.Get --input /default-domain/workspaces/a", 0, []string{"one"}},
		{"import " + in("many.jsonl") + " --dry-run", 0, []string{"1200 created"}},
		{"import " + in("many.jsonl") + " --json", 0, []string{`"created": 1200`}},
		{"import " + in("more.jsonl") + " --key name", 1, []string{"1 created, 0 updated, 1200 skipped, 1 rejected", "more.jsonl:1201: record: must be a JSON object in one line"}},
		{"import " + in("many.jsonl") + " --into /default-domain/sections --workers 4", 0, []string{"1200 created"}},
		{"import " + in("many.jsonl") + " --workers 9", 1, []string{"workers"}},
		{"import " + in("many.jsonl") + " --key dc:subjects", 1, []string{"must be name, or a text property", "0 created"}},
		{"import " + in("none.csv"), 2, []string{"none.csv"}},
		{"import " + in("none"), 2, []string{"none"}},
	} {
		var out bytes.Buffer
		code := run(context.Background(), append(strings.Fields(test.args), "--data", data), strings.NewReader(""), &out, &out)
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: got %s, want %q", test.args, out.String(), want)
			}
		}
		if code != test.code {
			t.Errorf("%s: exit %d, want %d: %s", test.args, code, test.code, out.String())
		}
	}
	got, err := os.ReadFile(in("rejected"))
	if err != nil || strings.Count(string(got), "\n") != 3 || !strings.Contains(string(got), `"line":6,"code":"invalid","error":"Type: Nope does not exist`) ||
		!strings.Contains(string(got), `"record":{"name":"e","properties":{"dc:title":"Five"},"type":"Nope"}`) {
		t.Errorf("rejected: %v %s", err, got)
	}
}
