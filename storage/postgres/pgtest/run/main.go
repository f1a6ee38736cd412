// Command run starts a PostgreSQL server, runs a command with TEST_POSTGRES set to its address and TEST_STORE to postgres
// unless it is set, and stops the server. Tests of all packages then share it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"catena/storage/postgres/pgtest"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	if len(args) == 0 {
		return 2, errors.New("usage: run COMMAND [ARGUMENT…]")
	}
	s, err := pgtest.Start(pgtest.Settings...)
	if err != nil {
		return 1, err
	}
	defer s.Stop()
	cmd := exec.CommandContext(context.Background(), args[0], args[1:]...) //nolint:gosec // what the caller asks for
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append([]string{"TEST_STORE=postgres"}, os.Environ()...) // of two values, the last one counts
	cmd.Env = append(cmd.Env, pgtest.Variable+"="+s.Address)
	var failed *exec.ExitError
	if err = cmd.Run(); errors.As(err, &failed) {
		return failed.ExitCode(), nil
	} else if err != nil {
		return 1, err
	}
	return 0, nil
}
