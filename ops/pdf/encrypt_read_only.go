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
	Doc: "Encrypts PDF files, or those of documents, with passwords and returns them. Users without the owner's password may print and copy " +
		"but not change them.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.Each(encryptReadOnlyParams.blob), engine.Each(encryptReadOnlyParams.doc)),
}

type encryptReadOnlyParams struct {
	protection

	Original string `json:"originalOwnerPwd,omitzero" secret:"true" doc:"Owner's password of a file that is already protected."`
	Owner    string `json:"ownerPwd,omitzero" secret:"true" doc:"New owner's password; by default the old one is kept. Passwords have up to 32 ASCII characters."`
	User     string `json:"userPwd,omitzero" secret:"true" doc:"Password to open the file; by default none is required."`
}

// readOnly is what others than the owner may do with files that they may not change. Reading aloud is
// granted because denying it would shut out people who use a screen reader.
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
