package badger

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage/disk/mounttest"
	"catena/storage/kv"
)

// crashDir names the directory in which a child process works until it is killed.
const crashDir = "CATENA_CRASH_DIR"

const (
	crashWriters = 8
	crashKeys    = 5
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := crashChild(dir, os.Getenv("CATENA_CRASH_ROUND")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(mounttest.Main(m))
}

// crashChild commits transactions of several keys as fast as it can and prints the
// number of each once it is acknowledged.
func crashChild(dir, round string) error {
	s, err := Open(dir, Options{Log: quiet, MinFree: -1})
	if err != nil {
		return err
	}
	s.(*store).values.Smallest = 64 << 10
	d := kv.New(s, kv.Options{})
	if _, err := fmt.Println("open"); err != nil {
		return err
	}
	var wg sync.WaitGroup
	if n, _ := strconv.Atoi(round); n >= killRounds { // files of values are given up once tables hold what was in them
		go func() {
			for ; ; time.Sleep(500 * time.Millisecond) {
				_ = s.(*store).flushTables()
			}
		}()
	}
	for w := range crashWriters {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for i := 0; ; i++ {
				tag := fmt.Sprintf("%s.%d.%d", round, w, i)
				err := d.Update(context.Background(), func(tx *kv.Tx) error { return crashStep(tx, tag, r.IntN(2000)) })
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Println(tag)
			}
		})
	}
	wg.Wait()
	return nil
}

// crashStep writes keys of its own and one that its writer writes again and again.
func crashStep(tx *kv.Tx, tag string, pad int) error {
	value := append([]byte(tag+" "), strings.Repeat("x", pad)...)
	if err := tx.Set([]byte(crashSlot(tag)), append(value, make([]byte, 15_000)...)); err != nil {
		return err
	}
	for k := range crashKeys {
		if err := tx.Set(fmt.Appendf(nil, "%d/%s", k, tag), value); err != nil {
			return err
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

const (
	slotPrefix = "slot/"
	killRounds = 21
)

// crashSlot is the key that a transaction writes again.
func crashSlot(tag string) string {
	_, rest, _ := strings.Cut(tag, ".")
	w, i, _ := strings.Cut(rest, ".")
	n, _ := strconv.Atoi(i)
	return fmt.Sprint(slotPrefix, w, "/", n%20)
}

// crashOrder numbers the transactions of a writer.
func crashOrder(tag string) int {
	round, rest, _ := strings.Cut(tag, ".")
	_, i, _ := strings.Cut(rest, ".")
	r, _ := strconv.Atoi(round)
	n, _ := strconv.Atoi(i)
	return (r+1)<<32 + n
}

// TestKill kills a writing process again and again: what was acknowledged is there,
// and every transaction is there as a whole or not at all.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	acked := map[string]bool{}
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 7))
	for round := range killRounds {
		life := time.Duration(3+r.IntN(120)) * time.Millisecond
		for _, tag := range killOnce(t, dir, round, life, nil) {
			acked[tag] = true
		}
		if round%4 == 3 {
			checkKilled(t, dir, acked)
		}
	}
	segments, err := filepath.Glob(filepath.Join(dir, "log/*"+logSuffix)) // none if the last was killed too soon
	if err != nil || len(segments) > 20 {
		t.Errorf("%d segments have piled up, %v", len(segments), err)
	}
	round := killRounds
	found := func() []string {
		files, _ := filepath.Glob(filepath.Join(dir, valuesDir, "*.values"))
		return files
	}
	until := func(enough func() bool) {
		for ; !enough(); round++ {
			if round == killRounds+14 {
				t.Fatal("too few files of values were filled, or none was given up: ", found())
			}
			for _, tag := range killOnce(t, dir, round, 6*time.Second, enough) {
				acked[tag] = true
			}
			checkKilled(t, dir, acked)
		}
	}
	until(func() bool { return len(found()) > 1 }) // a slow machine has written less by now
	files := found()
	// Which file is given up first depends on how fast the machine is: those that are known to be mostly unused come before those of
	// which that is not known, because of a kill.
	until(func() bool { return slices.ContainsFunc(files, func(path string) bool { return !exists(path) }) })
	if len(acked) < 100 {
		t.Errorf("only %d transactions were acknowledged", len(acked))
	}
}

// killOnce runs a child for a while, or until enough is true, and returns what it acknowledged.
func killOnce(t *testing.T, dir string, round int, d time.Duration, enough func() bool) (tags []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir, "CATENA_CRASH_ROUND="+strconv.Itoa(round))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil || first != "open\n" {
		_ = cmd.Wait()
		t.Fatalf("round %d: no open: %q %v %s", round, first, err, stderr.String())
	}
	end := time.Now().Add(d)
	go func() {
		for enough != nil && !enough() && time.Now().Before(end) {
			time.Sleep(10 * time.Millisecond)
		}
		if enough == nil {
			time.Sleep(d)
		}
		_ = cmd.Process.Kill()
	}()
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break // an unfinished line is no acknowledgement
		}
		if err != nil {
			t.Fatal(err)
		}
		tags = append(tags, strings.TrimSpace(line))
	}
	_ = cmd.Wait()
	if stderr.Len() > 0 {
		t.Fatalf("round %d: %s", round, stderr.String())
	}
	return tags
}

func checkKilled(t *testing.T, dir string, acked map[string]bool) {
	t.Helper()
	d := kv.New(open(t, dir, Strict), kv.Options{})
	defer d.Close()
	seen, slots := map[string]int{}, map[string]string{}
	err := d.View(context.Background(), func(tx *kv.Tx) error {
		for row, err := range tx.Scan(kv.Range{}) {
			if err != nil {
				return err
			}
			_, tag, _ := strings.Cut(string(row.Key), "/")
			if strings.HasPrefix(string(row.Key), slotPrefix) {
				slots[string(row.Key)], _, _ = strings.Cut(string(row.Value), " ")
				continue
			}
			if !strings.HasPrefix(string(row.Value), tag) {
				t.Errorf("%s holds another's value", row.Key)
			}
			seen[tag]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	newest := map[string]string{}
	for tag, n := range seen {
		if n != crashKeys {
			t.Errorf("%s has %d of %d keys", tag, n, crashKeys)
		}
		if slot := crashSlot(tag); newest[slot] == "" || crashOrder(tag) > crashOrder(newest[slot]) { // the first has order 0
			newest[slot] = tag
		}
	}
	if !maps.Equal(slots, newest) {
		t.Errorf("keys written again hold %v, written last were %v", slots, newest)
	}
	for tag := range acked {
		if seen[tag] == 0 {
			t.Errorf("%s was acknowledged and is lost", tag)
		}
	}
}

// TestKillWhileOpening kills processes that open a store with a log to replay.
func TestKillWhileOpening(t *testing.T) {
	dir := t.TempDir()
	acked := map[string]bool{}
	for _, tag := range killOnce(t, dir, 0, 400*time.Millisecond, nil) {
		acked[tag] = true
	}
	for i := range 12 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("CATENA_CRASH_ROUND=%d", i+1))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(5+i*5) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	checkKilled(t, dir, acked)
}
