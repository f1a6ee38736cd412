// Package webui holds operations through which chains and user interfaces work together: what is on the user's
// screen, what to show or say next, and lists of documents such as the clipboard. The state is in storage/uisession,
// for each conversation of a user; a call names its conversation by the context variable conversationId, whichever
// entry point it comes from, and state is kept as the call's transaction is.
//
// The operations are those that chains of the platform call for its former user interface. Any front end can
// use them: it starts a session, passes its id with every call, and shows what the session says afterwards.
package webui

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/uisession"
)

// Ops are the operations on sessions of user interfaces.
var Ops = []engine.Op{
	addErrorMessage,
	addInfoMessage,
	addMessage,
	addToClipboard,
	addToWorklist,
	changeTab,
	clearClipboard,
	clearSelection,
	clearWorklist,
	createDocument,
	destroyContext,
	downloadFile,
	fetchDocument,
	fetchFromClipboard,
	fetchFromWorklist,
	file,
	getActions,
	getChangeable,
	getCurrent,
	getDomain,
	getFromList,
	getSelected,
	getWorkspace,
	goBack,
	initContext,
	list,
	navigateTo,
	pushDocument,
	raiseEvents,
	read,
	refresh,
	runOperation,
	saveDocument,
	setOutcome,
	showForm,
	take,
	update,
}

const (
	interfaces = "User Interface" // categories
	fetch      = "Fetch"
	needs      = "Seam" // that a session is open

	conversation = "conversationId" // the context variable
	outcomeVar   = "Outcome"
	mainView     = "view_documents"
	createView   = "create_document"
)

// session returns the UI session of the call.
// Each operation reads it for itself. Within a transaction that costs one row, and no two steps
// hold different copies.
func session(c *engine.Ctx) (*uisession.Session, error) {
	id := conversationOf(c)
	if id == "" {
		return nil, fault.Invalid.Errorf("UI session: the call does not name one").In(conversation).WithCode(fault.CodeUISession)
	}
	return uisession.Of(c.Tx, id)
}

// conversationOf is the id of the session that the call is in; "" if it is in none.
func conversationOf(c *engine.Ctx) string {
	if id, _ := c.Vars[conversation].(string); id != "" {
		return id
	}
	// A client may send the id as a parameter of the chain instead of in its context, as in the
	// platform.
	id, _ := c.ChainParameters()[conversation].(string)
	return id
}

// change has f change the UI session of the call, and keeps it.
func change(c *engine.Ctx, f func(s *uisession.Session)) error {
	s, err := session(c)
	if err != nil {
		return err
	}
	// A change also extends the life of the session, by limit-ui-session-time from now.
	f(s)
	return s.Keep(c.Tx)
}

// show says which view is next.
func show(c *engine.Ctx, s *uisession.Session, view string) {
	s.Outcome = view
	c.SetVar(outcomeVar, view)
}

// current returns the current document of a session; nil if there is none, or it cannot be read any longer.
func current(c *engine.Ctx, s *uisession.Session) (*storage.Doc, error) {
	return uisession.Readable(c.Tx, s.Document)
}
