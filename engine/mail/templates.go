package mail

import (
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	texttemplate "text/template"
	"unicode"

	"catena/storage/declare"
	"catena/storage/fault"
)

//go:embed defaults
var defaults embed.FS

// Bounds of templates.
const (
	maxTemplate = 256 << 10 // bytes of a file
	maxMessage  = 1 << 20   // bytes that a template makes
)

// Templates are the texts of messages by name. A template is one file or two, NAME.txt and NAME.html;
// the first line of NAME.txt, "Subject: …", is the subject.
type Templates struct {
	texts map[string]*texttemplate.Template
	pages map[string]*htmltemplate.Template
	subs  map[string]*texttemplate.Template
}

// Defaults are the templates that every server has.
func Defaults() *Templates {
	sub, err := fs.Sub(defaults, "defaults")
	if err == nil {
		var t *Templates
		if t, err = load(sub); err == nil {
			return t
		}
	}
	panic(err) // the tests load them
}

// LoadTemplates reads the templates of a folder over the defaults. A folder that is not there has none.
func LoadTemplates(dir fs.FS) (*Templates, error) {
	sub, err := fs.Sub(defaults, "defaults")
	if err != nil {
		return nil, err
	}
	return load(sub, dir)
}

// Has reports whether there is a template of a name.
func (t *Templates) Has(name string) bool { return t.texts[name] != nil || t.pages[name] != nil }

func load(layers ...fs.FS) (*Templates, error) {
	t := &Templates{
		texts: map[string]*texttemplate.Template{}, pages: map[string]*htmltemplate.Template{}, subs: map[string]*texttemplate.Template{},
	}
	var errs []error
	for _, dir := range layers {
		entries, err := fs.ReadDir(dir, ".")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			ext := path.Ext(e.Name())
			if e.IsDir() || ext != ".txt" && ext != ".html" {
				continue
			}
			source, err := readBounded(dir, e.Name())
			if err == nil {
				err = t.add(e.Name(), ext, source)
			}
			errs = append(errs, err)
		}
	}
	return t, errors.Join(errs...)
}

func readBounded(dir fs.FS, name string) (string, error) {
	b, err := declare.ReadFile(dir, name)
	if err != nil {
		return "", fault.Wrap(err, "%s", name)
	}
	if len(b) > maxTemplate {
		return "", fmt.Errorf("%s: longer than %d bytes", name, maxTemplate)
	}
	return string(b), nil
}

// add parses a file; errors of the templates name it with the line.
func (t *Templates) add(file, ext, source string) (err error) {
	name := strings.TrimSuffix(file, ext)
	if ext == ".html" {
		t.pages[name], err = htmltemplate.New(file).Option("missingkey=zero").Parse(source)
		return err
	}
	if first, rest, _ := strings.Cut(source, "\n"); strings.HasPrefix(first, "Subject:") {
		subject := strings.TrimSpace(strings.TrimPrefix(first, "Subject:"))
		if t.subs[name], err = texttemplate.New(file).Option("missingkey=zero").Parse(subject); err != nil {
			return err
		}
		source = strings.TrimPrefix(rest, "\n")
	}
	t.texts[name], err = texttemplate.New(file).Option("missingkey=zero").Parse(source)
	return err
}

// Missing is the error of a template that there is not, with the one that was probably meant.
func (t *Templates) Missing(name string) *fault.Error {
	return fault.NotFound.Errorf("mail: unknown template %q%s", name, fault.Perhaps(name, maps.Keys(t.texts)))
}

// fill makes the text of a message from its template and its data.
func (t *Templates) fill(m *Mail, base string) error {
	if !t.Has(m.Template) {
		return t.Missing(m.Template)
	}
	data := map[string]any{"base": base}
	for k, v := range m.Data {
		data[k] = v
	}
	var err error
	if sub := t.subs[m.Template]; sub != nil && m.Subject == "" {
		if m.Subject, err = render(sub.Execute, data); err != nil {
			return err
		}
		m.Subject = oneLine(m.Subject)
	}
	if text := t.texts[m.Template]; text != nil {
		if m.Text, err = render(text.Execute, data); err != nil {
			return err
		}
	}
	if page := t.pages[m.Template]; page != nil {
		m.HTML, err = render(page.Execute, data)
	}
	return err
}

// render runs a template until it has made too much.
func render(execute func(io.Writer, any) error, data any) (string, error) {
	var b bounded
	if err := execute(&b, data); err != nil {
		return "", fault.Invalid.Errorf("mail: %w", err)
	}
	return strings.ReplaceAll(b.String(), "<no value>", ""), nil
}

type bounded struct{ strings.Builder }

// Write adds to the text unless it gets too long.
func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxMessage {
		return 0, fault.Limit.Errorf("more than %d bytes", maxMessage)
	}
	return b.Builder.Write(p)
}

// oneLine makes a text fit for a header: line ends and other control characters become spaces.
func oneLine(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	s = strings.Join(words, " ")
	if runes := []rune(s); len(runes) > 200 {
		s = string(slices.Clone(runes[:199])) + "…"
	}
	return s
}
