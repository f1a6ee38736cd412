// Package event lists the events that the server fires by itself, so that a name that was misspelt is found when a text is
// saved: it would otherwise wait for something that never happens. Operation Event.Fire fires events of any name, so a name
// that is not in the list may still be right.
package event

import "catena/storage/fault"

// Event is an event that the server fires.
type Event struct {
	Name string
	Doc  string // when it is fired
}

// table has every event that the code of the server names, by what it is about. Those whose names begin with aboutTo or before announce a
// change, which a listener may refuse, and leave no record in the audit log.
var table = []Event{
	{"aboutToCreate", "A document is about to be created."},
	{"documentCreated", "A document, a version or a proxy was created."},
	{"beforeDocumentModification", "Properties of a document are about to be saved."},
	{"documentModified", "Properties of a document were saved."},
	{"aboutToRemove", "A document is about to be deleted, with everything below it."},
	{"documentRemoved", "A document was deleted."},
	{"aboutToRemoveProxy", "A proxy is about to be deleted."},
	{"proxyRemoved", "A proxy was deleted."},
	{"aboutToRemoveVersion", "A version is about to be deleted."},
	{"versionRemoved", "A version was deleted."},
	{"aboutToMove", "A document is about to be moved or renamed."},
	{"documentMoved", "A document was moved or renamed."},
	{"aboutToCopy", "A document is about to be copied."},
	{"documentCreatedByCopy", "A copy was created."},
	{"documentDuplicated", "A document was copied: it is the original."},
	{"documentChildrenOrderChanged", "What is in an ordered folder was put in another order."},
	{"documentLocked", "A document was locked."},
	{"documentUnlocked", "A document was unlocked."},
	{"documentTrashed", "A document was moved to the trash."},
	{"documentUntrashed", "A document was restored from the trash."},
	{"lifecycle_transition_event", "A document went to another state of its life cycle."},
	{"aboutToCheckIn", "A version is about to be made."},
	{"documentCheckedIn", "A version was made."},
	{"documentCheckedOut", "A document was checked out."},
	{"beforeRestoringDocument", "A version is about to be restored."},
	{"documentRestored", "A version was restored."},
	{"beforeDocumentSecurityModification", "Permissions are about to change."},
	{"documentSecurityUpdated", "Permissions have changed."},
	{"documentPublished", "A document was published."},
	{"documentProxyPublished", "A document was published in a section: it is the proxy."},
	{"documentProxyUpdated", "A publication was replaced by a later version: it is the proxy."},
	{"sectionContentPublished", "Something was published in a section: it is the section."},
	{"beforeRelationCreation", "A relation is about to be added."},
	{"afterRelationCreation", "A relation was added."},
	{"beforeRelationRemoval", "A relation is about to be removed."},
	{"afterRelationRemoval", "A relation was removed."},
	{"beforeAddedToCollection", "A document is about to be added to a collection."},
	{"addedToCollection", "A document was added to a collection."},
	{"beforeRemovedFromCollection", "A document is about to be removed from a collection."},
	{"removedFromCollection", "A document was removed from a collection."},
	{"beforeMakeRecord", "A document is about to become a record."},
	{"afterMakeRecord", "A document became a record."},
	{"beforeSetRetention", "A record is about to be retained."},
	{"afterSetRetention", "A record is retained."},
	{"beforeExtendRetention", "A retention is about to be extended."},
	{"afterExtendRetention", "A retention was extended."},
	{"retentionExpired", "A retention has ended."},
	{"beforeSetLegalHold", "A legal hold is about to be set."},
	{"afterSetLegalHold", "A legal hold was set."},
	{"beforeRemoveLegalHold", "A legal hold is about to be removed."},
	{"afterRemoveLegalHold", "A legal hold was removed."},
	{"commentAdded", "A comment was added to a document."},
	{"commentUpdated", "A comment on a document was changed."},
	{"commentRemoved", "A comment on a document was removed."},
	{"download", "A file of a document was downloaded."},
	{"rootRegistered", "A user chose a folder for synchronization."},
	{"rootUnregistered", "A user gave up a folder for synchronization."},
	{"afterWorkflowStarted", "A workflow was started."},
	{"afterWorkflowFinish", "A workflow has ended."},
	{"workflowCanceled", "A workflow was canceled."},
	{"workflowTaskAssigned", "Somebody got a task."},
	{"workflowTaskReassigned", "A task was given to somebody else."},
	{"workflowTaskDelegated", "A task was delegated."},
	{"workflowTaskEscalated", "A task was not done in time."},
	{"workflowTaskCompleted", "A task was done."},
	{"user_created", "A user was created."},
	{"user_modified", "A user was changed."},
	{"user_deleted", "A user was deleted."},
	{"group_created", "A group was created."},
	{"group_modified", "A group was changed."},
	{"group_deleted", "A group was deleted."},
	{"signInRefused", "Sign-ins from an address were refused after too many wrong passwords."},
	{"backupRequested", "Somebody asked for a backup."},
	{"backupMade", "A backup that somebody asked for was made."},
	{"backupFailed", "A backup that somebody asked for has failed."},
	{"backupVerificationRequested", "Somebody asked for the verification of a backup."},
	{"backupVerified", "A backup was verified because somebody asked for it."},
	{"backupVerificationFailed", "The verification of a backup that somebody asked for has failed."},
	{"deck.created", "A deck was created."},
	{"deck.updated", "A deck was changed."},
	{"deck.trashed", "A deck was moved to the trash."},
	{"deck.recovered", "A deck was restored from the trash."},
	{"share_link.created", "A share link was created."},
	{"share_link.first_viewed", "A share link was opened for the first time."},
	{"share_link.revoked", "A share link was revoked."},
	{"export.completed", "An export of a deck is ready."},
	{"export.failed", "An export of a deck has failed."},
}

// All are the events that the server fires, by what they are about.
func All() []Event { return table }

var known = func() map[string]bool {
	out := make(map[string]bool, len(table))
	for _, e := range table {
		out[e.Name] = true
	}
	return out
}()

// Known reports whether the server fires an event.
func Known(name string) bool { return known[name] }

// mistakes is how many changes at most turn a name into the one that was meant: names of other events differ by more.
const mistakes = 2

// Check is nil for an event of the server and for a name that is not like that of one.
func Check(name string) error {
	if known[name] {
		return nil
	}
	if near := fault.NearestWithin(mistakes, name, names); near != "" {
		return fault.Invalid.Errorf("unknown event %q, perhaps %s", name, near)
	}
	return nil
}

// names yields the names of all.
func names(yield func(string) bool) {
	for _, e := range table {
		if !yield(e.Name) {
			return
		}
	}
}
