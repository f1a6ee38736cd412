package rest

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// Statuses are the HTTP statuses of the kinds of error.
var Statuses = [...]int{
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
var codeStatuses = map[fault.Code]int{
	fault.CodeBodyTooLarge:         http.StatusRequestEntityTooLarge,
	fault.CodeCrossOrigin:          http.StatusForbidden,
	fault.CodeDiskFull:             http.StatusInsufficientStorage,
	fault.CodeExportQuota:          http.StatusTooManyRequests,
	fault.CodeHostNotAllowed:       http.StatusMisdirectedRequest,
	fault.CodeIdempotencyMismatch:  http.StatusUnprocessableEntity,
	fault.CodeLinkExpired:          http.StatusGone,
	fault.CodeMethodNotAllowed:     http.StatusMethodNotAllowed,
	fault.CodeNotSignedIn:          http.StatusUnauthorized,
	fault.CodeNotSupported:         http.StatusNotImplemented,
	fault.CodePreconditionFailed:   http.StatusPreconditionFailed,
	fault.CodeRateLimited:          http.StatusTooManyRequests,
	fault.CodeTooManyAttempts:      http.StatusTooManyRequests,
	fault.CodeTransactionTimeout:   http.StatusInternalServerError,
	fault.CodeUnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.CodeValidation:           http.StatusUnprocessableEntity,
}

// settled are the codes of conflicts that the same request meets again, or should not be tried again after.
var settled = map[fault.Code]bool{fault.CodePreconditionFailed: true, fault.CodeRunEnded: true, fault.CodeRunIncomplete: true, fault.CodeRunLost: true, fault.CodeWorkflowState: true}

// StatusOf returns the status of an error.
func StatusOf(err error) int {
	if status, ok := codeStatuses[fault.CodeOf(err)]; ok {
		return status
	}
	return Statuses[fault.Of(err)]
}

// DeckStatusOf returns the status of an error of the deck service, which tells what it cannot
// read (400) from what it understands and refuses (422).
func DeckStatusOf(err error) int {
	switch fault.CodeOf(err) {
	case fault.CodeJSON, fault.CodeMalformedJSON, fault.CodeBodyIncomplete, fault.CodeUnknownRevision:
		return http.StatusBadRequest
	case fault.CodeNotAcceptable:
		return http.StatusNotAcceptable
	}
	status := StatusOf(err)
	if status == http.StatusBadRequest {
		return http.StatusUnprocessableEntity
	}
	return status
}

// problem is the body of every error: the members of the platform (entity-type, status, message, stacktrace)
// and those of RFC 9457 (type, title, status, detail, instance) side by side, so that clients of either
// understand it.
type problem struct {
	EntityType string  `json:"entity-type"`
	Status     int     `json:"status"`
	Message    string  `json:"message"`
	Type       string  `json:"type"`
	Title      string  `json:"title"`
	Detail     string  `json:"detail"`
	Instance   string  `json:"instance,omitempty"`
	Code       string  `json:"code"`
	Subject    string  `json:"subject,omitempty"` // name of what stands against the call
	Errors     []point `json:"errors,omitempty"`
	RequestID  string  `json:"requestId,omitempty"`
	TraceID    string  `json:"traceId,omitempty"` // of the trace the request belongs to, if it says so
	Retryable  bool    `json:"retryable"`
	Trace      string  `json:"stacktrace,omitempty"` // of the call, where the server shows it

	*report
}

// report is what a body has besides when a document breaks constraints.
type report struct {
	HasError   bool        `json:"has_error"`
	Number     int         `json:"number"`
	Violations []violation `json:"violations"`
}

type violation struct {
	MessageKey   string      `json:"messageKey"`
	Message      string      `json:"message"`
	InvalidValue any         `json:"invalid_value"`
	Constraint   *constraint `json:"constraint,omitempty"` // none, like the path, of what is about the document as a whole
	Path         []pathField `json:"path,omitempty"`
}

type constraint struct {
	EntityType string            `json:"entity-type"`
	Name       string            `json:"name"`
	Parameters map[string]string `json:"parameters"`
}

type pathField struct {
	Name     string `json:"field_name"`
	ListItem bool   `json:"is_list_item"`
	Index    *int   `json:"index,omitempty"`
}

// reportOf describes the constraints a document breaks.
func reportOf(found engine.Violations) *report {
	r := &report{HasError: true, Number: len(found)}
	for _, v := range found {
		if v.Path == "" {
			r.Violations = append(r.Violations, violation{MessageKey: v.Message, Message: v.Message})
			continue
		}
		out := violation{
			MessageKey: messageKey(v.Constraint, v.Schema, v.Path), Message: v.Message, InvalidValue: v.Value,
			Constraint: &constraint{"validation_constraint", v.Constraint, v.Parameters},
		}
		if out.Constraint.Parameters == nil {
			out.Constraint.Parameters = map[string]string{}
		}
		for part := range strings.SplitSeq(v.Path, "/") {
			f := pathField{Name: part}
			if n, err := strconv.Atoi(part); err == nil {
				f.ListItem, f.Index = true, &n
			}
			out.Path = append(out.Path, f)
		}
		r.Violations = append(r.Violations, out)
	}
	return r
}

// messageKey is what front ends look for the text of a violation by: the constraint with the schema, the field and the
// parts of it, so that each field can have a text of its own. Places in lists are left out.
func messageKey(constraint, schema, path string) string {
	key := []string{"label.schema.constraint.violation", constraint, schema}
	_, local, prefixed := strings.Cut(path, ":")
	if !prefixed {
		local = path
	}
	for part := range strings.SplitSeq(local, "/") {
		if _, err := strconv.Atoi(part); err != nil {
			key = append(key, part)
		}
	}
	return strings.Join(key, ".")
}

// point is one part of the caller's input that an error is about.
type point struct {
	Pointer string `json:"pointer,omitempty"`
	Detail  string `json:"detail"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// problemOf describes an error, with the platform's text as message and our own as detail.
// Messages of the server's own faults stay in the log.
func problemOf(err error, text string) problem {
	status := StatusOf(err)
	p := problem{EntityType: "exception", Status: status, Title: http.StatusText(status)}
	kind := fault.Of(err)
	p.Code = fault.Word(err)
	// Whether to try again is a statement about the same request: a conflict passes, a document that exists
	// already does not.
	p.Retryable = kind.Passes() && status != http.StatusNotImplemented && !settled[fault.CodeOf(err)] || status == http.StatusTooManyRequests
	// The text of an internal error may quote paths or data. It goes to the log, and the request id leads
	// from here to there.
	p.Message = http.StatusText(http.StatusInternalServerError)
	p.Detail = p.Message
	if fault.Shown(err) {
		p.Message, p.Detail = text, kind.Explain(err.Error())
		p.Errors, p.Subject = points(err), fault.SubjectOf(err)
	}
	var found engine.Violations
	if errors.As(err, &found) {
		p.EntityType, p.report = "validation_report", reportOf(found)
	}
	return p
}

// points lists every part of the input that err, or one of the errors joined in it, names.
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
	// A pointer begins with # here because it is a URI fragment, as in the examples of RFC 9457.
	p := point{Detail: f.Message, Line: f.Line, Column: f.Column}
	if f.Field != "" {
		p.Pointer = "#/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(f.Field)
	}
	return []point{p}
}

// Message is the platform's text of an error. Clients of the platform compare the beginning: for a failed
// operation that was invoked by name it says so, twice when the operation itself failed and not its input.
func Message(err error, invoked string) string {
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

// waits are how long clients are asked to wait after errors with these statuses that do not say it themselves.
var waits = map[int]time.Duration{
	http.StatusInsufficientStorage: time.Minute,
	http.StatusServiceUnavailable:  time.Second,
	http.StatusTooManyRequests:     time.Minute,
}

// Wait tells the client how long to wait before it tries again, where that may help.
func (x *Request) Wait(status int, err error) { x.retryAfter(status, waitOf(err)) }

// waitOf is how long an error says that one is to wait, 0 if it does not.
func waitOf(err error) time.Duration {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Wait
	}
	return 0
}

func (x *Request) retryAfter(status int, d time.Duration) {
	if d <= 0 {
		d = waits[status]
	}
	if d > 0 {
		x.Writer.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(d.Seconds()))))
	}
}

// fail writes err as the answer.
func (x *Request) fail(err error) {
	// The deck service and the pages have error formats of their own; a format that does not want an error
	// passes it on.
	if s := x.Server.section(x.HTTP.URL.Path); s != nil {
		if err = s.Fail(x, err); err == nil {
			return
		}
	}
	x.failed(err, Message(err, x.Invoked))
}

// failed writes err as the answer, with another text.
func (x *Request) failed(err error, text string) {
	p := problemOf(err, text)
	if x.As != nil && x.Engine != nil && x.Engine.Traces().Shown() {
		if t := x.Engine.Traces().Failure(x.ID); t != nil && t.SeenBy(x.As) {
			p.Trace = t.Text()
		}
	}
	if fault.CodeOf(err) == fault.CodeIdempotencyInFlight {
		x.Writer.Header().Set("Idempotency-Key", x.HTTP.Header.Get("Idempotency-Key"))
	}
	if p.Status >= http.StatusInternalServerError && !Gone(x.HTTP.Context(), err) {
		x.Report(p.Status, "request failed", err)
	}
	x.explain(&p, fault.Word(err), waitOf(err))
}

// explain writes a problem as the answer. It has a word of the table of problems, and may say how long to wait.
func (x *Request) explain(p *problem, word string, wait time.Duration) {
	p.Type, p.Instance, p.RequestID, p.TraceID = x.problemPage(word), x.Prefix()+x.HTTP.URL.Path, x.ID, x.traceID()
	// A browser would ask for a password over the page, which has a form of its own.
	if p.Status == http.StatusUnauthorized && x.HTTP.Header.Get(csrfHeader) == "" && x.HTTP.Header.Get("X-No-Basic-Header") == "" {
		x.Writer.Header().Set("WWW-Authenticate", `Basic realm="catena", charset="UTF-8"`)
	}
	x.retryAfter(p.Status, wait)
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"entity-type":"exception","status":` + strconv.Itoa(p.Status) + `}`)
	}
	x.Write(&Answer{Status: p.Status, Mime: MIMEJSON, Body: body})
}

// ErrorCodesPath is the page that the type of every error leads to.
const ErrorCodesPath = "/docs/problems"

// ProblemType leads to what the page says of an error.
func (x *Request) ProblemType(err error) string { return x.problemPage(fault.Word(err)) }

func (x *Request) problemPage(word string) string {
	return x.Prefix() + ErrorCodesPath + "#" + word
}
