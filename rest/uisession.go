package rest

import (
	"net/http"
	"net/url"

	"catena/engine"
)

// uiSessionRoutes are the addresses of the sessions of user interfaces.
func uiSessionRoutes() []route {
	return []route{
		{method: "GET", path: "/uisession", op: "UISession.List", gives: "UISessions"},
		{method: "GET", path: "/uisession/:conversationId", op: "UISession.Read", gives: "UISession"},
		{method: "PUT", path: "/uisession/:conversationId", op: "UISession.Update", entity: "state", gives: "UISession"},
		{method: "DELETE", path: "/uisession/:conversationId", op: "WebUI.DestroySeamContext"},
		{method: "GET", path: "/uisession/:conversationId/file", op: "UISession.File", gives: "file"},
		{method: "POST", path: "/uisession/:conversationId/take", body: noBody, op: "UISession.Take", status: http.StatusOK, gives: "UISession"},
	}
}

// conversationHeader names the UI session that a call worked in.
const conversationHeader = "Catena-Conversation"

// conversed notes the UI session that a call worked in, and whether it left a file there to be downloaded.
func (e *encoder) conversed(c *engine.Ctx, v any) {
	e.conversation, _ = c.Vars["conversationId"].(string)
	e.download = ""
	if v == nil {
		e.download, _ = c.Vars["Seam.DownloadFile"].(string)
	}
}

// led tells of the UI session that a call worked in, and leads to the file that is to be downloaded.
func (x *exchange) led(e *encoder, a *answer) {
	if e.conversation != "" {
		x.w.Header().Set(conversationHeader, url.QueryEscape(e.conversation))
	}
	if e.download != "" && a.status == http.StatusNoContent {
		a.status, a.location = http.StatusSeeOther, x.base()+"/api/v1/uisession/"+url.PathEscape(e.download)+"/file"
	}
}
