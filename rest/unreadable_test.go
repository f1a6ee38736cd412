package rest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"catena/rest/resttest"
	"catena/storage"
)

// missing replaces the names and ids of what is in the closed folder by others of the same length that nothing has.
// Its result and the way back are for the text of requests and answers.
func (e *everything) missing() (there, back *strings.Replacer) {
	var forth, reverse []string
	for i, name := range []string{"file", "other", "note", "sub", "gone"} {
		at := strings.TrimPrefix(e.folder, "/") + "/"
		not := at + strings.Repeat(string(rune('p'+i)), len(name))
		forth, reverse = append(forth, at+name, not), append(reverse, not, at+name)
	}
	for i, name := range []string{"id", "version id", "proxy id", "comment id", "collection id", "trash id", "note id", "sub id", "closed", "workflowInstanceId", "taskId", "/search/saved/:id", "webhook", "commandId", "batch"} {
		not := e.named[name][:max(0, len(e.named[name])-36)] + fmt.Sprintf("00000000-0000-4000-8000-%012d", i+1)
		forth, reverse = append(forth, e.named[name], not), append(reverse, not, e.named[name])
	}
	return strings.NewReplacer(forth...), strings.NewReplacer(reverse...)
}

// TestUnreadableIsMissing has bob send every request that names a document, by path and by id, for documents that he
// may not read and for some that do not exist: apart from the name itself, the answers are the same.
func TestUnreadableIsMissing(t *testing.T) {
	e := newEverything(t, "alice", "/default-domain/workspaces/closed")
	e.User("bob")
	e.closed()
	e.fill("Canary")
	e.named["closed"] = e.as("GET", api+"/path"+e.folder, "").JSON(t)["uid"].(string)
	mine := "/default-domain/workspaces/mine"
	if err := e.Repo.Update(t.Context(), e.Repo.System(), func(tx *storage.Tx) error {
		up, err := tx.Doc("/default-domain/workspaces")
		if err != nil {
			return err
		}
		d, err := tx.Create(up, "Workspace", "mine", nil)
		if err == nil {
			_, err = tx.SetACL(d, "local", []storage.ACE{{User: "bob", Permission: "Everything", Granted: true}})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	shots := slices.Concat(e.addresses(), e.operations(), e.tools(), e.related(), e.targets(mine))
	byPath := e.file
	e.file = e.id
	shots = append(shots, slices.Concat(e.addresses(), e.operations(), e.tools())...)
	e.file = byPath
	there, back := e.missing()
	compared := tally{}
	for _, s := range shots {
		other := s
		other.path, other.body = there.Replace(s.path), there.Replace(s.body)
		if streams(s) || strings.Contains(s.path+s.body, e.named["token"]) || other.path == s.path && other.body == s.body {
			continue
		}
		got, want := answered(e.send(s, "as", "bob")), back.Replace(answered(e.send(other, "as", "bob")))
		compared[s.table]++
		if got != want {
			t.Errorf("%s %s %.200s: %.400s\nmissing: %.400s", s.name, s.path, s.body, got, want)
		}
	}
	compared.least(t, "compared", tally{"address": 20, "adapter": 60, "operation": 250, "tool": 150, "": 100})
}

// targets are requests in which a folder or document that may not be read is not what a request works on, but where it
// goes to or what it has beside it.
func (e *everything) targets(mine string) (shots []shot) {
	closed := e.named["closed"]
	for _, target := range []string{e.folder + "/sub", e.named["sub id"], closed, e.file, e.id} {
		for op, params := range map[string]string{
			"Document.Copy": `"target":%q,"name":"x"`, "Document.Move": `"target":%q,"name":"file"`, "Document.CreateLiveProxy": `"Destination Path":%q`,
			"Document.PublishToSection": `"target":%q`, "Document.AddRelation": `"object":%q,"predicate":"http://p/"`, "Document.AddToCollection": `"collection":%q`,
			"Repository.GetDocument": `"value":%q`,
		} {
			shots = append(shots, postShot("target of "+op, api+"/automation/"+op, fmt.Sprintf(`{"input":%q,"params":{`+params+`}}`, mine, target)))
		}
		at := api + "/path" + target
		if target[0] != '/' {
			at = api + "/id/" + target
		}
		for _, body := range []string{
			`{"entity-type":"document","type":"File","name":"file","properties":{"dc:title":"x"}}`, `{"entity-type":"document","type":"Nope","name":"file"}`, `{}`, `[`,
		} {
			s := postShot("create below "+target, at, body)
			shots = append(shots, s)
			s.method = "PUT"
			shots = append(shots, s)
		}
		shots = append(
			shots, getShot("children", at+"/@children"), getShot("below", at+"/file"), getShot("op", at+"/@op/Document.GetParent"), getShot("nxfile", "/nxfile/default/"+target+"/file:content"), getShot("nxdoc", "/nxdoc/default/"+target),
			getShot("query by parent", api+"/query?query=SELECT+*+FROM+Document+WHERE+ecm:parentId='"+target+"'"), getShot("query by path", api+"/query?query=SELECT+*+FROM+Document+WHERE+ecm:path+STARTSWITH+'"+target+"'"), getShot("query by id", api+"/query?query=SELECT+*+FROM+Document+WHERE+ecm:uuid='"+target+"'+OR+ecm:path='"+target+"'"),
			getShot("query by ancestor", api+"/query?query=SELECT+*+FROM+Document+WHERE+ecm:ancestorId='"+target+"'"),
			postShot("batch", api+"/batch", fmt.Sprintf(`{"requests":[{"method":"GET","path":%q}]}`, at)), postShot("several", api+"/automation/Document.GetParent", fmt.Sprintf(`{"input":"docs:%s,%s"}`, mine, target)),
			postShot("dry run", api+"/automation/Document.Delete?dryRun=true", fmt.Sprintf(`{"input":%q}`, target)),
		)
	}
	return shots
}

// anyRun is the number of a run in the background.
var anyRun = regexp.MustCompile(`[0-9a-f]{11}-[0-9a-f]{10}`)

// answered is all of an answer but what differs each time.
func answered(a *resttest.Answer) string {
	h := a.Header.Clone()
	for _, name := range []string{"Date", "X-Request-Id", "Set-Cookie", "Traceparent", "Server-Timing"} {
		h.Del(name)
	}
	return anyRun.ReplaceAllString(anyTime.ReplaceAllString(fmt.Sprintln(a.Status, h)+a.Text, "TIME"), "RUN")
}
