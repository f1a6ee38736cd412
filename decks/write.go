package decks

import "golang.org/x/net/html"

// write puts a tag out: its own bytes if nothing was taken from it.
func (f *filter) write(name, raw string, all, kept []attribute, closed bool) {
	if len(kept) == len(all) && sane(raw) {
		f.out.WriteString(raw)
		return
	}
	f.out.WriteByte('<')
	f.out.WriteString(name)
	seen := map[string]bool{}
	for _, a := range kept {
		if seen[a.name] || a.name == "" {
			continue
		}
		seen[a.name] = true
		f.out.WriteString(` ` + a.name + `="` + html.EscapeString(a.value) + `"`)
	}
	if closed {
		f.out.WriteString(" /")
	}
	f.out.WriteByte('>')
}
