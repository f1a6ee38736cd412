package fault

import (
	"errors"
	"iter"
	"slices"
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
	CodeRateLimited
	CodeReadOnlyField
	CodeRenderCrashed
	CodeRendererUnavailable
	CodeRenderTimeout
	CodeRequired
	CodeResultsFull
	CodeRunEnded
	CodeRunIncomplete
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
	CodeAnswer:                  {"answer", []Kind{Limit}, "The answer is nested too deep, or longer than an answer may be.", "Ask for fewer properties, or by pages."},
	CodeBodyEmpty:               {"body_empty", []Kind{Invalid}, "The request has no body where one is needed.", "Send one; an empty JSON object will do if there is nothing to say."},
	CodeBodyIncomplete:          {"body_incomplete", []Kind{Invalid}, "The body broke off, or a file that must be in it is not.", "Send the whole body again."},
	CodeBodyTooLarge:            {"body_too_large", []Kind{Limit}, "The body has more bytes or more files than a request may have.", "Upload large files in chunks, as a batch, and name the batch."},
	CodeChildren:                {"children", []Kind{Limit}, "A folder has more children than are listed at once.", "Read them by pages."},
	CodeComputationBusy:         {"computation-busy", []Kind{Unavailable}, "Too many long templates and expressions are evaluated at once, of all users or of one.", "Try again later."},
	CodeConflictingFields:       {"conflicting_fields", []Kind{Invalid}, "Two fields say the same, and not alike.", "Send one of them."},
	CodeContentDamaged:          {"content_damaged", []Kind{Internal}, "The stored content of a file is damaged or missing; the message names the document and the property.", "Upload the same file again, or let the administrator restore it from a backup; parts that are not damaged can be read by ranges."},
	CodeConverterUnknown:        {"converter-unknown", []Kind{Invalid}, "There is no such converter, or nothing says what to convert to.", "Name a converter, a type or a format there is."},
	CodeConverterUnsupported:    {"converter-unsupported", []Kind{Invalid}, "No converter makes what was asked for of a file of this type.", "Convert to another type first, or name another converter."},
	CodeCrossOrigin:             {"cross_origin", []Kind{Denied}, "The request comes from a page of another web site.", "Let the administrator allow the origin in the server's configuration."},
	CodeDeckIsPublic:            {"deck_is_public", []Kind{Conflict}, "A public deck needs no share link.", "Give its address, or make it private first."},
	CodeDeckTrashed:             {"deck_trashed", []Kind{NotFound}, "The deck was moved to the trash before its export was made.", "Restore the deck and ask for the export again."},
	CodeDepth:                   {"depth", []Kind{Limit}, "Operations call each other too deep.", "Look for a chain or a script that calls itself."},
	CodeDiskFull:                {"disk_full", []Kind{Unavailable}, "The server's disk is full, and nothing can be written.", "Let the administrator make room; what only reads goes on."},
	CodeDocuments:               {"documents", []Kind{Limit}, "More documents have the property than are returned at once.", "Query them by pages."},
	CodeEffect:                  {"effect", []Kind{Invalid}, "An operation writes, or reads, and what calls it is declared not to.", "Call it from one that may, or declare what calls it so."},
	CodeEgress:                  {"egress", []Kind{Denied, Limit}, "The server does not reach this address, or what is there is too large.", "Name a public address by https, or let the administrator allow it."},
	CodeEventLoop:               {"event-loop", []Kind{Limit}, "Events fire events, or listeners cause listeners, too many times over.", "Change the listener, so that what it does is not what it listens to."},
	CodeEvents:                  {"events", []Kind{Limit}, "One call fires too many events.", "Do less in one call."},
	CodeExportFolder:            {"export-folder", []Kind{Denied}, "The server is not configured to write files to a folder.", "Let the administrator name one when the server is started."},
	CodeExportQuota:             {"export_quota", []Kind{Limit}, "As many exports as one may make in the time were made.", "Wait as long as the answer's Retry-After says."},
	CodeExpression:              {"expression", []Kind{Invalid, Limit}, "An expression cannot be read or evaluated, or what it makes is too large.", "Mend the expression; the message says where it breaks."},
	CodeFileInUse:               {"file_in_use", []Kind{Conflict}, "Slides of the deck show the file.", "Take it out of the slides first, or set force."},
	CodeHostNotAllowed:          {"host_not_allowed", []Kind{Denied}, "The server is not configured to answer to this host name.", "Use its public address, or let the administrator add the name."},
	CodeIdempotencyAnswerLost:   {"idempotency_answer_lost", []Kind{Conflict}, "The request was carried out, and its answer was not kept.", "Read what it did; do not send it again with another key."},
	CodeIdempotencyInFlight:     {"idempotency_in_flight", []Kind{Conflict}, "A request with this idempotency key is being carried out.", "Wait a second and send it again with the same key."},
	CodeIdempotencyMismatch:     {"idempotency_mismatch", []Kind{Invalid}, "The idempotency key was used for another request.", "Make a new key for each request."},
	CodeInsufficientScope:       {"insufficient_scope", []Kind{Denied}, "The key only reads.", "Use a key that may write."},
	CodeInvalidClient:           {"invalid_client", []Kind{Invalid}, "There is no such OAuth client, or its secret is wrong.", "Check client_id and client_secret."},
	CodeInvalidDefinition:       {"invalid_definition", []Kind{Invalid}, "The JSON that defines a deck breaks its form.", "Mend the field that the message names."},
	CodeInvalidGrant:            {"invalid_grant", []Kind{Invalid}, "A code, a token or an assertion is not valid, or not any more.", "Ask the user for consent again."},
	CodeInvalidHTML:             {"invalid_html", []Kind{Invalid}, "The HTML of slides holds what they may not, or is not well formed.", "Mend it at the line and column told."},
	CodeInvalidMarkdown:         {"invalid_markdown", []Kind{Invalid, Limit}, "The front matter of a Markdown text is not YAML, or the text nests or repeats something more often than a limit allows.", "Correct it at the line that the message names."},
	CodeInvalidRequest:          {"invalid_request", []Kind{Invalid}, "A parameter of OAuth is missing, or makes no sense.", "Mend the parameter that the message names."},
	CodeInvalidSignature:        {"invalid_signature", []Kind{Denied}, "The address of a download was changed, or is of another server.", "Read the export for a new address."},
	CodeInvalidText:             {"invalid_text", []Kind{Invalid}, "A text holds control characters.", "Take them out."},
	CodeInvalidType:             {"invalid_type", []Kind{Invalid}, "A field has a value of another type than it takes.", "Send the type that the message names."},
	CodeInvalidValue:            {"invalid_value", []Kind{Invalid}, "A field has a value that it does not take.", "Send one of those that the message names."},
	CodeJSON:                    {"json", []Kind{Invalid}, "A text is no JSON, or JSON with a name that stands twice.", "Mend it at the byte told."},
	CodeLinkExpired:             {"link_expired", []Kind{NotFound}, "A link was good for a time that is over.", "Ask for a new one."},
	CodeLocked:                  {"locked", []Kind{Denied}, "Somebody else has locked the document.", "Wait until it is unlocked, or ask whoever has locked it."},
	CodeMalformedJSON:           {"malformed_json", []Kind{Invalid}, "The body is no JSON, or not of the form that the address takes.", "Mend it at the line and column told."},
	CodeMethodNotAllowed:        {"method_not_allowed", []Kind{Invalid}, "The address does not take this method.", "Use one that the Allow header lists."},
	CodeMissingParameter:        {"missing_parameter", []Kind{Invalid}, "A parameter that is needed is not there.", "Send the parameter that the message names."},
	CodeNoPicture:               {"no_picture", []Kind{Invalid}, "A file is no picture that slides can show.", "Send one file of PNG, JPEG, GIF, WebP, AVIF or SVG."},
	CodeNotAcceptable:           {"not_acceptable", []Kind{Invalid}, "The Accept header leaves out what the address answers with.", "Accept application/json."},
	CodeNotBuiltIn:              {"not_built_in", []Kind{Unavailable}, "The program was built without the files that show slides.", "Let the administrator build it with make, which needs npm."},
	CodeNotSignedIn:             {"not_signed_in", []Kind{Denied}, "Nobody is signed in, or the password, key or session is not good any more.", "Sign in again."},
	CodeNotSupported:            {"not_supported", []Kind{Unavailable}, "The server does not do this.", "Do without it."},
	CodeOperations:              {"operations", []Kind{Limit}, "One call runs too many operations.", "Do less in one call, or in a job."},
	CodeOutOfRange:              {"out_of_range", []Kind{Invalid}, "A number or a time is not within its bounds.", "Send one within those that the message names."},
	CodePages:                   {"pages", []Kind{Limit}, "A query has more pages than one call goes through.", "Narrow the query, or ask for larger pages."},
	CodePDFPassword:             {"pdf-password", []Kind{Denied}, "A PDF file is protected, and the password given is none that lets do this.", "Give the password that opens it, or its owner's."},
	CodePDFSize:                 {"pdf-size", []Kind{Limit}, "PDF files are larger, or more, than are read at once.", "Send fewer, or smaller ones."},
	CodePictureSize:             {"picture-size", []Kind{Limit}, "A picture has more pixels than are read.", "Make it smaller."},
	CodePixels:                  {"pixels", []Kind{Limit}, "A picture has more pixels than are decoded.", "Make it smaller."},
	CodePlanRequired:            {"plan_required", []Kind{Denied}, "The account's plan does not include this.", "Use another visibility, or let the owner change the plan."},
	CodePreconditionFailed:      {"precondition_failed", []Kind{Conflict}, "What was to be changed has changed since it was read.", "Read it again, and send the change with its new entity tag."},
	CodeQueryTooCostly:          {"query-too-costly", []Kind{Limit}, "A query reads or sorts more than one call may.", "Narrow it, or ask by pages in an order that an index has; the message says which."},
	CodeRateLimited:             {"rate_limited", []Kind{Limit}, "More requests came in a minute than may.", "Wait as long as the answer's Retry-After says."},
	CodeReadOnlyField:           {"read_only_field", []Kind{Invalid}, "A field cannot be written.", "Leave it out."},
	CodeRenderCrashed:           {"render_crashed", []Kind{Internal, Unavailable}, "What draws slides broke off.", "Try again; if it happens again, let the administrator read the server's log."},
	CodeRendererUnavailable:     {"renderer_unavailable", []Kind{Unavailable}, "What draws slides, or pages of PDF files, is not there, or does not start.", "Let the administrator install the browser, or poppler-utils for PDF files, or build the program with make."},
	CodeRenderTimeout:           {"render_timeout", []Kind{Unavailable}, "Drawing the slides took too long.", "Try again, or with fewer slides."},
	CodeRequired:                {"required", []Kind{Invalid}, "A field that is needed is not there.", "Send the field that the message names."},
	CodeResultsFull:             {"results_full", []Kind{Limit}, "The operation was carried out, but too much that asynchronous runs returned waits to be read.", "Read or delete the results of those that have ended; ask for less at once."},
	CodeRunEnded:                {"run_ended", []Kind{Conflict}, "Somebody ended the call while it ran; the message says who.", "Ask whoever it was before you call again; nothing of the call was kept."},
	CodeRunIncomplete:           {"run_incomplete", []Kind{Conflict}, "A failed run cannot be made again: what it was asked was not kept whole, or it was not a call.", "Make the call itself again; the message says what is missing."},
	CodeRunsFull:                {"runs_full", []Kind{Unavailable}, "Too many asynchronous runs are under way or not read yet.", "Read or delete those that have ended."},
	CodeScriptBusy:              {"script-busy", []Kind{Unavailable}, "Every script worker is at work.", "Try again later."},
	CodeScriptCalls:             {"script-calls", []Kind{Limit}, "A script calls too many operations.", "Let the script do less in one call."},
	CodeScriptCancelled:         {"script-cancelled", []Kind{Unavailable}, "The call ended before its script did.", "Try again, and wait for it."},
	CodeScriptCrash:             {"script-crash", []Kind{Internal, Limit}, "The process that runs a script ended.", "Look for what takes it so much; if there is nothing, let the administrator read the server's log."},
	CodeScriptError:             {"script-error", []Kind{Invalid}, "A script failed, or threw an error of its own.", "Mend the script at the line and column told, or what it was given."},
	CodeScriptMemory:            {"script-memory", []Kind{Limit}, "A script uses more memory than it may.", "Let the script hold less at a time."},
	CodeScriptOutput:            {"script-output", []Kind{Limit}, "A script's result, message or log is larger than it may be.", "Return less."},
	CodeScriptPending:           {"script-pending", []Kind{Invalid}, "A script awaits what never settles.", "Let every promise it awaits be resolved or rejected."},
	CodeScriptSource:            {"script-source", []Kind{Invalid, Limit}, "A script's text cannot be run, or is larger than it may be.", "Mend it at the line told, or make it shorter."},
	CodeScriptStack:             {"script-stack", []Kind{Limit}, "Functions of a script call each other too deep.", "Look for a function that calls itself without end."},
	CodeScriptSyntax:            {"script-syntax", []Kind{Invalid}, "A script's text is not well formed.", "Mend it at the line and column told."},
	CodeScriptTimeout:           {"script-timeout", []Kind{Limit}, "A script ran longer than it may.", "Let the script do less in one call."},
	CodeScriptValue:             {"script-value", []Kind{Invalid}, "A value cannot leave, or enter, a script.", "Make it a plain object, a list, a text, a number or a date."},
	CodeSearchTooWide:           {"search-too-wide", []Kind{Limit}, "A search finds more than it may.", "Say more of what is searched for."},
	CodeSource:                  {"source", []Kind{Invalid}, "The text of a chain, a script or a listener has mistakes; the message lists all of them.", "Mend them at the lines and columns told."},
	CodeStack:                   {"stack", []Kind{Limit}, "A stack of a chain holds too many values.", "Pop values before more are pushed."},
	CodeTeamRoleRequired:        {"team_role_required", []Kind{Denied}, "Only some roles of a team may do this.", "Ask the team's owner."},
	CodeTimeout:                 {"timeout", []Kind{Limit}, "An inner run took longer than it was given.", "Give it more time, or less to do."},
	CodeTooLarge:                {"too_large", []Kind{Limit}, "A file, a style sheet, a deck or a result has more bytes than it may.", "Make it smaller, or ask for less at once."},
	CodeTooLong:                 {"too_long", []Kind{Invalid, Limit}, "A text is longer than it may be.", "Shorten it to the length told."},
	CodeTooManyAttempts:         {"too-many-attempts", []Kind{Denied}, "Too many sign-ins with wrong passwords came in a row.", "Wait some minutes and try again."},
	CodeTooManyFiles:            {"too_many_files", []Kind{Limit}, "A deck has as many files, or bytes of files, as it may.", "Delete files that its slides do not show."},
	CodeTooManyLinks:            {"too_many_links", []Kind{Limit}, "A deck has as many share links as it may.", "Revoke one first."},
	CodeTooManySlides:           {"too_many_slides", []Kind{Limit}, "A deck has more slides than it may.", "Make two decks of it."},
	CodeTooShort:                {"too_short", []Kind{Invalid}, "A text is shorter than it may be.", "Send a longer one."},
	CodeTooSmall:                {"too_small", []Kind{Invalid}, "A number is smaller than it may be.", "Send at least the number told."},
	CodeTransactionTimeout:      {"transaction_timeout", []Kind{Limit}, "A call took longer than it may; nothing of it was kept.", "Do less in one call, or in a job."},
	CodeUISession:               {"ui_session", []Kind{Invalid, NotFound}, "The operation works in a session of a user interface, and the call names none, or one that is not there or has expired.", "Open one with WebUI.InitSeamContext, and send its id as context variable conversationId."},
	CodeUnknownField:            {"unknown_field", []Kind{Invalid}, "There is no field or argument of this name.", "Look at the name; the message tells those there are, or the one that was probably meant."},
	CodeUnknownOperation:        {"unknown_operation", []Kind{Invalid, NotFound}, "There is no operation of this name.", "Look at the name; the message tells the one that was probably meant."},
	CodeUnknownProvider:         {"unknown_provider", []Kind{NotFound}, "There is no page provider of this name.", "Look at the name; the message tells the one that was probably meant."},
	CodeUnknownRevision:         {"unknown_revision", []Kind{Invalid}, "There is no such revision of the deck service.", "Ask for revision A or B."},
	CodeUnreachable:             {"unreachable", []Kind{Unavailable}, "Another server did not answer, or not as it should.", "Check the address, and try again later."},
	CodeUnresolvedReference:     {"unresolved_reference", []Kind{Invalid}, "A request of a batch refers, as {$ID#/POINTER}, to an answer or a value that is not there.", "Give an earlier request that id, and point to what its answer has."},
	CodeUnsupportedGrantType:    {"unsupported_grant_type", []Kind{Invalid}, "The server does not give tokens for this grant_type.", "Use authorization_code, refresh_token or the assertion of a JSON Web Token."},
	CodeUnsupportedMediaType:    {"unsupported_media_type", []Kind{Invalid}, "The address does not take a body of this content type or encoding.", "Send the type that the message or the reference names."},
	CodeUnsupportedResponseType: {"unsupported_response_type", []Kind{Invalid}, "The server answers OAuth requests with a code only.", "Send response_type code."},
	CodeUploadBatches:           {"upload-batches", []Kind{Limit}, "Too many batches of uploads are open.", "Use or delete some first."},
	CodeUploadBytes:             {"upload-bytes", []Kind{Limit}, "Uploads that are not used yet have too many bytes.", "Use or delete some first."},
	CodeUploadChunk:             {"upload-chunk", []Kind{Exists}, "The chunk, or the whole file, is there already.", "Go on with the next chunk."},
	CodeUploadFiles:             {"upload-files", []Kind{Limit}, "A batch has as many files as it may.", "Begin another batch."},
	CodeUploadIncomplete:        {"upload-incomplete", []Kind{Conflict}, "Chunks of an uploaded file are missing.", "Send the chunks that are not there yet."},
	CodeValidation:              {"validation", []Kind{Invalid}, "Properties break the constraints of the document's type.", "Mend the properties that violations lists."},
	CodeWorkflowState:           {"workflow_state", []Kind{Conflict}, "A workflow or task is not as the call needs it: it has ended, its documents are gone, or its model is.", "Read it again; the message says how it is."},
	CodeZipEntries:              {"zip-entries", []Kind{Limit}, "An archive would have more files and folders than it may.", "Make several archives."},
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

// CodeNamed returns the code of a name, 0 if there is none.
func CodeNamed(name string) Code {
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
