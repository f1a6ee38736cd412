package simulation

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// seeds is how many seeds a test plays by default.
func seeds(usual uint64) uint64 {
	if underRace {
		usual /= 10
	}
	return number("CATENA_SEEDS", usual)
}

// TestMain has goroutines run one after the other, as the scheduler has them do: so they hand over at the least cost.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// setting is where a run takes place.
type setting struct {
	nodes   int      // servers
	machine *machine // that the store of one server is on; nil: it is in memory
}

// runOn plays a seed in a setting and returns what is wrong, and the trace.
func runOn(t *testing.T, seed uint64, keep bool, wrong mutation, in setting) (problems []string, trace string, history []string) {
	t.Helper()
	t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed, keep, wrong, in.nodes)
			if w.machine = in.machine; in.machine != nil {
				w.plan.rate = 0
			}
			w.play()
			problems, trace, history = w.problems, w.sched.history.trace(), w.sched.history.all
		})
	})
	return problems, trace, history
}

// number reads a number from the environment.
func number(name string, otherwise uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}

// TestSimulation plays many seeds, or the one that CATENA_SEED names and prints its history.
func TestSimulation(t *testing.T) { playAll(t, seeds(500), 1) }

// playAll plays so many seeds with so many servers on one store, or the one that CATENA_SEED names and prints its history.
func playAll(t *testing.T, all uint64, nodes int) {
	t.Helper()
	if seed := number("CATENA_SEED", 0); seed > 0 {
		problems, trace, history := runOn(t, seed, true, mutation{}, setting{nodes: nodes})
		t.Logf("history:\n%s\ntrace %s", text(history), trace)
		report(t, seed, problems)
		return
	}
	began := time.Now()
	first, played := number("CATENA_FIRST_SEED", 1), 0
	for seed, failed := first, 0; seed < first+all && failed < 10; seed++ {
		played++
		if problems, _, _ := runOn(t, seed, false, mutation{}, setting{nodes: nodes}); len(problems) > 0 {
			failed++
			report(t, seed, problems)
		}
	}
	t.Logf("%d of %d seeds in %s", played, all, time.Since(began))
}

func text(lines []string) string { return strings.Join(lines, "\n") }

func report(t *testing.T, seed uint64, problems []string) {
	t.Helper()
	if len(problems) > 0 {
		t.Errorf("seed %d (repeat with CATENA_SEED=%d):\n\t%s", seed, seed, strings.Join(problems[:min(len(problems), 20)], "\n\t"))
	}
}

// TestReplay holds that a seed always gives the same history.
func TestReplay(t *testing.T) { replay(t, 20, 1) }

// replay plays so many seeds twice, the second time on several processors: what is left to chance comes out there at once, and on one
// only when the machine is busy.
func replay(t *testing.T, most uint64, nodes int) {
	t.Helper()
	if underRace {
		most = 2
	}
	for seed := range most {
		_, first, before := runOn(t, seed, true, mutation{}, setting{nodes: nodes})
		runtime.GOMAXPROCS(4)
		_, second, after := runOn(t, seed, true, mutation{}, setting{nodes: nodes})
		runtime.GOMAXPROCS(1)
		if first != second {
			t.Errorf("seed %d: %s", seed, parting(before, after))
		}
	}
}

// parting says where two histories part.
func parting(before, after []string) string {
	for i := range before {
		if i >= len(after) || before[i] != after[i] {
			then := "nothing"
			if i < len(after) {
				then = after[i]
			}
			return fmt.Sprintf("after\n%s\nstep %d was\n%s\nand then\n%s", text(before[max(0, i-8):i]), i, before[i], then)
		}
	}
	return "the second history goes on"
}
