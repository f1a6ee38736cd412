// Package theme defines how decks look in a browser: style sheets with the colours and fonts of their themes, and the
// files of reveal.js, which make copies from npm packages and the compiler embeds. It holds no deck and serves
// nothing: pages and exports take its files and put them where a browser finds them.
//
// The names of colours and fonts are values that callers write into decks, so a name cannot be removed
// without a synonym for the decks that have it. reveal.js and its plug-ins are pinned by the lock file in
// npm/, and their licenses are delivered with them.
package theme

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"sync"

	"catena/storage/fault"
)

//go:embed all:dist
var built embed.FS

// Script is what every document that shows a deck does with its slides, before and after it
// starts the framework: it is the object Deck there.
//
//go:embed deck.js
var Script []byte

// ScriptName is the name of Script among the files of a document.
const ScriptName = "deck.js"

// Names of the built-in files, beside those in fonts/ and licenses/.
const (
	Reveal       = "reveal.js"
	RevealCSS    = "reveal.css"
	ResetCSS     = "reset.css"
	Markdown     = "markdown.js"
	Highlight    = "highlight.js"
	HighlightCSS = "highlight.css"
	Katex        = "katex.js"
	KatexAuto    = "katex-auto.js" // finds formulas in text
	KatexCSS     = "katex.css"     // reads its faces from fonts/ beside it
)

// Files returns the built-in files. A program compiled without npm's packages has none.
func Files() (fs.FS, error) {
	dir, err := fs.Sub(built, "dist")
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(dir, Reveal); err != nil {
		return nil, fault.Unavailable.Errorf("reveal.js: not built into this program; build it with make, which requires npm").WithCode(fault.CodeNotBuiltIn)
	}
	return dir, nil
}

// Version changes whenever a built-in file or a theme does, so that browsers may keep
// what lies below an address that has it.
var Version = sync.OnceValue(func() string {
	sum := sha256.New()
	_ = fs.WalkDir(built, ".", func(name string, d fs.DirEntry, err error) error { // memory: no errors
		if err == nil && !d.IsDir() {
			text, _ := built.ReadFile(name)
			sum.Write([]byte(name))
			sum.Write(text)
		}
		return nil
	})
	sum.Write(Script)
	for i := range Colors {
		sum.Write([]byte(CSS(Colors[i].Name, "", "")))
	}
	for i := range Fonts {
		sum.Write([]byte(CSS("", Fonts[i].Name, "")))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})
