package directory_test

import (
	"strconv"
	"testing"

	"catena/ops/directory"
	"catena/ops/opstest"
)

// TestBlanksAroundTerm: blanks around a term do not count, whether the directory looks for it or the labels are compared.
func TestBlanksAroundTerm(t *testing.T) {
	s := opstest.Serve(t, directory.Ops)
	const memo = `[{…"displayLabel":"Mémo"…}]`
	for _, term := range []string{"Mém", " Mém", "Mém ", "\tMém\n", "mém"} {
		for _, more := range []string{`, "localize": true`, `, "localize": true, "contains": true`} {
			s.Play([]opstest.Row{{"alice", "Directory.SuggestEntries", "", `{"directoryName": "nature", "lang": "fr", "searchTerm": ` + strconv.Quote(term) + more + `}`, memo}})
		}
	}
	for _, term := range []string{"label.directories.nature.mem", " label.directories.nature.mem", "label.directories.nature.mem "} {
		s.Play([]opstest.Row{{"alice", "Directory.SuggestEntries", "", `{"directoryName": "nature", "searchTerm": "` + term + `"}`, `[{…"id":"memo"…}]`}})
	}
	s.Play([]opstest.Row{
		{"alice", "Directory.SuggestEntries", "", `{"directoryName": "l10nsubjects", "dbl10n": true, "searchTerm": " "}`, `[{…"displayLabel":"Architecture"…`}, // as without a term: only leaves
	})
}
