package spreadsheet

import (
	"io"
	"iter"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"catena/storage/fault"
)

const (
	maxCell    = 32_767 // characters of a cell, the bound of the format
	maxColumns = 16_384 // of a sheet, the bound of the format
)

// Write writes a workbook of one sheet. Cells are texts, numbers, booleans or nil; a text is never taken for a formula.
func Write(w io.Writer, sheet string, rows iter.Seq2[[]any, error]) error {
	f := excelize.NewFile()
	defer func() { _ = f.Close() }()
	if err := f.SetSheetName("Sheet1", sheet); err != nil {
		return fault.Invalid.Errorf("sheet: %w", err).In("sheet")
	}
	out, err := f.NewStreamWriter(sheet)
	if err != nil {
		return err
	}
	y := 0
	for row, err := range rows {
		if err != nil {
			return err
		}
		y++
		if err := bounded(row, y); err != nil {
			return err
		}
		name, err := excelize.CoordinatesToCellName(1, y)
		if err != nil {
			return fault.Limit.Errorf("row %d: %w", y, err)
		}
		if err := out.SetRow(name, row); err != nil {
			return fault.Limit.Errorf("row %d: %w", y, err)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Write(w)
}

// bounded refuses what the format cannot hold; the library would cut it short.
func bounded(row []any, y int) error {
	if len(row) > maxColumns {
		return fault.Limit.Errorf("row %d: %d cells, at most %d fit a sheet", y, len(row), maxColumns)
	}
	for x, v := range row {
		if s, ok := v.(string); ok && len(s) > maxCell && utf8.RuneCountInString(s) > maxCell {
			return fault.Limit.Errorf("row %d, cell %d: more than %d characters", y, x+1, maxCell)
		}
	}
	return nil
}
