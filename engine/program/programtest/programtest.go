// Package programtest has tests use the programs of others that this machine has. Tests that need one that is missing are
// skipped, and say which, unless the variable TEST_TOOLS is "required".
package programtest

import (
	"os"
	"testing"

	"catena/engine/program"
	"catena/engine/worker"
)

// Variable is the environment variable that says whether tests of programs must run.
const Variable = "TEST_TOOLS"

// verb has a test binary become a helper.
const verb = "confined-program"

// Main runs tests, or is the helper of one, and returns the exit code. TestMain calls it.
func Main(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == verb {
		return worker.ProgramMain(os.Args[2:])
	}
	return m.Run()
}

// Start returns the programs of this machine, of which the test needs some.
func Start(t testing.TB, l program.Limits, needed ...*program.Kind) *program.Programs {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := program.New([]string{self, verb}, worker.Installed, l)
	t.Cleanup(p.Close)
	for _, k := range needed {
		switch err := p.Missing(k); {
		case err != nil && os.Getenv(Variable) == "required":
			t.Fatal(err)
		case err != nil:
			t.Skip(err)
		}
	}
	return p
}

// None returns programs of a machine that has none.
func None() *program.Programs {
	return program.New(nil, func(string) (string, error) { return "", os.ErrNotExist }, program.Limits{})
}
