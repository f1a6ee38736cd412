package frontend

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files are the least a build consists of.
var files = map[string]string{
	"web/nuxeo.war/ui/main.bundle.js": "start()", "web/nuxeo.war/ui/index.html": "not sent", "web/nuxeo.war/ui/images/doctypes/file.svg": "<svg/>",
	"outside.txt": "secret",
}

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func archive(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "ui.zip")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestBuild(t *testing.T) {
	for _, name := range []string{folder(t), archive(t)} {
		b, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		h := b.Handler("/nuxeo", []string{"default", "archive"})
		for _, c := range []struct {
			method, path string
			status       int
			typ, holds   string
		}{
			{"GET", "/nuxeo/ui", 302, "", ""},
			{"GET", "/nuxeo/ui/", 200, "text/html; charset=utf-8", `<nuxeo-app base-url="/nuxeo/ui/"`},
			{"GET", "/nuxeo/ui/index.jsp", 200, "text/html; charset=utf-8", `<nuxeo-connection url="/nuxeo"`},
			{"GET", "/nuxeo/ui/index.html", 200, "text/html; charset=utf-8", `repository-name="default"`},
			{"GET", "/nuxeo/repo/archive/ui", 302, "", ""},
			{"GET", "/nuxeo/repo/archive/ui/", 200, "text/html; charset=utf-8", `repository-name="archive" method="form"></nuxeo-connection>` + "\n" + `<nuxeo-app base-url="/nuxeo/repo/archive/ui/" product-name="catena"`},
			{"GET", "/nuxeo/repo/archive/ui/main.bundle.js", 200, "text/javascript; charset=utf-8", "start()"},
			{"GET", "/nuxeo/repo/default/ui/", 200, "text/html; charset=utf-8", `base-url="/nuxeo/repo/default/ui/"`},
			{"GET", "/nuxeo/repo/other/ui/", 404, "", ""},
			{"GET", "/nuxeo/repo/archive", 404, "", ""},
			{"GET", "/nuxeo/repo/archive/other", 404, "", ""},
			{"GET", "/nuxeo/ui/config.jsp", 200, "text/javascript; charset=utf-8", `"blob":["appLinks","preview"]`},
			{"GET", "/nuxeo/ui/config.jsp", 200, "", `{"name":"archive","label":"label.archive.repository","href":"/nuxeo/repo/archive/ui/","isDefault":false}`},
			{"GET", "/nuxeo/ui/config.jsp", 200, "", `Nuxeo.UI.bundles = [];`},
			{"GET", "/nuxeo/ui/main.bundle.js", 200, "text/javascript; charset=utf-8", "start()"},
			{"GET", "/nuxeo/ui//images/doctypes/file.svg", 200, "image/svg+xml", "<svg/>"},
			{"GET", "/nuxeo/ui/images/doctypes/file.svg", 200, "image/svg+xml", "<svg/>"},
			{"GET", "/nuxeo/ui/images/doctypes/Deck.svg", 200, "image/svg+xml", "<svg xmlns"},
			{"GET", "/nuxeo/ui/images/other.svg", 404, "", ""},
			{"GET", "/nuxeo/ui/images", 404, "", ""},
			{"GET", "/nuxeo/ui/../../../outside.txt", 404, "", ""},
			{"POST", "/nuxeo/ui/", 405, "", ""},
		} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(c.method, "http://localhost/", nil)
			r.URL.Path = c.path
			h.ServeHTTP(w, r)
			if w.Code != c.status || c.typ != "" && w.Header().Get("Content-Type") != c.typ || !strings.Contains(w.Body.String(), c.holds) {
				t.Errorf("%s %s: %d %s %.200s", c.method, c.path, w.Code, w.Header().Get("Content-Type"), w.Body)
			}
		}
		r := httptest.NewRequest(http.MethodGet, "http://localhost/nuxeo/ui/main.bundle.js", nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		r.Header.Set("If-None-Match", w.Header().Get("ETag"))
		w = httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusNotModified {
			t.Errorf("asked for again: %d", w.Code)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNotABuild(t *testing.T) {
	empty := t.TempDir()
	text := filepath.Join(empty, "text")
	if err := os.WriteFile(text, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{empty: "does not contain main.bundle.js", text: "is neither a folder nor a zip archive", empty + "/none": "no such file"} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestSettings changes what the front end is told with a file beside the build.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		file, page, config, fails string
	}{
		{`{}`, `product-name="catena"`, `"dateFormat":"LL"`, ""},
		{`{"product": "Files & Co"}`, `<title>Files &amp; Co</title>`, `Nuxeo.UI.bundles = [];`, ""},
		{`{"bundles": ["drive", "own.html"]}`, `product-name="catena"`, `Nuxeo.UI.bundles = ["drive","/nuxeo/ui/own.html"];`, ""},
		{`{"config": {"selection": {"selectAllEnabled": "true"}}}`, "", `"selection":{"selectAllEnabled":"true"}`, ""},
		{`{"config": {"analytics": {"more": 1}}}`, "", `"analytics":{"documentDistribution":{"disableThreshold":""},"more":1}`, ""},
		{`{"config": {"enrichers": {"blob": ["preview"]}}}`, "", `"enrichers":{"blob":["preview"],"document":["hasContent"`, ""},
		{`{"config": {"dateFormat": "YYYY"}}`, "", `"dateFormat":"YYYY"`, ""},
		{`{"config": {"trustedDomains": "</script>"}}`, "", `"trustedDomains":"\u003c/script\u003e"`, ""},
		{`{"bundles": ["none"]}`, "", "", "catena.json: bundles: no file none.bundle.js in the build"},
		{`{"bundles": ["../own.html"]}`, "", "", "catena.json: bundles: no file ../own.html in the build"},
		{`{"bundle": ["drive"]}`, "", "", `catena.json: json: unknown field "bundle"`},
		{`{"product": 1}`, "", "", "catena.json: json: cannot unmarshal number"},
		{`product`, "", "", "catena.json: invalid character"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"main.bundle.js": "", "drive.bundle.js": "", "own.html": "", settingsFile: c.file} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b, err := Open(dir)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, want %s", c.file, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		for path, want := range map[string]string{"/nuxeo/ui/": c.page, "/nuxeo/ui/config.jsp": c.config} {
			w := httptest.NewRecorder()
			b.Handler("/nuxeo", []string{"default"}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %s lacks %s: %s", c.file, path, want, w.Body)
			}
		}
	}
}
