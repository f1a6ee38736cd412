package engine

import (
	"errors"

	"catena/storage/fault"
	"catena/storage/jsontext"
)

// ParseJSON reads one JSON value strictly: names stand once, text is UTF-8, depth is
// bounded. Whole numbers are int64.
func ParseJSON(raw []byte) (any, error) { return parse(jsontext.Scanner{Data: raw}) }

// ParseJSON is ParseJSON as part of the call: it ends with it.
func (c *Ctx) ParseJSON(raw []byte) (any, error) {
	return parse(jsontext.Scanner{Data: raw, Context: c.Context})
}

func parse(s jsontext.Scanner) (any, error) {
	v, err := s.Value(0)
	if err == nil {
		err = s.End()
	}
	if err != nil {
		return nil, malformed(err)
	}
	return v, nil
}

// malformed makes what is wrong with a JSON text an error of the caller.
func malformed(err error) error {
	var e *jsontext.Error
	if errors.As(err, &e) {
		return fault.Invalid.Errorf("%w", e).WithCode(fault.CodeJSON)
	}
	return err
}
