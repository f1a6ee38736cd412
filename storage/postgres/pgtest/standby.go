package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Standby makes the server, which must not run, a standby of another one, and runs it. What it had is gone.
func (s *Server) Standby(primary *Server) error {
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	program, err := beside(s.bin, "pg_basebackup")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), program, "-h", primary.dir, "-U", "catena", "-D", s.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.as}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	return s.Run()
}

// beside finds a program in the folder of the others, also if that has links to them and not to it.
func beside(bin, name string) (string, error) {
	server, err := filepath.EvalSymlinks(filepath.Join(bin, "initdb"))
	if err != nil {
		return "", err
	}
	return exec.LookPath(filepath.Join(filepath.Dir(server), name))
}

// Synchronous has commits wait for a standby, and returns once one is in step.
func (s *Server) Synchronous(ctx context.Context) error {
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if err := s.exec(ctx, sql); err != nil {
			return err
		}
	}
	for {
		var n int
		if err := s.query(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'", &n); err != nil || n > 0 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Promote makes a standby a primary whose commits wait for nobody. Queries on a standby may be canceled when they conflict with
// what it repeats, so they are repeated.
func (s *Server) Promote(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var asked *bool
	for standby := true; standby; time.Sleep(20 * time.Millisecond) {
		err := s.query(ctx, "SELECT CASE WHEN pg_is_in_recovery() THEN pg_promote(false) END, pg_is_in_recovery()", &asked, &standby)
		if standby = standby || err != nil; standby && ctx.Err() != nil {
			return fmt.Errorf("pg_promote: %w", err)
		}
	}
	for _, sql := range []string{"ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"} {
		if err := s.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// Repeat has a standby repeat what the primary writes, or pause in it.
func (s *Server) Repeat(ctx context.Context, goes bool) error {
	if goes {
		return s.exec(ctx, "SELECT pg_wal_replay_resume()")
	}
	return s.exec(ctx, "SELECT pg_wal_replay_pause()")
}

func (s *Server) exec(ctx context.Context, sql string) error {
	c, err := pgx.Connect(ctx, s.Address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	_, err = c.Exec(ctx, sql)
	return err
}

func (s *Server) query(ctx context.Context, sql string, into ...any) error {
	c, err := pgx.Connect(ctx, s.Address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	return c.QueryRow(ctx, sql).Scan(into...)
}

// Either is the address of two servers of which one takes writes.
func Either(a, b *Server) string {
	return "postgres://catena@/postgres?host=" + url.QueryEscape(a.dir+","+b.dir)
}
