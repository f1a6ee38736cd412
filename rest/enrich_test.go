package rest_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// gallery is a folder with a file in it that enrichers have something to say about.
func gallery(t *testing.T) (s *resttest.Server, folder, file map[string]any) {
	t.Helper()
	s = resttest.Start(t, resttest.Config{})
	s.User("bob")
	post := func(path, body string) map[string]any {
		t.Helper()
		a := s.Do("POST", path, body)
		if a.StatusCode >= 300 {
			t.Fatalf("%s: %s %s", path, a.Status, a.Text)
		}
		if a.Text == "" {
			return nil
		}
		return a.JSON(t)
	}
	folder = post(api+"/path/default-domain/workspaces", `{"entity-type":"document","type":"Folder","name":"g","properties":{"dc:title":"Gallery"}}`)
	file = post(api+"/path/default-domain/workspaces/g", `{"entity-type":"document","type":"File","name":"f","properties":{"dc:title":"Wild <horses> & foals",
		"dc:description":"Nothing of note","dc:creator":"Administrator","file:content":{"data":"A horse runs.","name":"h.txt","mime-type":"text/plain"}}}`)
	id := file["uid"].(string)
	post(api+"/automation/Services.TagDocument", `{"input":"`+id+`","params":{"tags":"Blue"}}`)
	post(api+"/automation/Document.AddToFavorites", `{"input":"`+id+`"}`)
	post(api+"/automation/Document.AddPermission", `{"input":"`+id+`","params":{"permission":"Read","username":"bob"}}`)
	return s, folder, file
}

// TestEnrichers asks for every enricher and compares what it says, whole.
func TestEnrichers(t *testing.T) {
	s, folder, file := gallery(t)
	file = s.Do("GET", api+"/id/"+file["uid"].(string), "").JSON(t)
	say := strings.NewReplacer("{base}", s.URL+"/nuxeo", "{file}", file["uid"].(string), "{folder}", folder["uid"].(string),
		"{token}", file["changeToken"].(string), "{rest}", s.URL+"/nuxeo/api/v1/repo/default/id/"+file["uid"].(string))
	rendition := func(name, kind string) string {
		return `{"name":"` + name + `","kind":` + kind + `,"icon":"{base}/icons/` + name + `.png","url":"{rest}/@rendition/` + name + `"}`
	}
	for _, c := range []struct{ name, of, query, want string }{
		{"acls", "{file}", "", `[{"name":"local","aces":[{"id":"bob:Read:true:Administrator::","username":"bob","externalUser":false,"permission":"Read","granted":true,
			"creator":"Administrator","begin":null,"end":null,"status":"effective"}]},{"name":"inherited","aces":[
			{"id":"Administrator:Everything:true:::","username":"Administrator","externalUser":false,"permission":"Everything","granted":true,"creator":null,"begin":null,"end":null,"status":"effective"},
			{"id":"members:Read:true:::","username":"members","externalUser":false,"permission":"Read","granted":true,"creator":null,"begin":null,"end":null,"status":"effective"}]}]`},
		{"favorites", "{file}", "", `{"isFavorite":true}`},
		{"favorites", "{folder}", "", `{"isFavorite":false}`},
		{"tags", "{file}", "", `["blue"]`},
		{"collections", "{file}", "", `[]`},
		{"thumbnail", "{file}", "", `{"url":"{rest}/@rendition/thumbnail?changeToken={token}&sync=true"}`},
		{"preview", "{file}", "", `{"url":"{base}/site/api/v1/repo/default/id/{file}/@preview/?changeToken={token}"}`},
		{"preview", "{folder}", "", `{"url":null}`},
		{"documentURL", "{file}", "", `"{base}/ui/#!/doc/{file}"`},
		{"documentURL", "{file}", "&URLCodecName=docid", `"{base}/nxdoc/default/{file}"`},
		{"hasContent", "{folder}", "", `true`},
		{"hasFolderishChild", "{folder}", "", `false`},
		{"highlight", "{file}", "", `[]`},
		{"publications", "{file}", "", `{"resultsCount":0}`},
		{"subscribedNotifications", "{file}", "", `[]`},
		{"userVisiblePermissions", "{file}", "", `["Read","ReadWrite","Everything"]`},
		{"renditions", "{file}", "", "[" + strings.Join([]string{
			rendition("thumbnail", `"cmis:thumbnail"`), rendition("pdf", "null"), rendition("xmlExport", "null"), rendition("zipExport", "null"),
		}, ",") + "]"},
	} {
		a := s.Do("GET", api+"/id/"+say.Replace(c.of)+"?enrichers.document="+c.name+c.query, "")
		var got map[string]json.RawMessage
		var want, is any
		all, _ := json.Marshal(a.JSON(t)["contextParameters"])
		if json.Unmarshal(all, &got) != nil || json.Unmarshal(got[c.name], &is) != nil {
			t.Errorf("%s: %s", c.name, a.Text)
			continue
		}
		if err := json.Unmarshal([]byte(say.Replace(c.want)), &want); err != nil {
			t.Fatal(c.name, err)
		}
		if !reflect.DeepEqual(is, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got[c.name], say.Replace(c.want))
		}
	}
}

// TestEnrichersOfDocuments are those that show other documents, records and people.
func TestEnrichersOfDocuments(t *testing.T) {
	s, folder, file := gallery(t)
	id := file["uid"].(string)
	ask := func(path string, headers ...string) map[string]any {
		t.Helper()
		a := s.Do("GET", api+path, "", headers...)
		if a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s", path, a.Status, a.Text)
		}
		return a.JSON(t)
	}
	p := ask("/id/"+id, "X-Platform-enrichers.document", "breadcrumb,audit, permissions", "enrichers-document", "firstAccessibleAncestor,nonsense")["contextParameters"].(map[string]any)
	var crumbs []string
	for _, d := range p["breadcrumb"].(map[string]any)["entries"].([]any) {
		crumbs = append(crumbs, d.(map[string]any)["path"].(string))
	}
	const ws = "/default-domain/workspaces"
	if want := []string{"/default-domain", ws, ws + "/g", ws + "/g/f"}; !reflect.DeepEqual(crumbs, want) {
		t.Errorf("breadcrumb: %v", crumbs)
	}
	if p["firstAccessibleAncestor"].(map[string]any)["uid"] != folder["uid"] || p["nonsense"] != nil || len(p) != 4 {
		t.Errorf("%v", p)
	}
	if first := p["audit"].([]any)[0].(map[string]any); first["entity-type"] != "logEntry" || first["eventId"] != "documentSecurityUpdated" {
		t.Errorf("audit: %v", first)
	}
	p = ask("/id/" + folder["uid"].(string) + "?enrichers.document=children,subtypes&depth=children&properties=dublincore")["contextParameters"].(map[string]any)
	child := p["children"].(map[string]any)["entries"].([]any)[0].(map[string]any)
	if child["uid"] != id || child["properties"].(map[string]any)["dc:description"] != "Nothing of note" || child["contextParameters"] == nil {
		t.Errorf("children: %v", child)
	}
	if sub := p["subtypes"].([]any)[0].(map[string]any); sub["type"] == "" || sub["facets"] == nil {
		t.Errorf("subtypes: %v", sub)
	}
	acls := ask("/id/" + id + "?enrichers.document=acls&fetch.acls=username,creator&fetch-acls=extended")["contextParameters"].(map[string]any)["acls"]
	ace := acls.([]any)[0].(map[string]any)["aces"].([]any)[0].(map[string]any)
	if ace["username"].(map[string]any)["id"] != "bob" || ace["creator"].(map[string]any)["entity-type"] != "user" || ace["notify"] != false {
		t.Errorf("acls: %v", ace)
	}
	if members := acls.([]any)[1].(map[string]any)["aces"].([]any)[1].(map[string]any)["username"].(map[string]any); members["groupname"] != "members" {
		t.Errorf("acls: %v", members)
	}
	blob := ask("/id/" + id + "?properties=file&enrichers.blob=preview,appLinks")["properties"].(map[string]any)["file:content"].(map[string]any)
	if apps, ok := blob["appLinks"].([]any); !ok || len(apps) != 0 || blob["name"] != "h.txt" {
		t.Errorf("blob: %v", blob)
	}
	if _, embedded := blob["preview"]; embedded {
		t.Errorf("blob: %v", blob)
	}
	profile := ask("/user/bob?enrichers.user=userprofile")["contextParameters"].(map[string]any)["userprofile"].(map[string]any)
	if len(profile) != 5 || profile["gender"] != false {
		t.Errorf("userprofile: %v", profile)
	}
	see := s.Do("GET", "/nuxeo/nxdoc/default/"+id, "")
	if see.StatusCode != http.StatusSeeOther || see.Header.Get("Location") != "/ui/#!/doc/"+id {
		t.Errorf("%s %s", see.Status, see.Header.Get("Location"))
	}
	expect(t, s.Do("GET", "/nuxeo/nxdoc/other/"+id, ""), 404, "")
}

// TestHighlight marks what searches look for, in every form of search.
func TestHighlight(t *testing.T) {
	s, _, _ := gallery(t)
	words := url.QueryEscape("SELECT * FROM Document WHERE ecm:fulltext = 'horse -cow'")
	for path, want := range map[string]string{
		"/search/execute?query=" + words + "&highlight=dc:title":                                         `[{"field":"dc:title","segments":["Wild &lt;<em>horses</em>&gt; &amp; foals"]}]`,
		"/search/pp/default_search/execute?ecm_fulltext=foal&highlight=dc:title.fulltext,dc:description": `[{"field":"dc:title.fulltext","segments":["Wild &lt;horses&gt; &amp; <em>foals</em>"]}]`,
		"/path/default-domain/@search?fullText=note&highlight=ecm:fulltext":                              `[{"field":"dc:description","segments":["Nothing of <em>note</em>"]}]`,
		"/search/execute?query=" + words:                                                                 `[]`,
		"/search/execute?query=" + words + "&highlight=dc:nothing,x":                                     `[]`,
		"/path/default-domain/workspaces/g/@children?highlight=dc:title":                                 `[]`,
	} {
		a := s.Do("GET", api+path, "", "enrichers-document", "highlight")
		entries, _ := a.JSON(t)["entries"].([]any)
		if len(entries) != 1 {
			t.Errorf("%s: %s %s", path, a.Status, a.Text)
			continue
		}
		var is, should any
		is = entries[0].(map[string]any)["contextParameters"].(map[string]any)["highlight"]
		if json.Unmarshal([]byte(want), &should) != nil || !reflect.DeepEqual(is, should) {
			t.Errorf("%s: got %v", path, is)
		}
	}
}

// TestAdapters finds every adapter on a document, by path and by id.
func TestAdapters(t *testing.T) {
	s, _, file := gallery(t)
	for hop, status := range map[string]int{
		"@acl": 200, "@annotation": 200, "@audit?sortBy=eventId&sortOrder=asc&pageSize=1&currentPageIndex=1": 200, "@blob/blobholder:0": 200, "@blob/blobholder:1": 404,
		"@blob/file:content": 200, "@bo/Nothing": 404, "@children": 200, "@comment": 200, "@convert": 400, "@convert?format=html": 200,
		"@emptyWithDefault": 400, "@emptyWithDefault?type=File": 200, "@op/Document.GetParent": 405, "@pp/CURRENT_DOC_CHILDREN": 200, "@pp/none": 404,
		"@preview": 200, "@preview/": 200, "@rendition/thumbnail": 200, "@rendition/xmlExport?sync=true": 200, "@rendition/none": 400, "@search": 400,
		"@search?query=SELECT+*+FROM+File": 200, "@blob/file:content/@convert?format=html": 200, "@blob/file:content/@preview": 200,
		"@acls": 404, "@renditions": 404, "@annotations": 404, "@favorites": 404, "@tags": 404, "@versions": 404,
	} {
		for _, at := range []string{"/path" + file["path"].(string), "/id/" + file["uid"].(string), "/repo/default/id/" + file["uid"].(string)} {
			if a := s.Do("GET", api+at+"/"+hop, ""); a.StatusCode != status {
				t.Errorf("%s/%s: %s %.200s", at, hop, a.Status, a.Text)
			}
		}
	}
	body := `{"entity-type":"exception","status":404,"message":"repository other"`
	for _, a := range []*resttest.Answer{
		s.Do("GET", api+"/repo/other/path/default-domain", ""),
		s.Do("GET", api+"/repo/other/user/Administrator", ""),
		s.Do("GET", api+"/repo/other/search/execute", ""),
		s.Do("GET", api+"/path/default-domain", "", "X-NXRepository", "other"),
		s.Do("GET", api+"/path/default-domain?nxrepository=other", ""),
		s.Do("POST", api+"/automation/Repository.GetDocument", `{"params":{"value":"/"}}`, "X-Platform-Repository", "other"),
	} {
		if a.StatusCode != http.StatusNotFound || !strings.HasPrefix(a.Text, body) {
			t.Errorf("%s %s", a.Status, a.Text)
		}
	}
	expect(t, s.Do("GET", api+"/repo/default/path/", "", "X-NXRepository", "other"), 200, "") // the path wins
}
