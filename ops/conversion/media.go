package conversion

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"catena/engine/metadata"
	"catena/storage"
	"catena/storage/fault"
)

// Facets of films and sounds, and the properties that say what is in their files.
const (
	videoFacet, videoInfo     = "Video", "vid:info"
	audioFacet, audioDuration = "Audio", "aud:duration"
)

// fill sets what the new file of a film or sound says about itself, and forgets what was made of the file before. It is called
// before the document is stored, so that filling is part of the change. Only the heads of files are read.
func fill(tx *storage.Tx, e storage.Event) error {
	made := e.Doc != nil && e.Name == "aboutToCreate"
	changed := e.Doc != nil && e.Name == "beforeDocumentModification"
	if !made && !changed || !slices.ContainsFunc(derived, func(f derivedFields) bool { return e.Doc.HasFacet(f.facet) }) {
		return nil
	}
	b, err := e.Doc.MainBlob()
	if err != nil {
		return err
	}
	if changed {
		if same, err := forget(tx, e.Doc, b); same || err != nil {
			return err
		}
	}
	if b == nil || !e.Doc.HasFacet(videoFacet) && !e.Doc.HasFacet(audioFacet) {
		return nil
	}
	m, err := metadata.ReadMedia(b)
	if m == nil || err != nil {
		return err
	}
	return setMedia(e.Doc, m)
}

// derivedFields are the properties of a facet that are made of the main file.
type derivedFields struct {
	facet  string
	xpaths []string
}

var derived = []derivedFields{
	{audioFacet, []string{audioDuration}},
	{pictureFacet, []string{pictureInfo, viewsField}},
	{videoFacet, []string{videoInfo, viewsField, storyboardField, transcodedField}},
}

// forget removes from a document what was made of the file that it had, unless the same change replaces that too. It
// reports whether the file is still the same.
func forget(tx *storage.Tx, d *storage.Doc, b *storage.Blob) (same bool, err error) {
	stored, err := tx.As(tx.Repo().System()).Doc(storage.Ref(d.ID()))
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	old, err := stored.MainBlob()
	if err != nil || old == nil {
		return old == nil && b == nil, err
	}
	if b != nil && old.Digest == b.Digest {
		return true, nil
	}
	for _, f := range derived {
		if !d.HasFacet(f.facet) || !stored.HasFacet(f.facet) {
			continue
		}
		for _, xpath := range f.xpaths {
			if err := forgetOne(d, stored, xpath); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

func forgetOne(d, stored *storage.Doc, xpath string) error {
	var texts [2][]byte
	for i, of := range []*storage.Doc{d, stored} {
		v, err := of.Get(xpath)
		if err != nil {
			return err
		}
		if texts[i], err = json.Marshal(v); err != nil {
			return err
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		return nil
	}
	return d.Set(xpath, nil)
}

func setMedia(d *storage.Doc, m *metadata.Media) error {
	if d.HasFacet(videoFacet) {
		return d.Set(videoInfo, m.Info())
	}
	return d.Set(audioDuration, int64(math.Round(m.Duration)))
}
