package deck

import (
	"encoding/json"
	"errors"
	"net/http"

	"catena/rest"
	"catena/storage/fault"
)

// deckProblem is the error body of the deck service (RFC 9457).
type deckProblem struct {
	Type      string      `json:"type"`
	Title     string      `json:"title"`
	Status    int         `json:"status"`
	Detail    string      `json:"detail"`
	Instance  string      `json:"instance"`
	Code      string      `json:"code"`
	RequestID string      `json:"request_id"`
	Errors    []deckPoint `json:"errors,omitempty"`
}

// deckPoint is one thing that is wrong with a request.
type deckPoint struct {
	Pointer   string `json:"pointer,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
}

// Fail writes err as the deck service does.
func Fail(x *rest.Request, err error) error {
	status := rest.DeckStatusOf(err)
	p := deckProblem{
		Type: x.ProblemType(err), Title: http.StatusText(status), Status: status, Detail: http.StatusText(status),
		Instance: x.Prefix() + x.HTTP.URL.Path, Code: fault.Word(err), RequestID: x.ID,
	}
	if fault.Shown(err) {
		p.Detail, p.Errors = rest.Message(err, ""), deckPoints(x, err)
	}
	h := x.Writer.Header()
	switch status {
	case http.StatusUnauthorized:
		challenge := `Bearer realm="decks"`
		if x.HTTP.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		h.Set("WWW-Authenticate", challenge)
	case http.StatusForbidden:
		if fault.CodeOf(err) == fault.CodeInsufficientScope {
			h.Set("WWW-Authenticate", `Bearer realm="decks", error="insufficient_scope"`)
		}
	}
	x.Wait(status, err)
	if status >= http.StatusInternalServerError {
		x.Report(status, "request failed", err)
	}
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{}`)
	}
	x.Write(&rest.Answer{Status: status, Mime: rest.MIMEProblem, Body: body})
	return nil
}

// deckPoints lists every field or parameter that err, or an error joined in it, is about.
func deckPoints(x *rest.Request, err error) []deckPoint {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		var out []deckPoint
		for _, e := range many.Unwrap() {
			out = append(out, deckPoints(x, e)...)
		}
		return out
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Field == "" {
		return nil
	}
	p := deckPoint{Code: fault.Word(f), Message: f.Message, Line: f.Line, Column: f.Column}
	if x.Query().Has(f.Field) || f.Field == "revision" {
		p.Parameter = f.Field
	} else {
		p.Pointer = "#/" + f.Field
	}
	return []deckPoint{p}
}
