package mcp

import (
	"strings"

	"catena/decks/field"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is a tool of the deck service and the operation it stands for.
type tool struct {
	name, title, op string
	params          string // of the operation's that the tool has
	required        string // besides those that the operation requires
	shaped          bool   // the operation takes a revision
	placed          bool   // and an address; what is shaped takes one too
	waits           bool   // returns an export, and waits for its end if asked to
	items           string // of a list: fields of each and their types; the result has figures besides
	meta            string // fields of the figures
	output          string // of anything else: fields and their types
	hints           mcp.ToolAnnotations
}

var no, yes = false, true

// reading, adding and changing are what tools say about themselves: all four hints each.
func reading() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}
}

func adding() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}
}

func changing() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no}
}

// What stands for the fields of a deck in the table: those that callers write, and those of results.
const (
	deckParams    = "@params"
	deckFields    = "@deck"
	summaryFields = "@summary"
)

// spelled returns the tool with the fields of a deck in place of what stands for them.
func (t tool) spelled(all field.Table) *tool {
	r := strings.NewReplacer(deckParams, strings.Join(all.Params(), " "), deckFields, all.JSON(field.B, false), summaryFields, all.JSON(field.B, true))
	t.params, t.items, t.output = r.Replace(t.params), r.Replace(t.items), r.Replace(t.output)
	return &t
}

// Fields of results and their types; a question mark stands for what may be null.
const (
	pageFields = "page:integer per_page:integer total:integer"
	linkFields = `id:integer deck_id:integer name:string url:string urls:object password_protected:boolean expires_at:string?
		expired:boolean notify_on_view:boolean view_count:integer first_viewed_at:string? created_at:string`
	exportFields = `id:integer deck_id:integer format:string status:string created_at:string completed_at:string?
		download_url:string? download_url_expires_at:string?`
	slideFields = "number:integer column:integer row:integer title:string size:integer notes:boolean"
	wholeSlide  = slideFields + " html:string deck_id:integer slide_count:integer etag:string"
	fileFields  = "deck_id:integer number:integer name:string address:string type:string size:integer added_at:string"
	userFields  = `id:integer username:string name:string email:string description:string thumbnail_url:string website_url:string
		twitter_handle:string profile_url:string account:object team:object? created_at:string updated_at:string`
)

// tools is the table of the deck service's tools. Their fields are those of revision B, and of
// revision A where B has no such thing.
var tools = []tool{
	{
		name: "add_deck_file", title: "Add deck file", op: "Deck.AddFile", params: "id name data", required: "data",
		output: fileFields, hints: adding(),
	},
	{
		name: "create_deck", title: "Create deck", op: "Deck.Create", params: deckParams,
		shaped: true, output: deckFields, hints: adding(),
	},
	{
		name: "create_export", title: "Create export", op: "Deck.CreateExport",
		params: "deck_id format margin slide_number slide_notes separate_fragments", required: "format", placed: true, waits: true,
		output: exportFields, hints: adding(),
	},
	{
		name: "create_share_link", title: "Create share link", op: "Deck.CreateShareLink",
		params: "deck_id name password expires_at notify_on_view", placed: true, output: linkFields, hints: adding(),
	},
	{name: "get_deck", title: "Get deck", op: "Deck.Get", params: "id", shaped: true, output: deckFields, hints: reading()},
	{
		name: "get_export", title: "Get export", op: "Deck.GetExport", params: "deck_id id", placed: true, waits: true,
		output: exportFields, hints: reading(),
	},
	{name: "get_slide", title: "Get slide", op: "Deck.GetSlide", params: "id slide", output: wholeSlide, hints: reading()},
	{
		name: "get_team_deck", title: "Get team deck", op: "Deck.GetTeam", params: "id", shaped: true,
		output: deckFields + " owner:object", hints: reading(),
	},
	{name: "get_user", title: "Get user", op: "Deck.Account", shaped: true, output: userFields, hints: reading()},
	{
		name: "insert_slide", title: "Insert slide", op: "Deck.InsertSlide", params: "id html after below if_match",
		output: wholeSlide, hints: adding(),
	},
	{
		name: "list_deck_files", title: "List deck files", op: "Deck.ListFiles", params: "id",
		items: fileFields, meta: "total:integer",
		hints: reading(),
	},
	{
		name: "list_decks", title: "List decks", op: "Deck.List", params: "page per_page", shaped: true,
		items: summaryFields, meta: pageFields, hints: reading(),
	},
	{
		name: "list_share_links", title: "List share links", op: "Deck.ListShareLinks", params: "deck_id", placed: true,
		items: linkFields, meta: "total:integer", hints: reading(),
	},
	{
		name: "list_slides", title: "List slides", op: "Deck.ListSlides", params: "id",
		items: slideFields, meta: "etag:string total:integer", hints: reading(),
	},
	{
		name: "list_team_decks", title: "List team decks", op: "Deck.ListTeam", params: "page per_page", shaped: true,
		items: summaryFields + " visibility:string owner:object", meta: pageFields, hints: reading(),
	},
	{
		name: "list_trashed_decks", title: "List trashed decks", op: "Deck.ListTrashed", params: "page per_page", shaped: true,
		items: "id:integer title:string description:string thumbnail_url:string trashed_at:string?", meta: pageFields, hints: reading(),
	},
	{
		name: "move_slide", title: "Move slide", op: "Deck.MoveSlide", params: "id slide after below if_match",
		output: wholeSlide, hints: adding(),
	},
	{
		name: "recover_deck", title: "Recover deck", op: "Deck.Recover", params: "id",
		output: "id:integer trashed:boolean", hints: mcp.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no},
	},
	{
		name: "remove_slide", title: "Remove slide", op: "Deck.RemoveSlide", params: "id slide if_match",
		output: "deck_id:integer slide_count:integer etag:string", hints: mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &no},
	},
	{
		name: "revoke_share_link", title: "Revoke share link", op: "Deck.RevokeShareLink", params: "deck_id id",
		output: "id:integer deck_id:integer revoked:boolean", hints: changing(),
	},
	{name: "trash_deck", title: "Trash deck", op: "Deck.Trash", params: "id", output: "id:integer trashed:boolean", hints: changing()},
	{
		name: "update_deck", title: "Update deck", op: "Deck.Update", params: "id " + deckParams,
		shaped: true, output: deckFields, hints: changing(),
	},
	{
		name: "update_slide", title: "Update slide", op: "Deck.UpdateSlide", params: "id slide html if_match",
		output: wholeSlide, hints: changing(),
	},
}
