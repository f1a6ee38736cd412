package notification

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/lazy"
)

// variable is a place in a message: ${name}, ${name.name}, ${Document["dc:title"]}. There are no calls and no
// operators, so that a message is never a program.
var variable = lazy.Regexp(`\$\{([^{}]*)\}`)

var plainPath = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*|\["[A-Za-z0-9_:.-]+"\]|\['[A-Za-z0-9_:.-]+'\])*$`)

// fill puts values into the places of a message. What is not there is nothing.
func fill(c *engine.Ctx, d *storage.Doc, text string, vars map[string]any, escape func(string) string) (string, error) {
	sub := c.Sub(true)
	maps.Copy(sub.Vars, vars)
	sub.Input = d
	var failed error
	out := variable().ReplaceAllStringFunc(text, func(s string) string {
		if failed == nil {
			failed = c.Check()
		}
		if failed != nil {
			return ""
		}
		path := strings.TrimSpace(s[2 : len(s)-1])
		if !plainPath().MatchString(path) {
			failed = fault.Invalid.Errorf("message: %q is not a placeholder such as ${Document.title}", s).In("message")
			return ""
		}
		v, err := sub.Eval(path)
		if err != nil || v == nil {
			return ""
		}
		return escape(textOf(v))
	})
	return out, failed
}

// textOf is a value in a message.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case time.Time:
		return v.Format("2006-01-02 15:04")
	case map[string]any, []any:
		return ""
	}
	return fmt.Sprint(v)
}

// templateData is what a template is filled in with: the document, the variables that are plain, and those given.
func templateData(c *engine.Ctx, d *storage.Doc, vars map[string]any) map[string]any {
	data := map[string]any{}
	for name, v := range c.Vars {
		switch v.(type) {
		case string, bool, int, int64, float64:
			data[name] = v
		}
	}
	maps.Copy(data, vars)
	description, _ := d.Get("dc:description")
	maps.Copy(data, map[string]any{
		"id": d.ID(), "path": d.Path(), "title": d.Title(), "type": d.Type().Name, "state": d.State(),
		"description": description, "user": c.As.Name,
	})
	return data
}
