package spreadsheet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"catena/engine/worker"
)

// maxUnzipped bounds the parts of a workbook, unzipped, in bytes.
const maxUnzipped = 256 << 20

// WorkerMain is a worker that reads a workbook and writes the rows of a sheet, each as JSON on a line. It returns the exit code
// of the process.
func WorkerMain(in io.Reader, out, errs io.Writer, sheet string) int {
	runtime.GOMAXPROCS(1)
	debug.SetMemoryLimit(maxMemory * 3 / 4) // the collector works harder before the hard limit is reached
	if err := worker.Confine(maxMemory); err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	worker.LimitCPU(maxTime)
	w := bufio.NewWriterSize(out, 64<<10)
	err := rows(in, sheet, func(row []any) error {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		_, err = w.Write(append(line, '\n'))
		return err
	})
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	return 0
}

// book is a workbook that is read.
type book struct {
	*excelize.File
	sheet string
	epoch bool         // whether days are counted from 1904
	dates map[int]form // by number of a style
}

// form is what a style makes of a number.
type form int

const (
	number form = iota
	date        // a day, with a time if it has one
	hours       // a time of day
)

func rows(in io.Reader, sheet string, take func([]any) error) error {
	// A part that is larger than the second limit would be unpacked into a file, and a worker can open none.
	f, err := excelize.OpenReader(in, excelize.Options{RawCellValue: true, UnzipSizeLimit: maxUnzipped, UnzipXMLSizeLimit: maxUnzipped})
	if err != nil {
		return err
	}
	names := f.GetSheetList()
	if sheet == "" && len(names) > 0 {
		sheet = names[0]
	}
	if !slices.Contains(names, sheet) {
		return fmt.Errorf("there is no sheet %q, only %s", sheet, strings.Join(names, ", "))
	}
	b := book{File: f, sheet: sheet, dates: map[int]form{}}
	if props, err := f.GetWorkbookProps(); err == nil && props.Date1904 != nil {
		b.epoch = *props.Date1904
	}
	// The reader of rows takes a sheet that is damaged for one that ends there; that of cells says what is wrong.
	if _, err := f.GetCellType(sheet, "A1"); err != nil {
		return fmt.Errorf("sheet %s: %w", sheet, err)
	}
	all, err := f.GetRows(sheet)
	if err != nil {
		return err
	}
	for y, texts := range all {
		row := make([]any, len(texts))
		for x, text := range texts {
			if row[x], err = b.cell(x+1, y+1, text); err != nil {
				return err
			}
		}
		if err := take(row); err != nil {
			return err
		}
	}
	return nil
}

// cell is the value of a cell that is stored as a text.
func (b book) cell(x, y int, text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	name, err := excelize.CoordinatesToCellName(x, y)
	if err != nil {
		return nil, err
	}
	typ, err := b.GetCellType(b.sheet, name)
	if err != nil {
		return nil, err
	}
	switch typ {
	case excelize.CellTypeBool:
		return text == "1" || text == "TRUE", nil
	case excelize.CellTypeUnset, excelize.CellTypeNumber:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n-n != 0 {
			return text, nil //nolint:nilerr // what is no number is a text
		}
		return b.number(name, n)
	}
	return text, nil
}

// number is the value of a cell with a number, which is a date if its style says so.
func (b book) number(name string, n float64) (any, error) {
	style, err := b.GetCellStyle(b.sheet, name)
	if err != nil {
		return nil, err
	}
	as, known := b.dates[style]
	if !known {
		if as, err = b.formOf(style); err != nil {
			return nil, err
		}
		b.dates[style] = as
	}
	if as == number || n < 0 {
		return n, nil
	}
	t, err := excelize.ExcelDateToTime(n, b.epoch)
	if err != nil {
		return n, nil //nolint:nilerr // a number that is no date is a number
	}
	t = t.Round(time.Second)
	switch {
	case as == hours && n < 1:
		return t.Format(time.TimeOnly), nil
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.Format(time.DateOnly), nil
	}
	return t.Format("2006-01-02T15:04:05"), nil
}

func (b book) formOf(style int) (form, error) {
	if style == 0 {
		return number, nil
	}
	s, err := b.GetStyle(style)
	if err != nil {
		return number, err
	}
	if s.CustomNumFmt != nil {
		return formOf(*s.CustomNumFmt), nil
	}
	return builtIn(s.NumFmt), nil
}

// builtIn is what a number of ECMA-376 part 1, 18.8.30, stands for, with those of East Asian languages.
func builtIn(n int) form {
	switch {
	case n == 18, n == 19, n == 20, n == 21, n >= 45 && n <= 47:
		return hours
	case n >= 14 && n <= 22, n >= 27 && n <= 36, n >= 50 && n <= 58:
		return date
	}
	return number
}

// formOf tells by the letters of a format what it makes of a number. Texts in it, colours and conditions have letters too.
func formOf(format string) form {
	letters := ""
	for i := 0; i < len(format); i++ {
		switch c := format[i]; c {
		case '"', '[':
			end := strings.IndexByte(format[i+1:], map[byte]byte{'"': '"', '[': ']'}[c])
			if end < 0 {
				return number
			}
			// [h] counts more than 24 hours: a length of time, which is left a number.
			if inner := strings.ToLower(format[i+1 : i+1+end]); c == '[' && strings.Trim(inner, "hms") == "" {
				return number
			}
			i += end + 1
		case '\\', '_', '*':
			i++
		case ';':
			i = len(format)
		default:
			letters += strings.ToLower(string(c))
		}
	}
	switch {
	case strings.Contains(letters, "general"):
		return number
	case strings.ContainsAny(letters, "yd"):
		return date
	case strings.ContainsAny(letters, "hs"):
		return hours
	case strings.Contains(letters, "mmm"):
		return date
	}
	return number
}
