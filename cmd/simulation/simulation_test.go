package simulation

import (
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

// TestMain has goroutines run one after the other: those that are woken at the same time then always run in the same
// order, and hand over at the least cost.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// run plays a seed and returns what is wrong, and the trace.
func run(t *testing.T, seed uint64, keep bool, wrong mutation) (problems []string, trace string, history []string) {
	t.Helper()
	return runOn(t, seed, keep, wrong, nil)
}

// runOn is run on a machine, or in memory if it is nil.
func runOn(t *testing.T, seed uint64, keep bool, wrong mutation, m *machine) (problems []string, trace string, history []string) {
	t.Helper()
	t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed, keep, wrong)
			if w.machine = m; m != nil {
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
func TestSimulation(t *testing.T) {
	if seed := number("CATENA_SEED", 0); seed > 0 {
		problems, trace, history := run(t, seed, true, mutation{})
		t.Logf("history:\n%s\ntrace %s", text(history), trace)
		report(t, seed, problems)
		return
	}
	began := time.Now()
	first, all := number("CATENA_FIRST_SEED", 1), seeds(500)
	played := 0
	for seed, failed := first, 0; seed < first+all && failed < 10; seed++ {
		played++
		if problems, _, _ := run(t, seed, false, mutation{}); len(problems) > 0 {
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
func TestReplay(t *testing.T) {
	most := uint64(20)
	if underRace {
		most = 2
	}
	for seed := range most {
		_, first, before := run(t, seed, true, mutation{})
		_, second, after := run(t, seed, true, mutation{})
		if first != second {
			for i := range before {
				if i >= len(after) || before[i] != after[i] {
					t.Errorf("%s", strings.Join(before[max(0, i-8):i], "\n"))
					t.Errorf("seed %d: step %d was\n%s", seed, i, before[i])
					if i < len(after) {
						t.Errorf("and then\n%s", after[i])
					}
					break
				}
			}
		}
	}
}
