package chains_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
)

// choices are what a parameter of a made-up chain may be given: right and wrong, fixed and computed.
var choices = map[string][]string{
	"type":  {"File", "Folder", "Note", "Fiel", "\"\"", "expr:kind", "expr:knid"},
	"name":  {"a", "\"@{title}\"", "\"@{titel}\"", "\"@{made.name}-x\"", "\"@{Fn.escapeHtml(title)}\"", "\"@{Fn.escape(title)}\""},
	"xpath": {"dc:title", "dc:titel", "note:note", "dc:issued", "files:files"},
	"value": {"text", "\"@{title}\"", "expr:CurrentDate", "expr:CurrentDate.days(1)", "expr:CurrentDate.day(1)", "\"@{Document['dc:title']}\"", "\"@{Document['dc:x']}\"", "next week", "7"},
	"query": {"SELECT * FROM Document", "SELECT * FROM Fiel", "SELECT * FORM Document", "\"SELECT * FROM File WHERE dc:titel = 'a'\"", "\"SELECT * FROM File WHERE dc:title = 'a'\""},
	"id":    {"Document.Lock", "Document.Lok", "Acc.Inner", "Blob.CreateZip"},
}

// operations are the steps of made-up chains, with their parameters.
var operations = []struct {
	op     string
	params []string
}{
	{"Document.Create", []string{"type", "name"}},
	{"Document.SetProperty", []string{"xpath", "value"}},
	{"Document.GetParent", nil},
	{"Document.Lock", nil},
	{"Document.Lok", nil},
	{"Repository.Query", []string{"query"}},
	{"RunOperation", []string{"id"}},
	{"Acc.Nothing", nil},
	{"Document.GetChildren", nil},
	{"Document.FollowLifecycleTransition", []string{"value"}},
	{"Acc.Inner", nil},
	{"Document.GetTitle", nil},
}

// madeUp writes a chain.
func madeUp(r *rand.Rand) string {
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	b.WriteString("name: Acc.Chain\nparams: [{name: title, default: T}, {name: kind, default: File}]\nsteps:\n")
	source := strings.Replace(b.String(), "params:", "input: "+pick([]string{"document", "document", "document", "void", "string"})+"\nparams:", 1)
	source = source + stepsOf(r, 1+r.IntN(4), "")
	return source
}

// stepsOf writes steps, some of them within others.
func stepsOf(r *rand.Rand, n int, indent string) string {
	pick := func(of []string) string { return of[r.IntN(len(of))] }
	var out strings.Builder
	for range n {
		var b strings.Builder
		block := ""
		if indent == "" {
			block = pick([]string{"", "", "", "if: title == 'T'", "if: titl == 'T'", "each: input", "switch: kind", "return: \"@{title}\"", "return: expr:knid"})
		}
		if kind, _, ok := strings.Cut(block, ":"); ok {
			b.WriteString("  - " + block + "\n")
			switch kind {
			case "if":
				b.WriteString("    then:\n" + stepsOf(r, 1+r.IntN(2), "    "))
			case "each":
				b.WriteString("    steps:\n" + stepsOf(r, 1+r.IntN(2), "    "))
			case "switch":
				b.WriteString("    cases:\n      File:\n" + stepsOf(r, 1, "      ") + "    default:\n" + stepsOf(r, 1, "    "))
			}
			out.WriteString(b.String())
			continue
		}
		o := operations[r.IntN(len(operations))]
		b.WriteString("  - op: " + o.op + "\n")
		if r.IntN(4) == 0 {
			b.WriteString("    as: made\n")
		}
		if r.IntN(6) == 0 {
			b.WriteString("    when: \"" + pick([]string{"true", "title == 'T'", "titl == 'T'", "Document != nil"}) + "\"\n")
		}
		if len(o.params) > 0 {
			b.WriteString("    params:\n")
			for _, p := range o.params {
				if r.IntN(12) > 0 {
					b.WriteString("      " + p + ": " + pick(choices[p]) + "\n")
				}
			}
		}
		for line := range strings.Lines(b.String()) {
			out.WriteString(indent + line)
		}
	}
	return out.String()
}

// knowable are what the check of a chain tells, so that no chain that it accepts may fail with it.
var knowable = []string{
	"no such property", "unknown operation", "unknown parameter", "unknown function", "unknown field", "unknown document type",
	"input: is missing", "input: must be", "expected", "is missing", "cannot call", "must be of type date, not \"next week\"", "not in life cycle", "must be a list",
}

// TestAccepted runs what the check accepts: it never fails for a reason that the check could have known.
func TestAccepted(t *testing.T) {
	w := newWorld(t)
	w.save("name: Acc.Inner\ninput: document\noutput: document\nsteps:\n  - op: Document.GetParent\n")
	w.save("name: Acc.Nothing\ninput: document\noutput: void\nsteps:\n  - op: Document.GetParent\n")
	deep := "/" // so that the parents do not run out
	for range 10 {
		_, err := w.run("Document.Create", storage.Ref(deep), map[string]any{"type": "Folder", "name": "f"})
		must(t, err)
		deep = strings.TrimSuffix(deep, "/") + "/f"
	}
	r := rand.New(rand.NewPCG(20, 1))
	accepted, failed := 0, 0
	for n := range 3000 {
		source := madeUp(r)
		if _, err := w.run("Chain.Save", nil, map[string]any{"source": source}); err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%d: %v\n%s", n, err, source)
			}
			continue
		}
		accepted++
		var in any
		if declared := inputOf(source); declared == "document" || declared == "" {
			in = storage.Ref(deep)
		} else if declared == "string" {
			in = "text"
		}
		_, err := w.run("Acc.Chain", in, nil)
		if err == nil {
			continue
		}
		failed++
		for _, reason := range knowable {
			if strings.Contains(err.Error(), reason) {
				t.Errorf("accepted, and fails with %v\n%s", err, source)
			}
		}
	}
	if accepted < 200 || failed < 10 {
		t.Errorf("accepted %d, failed %d: too few to tell", accepted, failed)
	}
	t.Logf("accepted %d of 3000, of which %d failed for reasons of the content", accepted, failed)
}

func inputOf(source string) string {
	_, rest, ok := strings.Cut(source, "\ninput: ")
	if !ok {
		return ""
	}
	in, _, _ := strings.Cut(rest, "\n")
	return in
}
