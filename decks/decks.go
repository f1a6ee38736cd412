// Package decks keeps presentations: documents of type Deck with a number of their own, in a
// folder for each user that nobody else sees. Every rule of the deck service is here: whose
// a deck is, what may be written, which HTML is harmless, what each revision of the service
// calls a field. Results are maps with data, meta and etag, as the service's answers have
// them; addresses, headers and statuses are left to the doors.
package decks

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Ops are the operations of the deck service.
var Ops = []engine.Op{
	account,
	addFile,
	browse,
	create,
	createExport,
	createShareLink,
	createTeam,
	deleteTeam,
	downloadExport,
	get,
	getExport,
	getExportFile,
	getSlide,
	getTeam,
	getTeamDeck,
	history,
	importDeck,
	insertSlide,
	keepVersion,
	list,
	listExports,
	listFiles,
	listNotices,
	listShareLinks,
	listShareViews,
	listSlides,
	listTeamDecks,
	listTeams,
	listTrashed,
	moveSlide,
	openAPI,
	openFile,
	openShare,
	recoverDeck,
	removeFile,
	removeMember,
	removeSlide,
	restore,
	revokeShareLink,
	setMember,
	thumbnail,
	trash,
	update,
	updateSlide,
	updateTeam,
	viewDeck,
}

const (
	category = "Decks"
	homes    = "decks" // folder of the users' folders
)

// live leaves out versions and proxies of decks.
const live = " AND ecm:isVersion = 0 AND ecm:isProxy = 0"

// find returns the caller's deck of a number. A deck of somebody else does not exist.
func find(c *engine.Ctx, number int64, trashed bool) (*storage.Doc, error) {
	missing := fault.NotFound.Errorf("deck %d: does not exist", number)
	folder, err := home(c, false)
	if err != nil {
		return nil, err
	}
	if folder == nil {
		return nil, missing
	}
	docs, err := c.Tx.Lookup("deck:listing", listed(folder.ID(), number))
	if err == nil && len(docs) == 0 && trashed {
		docs, err = trashedDecks(c.Tx, folder.ID(), number)
	}
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, missing
	}
	return docs[0], nil
}

// trashedDecks returns the deck of a number if it is in the trash.
func trashedDecks(tx *storage.Tx, folder string, number int64) (storage.Docs, error) {
	page, err := tx.Query("SELECT * FROM Deck WHERE deck:number = ? AND ecm:parentId = ?"+live, storage.QueryOptions{
		Args: []any{number, folder}, PageOptions: storage.PageOptions{Limit: 1, CountLimit: -1},
	})
	if err != nil {
		return nil, err
	}
	return page.Docs, nil
}

// version counts how often a deck was changed.
func version(d *storage.Doc) string {
	token := d.ChangeToken()
	return token[strings.LastIndexByte(token, '-')+1:]
}

// matchVersion refuses unless one of the entity tags is of the deck's present version, in
// whatever revision it was read.
func matchVersion(d *storage.Doc, tags string) error {
	if tags == "" {
		return nil
	}
	for tag := range strings.SplitSeq(tags, ",") {
		tag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`)
		n, _, _ := strings.Cut(tag, "-")
		if n == "*" || n == version(d) {
			return nil
		}
	}
	return fault.Conflict.Errorf("deck %d: was changed meanwhile", number(d)).WithCode(fault.CodePreconditionFailed)
}

func number(d *storage.Doc) int64 { return storage.Prop[int64](d, "deck:number") }
