package pdf

import (
	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
)

var removeEncryption = engine.Op{
	Name:     "PDF.RemoveEncryption",
	Label:    "PDF: Remove Encryption",
	Category: "Conversion",
	Doc:      "Removes the encryption of PDF files, or those of documents, and returns them. Unprotected files are returned unchanged.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.Each(removeEncryptionParams.blob), engine.Each(removeEncryptionParams.doc)),
}

type removeEncryptionParams struct {
	Owner string `json:"ownerPwd,omitzero" secret:"true" doc:"Owner's password. The password to open the file is not sufficient."`
	Xpath string `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the file of a document."`
}

func (p removeEncryptionParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := fileOf(d, p.Xpath)
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

func (p removeEncryptionParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	if err := check(b); err != nil {
		return nil, err
	}
	protected := false
	// Take is not called for a file without protection, so newFile then returns nil and the input
	// passes through.
	plain, err := newFile(c, b.Name, func(tool *pdf.Tool, take pdf.Take) (err error) {
		protected, err = tool.Unprotect(c, b, p.Owner, take)
		return err
	})
	if err == nil && !protected {
		plain = b
	}
	return plain, err
}
