package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/engine/convert"
	"catena/ops/conversion"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/outbox"
)

// withFile makes a document with a file and returns its address.
func withFile(t *testing.T, s *resttest.Server, name, typ, content string) string {
	t.Helper()
	expect(t, s.Do("POST", api+"/path/", fmt.Sprintf(
		`{"entity-type":"document","type":"File","name":%q,"properties":{"file:content":{"data":%q,"name":%q,"mime-type":%q}}}`, name, content, name, typ)), 201, "")
	return api + "/path/" + name
}

func TestConvert(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	at := withFile(t, s, "a.txt", "text/plain", "Hello < World")
	for _, ask := range []string{"?format=html", "?type=text/html", "?converter=office2html", "?converter=&type=&format=html"} {
		for _, before := range []string{"", "/@blob/file:content", "/@blob/blobholder:0"} {
			a := s.Do("GET", at+before+"/@convert"+ask, "")
			if a.StatusCode != http.StatusOK || !strings.Contains(a.Text, "<html") || !strings.Contains(a.Text, "Hello &lt; World") ||
				!strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || !strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("%s%s: %s %s", before, ask, a.Status, a.Text)
			}
		}
	}
	for ask, status := range map[string]int{"": 400, "?converter=none": 400, "?type=video/mp4": 400, "?format=nope": 400} {
		expect(t, s.Do("GET", at+"/@convert"+ask, ""), status, "")
	}
	expect(t, s.Do("GET", api+"/path/default-domain/@convert?format=html", ""), 404, "")
	s.User("eve")
	s.User("bob")
	allow := func(user string) {
		t.Helper()
		if err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc("/a.txt")
			if err == nil {
				_, err = tx.SetACL(d, "local", []storage.ACE{{User: user, Permission: "Read", Granted: true}, {User: "Everyone", Permission: "Everything"}})
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	allow("bob")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- outbox.Run(ctx, s.Repo, conversion.Jobs(s.Repo, convert.Tools{})) }()
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	a := s.Do("POST", at+"/@blob/file:content/@convert", "async=true&format=html", form...)
	m := a.JSON(t)
	poll, _ := strings.CutPrefix(m["pollingURL"].(string), s.URL)
	result, _ := strings.CutPrefix(m["resultURL"].(string), s.URL)
	if a.StatusCode != http.StatusAccepted || m["entity-type"] != "conversionScheduled" || a.Header.Get("Location") != m["pollingURL"] || poll == m["pollingURL"] {
		t.Fatalf("%s %s", a.Status, a.Text)
	}
	expect(t, s.Do("GET", poll, "", "as", "eve"), 404, "")
	expect(t, s.Do("GET", result, "", "as", "eve"), 404, "")
	for end := time.Now().Add(time.Minute); ; {
		m := s.Do("GET", poll, "").JSON(t)
		if m["status"] == "completed" {
			break
		}
		if m["entity-type"] != "conversionStatus" || time.Now().After(end) {
			t.Fatalf("%v", m)
		}
		time.Sleep(time.Millisecond)
	}
	for range 2 {
		if a := s.Do("GET", result, ""); a.StatusCode != http.StatusOK || !strings.Contains(a.Text, "Hello &lt; World") {
			t.Errorf("%s %s", a.Status, a.Text)
		}
	}
	expect(t, s.Do("POST", at+"/@convert", "async=true&converter=none", form...), 400, "")
	expect(t, s.Do("POST", at+"/@convert", "format=html", form...), 200, "")
	expect(t, s.Do("GET", api+"/conversions/nope/poll", ""), 404, "")
	a = s.Do("POST", at+"/@convert", "async=true&format=html", append(form, "as", "bob")...)
	result, _ = strings.CutPrefix(a.JSON(t)["resultURL"].(string), s.URL)
	for end := time.Now().Add(time.Minute); s.Do("GET", result, "", "as", "bob").StatusCode == http.StatusNotFound && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	expect(t, s.Do("GET", result, "", "as", "bob"), 200, "")
	allow("eve")
	expect(t, s.Do("GET", result, "", "as", "bob"), 404, "")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestRecomputed has the views and the thumbnail of pictures that a query finds made again in the background.
func TestRecomputed(t *testing.T) {
	s := start(t)
	workThrough(t, s)
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 400, 200))); err != nil {
		t.Fatal(err)
	}
	batch, _ := s.Do("POST", api+"/upload/", "").JSON(t)["batchId"].(string)
	expect(t, s.Do("POST", api+"/upload/"+batch+"/0", file.String(), "X-File-Name", "a.png", "X-File-Type", "image/png"), 201, "")
	a := s.Do("POST", api+"/automation/Picture.Create", `{"input":"/","params":{"name":"pic","pictureTemplates":{"Tiny":"{\"maxsize\":20}"},`+
		`"properties":{"originalPicture":"{\"upload-batch\":\"`+batch+`\",\"upload-fileId\":\"0\"}"}}}`)
	expect(t, a, 200, "")
	views := func() string {
		var d struct {
			Properties struct {
				Views []struct {
					Title string
					Width int
				} `json:"picture:views"`
				Thumbnail *struct{} `json:"thumb:thumbnail"`
			}
		}
		if err := json.Unmarshal([]byte(s.Do("GET", api+"/path/pic", "", "properties", "*").Text), &d); err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, v := range d.Properties.Views {
			out = append(out, fmt.Sprint(v.Title, " ", v.Width))
		}
		return fmt.Sprint(strings.Join(out, ", "), "; thumbnail ", d.Properties.Thumbnail != nil)
	}
	if got := views(); got != "Tiny 20; thumbnail false" {
		t.Fatalf("views: %s", got)
	}
	for _, op := range []string{"Picture.RecomputeViews", "RecomputeThumbnails"} {
		expect(t, s.Do("POST", api+"/automation/"+op, `{"params":{"query":"SELECT * FROM Document WHERE ecm:path = '/pic'"}}`), 204, "")
	}
	const want = "Original 400, FullHD 400, Medium 400, Small 300, Thumbnail 100; thumbnail true"
	for end := time.Now().Add(time.Minute); views() != want && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if got := views(); got != want {
		t.Errorf("views: %s, want %s", got, want)
	}
}
