package render

import (
	"crypto/rand"
	"html/template"
	"strings"
)

// A page in a folder refers to its style sheets and scripts; one that is about to be printed
// has them within, since each request costs a browser as much as a slide.

func linkStyles(names []string) template.HTML {
	return each(names, func(name string) string { return `<link rel="stylesheet" href="` + name + `">` })
}

func linkScripts(names []string) template.HTML {
	return each(names, func(name string) string { return `<script src="` + name + `"></script>` })
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
