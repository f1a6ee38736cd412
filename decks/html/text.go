package html

import "strings"

// text takes the text between two tags. At the top level only blanks may stand between slides. In Markdown, HTML is checked once more,
// because a browser makes elements of it.
func (f *filter) text() error {
	raw := f.raw
	if len(f.fences) > 0 && f.fences[0].from < f.at+len(raw) { // what follows is code
		raw = raw[:f.fences[0].from-f.at]
		f.pos, f.z = f.fences[0].from, nil
	}
	if f.depth == 0 && !f.inner {
		if trimmed := strings.TrimLeft(raw, " \t\r\n\f"); trimmed != "" {
			return f.refuse("text", f.at+len(raw)-len(trimmed))
		}
	}
	if !f.inner {
		f.outline.read(raw, false)
	}
	text := raw
	if strings.IndexByte(text, 0) >= 0 {
		f.remove("NUL", f.at)
		text = strings.ReplaceAll(text, "\x00", "")
	}
	if f.isRead() {
		text = f.markdown(text)
	}
	if text == raw {
		f.out.keep(raw, f.at)
	} else {
		f.out.write(text)
	}
	return nil
}

// comment keeps comments that every parser reads in the same way.
func (f *filter) comment() {
	body, ok := strings.CutPrefix(f.raw, "<!--")
	if ok {
		body, ok = strings.CutSuffix(body, "-->")
	}
	if !ok || strings.Contains(body, "--") || strings.ContainsAny(body, "<>\x00") && f.foreign > 0 ||
		strings.HasPrefix(body, ">") || strings.HasPrefix(body, "->") || strings.Contains(body, "<!-") || strings.HasSuffix(body, "-") {
		f.remove("comment", f.at)
		return
	}
	switch {
	case f.inner && !f.remark(body):
		f.remove("comment", f.at)
	case f.inner && strings.Contains(body, "<"):
		f.out.write("<!--" + strings.ReplaceAll(body, "<", "&lt;") + "-->")
	default:
		f.out.keep(f.raw, f.at)
	}
}
