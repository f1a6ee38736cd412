package pdf

import (
	"crypto/rand"
	"errors"
	"io"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"catena/storage/fault"
)

// May is what the owner of a protected file lets others do, who know its other password, if it has one.
type May = model.PermissionFlags

// What others may do, and what a task asks for that nobody but the owner may.
const (
	MayPrint      = model.PermissionPrintRev2
	MayModify     = model.PermissionModify
	MayCopy       = model.PermissionExtract
	MayAnnotate   = model.PermissionModAnnFillForm
	MayFill       = model.PermissionFillRev3
	MayReadAloud  = model.PermissionExtractRev3
	MayAssemble   = model.PermissionAssembleRev3
	MayPrintWell  = model.PermissionPrintRev3
	MayAll        = model.PermissionsAll
	mayNobodyElse = May(0)
)

// open reads one of a task's files with its password. Who does not know the owner's may do what is needed only if the
// owner lets others.
func (t *task) open(f io.ReadSeeker, i int, need May) (*model.Context, error) {
	// A random password cannot be the user's, so this succeeds with the owner's rights or not at all.
	read, err := readAs(f, t.Password, rand.Text())
	if errors.Is(err, pdfcpu.ErrWrongPassword) {
		read, err = readAs(f, "", t.Password)
		if err == nil && May(read.E.P)&need == 0 {
			return nil, locked("file %s: is protected, and this requires the owner's password", t.Names[i])
		}
	}
	switch {
	case errors.Is(err, pdfcpu.ErrWrongPassword):
		return nil, t.refused(i)
	case err != nil:
		return nil, fault.Invalid.Errorf("file %s: cannot be read as PDF: %w", t.Names[i], err)
	}
	if t.Pages -= read.PageCount; t.Pages < 0 {
		return nil, fault.Limit.Errorf("file %s: %d pages, %d more than allowed", t.Names[i], read.PageCount, -t.Pages)
	}
	return read, nil
}

// refused is the error about a file that the task's password does not open.
func (t *task) refused(i int) error {
	if t.Password == "" {
		return locked("file %s: requires a password", t.Names[i])
	}
	return locked("file %s: wrong password", t.Names[i])
}

func locked(format string, args ...any) error {
	return fault.Denied.Errorf(format, args...).WithCode(fault.CodePDFPassword)
}

// readAs reads a file as somebody who takes one password for the owner's, and the other for that of anybody else.
func readAs(f io.ReadSeeker, owner, user string) (*model.Context, error) {
	conf := Settings()
	conf.ValidationMode, conf.Cmd = model.ValidationRelaxed, model.LISTINFO
	conf.OwnerPW, conf.UserPW = owner, user
	return api.ReadAndValidate(f, conf)
}
