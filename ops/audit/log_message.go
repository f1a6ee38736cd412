package audit

import (
	"log/slog"
	"strings"

	"catena/engine"
)

// maxMessage bounds a line in the log.
// In bytes. Everybody may write to the log, so a line is bounded; the handler escapes line ends, so
// one message cannot pretend to be two.
const maxMessage = 4096

var logMessage = engine.Op{
	Name:     "Log",
	Aliases:  []string{"LogOperation"},
	Label:    "Log",
	Category: "Notification",
	Doc:      "Writes a line to the server's log and returns the input. An unknown level counts as info; long messages are truncated.",
	Effect:   engine.Pure,
	Callers:  engine.Anyone,
	Run:      engine.On(logParams.run),
}

type logParams struct {
	Level    string `json:"level" values:"info,debug,warn,error" widget:"Option" doc:"Level: debug, info, warn or error."`
	Message  string `json:"message" doc:"The line."`
	Category string `json:"category,omitzero" doc:"Category of the line."`
}

func (p logParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// The name shows that the line comes from a caller and not from the server itself.
	attrs := []slog.Attr{slog.String("user", c.As.Name)}
	if p.Category != "" {
		attrs = append(attrs, slog.String("category", cut(p.Category)))
	}
	c.Log.LogAttrs(c, level(p.Level), cut(p.Message), attrs...)
	return engine.Void{}, nil
}

func level(word string) slog.Level {
	var l slog.Level
	if l.UnmarshalText([]byte(strings.TrimSpace(word))) != nil {
		return slog.LevelInfo
	}
	return l
}

// cut shortens a text, between two characters.
func cut(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}
