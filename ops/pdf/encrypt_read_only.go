package pdf

import (
	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
)

var encryptReadOnly = engine.Op{
	Name:     "PDF.EncryptReadOnly",
	Label:    "PDF: Encrypt Read Only",
	Category: "Conversion",
	Doc: "Protects PDF files, or those of documents, by passwords and returns them. Who does not know the owner's password may print and copy, " +
		"but not change them.",
	Effect: engine.Reads,
	Run:    engine.Overload(engine.Each(encryptReadOnlyParams.blob), engine.Each(encryptReadOnlyParams.doc)),
}

type encryptReadOnlyParams struct {
	protection

	Original string `json:"originalOwnerPwd,omitzero" secret:"true" doc:"The owner's password of a file that is protected already."`
	Owner    string `json:"ownerPwd,omitzero" secret:"true" doc:"The owner's new password; without it the one before. Up to 32 characters of ASCII, as the other."`
	User     string `json:"userPwd,omitzero" secret:"true" doc:"Password that opens the file; without it, it needs none."`
}

// readOnly is what others than the owner may do with files that they may not change.
const readOnly = pdf.MayPrint | pdf.MayPrintWell | pdf.MayCopy | pdf.MayReadAloud

func (p encryptReadOnlyParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := fileOf(d, p.Xpath)
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

func (p encryptReadOnlyParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	return p.protect(c, b, passwords{p.Original, p.Owner, p.User}, readOnly)
}
