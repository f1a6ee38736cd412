package bulk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"catena/engine/sheet"
	"catena/storage"
	"catena/storage/fault"
)

// exported carries out a row of a table that csvExport has written and that somebody may have edited: it has the column uid and no
// column name. Cells that differ from those of the document now are its new values, also empty ones. Nothing is overwritten that was
// changed since the export, as long as the table has the column changeToken.
func (r csvRun) exported(uid string, members, props map[string]any) (csvEntry, error) {
	d, err := r.c.Tx.Doc(storage.Ref(uid))
	if err != nil {
		return updated, err
	}
	if !strings.HasPrefix(d.Path(), strings.TrimSuffix(r.folder.Path(), "/")+"/") {
		return updated, problem("notInFolder", "Document '%s' is not in the folder '%s'", d.Path(), r.folder.Path())
	}
	changed, err := r.differing(d, props)
	if err != nil {
		return updated, err
	}
	if err := r.fixed(d, members, changed); err != nil {
		return updated, err
	}
	values, err := r.values(d.Type(), changed)
	if err != nil {
		return updated, err
	}
	for xpath, text := range changed {
		if text == "" {
			values[xpath] = nil
		}
	}
	if len(values) == 0 {
		return unchanged, nil
	}
	for _, xpath := range slices.Sorted(maps.Keys(values)) {
		if err := d.Set(xpath, values[xpath]); err != nil {
			return updated, err
		}
	}
	token, _ := members["changeToken"].(string)
	_, err = r.c.Tx.Save(d, storage.SaveOptions{ChangeToken: strings.TrimSpace(token), Quiet: r.keep})
	if fault.Is(err, fault.Conflict) {
		err = problem("changedSinceExport", "Document '%s' has changed since the table was exported", d.Path())
	}
	return updated, err
}

// differing are the cells of properties that are not what an export of the document would write now. Labels follow from the values beside
// them.
func (r csvRun) differing(d *storage.Doc, props map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, xpath := range r.columns {
		if !strings.Contains(xpath, ":") || strings.HasSuffix(xpath, labelMark) {
			continue
		}
		now, err := valueIfAny(d, xpath)
		if err != nil {
			return nil, err
		}
		if text, _ := props[xpath].(string); cellText(text) != cellText(cell(now)) {
			out[xpath] = cellText(text)
		}
	}
	return out, nil
}

// cellText is the text of a cell however it was written: programs change the ends of lines, and blanks at the ends.
func cellText(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(sheet.Text(s), "\r\n", "\n"))
}

// fixed checks the columns that every exported table has. Most follow from what others do to a document, such as its lock, and count for
// nothing. One that somebody would edit in the belief that this changes the document is refused.
func (r csvRun) fixed(d *storage.Doc, members, changed map[string]any) error {
	now, err := firstValues(d)
	if err != nil {
		return err
	}
	for _, column := range slices.Sorted(maps.Keys(members)) {
		at := slices.Index(firstColumns, column)
		if at < 0 {
			if column == "properties" {
				continue
			}
			return problem("notExistingField", "Field '%s' does not exist on type '%s'", column, d.Type().Name)
		}
		text := cellText(fmt.Sprint(members[column]))
		if !slices.Contains([]string{"repository", "type", "state", "title"}, column) || text == cellText(cell(now[at])) || column == "title" && text == changed["dc:title"] {
			continue
		}
		return problem("fixedColumn", "Column '%s' cannot change the document: it has '%s', not '%s'", column, cell(now[at]), text)
	}
	return nil
}
