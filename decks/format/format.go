// Package format is the table of the formats to which decks are exported. Package export makes the files.
package format

import (
	"slices"
	"strings"
)

// Format is a format of a file.
type Format struct {
	Name  string // as callers give it, and the ending of the file's name
	Type  string // media type
	Label string // on pages
}

// Formats are all formats; pages offer the first unless another is chosen.
var Formats = []Format{
	{Name: "pdf", Type: "application/pdf", Label: "PDF"},
	{Name: "zip", Type: "application/zip", Label: "ZIP: a web page that works offline"},
}

// Find returns the format of a name, nil if there is none.
func Find(name string) *Format {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &Formats[i]
}

// Names lists the names for a message.
func Names() string { return list(", ", func(f *Format) string { return f.Name }) }

// Types lists the media types with blanks between them.
func Types() string { return list(" ", func(f *Format) string { return f.Type }) }

func list(between string, text func(*Format) string) string {
	out := make([]string, len(Formats))
	for i := range Formats {
		out[i] = text(&Formats[i])
	}
	return strings.Join(out, between)
}
