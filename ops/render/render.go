// Package render holds operations that create files from templates. The languages are engine/template's; what a
// template sees are the variables of the call, with the rights of the caller alone, and it changes nothing.
//
// Evaluation is limited in time and output (template.Limits), and neither language has expressions with side effects.
package render

import (
	"cmp"
	"embed"
	"errors"
	"strings"
	"sync"

	"catena/engine"
	"catena/engine/template"
	"catena/storage"
	"catena/storage/declare"
	"catena/storage/fault"
	"catena/storage/schema"
)

//go:embed defaults
var defaults embed.FS

// Ops returns the rendering operations with templates that a function returns; nil: those that every server has.
func Ops(find func() template.Resources) []engine.Op {
	if find == nil {
		find = builtin
	}
	return []engine.Op{
		processorDetach,
		processorRender,
		renderDocument(find),
		renderFeed(find),
	}
}

// builtin are the templates every server has. They are read once.
var builtin = sync.OnceValue(func() template.Resources {
	texts, err := declare.ReadFolder(declare.Folder(defaults, "defaults"), template.Extensions...)
	all, wrong := template.Resources{}.Over(texts)
	if err = cmp.Or(err, declare.ErrorOf(wrong)); err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

// Build returns templates over those that every server has, and tells everything that is wrong with them.
func Build(_ *schema.Registry, texts []declare.Source) (template.Resources, []declare.Mistake, error) {
	all, wrong := builtin().Over(texts)
	return all, wrong, nil
}

// resources finds the templates that are there by name.
type resources func() template.Resources

// source says what is rendered.
type source struct {
	Template string `json:"template" widget:"TemplateResource" doc:"The template itself, or template: followed by the name of one on the server."`
	Type     string `json:"type" default:"ftl" values:"ftl,mvel" widget:"Option" doc:"Template language: mvel, or anything else for FTL."`
}

// parse returns the template. Anyone who may not run text of their own sends none with expressions of chains.
// Templates of the server's files are trusted whatever their language, since an administrator has
// put them there.
func (s source) parse(c *engine.Ctx, find resources) (*template.Template, error) {
	language := "ftl"
	if s.Type == "mvel" {
		language = s.Type
	}
	if name, ok := strings.CutPrefix(s.Template, "template:"); ok {
		t, err := find().Find(language, strings.TrimSpace(name))
		return t, in(err)
	}
	if language == "mvel" && !c.MayEvaluate() {
		return nil, fault.Denied.Errorf("template: expressions are not accepted from clients; use type ftl").In("template")
	}
	t, err := c.ParseTemplate(language, "inline", s.Template)
	return t, in(err)
}

// in says that an error is of the parameter template.
func in(err error) error {
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		return e.In("template")
	}
	return err
}

// over is a context within c whose input is v. It is isolated: a template may set variables, and they
// end with it.
func over(c *engine.Ctx, v any) *engine.Ctx {
	sub := c.Sub(true)
	sub.Input = v
	return sub
}

// file is what a template made.
func file(name, typ, text string) *storage.Blob {
	b := engine.NewBlob(name, typ, []byte(text))
	b.Encoding = "UTF-8"
	return b
}
