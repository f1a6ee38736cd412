package mail

import (
	"context"
	"embed"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"catena/engine/template"
	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
)

//go:embed defaults
var defaults embed.FS

// limits bound a template of mail, whose text must fit into a message.
var limits = func() template.Limits {
	l := template.DefaultLimits
	l.Output = MaxText
	return l
}()

// Templates are the texts of messages by name. A template is one file or two: NAME.ftl makes the text, and NAME.ftlh the
// HTML, in which values are escaped. The first line of NAME.ftl, "Subject: …", is the subject.
type Templates struct {
	texts, pages, subjects map[string]*template.Template
}

// Defaults are the templates that every server has. They are read once.
var Defaults = sync.OnceValue(func() *Templates {
	texts, err := declare.ReadFolder(declare.Folder(defaults, "defaults"), Extensions...)
	t := &Templates{texts: map[string]*template.Template{}, pages: map[string]*template.Template{}, subjects: map[string]*template.Template{}}
	if err = errors.Join(err, declare.ErrorOf(t.addAll(texts))); err != nil {
		panic(err) // the tests load them
	}
	return t
})

// Extensions are those of files of templates, and those that had another language before.
var Extensions = []string{".ftl", ".ftlh", ".txt", ".html"}

// Build returns templates over those that every server has, and tells everything that is wrong with them.
func Build(_ *schema.Registry, texts []declare.Source) (*Templates, []declare.Mistake, error) {
	all := Defaults()
	t := &Templates{texts: maps.Clone(all.texts), pages: maps.Clone(all.pages), subjects: maps.Clone(all.subjects)}
	return t, t.addAll(texts), nil
}

// Has reports whether there is a template of a name.
func (t *Templates) Has(name string) bool { return t.texts[name] != nil || t.pages[name] != nil }

func (t *Templates) addAll(texts []declare.Source) (wrong []declare.Mistake) {
	for _, s := range texts {
		if err := t.add(s); err != nil {
			wrong = append(wrong, template.Mistake(s.Name, err))
		}
	}
	return wrong
}

// add reads a file. Those with the endings of the templates of before, which had another
// language, are refused, since messages without them would be others than somebody wrote.
func (t *Templates) add(s declare.Source) (err error) {
	ext := path.Ext(s.Name)
	name := strings.TrimSuffix(s.Name, ext)
	source := s.Text
	switch ext {
	case ".ftlh":
		t.pages[name], err = template.Parse("ftlh", s.Name, source, limits)
		return err
	case ".txt", ".html":
		return fault.Invalid.Errorf("templates of mail are written in FTL: ${title} in place of {{.title}}, in a file %s", name+map[string]string{".txt": ".ftl", ".html": ".ftlh"}[ext])
	}
	if first, rest, _ := strings.Cut(source, "\n"); strings.HasPrefix(first, subjectPrefix) {
		if t.subjects[name], err = template.Parse("ftl", s.Name, first, limits); err != nil {
			return err
		}
		source = "\n" + rest // the lines keep their numbers
	} else {
		delete(t.subjects, name) // that of a default
	}
	t.texts[name], err = template.Parse("ftl", s.Name, source, limits)
	return err
}

// subjectPrefix begins the first line of a template that has a subject.
const subjectPrefix = "Subject:"

// Missing is the error of a template that there is not, with the one that was probably meant.
func (t *Templates) Missing(name string) *fault.Error {
	return fault.NotFound.Errorf("mail: unknown template %q%s", name, fault.Perhaps(name, maps.Keys(t.texts)))
}

// fill makes the text of a message from its template and its data. Members of the data that are null are missing values.
func (t *Templates) fill(ctx context.Context, m *Mail, base string) error {
	if !t.Has(m.Template) {
		return t.Missing(m.Template)
	}
	data := maps.Clone(m.Data)
	if data == nil {
		data = map[string]any{}
	}
	if data["base"] == nil {
		data["base"] = base
	}
	render := func(into *string, from *template.Template) (err error) {
		if from == nil {
			return nil
		}
		if *into, err = from.Render(data, limits, func(int) error { return ctx.Err() }); err != nil {
			return fault.Wrap(err, "mail")
		}
		return nil
	}
	if m.Subject == "" {
		if err := render(&m.Subject, t.subjects[m.Template]); err != nil {
			return err
		}
		m.Subject = oneLine(strings.TrimPrefix(m.Subject, subjectPrefix))
	}
	if err := render(&m.Text, t.texts[m.Template]); err != nil {
		return err
	}
	m.Text = strings.TrimLeft(m.Text, "\n")
	return render(&m.HTML, t.pages[m.Template])
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
