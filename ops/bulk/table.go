package bulk

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/directory"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

// labelMark is behind the name of a column that has the labels of what the column before refers to.
const labelMark = "[label]"

// checkTable refuses what is no parameter of a table.
func checkTable(c *engine.Ctx, params map[string]any) error {
	for _, name := range []string{"fileName", "lang"} {
		if _, ok := params[name].(string); !ok && params[name] != nil {
			return fault.Invalid.Errorf("%s: must be a string", name).In("parameters")
		}
	}
	for _, name := range []string{"sort", "sortResult", "zip"} {
		if _, ok := params[name].(bool); !ok && params[name] != nil {
			return fault.Invalid.Errorf("%s: must be true or false", name).In("parameters")
		}
	}
	// The name becomes an entry of an archive and the name of a download. A path in it could write
	// outside of the folder where a careless program unpacks it.
	if name, _ := params["fileName"].(string); strings.ContainsAny(name, "/\\\x00") {
		return fault.Invalid.Errorf("fileName: must be a name without folders").In("parameters")
	}
	_, err := columns(c, params)
	return err
}

// on reports whether one of the names is a parameter that is true.
func on(params map[string]any, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return params[name] == true })
}

// directoryOf is the directory that a property refers to, "" if it refers to none.
func directoryOf(c *engine.Ctx, xpath string) string {
	f, ok := storage.TypesOf(c.Tx).FieldByKey(xpath)
	if !ok {
		return ""
	}
	name, _ := strings.CutPrefix(f.Resolver, "directory:")
	return name
}

// labelled puts columns for labels behind those of properties that refer to a directory, if a language is
// asked for.
func labelled(c *engine.Ctx, names []string, params map[string]any) []string {
	if lang, _ := params["lang"].(string); lang == "" {
		return names
	}
	var out []string
	for _, name := range names {
		if out = append(out, name); directoryOf(c, name) != "" {
			out = append(out, name+labelMark)
		}
	}
	return out
}

// labels puts the labels of entries, in the language asked for, in place of their ids.
func labels(c *engine.Ctx, xpath string, v any, params map[string]any) (any, error) {
	switch v := v.(type) {
	case string:
		lang, _ := params["lang"].(string)
		return label(c, directoryOf(c, xpath), v, lang)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = labels(c, xpath, item, params); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// label is that of an entry; an id that nothing has is its own. Values of hierarchical directories are
// stored as parent/child; the entry itself has the last part as its id. A label that is missing is not
// an error, since a table with an id in it is better than none.
func label(c *engine.Ctx, list, id, lang string) (string, error) {
	d, err := record.In(c.Tx, list)
	if err != nil {
		return "", err
	}
	e, err := d.Entry(id)
	if i := strings.LastIndexByte(id, '/'); i >= 0 && d.Parent != "" && fault.Is(err, fault.NotFound) {
		e, err = d.Entry(id[i+1:])
	}
	if fault.Is(err, fault.NotFound) {
		return id, nil
	}
	if err != nil {
		return "", err
	}
	// Directories have a column for each language, or one label that is the key of a translated
	// text.
	for _, name := range []string{"label_" + directory.Language(lang), "label", "label_en"} {
		if text, _ := e.Values[name].(string); text != "" {
			return record.Registry(c.Tx).Text(lang, text), nil
		}
	}
	return id, nil
}

// keepTable makes the file of a table; in an archive if that is asked for.
func keepTable(tx *storage.Tx, params map[string]any, in io.Reader) (*storage.Blob, error) {
	name, _ := params["fileName"].(string)
	name = cmp.Or(name, "export.csv")
	if !on(params, "zip") {
		b, err := tx.NewBlob(name, "text/csv", in)
		if err == nil {
			b.Encoding = "UTF-8"
		}
		return b, err
	}
	z := &zipped{in: in}
	z.to = zip.NewWriter(&z.out)
	var err error
	if z.file, err = z.to.Create(name); err != nil {
		return nil, err
	}
	return tx.NewBlob(strings.TrimSuffix(name, ".csv")+".zip", "application/zip", z)
}

// zipped reads an archive with one file, which it makes of another reader as it is read. The store takes
// a reader and an archive wants a writer. Packing 32 KiB whenever the reader has nothing left joins the
// two without a goroutine, which would have to be ended when the store gives up, and without the whole
// in memory.
type zipped struct {
	in   io.Reader
	to   *zip.Writer
	file io.Writer
	out  bytes.Buffer
	over bool
}

func (z *zipped) Read(p []byte) (int, error) {
	for z.out.Len() == 0 && !z.over {
		_, err := io.CopyN(z.file, z.in, 32<<10)
		if z.over = errors.Is(err, io.EOF); z.over {
			err = z.to.Close()
		}
		if err != nil {
			return 0, err
		}
	}
	return z.out.Read(p)
}
