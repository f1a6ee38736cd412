package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// statuses are the HTTP statuses of the kinds of error.
var statuses = [...]int{
	fault.Internal:    http.StatusInternalServerError,
	fault.Invalid:     http.StatusBadRequest,
	fault.Denied:      http.StatusForbidden,
	fault.NotFound:    http.StatusNotFound,
	fault.Exists:      http.StatusConflict,
	fault.Conflict:    http.StatusConflict,
	fault.Limit:       http.StatusUnprocessableEntity,
	fault.Unavailable: http.StatusServiceUnavailable,
}

// codeStatuses are the statuses of errors whose code says more than their kind.
var codeStatuses = map[string]int{
	codeBody:                http.StatusRequestEntityTooLarge,
	codeCrossOrigin:         http.StatusForbidden,
	codeHost:                http.StatusMisdirectedRequest,
	codeMediaType:           http.StatusUnsupportedMediaType,
	codeMethod:              http.StatusMethodNotAllowed,
	codePrecondition:        http.StatusPreconditionFailed,
	codeSignIn:              http.StatusUnauthorized,
	codeTimeout:             http.StatusInternalServerError,
	"idempotency_mismatch":  http.StatusUnprocessableEntity,
	"disk_full":             http.StatusInsufficientStorage,
	"property_not_writable": http.StatusUnprocessableEntity,
}

// Codes of the errors this package makes itself.
const (
	codeBody         = "body_too_large"
	codeCrossOrigin  = "cross_origin"
	codeHost         = "host_not_allowed"
	codeInFlight     = "idempotency_in_flight"
	codeMediaType    = "unsupported_media_type"
	codeMethod       = "method_not_allowed"
	codePrecondition = "precondition_failed"
	codeSignIn       = "not_signed_in"
	codeTimeout      = "transaction_timeout"
)

// statusOf returns the status of an error.
func statusOf(err error) int {
	var f *fault.Error
	if errors.As(err, &f) && f.Code != "" {
		if status, ok := codeStatuses[f.Code]; ok {
			return status
		}
	}
	return statuses[fault.Of(err)]
}

// problem is the body of every error: the platform's members and those of RFC 9457.
type problem struct {
	EntityType string  `json:"entity-type"`
	Status     int     `json:"status"`
	Message    string  `json:"message"`
	Type       string  `json:"type"`
	Title      string  `json:"title"`
	Detail     string  `json:"detail"`
	Instance   string  `json:"instance,omitempty"`
	Code       string  `json:"code"`
	Errors     []point `json:"errors,omitempty"`
	RequestID  string  `json:"requestId,omitempty"`
	Retryable  bool    `json:"retryable"`
}

// point is one place in the caller's input that an error is about.
type point struct {
	Pointer string `json:"pointer,omitempty"`
	Detail  string `json:"detail"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// problemOf describes an error with the text for people. Messages of the server's own
// faults stay in the log.
func problemOf(err error, text string) problem {
	status := statusOf(err)
	p := problem{EntityType: "exception", Status: status, Title: http.StatusText(status)}
	kind := fault.Of(err)
	p.Retryable = kind == fault.Unavailable || kind == fault.Conflict && codeOf(err) != codePrecondition
	p.Code = codeOf(err)
	p.Type = "/docs/problems#" + p.Code
	p.Message = http.StatusText(http.StatusInternalServerError)
	if kind != fault.Internal {
		p.Message = text
		p.Errors = points(err)
	}
	p.Detail = p.Message
	return p
}

func codeOf(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Code != "" {
		return f.Code
	}
	return fault.Of(err).String()
}

// points lists every place that err, or one of the errors joined in it, names.
func points(err error) []point {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		var out []point
		for _, e := range many.Unwrap() {
			out = append(out, points(e)...)
		}
		return out
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Field == "" && f.Line == 0 {
		return nil
	}
	p := point{Detail: f.Message, Line: f.Line, Column: f.Column}
	if f.Field != "" {
		p.Pointer = "#/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(f.Field)
	}
	return []point{p}
}

// message is the platform's text of an error. For a failed operation that was invoked by
// name it says so in front, twice when the operation itself failed and not its input.
func message(err error, invoked string) string {
	var op *engine.Error
	switch {
	case invoked == "" && errors.As(err, &op):
		return op.Err.Error()
	case invoked == "":
		return err.Error()
	}
	return "Failed to invoke operation: " + invoked + ", " + innerMessage(err)
}

// innerMessage is the text without what stands in front of every invocation, as the result
// of an asynchronous run shows it.
func innerMessage(err error) string {
	var op *engine.Error
	if !errors.As(err, &op) {
		return err.Error()
	}
	cause := op.Err.Error()
	if op.Stage != "run" {
		return cause
	}
	text := "Failed to invoke operation " + op.Op
	if len(op.Aliases) > 0 {
		text += " with aliases [" + strings.Join(op.Aliases, ", ") + "]"
	}
	return text + ", " + cause
}

// fail writes err as the answer.
func (x *exchange) fail(err error) { x.failed(err, message(err, x.invoked)) }

// failed writes err as the answer, with another text.
func (x *exchange) failed(err error, text string) {
	p := problemOf(err, text)
	p.Instance, p.RequestID = x.r.URL.Path, x.id
	h := x.w.Header()
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Basic realm="catena", charset="UTF-8"`)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	if p.Code == codeInFlight {
		h.Set("Retry-After", "1")
		h.Set("Idempotency-Key", x.r.Header.Get("Idempotency-Key"))
	}
	if p.Status >= http.StatusInternalServerError {
		x.s.log.LogAttrs(x.r.Context(), levelOf(p.Status), "request failed", x.attrs(err)...)
	}
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"entity-type":"exception","status":` + strconv.Itoa(p.Status) + `}`)
	}
	x.write(&answer{status: p.Status, mime: mimeJSON, body: body})
}
