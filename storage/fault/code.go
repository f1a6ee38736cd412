package fault

import (
	"errors"
	"iter"
	"slices"
	"strings"
)

// Code is a word for programs that says more of an error than its kind. There are those of the table
// alone: an error cannot have one that the page about errors does not explain.
type Code uint8

// The codes, in the order of the alphabet; 0 is none.
const (
	_ Code = iota
	CodeAnswer
	CodeBodyEmpty
	CodeBodyIncomplete
	CodeBodyTooLarge
	CodeChildren
	CodeComputationBusy
	CodeConflictingFields
	CodeContentDamaged
	CodeConversion
	CodeConverterUnknown
	CodeConverterUnsupported
	CodeCrossOrigin
	CodeDeckIsPublic
	CodeDeckTrashed
	CodeDepth
	CodeDiskFull
	CodeDocuments
	CodeEffect
	CodeEgress
	CodeEventLoop
	CodeEvents
	CodeExportFolder
	CodeExportQuota
	CodeExpression
	CodeFileInUse
	CodeHostNotAllowed
	CodeIdempotencyAnswerLost
	CodeIdempotencyInFlight
	CodeIdempotencyMismatch
	CodeInsufficientScope
	CodeInvalidClient
	CodeInvalidDefinition
	CodeInvalidGrant
	CodeInvalidHTML
	CodeInvalidMarkdown
	CodeInvalidRequest
	CodeInvalidSignature
	CodeInvalidText
	CodeInvalidType
	CodeInvalidValue
	CodeJSON
	CodeLinkExpired
	CodeLocked
	CodeMalformedJSON
	CodeMethodNotAllowed
	CodeMissingParameter
	CodeNoPicture
	CodeNotAcceptable
	CodeNotBuiltIn
	CodeNotSignedIn
	CodeNotSupported
	CodeOperations
	CodeOutOfRange
	CodePages
	CodePDFPassword
	CodePDFSize
	CodePictureSize
	CodePixels
	CodePlanRequired
	CodePreconditionFailed
	CodeQueryTooCostly
	CodeProgramUnavailable
	CodeRateLimited
	CodeReadOnlyField
	CodeRenderCrashed
	CodeRendererUnavailable
	CodeRenderTimeout
	CodeRequired
	CodeResultsFull
	CodeRunEnded
	CodeRunIncomplete
	CodeRunLost
	CodeRunsFull
	CodeScriptBusy
	CodeScriptCalls
	CodeScriptCancelled
	CodeScriptCrash
	CodeScriptError
	CodeScriptMemory
	CodeScriptOutput
	CodeScriptPending
	CodeScriptSource
	CodeScriptStack
	CodeScriptSyntax
	CodeScriptTimeout
	CodeScriptValue
	CodeSearchTooWide
	CodeSource
	CodeStack
	CodeTeamRoleRequired
	CodeTimeout
	CodeTooLarge
	CodeTooLong
	CodeTooManyAttempts
	CodeTooManyFiles
	CodeTooManyLinks
	CodeTooManySlides
	CodeTooShort
	CodeTooSmall
	CodeTransactionTimeout
	CodeUISession
	CodeUnderRetention
	CodeUnknownField
	CodeUnknownOperation
	CodeUnknownProvider
	CodeUnknownRevision
	CodeUnreachable
	CodeUnresolvedReference
	CodeUnsupportedGrantType
	CodeUnsupportedMediaType
	CodeUnsupportedResponseType
	CodeUploadBatches
	CodeUploadBytes
	CodeUploadChunk
	CodeUploadFiles
	CodeUploadIncomplete
	CodeValidation
	CodeWorkflowState
	CodeZipEntries
	codeEnd
)

var codes = [codeEnd]struct {
	name         string
	kinds        []Kind // of the errors that have it
	when, remedy string
}{
	CodeAnswer:                  {"answer", []Kind{Limit}, "The response would be nested too deeply or too long.", "Request fewer properties, or request pages."},
	CodeBodyEmpty:               {"body_empty", []Kind{Invalid}, "The request requires a body.", "Send a body; an empty JSON object is sufficient."},
	CodeBodyIncomplete:          {"body_incomplete", []Kind{Invalid}, "The body was interrupted, or a required file is missing.", "Send the complete body again."},
	CodeBodyTooLarge:            {"body_too_large", []Kind{Limit}, "The body has more bytes or files than allowed.", "Upload large files in chunks as a batch, and refer to the batch."},
	CodeChildren:                {"children", []Kind{Limit}, "A folder has too many children to list at once.", "Request pages."},
	CodeComputationBusy:         {"computation_busy", []Kind{Unavailable}, "Too many long templates and expressions are being evaluated, by all users or by one user.", "Try again later."},
	CodeConflictingFields:       {"conflicting_fields", []Kind{Invalid}, "Two fields conflict.", "Send only one of them."},
	CodeContentDamaged:          {"content_damaged", []Kind{Internal}, "The stored content of a file is damaged or missing; the message names the document and the property.", "Upload the file again, or have an administrator restore it from a backup; undamaged parts can be read with range requests."},
	CodeConversion:              {"conversion", []Kind{Invalid, Limit}, "A program cannot convert the file, or needs more time or memory than a limit allows.", "Check that the file is complete and opens elsewhere; the message says what the program reports."},
	CodeConverterUnknown:        {"converter_unknown", []Kind{Invalid}, "The converter does not exist, or the request does not name a target.", "Name an existing converter, type or format."},
	CodeConverterUnsupported:    {"converter_unsupported", []Kind{Invalid}, "There is no converter from this file type to the requested type.", "Convert to another type first, or name another converter."},
	CodeCrossOrigin:             {"cross_origin", []Kind{Denied}, "The request comes from a page of another website.", "Ask an administrator to allow the origin in the server's configuration."},
	CodeDeckIsPublic:            {"deck_is_public", []Kind{Conflict}, "A public deck does not need a share link.", "Use its address, or make it private first."},
	CodeDeckTrashed:             {"deck_trashed", []Kind{NotFound}, "The deck was moved to the trash before its export was made.", "Restore the deck and create the export again."},
	CodeDepth:                   {"depth", []Kind{Limit}, "Operation calls are nested too deeply.", "Look for a chain or script that calls itself."},
	CodeDiskFull:                {"disk_full", []Kind{Unavailable}, "The server's disk is full; writes are refused.", "Ask an administrator to free disk space; reads still work."},
	CodeDocuments:               {"documents", []Kind{Limit}, "Too many documents have the property to return at once.", "Query them by pages."},
	CodeEffect:                  {"effect", []Kind{Invalid}, "An operation writes or reads, but its caller is declared not to.", "Call it from an operation that may, or change the caller's declaration."},
	CodeEgress:                  {"egress", []Kind{Denied, Limit}, "The server may not access this address, or the response is too large.", "Use a public https address, or ask an administrator to allow it."},
	CodeEventLoop:               {"event_loop", []Kind{Limit}, "Events or listeners trigger each other too many times.", "Change the listener so that it does not trigger itself."},
	CodeEvents:                  {"events", []Kind{Limit}, "One call fires too many events.", "Do less in one call."},
	CodeExportFolder:            {"export_folder", []Kind{Denied}, "The server is not configured to write files to a folder.", "Ask an administrator to configure one."},
	CodeExportQuota:             {"export_quota", []Kind{Limit}, "The export quota is used up.", "Wait as long as the Retry-After header says."},
	CodeExpression:              {"expression", []Kind{Invalid, Limit}, "An expression cannot be parsed or evaluated, or its result is too large.", "Fix the expression at the position in the message."},
	CodeFileInUse:               {"file_in_use", []Kind{Conflict}, "Slides of the deck show the file.", "Remove it from the slides first, or set force."},
	CodeHostNotAllowed:          {"host_not_allowed", []Kind{Denied}, "The server is not configured to serve this host name.", "Use its public address, or ask an administrator to add the name."},
	CodeIdempotencyAnswerLost:   {"idempotency_answer_lost", []Kind{Conflict}, "The request was executed, but its response was not stored.", "Check its effect; do not send it again with another key."},
	CodeIdempotencyInFlight:     {"idempotency_in_flight", []Kind{Conflict}, "A request with this idempotency key is in progress.", "Wait a second and send it again with the same key."},
	CodeIdempotencyMismatch:     {"idempotency_mismatch", []Kind{Invalid}, "The idempotency key was used for a different request.", "Use a new key for each request."},
	CodeInsufficientScope:       {"insufficient_scope", []Kind{Denied}, "The key is read-only.", "Use a key that may write."},
	CodeInvalidClient:           {"invalid_client", []Kind{Invalid}, "The OAuth client does not exist, or its secret is wrong.", "Check client_id and client_secret."},
	CodeInvalidDefinition:       {"invalid_definition", []Kind{Invalid}, "The JSON definition of a deck is invalid.", "Fix the field named in the message."},
	CodeInvalidGrant:            {"invalid_grant", []Kind{Invalid}, "A code, token or assertion is invalid or has expired.", "Ask the user for consent again."},
	CodeInvalidHTML:             {"invalid_html", []Kind{Invalid}, "The HTML of the slides is not well formed or contains something that is not allowed.", "Fix it at the line and column in the message."},
	CodeInvalidMarkdown:         {"invalid_markdown", []Kind{Invalid, Limit}, "The front matter of a Markdown text is not YAML, or the text nests or repeats something more often than a limit allows.", "Fix the line named in the message."},
	CodeInvalidRequest:          {"invalid_request", []Kind{Invalid}, "An OAuth parameter is missing or invalid.", "Fix the parameter named in the message."},
	CodeInvalidSignature:        {"invalid_signature", []Kind{Denied}, "The download address was modified, or belongs to another server.", "Read the export again to get a new address."},
	CodeInvalidText:             {"invalid_text", []Kind{Invalid}, "A text contains control characters.", "Remove them."},
	CodeInvalidType:             {"invalid_type", []Kind{Invalid}, "A field has a value of the wrong type.", "Send the type named in the message."},
	CodeInvalidValue:            {"invalid_value", []Kind{Invalid}, "A field has a value that is not allowed.", "Send one of the values named in the message."},
	CodeJSON:                    {"json", []Kind{Invalid}, "A text is not valid JSON, or it contains a duplicate name.", "Fix it at the byte in the message."},
	CodeLinkExpired:             {"link_expired", []Kind{NotFound}, "A link has expired.", "Request a new one."},
	CodeLocked:                  {"locked", []Kind{Denied}, "Another user has locked the document.", "Wait until it is unlocked, or ask the lock owner."},
	CodeMalformedJSON:           {"malformed_json", []Kind{Invalid}, "The body is not valid JSON, or does not have the structure that the address accepts.", "Fix it at the line and column in the message."},
	CodeMethodNotAllowed:        {"method_not_allowed", []Kind{Invalid}, "The address does not support this method.", "Use a method listed in the Allow header."},
	CodeMissingParameter:        {"missing_parameter", []Kind{Invalid}, "A required parameter is missing.", "Send the parameter named in the message."},
	CodeNoPicture:               {"no_picture", []Kind{Invalid}, "A file is not a picture that slides can show.", "Send one PNG, JPEG, GIF, WebP, AVIF or SVG file."},
	CodeNotAcceptable:           {"not_acceptable", []Kind{Invalid}, "The Accept header excludes the response's content type.", "Accept application/json."},
	CodeNotBuiltIn:              {"not_built_in", []Kind{Unavailable}, "The program was built without the files required to show slides.", "Ask an administrator to build it with make, which requires npm."},
	CodeNotSignedIn:             {"not_signed_in", []Kind{Denied}, "Nobody is signed in, or the password, key or session is no longer valid.", "Sign in again."},
	CodeNotSupported:            {"not_supported", []Kind{Unavailable}, "The server does not support this.", "Do not use it."},
	CodeOperations:              {"operations", []Kind{Limit}, "One call runs too many operations.", "Do less in one call, or use a job."},
	CodeOutOfRange:              {"out_of_range", []Kind{Invalid}, "A number or time is out of range.", "Send a value within the range named in the message."},
	CodePages:                   {"pages", []Kind{Limit}, "A query has too many pages for one call.", "Narrow the query, or request larger pages."},
	CodePDFPassword:             {"pdf_password", []Kind{Denied}, "A PDF file is protected, and the given password does not permit this.", "Provide its password, or the owner's password."},
	CodePDFSize:                 {"pdf_size", []Kind{Limit}, "There are too many PDF files, or they are too large.", "Send fewer or smaller files."},
	CodePictureSize:             {"picture_size", []Kind{Limit}, "A picture has too many pixels.", "Make it smaller."},
	CodePixels:                  {"pixels", []Kind{Limit}, "A picture has too many pixels to decode.", "Make it smaller."},
	CodePlanRequired:            {"plan_required", []Kind{Denied}, "The account's plan does not include this.", "Use another visibility, or ask the owner to change the plan."},
	CodePreconditionFailed:      {"precondition_failed", []Kind{Conflict}, "The resource has changed since it was read.", "Read it again, and repeat the change with its new entity tag or change token."},
	CodeProgramUnavailable:      {"program_unavailable", []Kind{Unavailable}, "A program that the conversion needs is not installed, does not start, or cannot be confined on this system.", "Ask an administrator to install the program named in the message; catena doctor lists all of them."},
	CodeQueryTooCostly:          {"query_too_costly", []Kind{Limit}, "A query reads or sorts more than one call may.", "Narrow it, or request pages in the order of an index; the message names one."},
	CodeRateLimited:             {"rate_limited", []Kind{Limit}, "Too many requests in a minute.", "Wait as long as the Retry-After header says."},
	CodeReadOnlyField:           {"read_only_field", []Kind{Invalid}, "A field cannot be written.", "Do not send it."},
	CodeRenderCrashed:           {"render_crashed", []Kind{Internal, Unavailable}, "The slide renderer crashed.", "Try again; if it happens again, ask an administrator to check the server's log."},
	CodeRendererUnavailable:     {"renderer_unavailable", []Kind{Unavailable}, "The renderer for slides or PDF pages is not installed or does not start.", "Ask an administrator to install the browser, or poppler-utils for PDF files, or to build the program with make."},
	CodeRenderTimeout:           {"render_timeout", []Kind{Unavailable}, "Rendering the slides took too long.", "Try again, or with fewer slides."},
	CodeRequired:                {"required", []Kind{Invalid}, "A required field is missing.", "Send the field named in the message."},
	CodeResultsFull:             {"results_full", []Kind{Limit}, "The operation was executed, but too many results of asynchronous runs are waiting to be read.", "Read or delete the results of finished runs; request less at once."},
	CodeRunEnded:                {"run_ended", []Kind{Conflict}, "A user canceled the call while it ran; the message says who.", "Ask that user before you call again; all changes of the call were undone."},
	CodeRunIncomplete:           {"run_incomplete", []Kind{Conflict}, "A failed run cannot be repeated: its request was not stored completely, or it was not a call.", "Send the call again; the message says what is missing."},
	CodeRunLost:                 {"run_lost", []Kind{Conflict}, "The server that carried out an asynchronous run stopped before the run had ended.", "Its transaction was undone: look at what the operation did outside, then start it again."},
	CodeRunsFull:                {"runs_full", []Kind{Unavailable}, "Too many asynchronous runs are in progress or not read yet.", "Read or delete finished runs."},
	CodeScriptBusy:              {"script_busy", []Kind{Unavailable}, "All script workers are busy.", "Try again later."},
	CodeScriptCalls:             {"script_calls", []Kind{Limit}, "A script calls too many operations.", "Do less in one call of the script."},
	CodeScriptCancelled:         {"script_cancelled", []Kind{Unavailable}, "The call ended before its script.", "Try again, and wait for it."},
	CodeScriptCrash:             {"script_crash", []Kind{Internal, Limit}, "The process running a script ended.", "Check the script for heavy work; otherwise ask an administrator to check the server's log."},
	CodeScriptError:             {"script_error", []Kind{Invalid, NotFound}, "A script failed or threw an error.", "Fix the script at the line and column in the message, or its input."},
	CodeScriptMemory:            {"script_memory", []Kind{Limit}, "A script uses too much memory.", "Keep less in memory at a time."},
	CodeScriptOutput:            {"script_output", []Kind{Limit}, "A script's result, message or log is too large.", "Return less."},
	CodeScriptPending:           {"script_pending", []Kind{Invalid}, "A script awaits a promise that never settles.", "Resolve or reject every promise that it awaits."},
	CodeScriptSource:            {"script_source", []Kind{Invalid, Limit}, "A script's source cannot be run or is too large.", "Fix the line named in the message, or shorten the script."},
	CodeScriptStack:             {"script_stack", []Kind{Limit}, "Function calls in a script are nested too deeply.", "Look for infinite recursion."},
	CodeScriptSyntax:            {"script_syntax", []Kind{Invalid}, "A script has a syntax error.", "Fix it at the line and column in the message."},
	CodeScriptTimeout:           {"script_timeout", []Kind{Limit}, "A script ran too long.", "Do less in one call of the script."},
	CodeScriptValue:             {"script_value", []Kind{Invalid}, "A value cannot be passed to or returned from a script.", "Use a plain object, list, text, number or date."},
	CodeSearchTooWide:           {"search_too_wide", []Kind{Limit}, "A search has too many results.", "Use a more specific search."},
	CodeSource:                  {"source", []Kind{Invalid}, "The source of a chain, script or listener has errors; the message lists all of them.", "Fix them at the lines and columns in the message."},
	CodeStack:                   {"stack", []Kind{Limit}, "A stack of a chain has too many values.", "Pop values before pushing more."},
	CodeTeamRoleRequired:        {"team_role_required", []Kind{Denied}, "Only some team roles may do this.", "Ask the team's owner."},
	CodeTimeout:                 {"timeout", []Kind{Limit}, "A nested run exceeded its timeout.", "Increase the timeout, or do less."},
	CodeTooLarge:                {"too_large", []Kind{Limit}, "A file, style sheet, deck or result is too large.", "Make it smaller, or request less at once."},
	CodeTooLong:                 {"too_long", []Kind{Invalid, Limit}, "A text is too long.", "Shorten it to the length in the message."},
	CodeTooManyAttempts:         {"too_many_attempts", []Kind{Denied}, "Too many sign-in attempts with wrong passwords.", "Wait a few minutes and try again."},
	CodeTooManyFiles:            {"too_many_files", []Kind{Limit}, "A deck has reached its limit of files or of their total size.", "Delete files that its slides do not show."},
	CodeTooManyLinks:            {"too_many_links", []Kind{Limit}, "A deck has reached its limit of share links.", "Revoke one first."},
	CodeTooManySlides:           {"too_many_slides", []Kind{Limit}, "A deck has too many slides.", "Split it into two decks."},
	CodeTooShort:                {"too_short", []Kind{Invalid}, "A text is too short.", "Send a longer one."},
	CodeTooSmall:                {"too_small", []Kind{Invalid}, "A number is too small.", "Send at least the number in the message."},
	CodeTransactionTimeout:      {"transaction_timeout", []Kind{Limit}, "A call took too long; all of its changes were undone.", "Do less in one call, or use a job."},
	CodeUISession:               {"ui_session", []Kind{Invalid, NotFound}, "The operation requires a UI session, but the call does not name one, or it does not exist or has expired.", "Open one with WebUI.InitSeamContext, and send its id as the context variable conversationId."},
	CodeUnderRetention:          {"under_retention", []Kind{Denied}, "The document is a record that is kept as it is: its files, or all of it while it is under retention or legal hold.", "Work on a copy, or wait until the retention has ended or the hold is removed; the message says which."},
	CodeUnknownField:            {"unknown_field", []Kind{Invalid}, "There is no field or argument with this name.", "Check the name; the message lists the valid names or the most similar one."},
	CodeUnknownOperation:        {"unknown_operation", []Kind{Invalid, NotFound}, "There is no operation with this name.", "Check the name; the message suggests the most similar one."},
	CodeUnknownProvider:         {"unknown_provider", []Kind{NotFound}, "There is no page provider with this name.", "Check the name; the message suggests the most similar one."},
	CodeUnknownRevision:         {"unknown_revision", []Kind{Invalid}, "The deck service does not have this revision.", "Use revision A or B."},
	CodeUnreachable:             {"unreachable", []Kind{Unavailable}, "Another server did not respond, or responded with an error.", "Check the address, and try again later."},
	CodeUnresolvedReference:     {"unresolved_reference", []Kind{Invalid}, "A request in a batch refers, as {$ID#/POINTER}, to a response or value that does not exist.", "Give an earlier request that id, and point to a value in its response."},
	CodeUnsupportedGrantType:    {"unsupported_grant_type", []Kind{Invalid}, "The server does not issue tokens for this grant_type.", "Use authorization_code, refresh_token or a JSON Web Token assertion."},
	CodeUnsupportedMediaType:    {"unsupported_media_type", []Kind{Invalid}, "The address does not accept a body of this content type or encoding.", "Send the type named in the message or the reference."},
	CodeUnsupportedResponseType: {"unsupported_response_type", []Kind{Invalid}, "The server only supports the OAuth response type code.", "Send response_type code."},
	CodeUploadBatches:           {"upload_batches", []Kind{Limit}, "Too many batches of uploads are open.", "Use or delete some first."},
	CodeUploadBytes:             {"upload_bytes", []Kind{Limit}, "Unused uploads have too many bytes.", "Use or delete some first."},
	CodeUploadChunk:             {"upload_chunk", []Kind{Exists}, "The chunk, or the whole file, was already received.", "Continue with the next chunk."},
	CodeUploadFiles:             {"upload_files", []Kind{Limit}, "A batch has reached its limit of files.", "Start another batch."},
	CodeUploadIncomplete:        {"upload_incomplete", []Kind{Conflict}, "Chunks of an uploaded file are missing.", "Send the missing chunks."},
	CodeValidation:              {"validation", []Kind{Invalid}, "Properties violate constraints of the document's type.", "Fix the properties listed in violations."},
	CodeWorkflowState:           {"workflow_state", []Kind{Conflict}, "The state of a workflow or task does not permit this: it has ended, or its documents or its model no longer exist.", "Read it again; the message describes its state."},
	CodeZipEntries:              {"zip_entries", []Kind{Limit}, "An archive would have too many files and folders.", "Create several archives."},
}

// Codes returns all codes, in the order of the table.
func Codes() iter.Seq[Code] {
	return func(yield func(Code) bool) {
		for c := Code(1); c < codeEnd; c++ {
			if !yield(c) {
				return
			}
		}
	}
}

// Spelled returns a code or the name of a kind in its current spelling: earlier versions wrote some with hyphens.
func Spelled(word string) string { return strings.ReplaceAll(word, "-", "_") }

// CodeNamed returns the code of a name, also in an earlier spelling, 0 if there is none.
func CodeNamed(name string) Code {
	name = Spelled(name)
	for c := range Codes() {
		if codes[c].name == name {
			return c
		}
	}
	return 0
}

// CodeOf returns the code of an error, 0 if it has none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// SubjectOf returns the name of what an error is about, "" if only its message says it.
func SubjectOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Subject
	}
	return ""
}

// Word returns what programs know an error by: its code, or the name of its kind.
func Word(err error) string {
	if c := CodeOf(err); c != 0 {
		return c.String()
	}
	return Of(err).String()
}

// String returns the word itself, "" for no code.
func (c Code) String() string { return codes[c].name }

// Kinds returns the kinds of the errors that have the code.
func (c Code) Kinds() []Kind { return slices.Clone(codes[c].kinds) }

// When says in a sentence when errors have the code.
func (c Code) When() string { return codes[c].when }

// Remedy says in a sentence what to do about them.
func (c Code) Remedy() string { return codes[c].remedy }
