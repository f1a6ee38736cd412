package bulk

import (
	"maps"
	"slices"
	"strings"

	"catena/engine/sheet"
	"catena/storage"
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
	texts, err := r.differing(d, props)
	if err != nil {
		return updated, err
	}
	wrong := fixed(d, members, texts)
	token, _ := members["changeToken"].(string)
	if token = strings.TrimSpace(token); token != "" && d.ChangedSince(token) && (wrong != nil || len(texts) > 0) {
		return updated, problem("changedSinceExport", "Document '%s' has changed since the table was exported", d.Path())
	}
	if wrong != nil {
		return updated, wrong
	}
	return r.edit(d, texts)
}

// edit gives a document the values of edited cells.
func (r csvRun) edit(d *storage.Doc, texts map[string]any) (csvEntry, error) {
	values, err := r.values(d.Type(), texts)
	if err != nil {
		return updated, err
	}
	said := unchanged
	for _, xpath := range slices.Sorted(maps.Keys(texts)) {
		v, has := values[xpath]
		if !has && texts[xpath] != "" { // the type has no such property
			continue
		}
		now, err := valueIfAny(d, xpath)
		if err != nil {
			return updated, err
		}
		if cell(v) == cell(now) { // it is written in another way
			continue
		}
		if err := d.Set(xpath, v); err != nil {
			return updated, err
		}
		said = updated
	}
	if said.Status == unchanged.Status {
		return unchanged, nil
	}
	_, err = r.c.Tx.Save(d, storage.SaveOptions{Quiet: r.keep})
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
func fixed(d *storage.Doc, members, texts map[string]any) error {
	for _, column := range slices.Sorted(maps.Keys(members)) {
		if column != "properties" && !slices.Contains(firstColumns, column) {
			return problem("notExistingField", "Field '%s' does not exist on type '%s'", column, d.Type().Name)
		}
	}
	for _, c := range []struct{ column, now string }{{"repository", d.Repository()}, {"type", d.Type().Name}, {"state", d.State()}, {"title", d.Title()}} {
		text, has := members[c.column].(string)
		if text = cellText(text); has && text != cellText(c.now) && (c.column != "title" || text != texts["dc:title"]) {
			return problem("fixedColumn", "Column '%s' cannot change the document: it has '%s', not '%s'", c.column, c.now, text)
		}
	}
	return nil
}
