package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"catena/storage/fault"
	"catena/storage/jsontext"
)

// maxNames bounds the names of all objects of a JSON body.
const maxNames = 100_000

// CheckJSON accepts one JSON value that every reader understands in the same way: valid UTF-8, no
// name twice in an object, nested no deeper than 128. The error names line and column.
func CheckJSON(data []byte) error {
	s := jsontext.Scanner{Data: data, MaxNames: maxNames, Pairs: true}
	if !utf8.Valid(data) {
		return placed(data, s.Fail("is not valid UTF-8"))
	}
	_, err := s.Skip(0)
	if err == nil {
		err = s.End()
	}
	return placed(data, err)
}

// placed says in which line and column of a body an error is.
func placed(data []byte, err error) error {
	var e *jsontext.Error
	if !errors.As(err, &e) {
		return err
	}
	line := 1 + bytes.Count(data[:e.Pos], []byte{'\n'})
	column := e.Pos - bytes.LastIndexByte(data[:e.Pos], '\n')
	return fault.Invalid.Errorf("body: line %d, column %d: JSON %s", line, column, e.What).WithCode(fault.CodeMalformedJSON).At(line, column)
}

// Members calls f for each member of a JSON object that CheckJSON has accepted.
func Members(data []byte, f func(name string, value json.RawMessage) error) error {
	s := jsontext.Scanner{Data: data}
	if s.Peek() != '{' {
		return fault.Invalid.Errorf("body: must be a JSON object")
	}
	return s.Members(func(name []byte) error {
		value, err := s.Skip(1)
		if err != nil {
			return placed(data, err)
		}
		return f(string(name), value)
	})
}
