// Package sheet writes comma-separated values that people open in spreadsheets. A value that a spreadsheet would take for a
// formula is marked as text, because documents contain what anybody wrote.
package sheet

import (
	"encoding/csv"
	"io"
	"strings"
)

// Writer writes rows. A cell that a spreadsheet would take for a formula has an apostrophe in front, so that it is the
// text that it is.
type Writer struct{ csv *csv.Writer }

// NewWriter returns a writer; lines end as RFC 4180 says if crlf is set.
func NewWriter(w io.Writer, crlf bool) *Writer {
	out := csv.NewWriter(w)
	out.UseCRLF = crlf
	return &Writer{out}
}

// Write writes a row.
func (w *Writer) Write(cells []string) error {
	row := make([]string, len(cells))
	for i, s := range cells {
		row[i] = plain(s)
	}
	return w.csv.Write(row)
}

// Flush writes what is held back, and returns the first error there was.
func (w *Writer) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

// blanks are what spreadsheets pass over in front of a formula.
const blanks = " \v\f\u00a0\u200b\u3000\ufeff\x00"

// plain is a text that no spreadsheet takes for a formula. Those for wide scripts take wide signs too.
func plain(s string) string {
	if rest := strings.TrimLeft(s, blanks); rest != "" && strings.ContainsAny(firstOf(rest), "=+-@\t\r\n＝＋－＠") {
		return "'" + s
	}
	return s
}

// Text is the text of a cell that a Writer wrote, without the apostrophe that it may have put in front.
func Text(cell string) string {
	if text, ok := strings.CutPrefix(cell, "'"); ok && plain(text) == cell {
		return text
	}
	return cell
}

func firstOf(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}
