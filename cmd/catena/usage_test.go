package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestUsage checks that what is no command line of ours is an error, and how it is told.
func TestUsage(t *testing.T) {
	for line, want := range map[string]string{
		"serv":               "no command \"serv\" of catena, perhaps serve",
		"chain chek a.yaml":  "no command \"chek\" of catena chain, perhaps check",
		"chain apply":        "usage: catena chain apply FILE",
		"chain diff A 1 2":   "usage: catena chain diff NAME",
		"run":                "usage: catena run OPERATION",
		"serve --adr :1":     "unknown flag: --adr",
		"user nothing there": "no command \"nothing\" of catena user",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(line), strings.NewReader(""), &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("%s: %d %s%s, want %s", line, code, &errs, &out, want)
		}
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"chain"}, strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(out.String(), "apply ") {
		t.Errorf("chain: %d %s%s", code, &errs, &out)
	}
}
