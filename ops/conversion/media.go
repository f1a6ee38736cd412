package conversion

import (
	"math"

	"catena/engine/metadata"
	"catena/storage"
	"catena/storage/fault"
)

// Facets of films and sounds, and the properties that say what is in their files.
const (
	videoFacet, videoInfo     = "Video", "vid:info"
	audioFacet, audioDuration = "Audio", "aud:duration"
)

// fill sets what the new file of a film or sound says about itself. It is called before the document is stored, so that
// filling is part of the change. Only the heads of files are read.
func fill(tx *storage.Tx, e storage.Event) error {
	if e.Name != "aboutToCreate" && e.Name != "beforeDocumentModification" || e.Doc == nil || !e.Doc.HasFacet(videoFacet) && !e.Doc.HasFacet(audioFacet) {
		return nil
	}
	b, err := e.Doc.MainBlob()
	if err != nil || b == nil {
		return err
	}
	if e.Name == "beforeDocumentModification" {
		if same, err := sameFile(tx, e.Doc, b); same || err != nil {
			return err
		}
	}
	m, err := metadata.ReadMedia(b)
	if m == nil || err != nil {
		return err
	}
	return setMedia(e.Doc, m)
}

// sameFile reports whether a document has the file already that it is about to be stored with.
func sameFile(tx *storage.Tx, d *storage.Doc, b *storage.Blob) (bool, error) {
	stored, err := tx.As(tx.Repo().System()).Doc(storage.Ref(d.ID()))
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	old, err := stored.MainBlob()
	return old != nil && old.Digest == b.Digest, err
}

func setMedia(d *storage.Doc, m *metadata.Media) error {
	if d.HasFacet(videoFacet) {
		return d.Set(videoInfo, m.Info())
	}
	return d.Set(audioDuration, int64(math.Round(m.Duration)))
}
