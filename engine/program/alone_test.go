package program

import (
	"context"
	"os"
	"path/filepath"
)

// Alone returns a function that has the LibreOffice that runs convert a file that lies there, and nothing else: what the
// tool takes by itself.
func Alone(p *Programs, docx []byte) (convert func(context.Context) error, stop func()) {
	dir := filepath.Join(p.office.dir, "alone")
	source := filepath.Join(dir, "a.docx")
	if err := os.Mkdir(dir, 0o700); err != nil {
		panic(err)
	}
	if err := os.WriteFile(source, docx, 0o600); err != nil {
		panic(err)
	}
	return func(ctx context.Context) error {
		return p.office.ask(ctx, []string{"--convert-to", "pdf", "--outdir", dir, source})
	}, func() { _ = os.RemoveAll(dir) }
}
