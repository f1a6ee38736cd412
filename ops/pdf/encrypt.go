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
	Doc: "Encrypts PDF files, or those of documents, with passwords and returns them. What users without the owner's password may do is listed in " +
		"permissions: print, modify, copy, modifyAnnot, fillForms, extractForAccessibility, assemble and printDegraded, each true or false; unlisted permissions are denied.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.Each(encryptParams.blob), engine.Each(encryptParams.doc)),
}

type encryptParams struct {
	Original string `json:"originalOwnerPwd" secret:"true" doc:"Owner's password of a file that is already protected; may be empty."`
	Owner    string `json:"ownerPwd" secret:"true" doc:"New owner's password; if empty, the old one is kept. Passwords have up to 32 ASCII characters."`
	User     string `json:"userPwd" secret:"true" doc:"Password to open the file; if empty, none is required."`
	protection

	Permissions storage.Props `json:"permissions,omitzero" doc:"What users other than the owner may do, for example print=true."`
}

// protection is what the operations that protect files have in common. It is embedded, so that the
// parameters have the same names and defaults in both.
type protection struct {
	Bits  string `json:"keyLength" default:"128" enum:"40,128" widget:"Option" doc:"Key length in bits. 40 bits are easily broken and only for old readers. PDF 2.0 files always use 256 bits."`
	Xpath string `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the file of a document."`
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

// passwords are the owner's until now and from now on, and the one that opens the file. They are the
// parameters of the call, which are kept out of logs, traces and stored runs by the tag secret; nothing
// else of this package may hold on to them.
type passwords struct{ original, owner, user string }

func (p protection) protect(c *engine.Ctx, b *storage.Blob, words passwords, may pdf.May) (*storage.Blob, error) {
	if err := check(b); err != nil {
		return nil, err
	}
	// A new password of the owner is optional on a file that is protected already. A file must
	// never be protected with an empty one: anyone who opens it would be its owner.
	if words.owner == "" {
		words.owner = words.original
	}
	if words.owner == "" {
		return nil, fault.Invalid.Errorf("ownerPwd: is required without originalOwnerPwd").In("ownerPwd")
	}
	if err := pdf.CheckPassword(words.owner); err != nil {
		return nil, fault.Wrap(err, "ownerPwd").In("ownerPwd")
	}
	// An empty password of the user is allowed and common: anyone can open the file, within its
	// permissions.
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

// rights are what an owner lets others do, by name. The names are the platform's. Print means printing
// in full quality, and so includes the degraded form; modify does not include the narrower rights.
// Readers honour these bits voluntarily: only the password that opens a file is enforced by the
// encryption.
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
			return 0, fault.Invalid.Errorf("permissions: unknown permission %q%s", name, fault.Perhaps(name, maps.Keys(rights))).In("permissions")
		case bad != nil:
			return 0, fault.Invalid.Errorf("permissions: %s must be true or false", name).In("permissions")
		case yes:
			may |= right
		}
	}
	return may, nil
}
