package decks

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

const (
	maxTitle       = 200
	maxDescription = 10_000
)

// fields are what callers may write, one by one or together as the service sends them.
type fields struct {
	Title       *string        `json:"title,omitzero" type:"string" doc:"Title of 1 to 200 characters."`
	Description *string        `json:"description,omitzero" type:"string" doc:"What the deck is about."`
	Width       *int64         `json:"width,omitzero" type:"long" min:"1" doc:"Width of a slide in pixels, at least 1."`
	Height      *int64         `json:"height,omitzero" type:"long" min:"1" doc:"Height of a slide in pixels, at least 1."`
	Data        *string        `json:"data,omitzero" alias:"html,deck_html" type:"string" doc:"HTML of the deck: section elements only at the top level, one a slide or with the slides of a stack inside."`
	Visibility  *string        `json:"visibility,omitzero" type:"string" enum:"all,self,team" doc:"Who may see the deck: all, self, or team for team accounts."`
	Fields      map[string]any `json:"fields,omitzero" doc:"All of these in one object, with the names of either revision; anything else in it is refused."`
}

func invalid(field, code, format string, args ...any) error {
	return fault.Invalid.Errorf(format, args...).In(field).WithCode(code)
}

// merge moves what stands in Fields to the fields themselves, and checks all of them.
func (f fields) merge() (fields, error) {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		if err := f.take(name, f.Fields[name]); err != nil {
			errs = append(errs, err)
		}
	}
	if a, b := f.Fields["deck_html"], f.Fields["data"]; a != nil && b != nil && a != b {
		for _, name := range [...]string{"data", "deck_html"} {
			errs = append(errs, invalid(name, "conflicting_fields", "data and deck_html: are the same field, their values differ"))
		}
	}
	errs = append(errs, f.check()...)
	return f, errors.Join(errs...)
}

// take sets one field from the value a caller sent.
func (f *fields) take(name string, value any) error {
	switch name {
	case "title":
		return text(name, value, &f.Title)
	case "description":
		if value == nil {
			value = ""
		}
		return text(name, value, &f.Description)
	case "width":
		return whole(name, value, &f.Width)
	case "height":
		return whole(name, value, &f.Height)
	case "deck_html", "data":
		return text(name, value, &f.Data)
	case "visibility":
		return text(name, value, &f.Visibility)
	}
	if readOnly(name) {
		return invalid(name, "read_only_field", "%s: is read-only", name)
	}
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "") + "…"
	}
	return invalid(name, "unknown_field", "%q: is no field of a deck", name)
}

func text(name string, value any, to **string) error {
	s, ok := value.(string)
	if !ok {
		return invalid(name, "invalid_type", "%s: is not text", name)
	}
	*to = &s
	return nil
}

func whole(name string, value any, to **int64) error {
	n, ok := value.(int64)
	if f, float := value.(float64); float && f == float64(int64(f)) {
		n, ok = int64(f), true
	}
	if !ok {
		return invalid(name, "invalid_type", "%s: is not a whole number", name)
	}
	*to = &n
	return nil
}

// check reports every value that is out of bounds.
func (f *fields) check() (errs []error) {
	if f.Title != nil {
		switch n := utf8.RuneCountInString(*f.Title); {
		case strings.TrimSpace(*f.Title) == "":
			errs = append(errs, invalid("title", "too_short", "title: is empty"))
		case n > maxTitle:
			errs = append(errs, invalid("title", "too_long", "title: %d characters, limit %d", n, maxTitle))
		case strings.ContainsFunc(*f.Title, unicode.IsControl):
			errs = append(errs, invalid("title", "invalid_text", "title: control characters are not allowed"))
		}
	}
	if f.Description != nil {
		if n := utf8.RuneCountInString(*f.Description); n > maxDescription {
			errs = append(errs, invalid("description", "too_long", "description: %d characters, limit %d", n, maxDescription))
		}
	}
	for name, n := range map[string]*int64{"height": f.Height, "width": f.Width} {
		if n != nil && *n < 1 {
			errs = append(errs, invalid(name, "too_small", "%s: %d is less than 1", name, *n))
		}
	}
	if f.Visibility != nil && *f.Visibility != "all" && *f.Visibility != "self" && *f.Visibility != "team" {
		errs = append(errs, invalid("visibility", "invalid_value", "visibility: %.40q is none of all, self, team", *f.Visibility))
	}
	return errs
}

// apply writes the fields to a deck and returns what was taken out of its HTML.
func (f *fields) apply(c *engine.Ctx, d storage.Props) (removed []string, err error) {
	if f.Title != nil {
		d["dc:title"] = *f.Title
	}
	if f.Description != nil {
		d["deck:description"] = *f.Description
	}
	if f.Width != nil {
		d["deck:width"] = *f.Width
	}
	if f.Height != nil {
		d["deck:height"] = *f.Height
	}
	if f.Visibility != nil {
		d["deck:visibility"] = *f.Visibility
	}
	if f.Data == nil {
		return nil, nil
	}
	clean, removed, err := sanitize(*f.Data)
	if err != nil {
		return nil, f.inHTML(err)
	}
	count, notes := slides(clean)
	switch {
	case count > maxSlides:
		return nil, f.inHTML(fault.Limit.Errorf("HTML: %d slides, limit %d", count, maxSlides).WithCode("too_many_slides"))
	case utf8.RuneCountInString(notes) > maxNotes:
		return nil, f.inHTML(fault.Limit.Errorf("HTML: notes of %d characters, limit %d", utf8.RuneCountInString(notes), maxNotes).WithCode("too_long"))
	}
	d["deck:slide_count"], d["deck:notes"], d["deck:sanitized"] = int64(count), notes, removed
	d["deck:html"], err = c.Tx.NewBlob("deck.html", "text/html", strings.NewReader(clean))
	return removed, err
}

// inHTML names the field an error is in as the caller does.
func (f *fields) inHTML(err error) error {
	name := "data"
	if f.Fields["deck_html"] != nil {
		name = "deck_html"
	}
	var e *fault.Error
	if errors.As(err, &e) {
		return e.In(name)
	}
	return err
}

// mayShare returns the caller's account, and refuses team visibility to those without a team.
func mayShare(c *engine.Ctx, visibility *string) (*storage.User, error) {
	u, err := c.Tx.User(c.As.Name)
	if err != nil {
		return nil, err
	}
	if visibility != nil && *visibility == "team" && (u.AccountType != "team" || u.TeamID == 0) {
		return nil, fault.Denied.Errorf("visibility team: only team accounts have it").In("visibility").WithCode("plan_required")
	}
	return u, nil
}
