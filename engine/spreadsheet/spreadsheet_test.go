package spreadsheet

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"catena/storage/fault"
)

// TestMain is a worker when the tests start themselves as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "worker" {
		os.Exit(WorkerMain(os.Stdin, os.Stdout, os.Stderr, os.Args[2]))
	}
	os.Exit(m.Run())
}

// readers are a reader in this process, and one that starts workers.
func readers(t *testing.T) map[string]*Reader {
	t.Helper()
	all := map[string]*Reader{"in process": NewReader(nil)}
	if !underRace { // which takes more memory than a worker may have
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		all["worker"] = NewReader([]string{exe, "worker"})
	}
	return all
}

func read(t *testing.T, r *Reader, file []byte, sheet string) (string, error) {
	t.Helper()
	var b strings.Builder
	err := r.Read(t.Context(), bytes.NewReader(file), sheet, func(row []any) error {
		line, err := json.Marshal(row)
		b.Write(line)
		return err
	})
	return b.String(), err
}

// workbook is one as a spreadsheet program keeps one.
func workbook(t *testing.T, fill func(f *excelize.File)) []byte {
	t.Helper()
	f := excelize.NewFile()
	fill(f)
	var out bytes.Buffer
	if err := f.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// styled sets a cell to a number that a format shows.
func styled(t *testing.T, f *excelize.File, cell string, v any, style excelize.Style) {
	t.Helper()
	id, err := f.NewStyle(&style)
	must(t, err)
	must(t, f.SetCellValue("Sheet1", cell, v))
	must(t, f.SetCellStyle("Sheet1", cell, cell, id))
}

// TestRead reads cells of all types.
func TestRead(t *testing.T) {
	custom := func(format string) excelize.Style { return excelize.Style{CustomNumFmt: &format} }
	file := workbook(t, func(f *excelize.File) {
		must(t, f.SetSheetRow("Sheet1", "A1", &[]any{"title", 12, 1.5, true, false, nil, "=1+1", " spaced "}))
		styled(t, f, "A2", 46352, excelize.Style{NumFmt: 14})
		styled(t, f, "B2", 46352.5, excelize.Style{NumFmt: 22})
		styled(t, f, "C2", 0.75, excelize.Style{NumFmt: 20})
		styled(t, f, "D2", 46352, custom(`dd"."mm"."yyyy`))
		styled(t, f, "E2", 12.5, custom(`0.00 "days"`))
		styled(t, f, "F2", 1.5, custom(`[h]:mm`))
		styled(t, f, "G2", 0.25, custom(`hh:mm:ss`))
		styled(t, f, "H2", -3, excelize.Style{NumFmt: 14})
		must(t, f.SetCellFormula("Sheet1", "A4", "SUM(B1,C1)"))
		must(t, f.SetCellValue("Sheet1", "B4", "é 漢 🎉"))
		must(t, f.SetCellValue("Sheet1", "C4", 1e300))
		_, err := f.NewSheet("Other")
		must(t, err)
		must(t, f.SetCellValue("Other", "B2", "there"))
	})
	for name, r := range readers(t) {
		got, err := read(t, r, file, "")
		if want := `["title",12,1.5,true,false,null,"=1+1"," spaced "]["2026-11-26","2026-11-26T12:00:00","18:00:00","2026-11-26",12.5,1.5,"06:00:00",-3][]` +
			`[null,"é 漢 🎉",1e+300]`; err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, want)
		}
		if got, err := read(t, r, file, "Other"); err != nil || got != `[][null,"there"]` {
			t.Errorf("%s, other sheet: %s, %v", name, got, err)
		}
		if _, err := read(t, r, file, "None"); fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), `there is no sheet "None", only Sheet1, Other`) {
			t.Errorf("%s, no such sheet: %v", name, err)
		}
	}
}

// TestReadOtherPrograms reads what Excel for the Mac of old counts from 1904, and texts that are in the cells themselves.
func TestReadOtherPrograms(t *testing.T) {
	yes := true
	file := workbook(t, func(f *excelize.File) {
		must(t, f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &yes}))
		styled(t, f, "A1", 44890, excelize.Style{NumFmt: 14})
	})
	for name, r := range readers(t) {
		if got, err := read(t, r, file, ""); err != nil || got != `["2026-11-26"]` {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// TestReadDamaged reads files that are none, or that lie.
func TestReadDamaged(t *testing.T) {
	good := workbook(t, func(f *excelize.File) { must(t, f.SetSheetRow("Sheet1", "A1", &[]any{"a", "b"})) })
	changed := func(part string, content string) []byte {
		in, err := zip.NewReader(bytes.NewReader(good), int64(len(good)))
		must(t, err)
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for _, f := range in.File {
			to, err := w.Create(f.Name)
			must(t, err)
			if f.Name == part {
				_, err = to.Write([]byte(content))
				must(t, err)
				continue
			}
			r, err := f.Open()
			must(t, err)
			var b bytes.Buffer
			_, err = b.ReadFrom(r)
			must(t, err)
			_, err = to.Write(b.Bytes())
			must(t, err)
		}
		must(t, w.Close())
		return out.Bytes()
	}
	const sheet = "xl/worksheets/sheet1.xml"
	for name, r := range readers(t) {
		for what, file := range map[string][]byte{
			"empty": nil, "text": []byte("a,b\n1,2"), "cut": good[:len(good)/2], "a ZIP file of nothing": changed(sheet, "")[:22],
			"workbook that is no XML": changed("xl/workbook.xml", "<<<"),
			"cell out of any sheet":   changed(sheet, `<worksheet><sheetData><row r="1"><c r="ZZZZZZ1"><v>1</v></c></row></sheetData></worksheet>`),
			"sheet that is cut short": changed(sheet, `<worksheet><sheetData><row r="1"><c r="A1"><v>1`),
		} {
			if got, err := read(t, r, file, ""); err == nil || fault.Of(err) != fault.Invalid && fault.Of(err) != fault.Limit {
				t.Errorf("%s, %s: %s, %v", name, what, got, err)
			}
		}
	}
}

// TestReadBomb reads a small file that grows beyond what a worker may take.
func TestReadBomb(t *testing.T) {
	if underRace {
		t.Skip("the race detector takes more memory than a worker may have")
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, part := range []string{"[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"} {
		to, err := w.Create(part)
		must(t, err)
		for range 80 {
			_, err := to.Write(bytes.Repeat([]byte(" "), 1<<20))
			must(t, err)
		}
	}
	must(t, w.Close())
	r := readers(t)["worker"]
	if _, err := read(t, r, out.Bytes(), ""); err == nil {
		t.Error("a bomb was read")
	}
	if _, err := read(t, r, workbook(t, func(f *excelize.File) { must(t, f.SetCellValue("Sheet1", "A1", 1)) }), ""); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestReadStops ends with the reason that take gives, with the call, and without a worker.
func TestReadStops(t *testing.T) {
	file := workbook(t, func(f *excelize.File) {
		for _, cell := range []string{"A1", "A2", "A3"} {
			must(t, f.SetCellValue("Sheet1", cell, cell))
		}
	})
	enough := errors.New("enough")
	for name, r := range readers(t) {
		n := 0
		err := r.Read(t.Context(), bytes.NewReader(file), "", func([]any) error {
			if n++; n == 2 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || n != 2 {
			t.Errorf("%s: %v after %d rows", name, err, n)
		}
	}
	if err := NewReader([]string{filepath.Join(t.TempDir(), "none")}).Read(t.Context(), bytes.NewReader(file), "", nil); fault.Of(err) != fault.Unavailable {
		t.Errorf("without a worker: %v", err)
	}
	sleep, err := exec.LookPath("sleep")
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := NewReader([]string{sleep}).Read(ctx, bytes.NewReader(file), "60", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a worker that does not answer: %v", err)
	}
	r := NewReader(nil)
	r.turns <- struct{}{}
	r.turns <- struct{}{}
	if err := r.Read(ctx, bytes.NewReader(file), "", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for a turn: %v", err)
	}
}

func each(rows ...[]any) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// TestWrite writes a workbook and reads it back.
func TestWrite(t *testing.T) {
	var out bytes.Buffer
	must(t, Write(&out, "Invoices", each([]any{"no", "title", "paid"}, []any{1.5, "=1+1", true}, []any{}, []any{nil, "<&\u0007>", false}, []any{-7, "+49 30", nil})))
	for name, r := range readers(t) {
		got, err := read(t, r, out.Bytes(), "Invoices")
		if want := `["no","title","paid"][1.5,"=1+1",true][][null,"\u003c\u0026�\u003e",false][-7,"+49 30"]`; err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, want)
		}
	}
	f, err := excelize.OpenReader(bytes.NewReader(out.Bytes()))
	must(t, err)
	if formula, err := f.GetCellFormula("Invoices", "B2"); err != nil || formula != "" {
		t.Errorf("a formula: %q, %v", formula, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name, sheet string
		rows        iter.Seq2[[]any, error]
		want        func(error) bool
	}{
		{"a name that is too long", strings.Repeat("a", 32), each(), func(err error) bool { return fault.Of(err) == fault.Invalid }},
		{"a name with a colon", "a:b", each(), func(err error) bool { return fault.Of(err) == fault.Invalid }},
		{"no name", "", each(), func(err error) bool { return fault.Of(err) == fault.Invalid }},
		{"a text that is too long", "a", each([]any{strings.Repeat("é", maxCell+1)}), func(err error) bool {
			return fault.Of(err) == fault.Limit && strings.Contains(err.Error(), "row 1, cell 1")
		}},
		{"the longest text", "a", each([]any{strings.Repeat("é", maxCell)}), func(err error) bool { return err == nil }},
		{"a row that is too wide", "a", each(make([]any, maxColumns+1)), func(err error) bool { return fault.Of(err) == fault.Limit }},
		{"rows that end in an error", "a", func(yield func([]any, error) bool) { yield(nil, broken) }, func(err error) bool { return errors.Is(err, broken) }},
	} {
		if err := Write(&bytes.Buffer{}, test.sheet, test.rows); !test.want(err) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestFormOf tells dates from numbers by their formats.
func TestFormOf(t *testing.T) {
	for format, want := range map[string]form{
		"General": number, "0.00": number, "#,##0.00 [$€-407]": number, `0 "days"`: number, `"d"0`: number, "[Red]0;[Blue]-0": number, `0\d`: number, "_d0": number, "": number, `"open`: number,
		"yyyy-mm-dd": date, "d. mmmm": date, "mmm yy": date, "dd/mm/yy hh:mm": date, "[$-407]d. mmmm yyyy": date, "m/d/yy;@": date,
		"hh:mm": hours, "h:mm AM/PM": hours, "mm:ss.0": hours, "[h]:mm:ss": number, "[mm]:ss": number,
	} {
		if got := formOf(format); got != want {
			t.Errorf("%s: got %d, want %d", format, got, want)
		}
	}
	for n, want := range map[int]form{0: number, 13: number, 14: date, 17: date, 18: hours, 21: hours, 22: date, 23: number, 27: date, 36: date, 37: number, 45: hours, 47: hours, 48: number, 49: number, 50: date, 58: date, 59: number} {
		if got := builtIn(n); got != want {
			t.Errorf("format %d: got %d, want %d", n, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	t := &testing.T{}
	f.Add(workbook(t, func(f *excelize.File) { _ = f.SetCellValue("Sheet1", "B2", 1.5) }))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, file []byte) {
		r := NewReader(nil)
		defer func() {
			// In a worker a panic ends the process, which the server reports as a damaged file.
			_ = recover()
		}()
		if err := r.Read(t.Context(), bytes.NewReader(file), "", func([]any) error { return nil }); err != nil && fault.Of(err) != fault.Invalid {
			t.Fatal(err)
		}
	})
}
