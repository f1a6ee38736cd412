package engine

import (
	"fmt"
	"slices"

	"catena/engine/template"
	"catena/storage/fault"
)

// ParseTemplate reads a template within the limits of the call; see template.Parse.
func (c *Ctx) ParseTemplate(language, name, source string) (*template.Template, error) {
	return template.Parse(language, name, source, c.templateLimits())
}

// TemplateOutput is how many bytes templates may make in one call.
func (c *Ctx) TemplateOutput() int { return c.templateLimits().Output }

func (c *Ctx) templateLimits() template.Limits {
	if e := c.Engine(); e != nil {
		return e.limits.Template
	}
	return template.DefaultLimits
}

// Render makes the text of a template, which sees what expressions of chains see, and values of its own
// besides. It changes nothing.
func (c *Ctx) Render(t *template.Template, own map[string]any) (string, error) {
	for _, name := range t.Reads.Helpers {
		if !slices.Contains(helpers(), name) {
			return "", fault.Invalid.Errorf("template %s: unknown function %s", t.Name, noHelper(name)).WithCode(fault.CodeExpression)
		}
	}
	env, err := c.env(&t.Reads)
	if err != nil {
		return "", err
	}
	if fn, ok := env["Fn"].(map[string]any); ok {
		delete(fn, "getNextId") // all that would change something
	}
	return c.render(t, env, own)
}

func (c *Ctx) render(t *template.Template, env, own map[string]any) (string, error) {
	for name, v := range own {
		var err error
		if env[name], err = c.view(&t.Reads, v, 0); err != nil {
			return "", err
		}
	}
	l := c.templateLimits()
	long := computation{c: c}
	defer long.end()
	text, err := t.Render(env, l, long.goOn)
	if err != nil && c.Err() != nil {
		return "", fmt.Errorf("template %s: %w", t.Name, c.Err())
	}
	return text, err
}
