package render

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"strings"
)

// A page in a folder refers to its style sheets and scripts; one that is about to be printed
// has them within, since each request costs a browser as much as a slide.

func linkStyles(names []string) template.HTML {
	return each(names, func(name string) string { return `<link rel="stylesheet" href="` + name + `">` })
}

func (p *webPage) linkScripts(names []string) template.HTML {
	return each(names, func(name string) string { return `<script nonce="` + p.nonce + `" src="` + name + `"></script>` })
}

// secretOf is what the scripts of an archive are known by. The same deck makes the same archive, and no deck can hold its own
// hash, so that none has a script that is known.
func secretOf(html string, d *Deck) string {
	sum := sha256.Sum256([]byte("archive\x00" + html + "\x00" + d.Title + "\x00" + d.Description + "\x00" + d.CSS))
	return hex.EncodeToString(sum[:16])
}

// archivePolicy has a page that is opened from a folder run its own scripts alone. Pictures, films and frames that the deck names
// elsewhere may be shown, as no program of the page can ask for anything.
func (p *webPage) archivePolicy() template.HTML {
	const media = "'self' file: data: blob: https: http:"
	return template.HTML(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-` + p.nonce + //nolint:gosec // our own text
		`'; style-src 'self' file: 'unsafe-inline'; font-src 'self' file: data:; img-src ` + media + `; media-src ` + media +
		`; frame-src https: http:; connect-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'">` + "\n")
}

// inlineStyles moves style sheets into the page. A slash that is escaped means the same to a
// browser, and ends no element.
func (p *webPage) inlineStyles(names []string) template.HTML {
	return each(names, func(name string) string {
		return "<style>\n" + strings.ReplaceAll(string(p.move(name)), "</", `<\/`) + "</style>"
	})
}

// inlineScripts moves scripts into the page, with a secret that no deck knows.
func (p *webPage) inlineScripts(names []string) template.HTML {
	p.nonce = rand.Text()
	return each(names, func(name string) string {
		if text := string(p.files[name]); strings.Contains(text, "<!--") || strings.Contains(text, "</script") {
			return `<script nonce="` + p.nonce + `" src="` + name + `"></script>` // which would not end where it ends
		}
		return `<script nonce="` + p.nonce + `">` + string(p.move(name)) + "</script>"
	})
}

// move returns a file that is no longer one.
func (p *webPage) move(name string) []byte {
	data := p.files[name]
	delete(p.files, name)
	return data
}

func each(names []string, element func(string) string) template.HTML {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(element(name))
		b.WriteByte('\n')
	}
	return template.HTML(b.String()) //nolint:gosec // our own files
}
