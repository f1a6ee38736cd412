package pdf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

var encrypt = engine.Op{
	Name:     "PDF.Encrypt",
	Label:    "PDF: Encrypt",
	Category: "Conversion",
	Doc: "Protects PDF files, or those of documents, by passwords and returns them. What those may do who do not know the owner's password is named in " +
		"permissions: print, modify, copy, modifyAnnot, fillForms, extractForAccessibility, assemble and printDegraded, each true or false; what is not named they may not.",
	Effect: engine.Reads,
	Run:    engine.Overload(engine.Each(encryptParams.blob), engine.Each(encryptParams.doc)),
}

type encryptParams struct {
	Original string `json:"originalOwnerPwd" secret:"true" doc:"The owner's password of a file that is protected already; may be empty."`
	Owner    string `json:"ownerPwd" secret:"true" doc:"The owner's new password; if empty, the one before. Up to 32 characters of ASCII, as the other."`
	User     string `json:"userPwd" secret:"true" doc:"Password that opens the file; if empty, it needs none."`
	protection

	Permissions storage.Props `json:"permissions,omitzero" doc:"What others than the owner may do: print=true."`
}

// protection is what the operations that protect files have in common.
type protection struct {
	Bits  string `json:"keyLength" default:"128" enum:"40,128" widget:"Option" doc:"Bits of the key. One of 40 is soon guessed, and for readers that know no other. Files of PDF 2.0 always have one of 256."`
	Xpath string `json:"xpath" default:"file:content" values:"file:content" doc:"Xpath of the file of a document."`
}

func (p encryptParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := fileOf(d, p.Xpath)
	if err != nil {
		return nil, err
	}
	return p.blob(c, b)
}

func (p encryptParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	may, err := allowed(p.Permissions)
	if err != nil {
		return nil, err
	}
	return p.protect(c, b, passwords{p.Original, p.Owner, p.User}, may)
}

// passwords are the owner's until now and from now on, and the one that opens the file.
type passwords struct{ original, owner, user string }

func (p protection) protect(c *engine.Ctx, b *storage.Blob, words passwords, may pdf.May) (*storage.Blob, error) {
	if err := check(b); err != nil {
		return nil, err
	}
	if words.owner == "" {
		words.owner = words.original
	}
	if words.owner == "" {
		return nil, fault.Invalid.Errorf("ownerPwd: is needed where originalOwnerPwd is not given").In("ownerPwd")
	}
	if err := pdf.CheckPassword(words.owner); err != nil {
		return nil, fault.Wrap(err, "ownerPwd").In("ownerPwd")
	}
	if err := pdf.CheckPassword(words.user); err != nil {
		return nil, fault.Wrap(err, "userPwd").In("userPwd")
	}
	bits, err := strconv.Atoi(p.Bits)
	if err != nil {
		return nil, fault.Invalid.Errorf("keyLength: %w", err).In("keyLength")
	}
	return newFile(c, b.Name, func(tool *pdf.Tool, take pdf.Take) error {
		return tool.Protect(c, b, words.original, pdf.Protection{Owner: words.owner, User: words.user, Bits: bits, May: may}, take)
	})
}

// rights are what an owner lets others do, by name.
var rights = map[string]pdf.May{
	"assemble":                pdf.MayAssemble,
	"copy":                    pdf.MayCopy,
	"extractForAccessibility": pdf.MayReadAloud,
	"fillForms":               pdf.MayFill,
	"modify":                  pdf.MayModify,
	"modifyAnnot":             pdf.MayAnnotate,
	"print":                   pdf.MayPrint | pdf.MayPrintWell,
	"printDegraded":           pdf.MayPrint,
}

func allowed(permissions storage.Props) (may pdf.May, err error) {
	for _, name := range slices.Sorted(maps.Keys(permissions)) {
		right, known := rights[name]
		yes, bad := strconv.ParseBool(fmt.Sprint(permissions[name]))
		switch {
		case !known:
			return 0, fault.Invalid.Errorf("permissions: there is no %q%s", name, fault.Perhaps(name, maps.Keys(rights))).In("permissions")
		case bad != nil:
			return 0, fault.Invalid.Errorf("permissions: %s is true or false", name).In("permissions")
		case yes:
			may |= right
		}
	}
	return may, nil
}
