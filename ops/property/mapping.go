package property

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"catena/engine/expr"
	"catena/engine/metadata"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// Mappings applies the declared mappings that have rules: in the transaction that creates or changes a document, properties
// are filled from the metadata of its file and written back to it. Files are read and written while no transaction is open.
type Mappings struct {
	Tools metadata.Tools
	Log   *slog.Logger
}

// Watch applies the mappings in a repository.
func (ms *Mappings) Watch(repo *storage.Repo) {
	repo.OnEvent(func(tx *storage.Tx, e storage.Event) error {
		rules := storage.TypesOf(tx).MetadataRules()
		if len(rules) == 0 {
			return nil
		}
		changes := e.Name == "beforeDocumentModification"
		if e.Name != "aboutToCreate" && !changes || e.Doc == nil || e.Doc.IsVersion() || e.Doc.IsProxy() {
			return nil
		}
		a := application{tx: tx, d: e.Doc, tools: ms.Tools, log: ms.Log}
		a.tools.NewBlob = tx.NewBlob
		a.tools.Outside = func(what any, find func(context.Context) (any, error)) (any, error) {
			return storage.Outside(tx, what, find)
		}
		for _, m := range rules {
			if !applies(m, e.Doc) {
				continue
			}
			if changes && a.old == nil {
				var err error
				// What is stored is compared with what is to be, and the caller need not be allowed to read it.
				if a.old, err = tx.As(tx.Repo().System()).Doc(storage.Ref(e.Doc.ID())); err != nil {
					return err
				}
			}
			if err := a.apply(tx.Context(), m); err != nil {
				return err
			}
		}
		return nil
	})
}

// applies reports whether the rule of a mapping is for a document.
func applies(m *schema.MetadataMapping, d *storage.Doc) bool {
	if len(m.Rule.Types) > 0 && !slices.Contains(m.Rule.Types, d.Type().Name) {
		return false
	}
	return !slices.ContainsFunc(m.Rule.Facets, func(facet string) bool { return !d.HasFacet(facet) })
}

// application is the application of mappings to a document that is about to be stored.
type application struct {
	tx    *storage.Tx
	d     *storage.Doc
	old   *storage.Doc // as it is stored; nil: it is new
	tools metadata.Tools
	log   *slog.Logger
}

// apply applies a mapping. A new file fills the properties; one that somebody has changed goes into the file instead, whether or
// not that is new.
func (a *application) apply(ctx context.Context, m *schema.MetadataMapping) error {
	b, err := a.d.BlobAt(m.Blob)
	if fault.Is(err, fault.Invalid) {
		return nil // documents of this type have no such property
	}
	if err != nil || b == nil || !m.Rule.TakesFile(b.Type) {
		return err
	}
	fresh, changed := true, []string(nil)
	if a.old != nil {
		was, err := a.old.BlobAt(m.Blob)
		if err != nil {
			return err
		}
		fresh = was == nil || was.Digest != b.Digest
		if changed, err = a.changed(m); err != nil {
			return err
		}
	}
	switch {
	case fresh && len(changed) == 0:
		return a.read(ctx, m, b)
	case len(changed) == 0 || !m.Rule.WriteBack:
		return nil
	case fresh: // all that the properties say is true of the new file
		changed = slices.Sorted(maps.Keys(m.Properties))
	}
	return a.write(ctx, m, b, changed)
}

// changed are the properties of a mapping that differ from those that are stored.
func (a *application) changed(m *schema.MetadataMapping) (all []string, err error) {
	for _, xpath := range slices.Sorted(maps.Keys(m.Properties)) {
		now, err := a.d.Get(xpath)
		if fault.Is(err, fault.Invalid) {
			continue
		}
		if err != nil {
			return nil, err
		}
		was, err := a.old.Get(xpath)
		if err != nil && !fault.Is(err, fault.Invalid) {
			return nil, err
		}
		if textOf(now) != textOf(was) {
			all = append(all, xpath)
		}
	}
	return all, nil
}

// read fills the properties of which the file has metadata.
func (a *application) read(ctx context.Context, m *schema.MetadataMapping, b *storage.Blob) error {
	found, err := metadata.Read(ctx, a.tools, b)
	if err != nil {
		return a.tolerate(m, b, err)
	}
	for _, xpath := range slices.Sorted(maps.Keys(m.Properties)) {
		v := named(found, m.Properties[xpath])
		if v == nil {
			continue
		}
		if err := a.d.Set(xpath, v); err != nil {
			if err := a.tolerate(m, b, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// write puts properties into the file, as far as its format has a place for them and they differ from what is there.
func (a *application) write(ctx context.Context, m *schema.MetadataMapping, b *storage.Blob, xpaths []string) error {
	found, err := metadata.Read(ctx, a.tools, b)
	if err != nil {
		return a.tolerate(m, b, err)
	}
	texts := map[string]string{}
	for _, xpath := range xpaths {
		name := m.Properties[xpath]
		if !metadata.Writable(b.Type, name) {
			continue
		}
		v, err := a.d.Get(xpath)
		if err != nil {
			continue // it has none
		}
		if text := textOf(v); text != textOf(named(found, name)) {
			texts[name] = text
		}
	}
	if len(texts) == 0 {
		return nil
	}
	written, err := metadata.Write(ctx, a.tools, b, texts)
	if err != nil {
		return a.tolerate(m, b, err)
	}
	xpath, err := a.d.FileXpath(m.Blob)
	if err != nil {
		return err
	}
	return a.d.AttachBlob(xpath, written)
}

// tolerate keeps a file that cannot be read or written, or says what a property cannot hold, from failing the change of the
// document: files come from strangers. The log names it.
func (a *application) tolerate(m *schema.MetadataMapping, b *storage.Blob, err error) error {
	if !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) && !fault.Is(err, fault.Denied) {
		return err
	}
	a.log.Warn("metadata mapping not applied", "mapping", m.Name, "document", a.d.ID(), "file", b.Name, "err", err)
	return nil
}

// textOf is a value as files hold it.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = textOf(item)
		}
		return strings.Join(items, ", ")
	case []string:
		return strings.Join(v, ", ")
	case map[string]any:
		return fmt.Sprint(v)
	}
	return expr.Text(v)
}
