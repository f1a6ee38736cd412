package pdf

import (
	"bytes"
	"io"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"catena/storage/fault"
)

// Protection is what a file is protected by.
type Protection struct {
	Owner, User string // passwords, of at most MaxPassword characters of ASCII; without User anybody opens it
	Bits        int    // of the key: 40 or 128
	May         May    // what those may do who do not know the owner's password
}

// MaxPassword is the longest password of a protection, in bytes.
// The format pads or cuts passwords to 32 bytes before it makes a key of up to 128 bits of them.
const MaxPassword = 32

// newest is the version of the format that takes no keys but those of 256 bits.
const newest = model.V20

// protect writes a file that only passwords open.
func protect(t *task, files []io.ReadSeeker, out io.Writer) (result, error) {
	read, err := t.open(files[0], 0, mayNobodyElse)
	if err != nil {
		return result{}, err
	}
	if read.Encrypt != nil {
		var plain bytes.Buffer
		if err := unlock(read, &plain); err != nil {
			return result{}, err
		}
		if read, err = readAs(bytes.NewReader(plain.Bytes()), "", ""); err != nil {
			return result{}, err
		}
	}
	p := t.Protection
	read.Cmd = model.ENCRYPT
	read.OwnerPW, read.UserPW, read.Permissions = p.Owner, p.User, p.May|model.PermissionsNone
	// Keys of 40 bits exist with RC4 only.
	read.EncryptUsingAES, read.EncryptKeyLength = p.Bits > 40, p.Bits
	if read.XRefTable.Version() == newest {
		read.EncryptUsingAES, read.EncryptKeyLength = true, 256
	}
	return result{}, api.WriteContext(read, out)
}

// unprotect writes a file as it is without its protection, or nothing if it has none.
func unprotect(t *task, files []io.ReadSeeker, out io.Writer) (result, error) {
	read, err := t.open(files[0], 0, t.Need)
	if err != nil {
		return result{}, err
	}
	r := result{Info: &Info{Pages: read.PageCount}}
	if read.Encrypt == nil {
		return r, nil
	}
	return r, unlock(read, out)
}

func unlock(read *model.Context, out io.Writer) error {
	read.Cmd = model.DECRYPT
	return api.WriteContext(read, out)
}

// CheckPassword returns an error of kind Invalid for a password that not every reader of files understands in the same way.
func CheckPassword(password string) error {
	if len(password) > MaxPassword {
		return fault.Invalid.Errorf("password of %d bytes, at most %d are allowed", len(password), MaxPassword)
	}
	for _, c := range []byte(password) {
		if c < ' ' || c > '~' {
			return fault.Invalid.Errorf("must contain only ASCII characters")
		}
	}
	return nil
}
