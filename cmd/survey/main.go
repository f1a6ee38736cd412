// Command survey measures how the code is organized: sizes of files and functions, complexity, documentation and
// imports. make survey prints the measurements with their targets; with -check, a target that is missed is a failure.
//
// Lines of tests are those of _test.go files and of packages that no command is built from, such as contract suites and
// harnesses that tests of several packages share: -list names them. Lines of code are all others. Scenario files, which
// are text, count as neither.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

func main() {
	check := flag.Bool("check", false, "fail if a target is missed")
	list := flag.Bool("list", false, "also list what misses a target")
	root := flag.String("root", ".", "folder of the module")
	flag.Parse()
	missed, err := survey(os.Stdout, *root, *list)
	if err != nil {
		fmt.Fprintln(os.Stderr, "survey:", err)
		os.Exit(2)
	}
	if *check && missed > 0 {
		fmt.Fprintf(os.Stderr, "survey: %d targets are missed\n", missed)
		os.Exit(1)
	}
}

// row is one measurement with its target.
type row struct {
	name   string
	value  string
	target string
	ok     bool
	worst  []string // what misses the target
}

// survey prints the table of a module and returns how many targets are missed.
func survey(out io.Writer, root string, list bool) (missed int, err error) {
	m, err := measure(root)
	if err != nil {
		return 0, err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "MEASUREMENT\tVALUE\tTARGET\t")
	for _, r := range m.rows() {
		mark := ""
		if !r.ok {
			mark = "missed"
			missed++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.name, r.value, r.target, mark)
		for _, line := range r.worst {
			if list {
				fmt.Fprintf(w, "  %s\t\t\t\n", line)
			}
		}
	}
	return missed, w.Flush()
}

// rows are the measurements in the order of the table.
func (m *measured) rows() []row {
	share := func(part, whole int) float64 { return 100 * float64(part) / float64(max(1, whole)) }
	comments, tests := share(m.comments, m.lines), float64(m.testLines)/float64(max(1, m.lines))
	documented := share(m.documented, m.exported)
	spread := func(name string, all []int, most int) row {
		_, _, largest := spreadOf(all)
		return row{name: name, value: spreadText(all), target: fmt.Sprintf("max ≤ %d", most), ok: largest <= most}
	}
	most := func(name string, n, most int, worst []string) row {
		return row{name: name, value: fmt.Sprint(n), target: fmt.Sprintf("≤ %d", most), ok: n <= most, worst: worst}
	}
	return []row{
		spread("lines of a file: median / p95 / max", m.files, 500),
		spread("lines of a function: median / p95 / max", m.functions, 61),
		most("import depth of cmd/catena", len(m.chain), 11, m.chain),
		{"exported symbols with a comment", fmt.Sprintf("%.1f %%", documented), "≥ 99.9 %", documented >= 99.85, m.bare},
		{"comment lines", fmt.Sprintf("%.1f %%", comments), "8–12 %", comments >= 8 && comments <= 12, nil},
		{"test lines per line of code, scenarios not counted", fmt.Sprintf("%.2f", tests), "≥ 0.60", tests >= 0.6, m.harness},
		most("init functions", len(m.inits), 0, m.inits),
		most("functions with cyclomatic complexity > 15", len(m.complex), 30, m.complex),
		most("functions with more than 5 parameters", len(m.wide), 5, m.wide),
		most("exported methods of storage.Tx", len(m.verbs), 60, m.verbs),
		most("packages with more than 40 files, tests excluded", len(m.large), 0, m.large),
		most("flags in the help of serve", m.flags, 40, nil),
	}
}
