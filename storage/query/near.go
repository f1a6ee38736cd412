package query

import (
	"fmt"
	"strings"

	"catena/storage/fault"
)

func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// at marks an error of Check or Bind with a place, if there is one.
func (p Pos) at(format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if p.Line == 0 {
		return fault.Invalid.Errorf("query: %s", msg)
	}
	return fault.Invalid.Errorf("query: line %d, column %d: %s", p.Line, p.Column, msg).At(p.Line, p.Column)
}
