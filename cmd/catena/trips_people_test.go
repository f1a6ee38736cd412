package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestRoundTripsOfStreams bounds how often calls wait for the database that list what happened, tasks, people and files of a drive: not
// once for each entry.
func TestRoundTripsOfStreams(t *testing.T) {
	w := newTrips(t)
	const in = "/default-domain/workspaces"
	call := func(input, params string) string {
		if input == "" {
			return `{"params":` + params + `}`
		}
		return fmt.Sprintf(`{"input":%q,"params":%s}`, input, params)
	}
	admin := func(op, input, params string) {
		t.Helper()
		if a := w.s.Do("POST", "/nuxeo/api/v1/automation/"+op, call(input, params)); a.StatusCode >= 300 {
			t.Fatalf("%s: %s %.300s", op, a.Status, a.Text)
		}
	}
	admin("Document.Create", in, `{"type":"Workspace","name":"desk"}`)
	admin("Document.AddPermission", in+"/desk", `{"permission":"Everything","user":"bob"}`)
	var all []string
	for i := range 30 {
		name := fmt.Sprint("n", i)
		all = append(all, name)
		w.s.User(name)
		admin("Group.CreateOrUpdate", "", fmt.Sprintf(`{"groupname":"g%d","grouplabel":"g%d","members":[%q]}`, i, i, name))
		admin("Document.AddPermission", in+"/desk", fmt.Sprintf(`{"permission":"Read","user":%q}`, name))
		admin("Document.Create", in+"/desk", fmt.Sprintf(`{"type":"File","name":%q,"properties":"dc:title=%s"}`, name, name))
		admin("Document.SetProperty", in+"/desk/n0", fmt.Sprintf(`{"xpath":"dc:description","value":"%d","save":true}`, i))
		admin("Context.StartWorkflow", in+"/desk/"+name, `{"id":"SerialDocumentReview","variables":{"participants":["user:bob"],"validationOrReview":"validation"}}`)
	}
	admin("Group.CreateOrUpdate", "", `{"groupname":"all","members":["`+strings.Join(all, `","`)+`"]}`)
	w.do("POST", "/automation/PlatformDrive.SetSynchronization", call(in+"/desk", `{"enable":true}`))
	root := w.do("GET", "/path"+in+"/desk", "").JSON(t)["uid"].(string)
	run := func(op, input, params string, most, all int) tripRequest {
		return tripRequest{op, "POST", "/automation/" + op, call(input, params), most, all}
	}
	for _, r := range []tripRequest{
		run("Activity.GetStream", "", `{"limit":20}`, 5, 6),
		run("Task.GetAssigned", "", `{}`, 5, 6),
		run("Context.GetTaskNames", "", `{}`, 5, 6),
		run("User.List", "", `{"q":"n"}`, 4, 5),
		run("Group.List", "", `{"q":"g"}`, 3, 4),
		run("Group.Users", "", `{"name":"all"}`, 7, 8),
		run("UserGroup.Suggestion", "", `{"searchTerm":"n"}`, 5, 6),
		run("Document.GetUsersAndGroups", in+"/desk", `{"permission":"Read","variable name":"x"}`, 6, 7),
		run("PlatformDrive.GetChildren", "", `{"id":"defaultSyncRootFolderItemFactory#default#`+root+`"}`, 5, 6),
		{"a history by event", "GET", "/path" + in + "/desk/n0/@audit?eventId=documentModified&n=%d", "", 3, 4},
	} {
		w.bounded(r)
	}
}
