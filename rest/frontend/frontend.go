// Package frontend serves a build of the platform's own browser front end, a folder or archive of static files, with
// the page and the configuration that its own server would add. Everything else that it asks for is the REST
// interface.
package frontend

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"catena/storage/fault"
)

// mainFile is what a build is recognised by.
const mainFile = "main.bundle.js"

// Bounds of a build.
const (
	maxFile  = 64 << 20 // bytes of one file
	maxDepth = 6        // folders above mainFile
)

// Build is an opened build. Close it when it is no longer served.
type Build struct {
	files  fs.FS
	closer io.Closer
}

// Open opens the folder or zip archive that holds a build, at its top or somewhere below.
func Open(name string) (*Build, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fault.Invalid.Errorf("%w", err)
	}
	b := &Build{}
	if info.IsDir() {
		b.files = os.DirFS(name)
	} else {
		r, err := zip.OpenReader(name)
		if err != nil {
			return nil, fault.Invalid.Errorf("%s: is neither a folder nor a zip archive: %w", name, err)
		}
		b.files, b.closer = r, r
	}
	at, err := find(b.files)
	if err == nil {
		b.files, err = fs.Sub(b.files, at)
	}
	if err != nil {
		return nil, errors.Join(fault.Invalid.Errorf("%s: %w", name, err), b.Close())
	}
	return b, nil
}

// find returns the folder that mainFile is in.
func find(files fs.FS) (string, error) {
	at := ""
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.Count(name, "/") >= maxDepth):
			return fs.SkipDir
		case d.Name() == mainFile:
			at = path.Dir(name)
			return fs.SkipAll
		}
		return nil
	})
	if err == nil && at == "" {
		err = fault.Invalid.Errorf("does not contain %s", mainFile)
	}
	return at, err
}

// Close releases the archive of a build.
func (b *Build) Close() error {
	if b.closer == nil {
		return nil
	}
	return b.closer.Close()
}

// Handler serves the build at the folder ui of the context path.
func (b *Build) Handler(context string) http.Handler {
	return &handler{files: b.files, context: context, base: context + "/ui/", tags: map[string]string{}}
}

type handler struct {
	files         fs.FS
	context, base string

	mu   sync.Mutex
	tags map[string]string // of the files served so far, by name
}

// ServeHTTP sends a file of the build, or what stands for the pages of the platform's server.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	name, below := strings.CutPrefix(r.URL.Path, h.base)
	switch {
	case !below:
		http.Redirect(w, r, h.base, http.StatusFound)
	case name == "" || name == "index.jsp" || name == "index.html":
		h.send(w, r, "index.html", h.page())
	case name == "config.jsp":
		h.send(w, r, "config.js", h.configuration())
	default:
		h.file(w, r, strings.TrimPrefix(path.Clean("/"+name), "/")) // builds ask for "//search/default/…"
	}
}

// file sends a file of the build.
func (h *handler) file(w http.ResponseWriter, r *http.Request, name string) {
	if !fs.ValidPath(name) {
		http.NotFound(w, r)
		return
	}
	body, err := h.read(name)
	if errors.Is(err, fs.ErrNotExist) && path.Dir(name) == typeIcons {
		name, body, err = "icon.svg", typeIcon, nil
	}
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h.send(w, r, name, body)
}

// read returns the content of a file.
func (h *handler) read(name string) ([]byte, error) {
	info, err := fs.Stat(h.files, name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() || info.Size() > maxFile {
		return nil, fs.ErrNotExist
	}
	return fs.ReadFile(h.files, name)
}

// send answers with content, which browsers may keep but must ask for again.
func (h *handler) send(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	typ := types[path.Ext(name)]
	if typ == "" {
		typ = mime.TypeByExtension(path.Ext(name))
	}
	if typ == "" {
		typ = "application/octet-stream"
	}
	header := w.Header()
	header.Set("Content-Type", typ)
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", h.tag(name, body))
	if strings.HasPrefix(typ, "text/html") {
		header.Set("Content-Security-Policy", "frame-ancestors 'self'; object-src 'none'; base-uri 'self'")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// tag returns the version of a file. A build that is served does not change.
func (h *handler) tag(name string, body []byte) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	tag, ok := h.tags[name]
	if !ok {
		sum := sha256.Sum256(body)
		tag = `"` + hex.EncodeToString(sum[:12]) + `"`
		h.tags[name] = tag
	}
	return tag
}

// types are those of the files of a build, so that every machine answers in the same way.
var types = map[string]string{
	".bcmap": "application/octet-stream", ".css": "text/css; charset=utf-8", ".ftl": "text/plain; charset=utf-8", ".gif": "image/gif",
	".html": "text/html; charset=utf-8", ".ico": "image/x-icon", ".js": "text/javascript; charset=utf-8", ".json": "application/json",
	".mjs": "text/javascript; charset=utf-8", ".png": "image/png", ".svg": "image/svg+xml", ".ttf": "font/ttf", ".wasm": "application/wasm",
	".woff": "font/woff", ".woff2": "font/woff2",
}

// typeIcons is where the front end looks for the pictures of document types. A build has those of the platform's own
// types only; the others get one of ours.
const typeIcons = "images/doctypes"

var typeIcon = []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100" viewBox="0 0 24 24" fill="none" stroke="#5b6770" ` +
	`stroke-width="1.5" stroke-linejoin="round"><path d="M6 3h8l4 4v14H6z"/><path d="M14 3v4h4M9 12h6M9 16h6"/></svg>`)

var pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang=""><head><meta charset="utf-8"><title>catena</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="shortcut icon" href="favicon.ico">
<link rel="stylesheet" href="index.css"></head>
<body>
<nuxeo-connection url="{{.Context}}" repository-name="default" method="form"></nuxeo-connection>
<nuxeo-app base-url="{{.Base}}" product-name="catena" unresolved>
<div id="sidebar"></div><div id="container"><div id="toolbar"></div><span id="loading"></span></div></nuxeo-app>
<script src="vendor/webcomponentsjs/webcomponents-loader.js"></script>
<script src="vendor/html-imports/html-imports.min.js"></script>
<script src="vendor/web-animations/web-animations-next-lite.min.js"></script>
<script src="config.jsp"></script>
<script src="main.bundle.js"></script>
</body></html>
`))

// page is the page that starts the front end.
func (h *handler) page() []byte {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, struct{ Context, Base string }{h.context, h.base}); err != nil {
		panic(err) // the template is a constant
	}
	return b.Bytes()
}

// settings are what the platform's server tells its front end when nothing is configured.
var settings = map[string]any{
	"enrichers": map[string][]string{
		"document": {
			"hasContent", "firstAccessibleAncestor", "permissions", "breadcrumb", "preview", "favorites", "subscribedNotifications", "thumbnail",
			"renditions", "pendingTasks", "runnableWorkflows", "runningWorkflows", "collections", "audit", "subtypes", "tags", "publications",
		},
		"blob": {"appLinks", "preview"},
	},
	"fetch": map[string][]string{"document": {"properties"}}, "dateFormat": "LL", "dateTimeFormat": "LLL", "firstDayOfWeek": "",
	"s3": map[string]string{"useDirectUpload": "false"}, "url": map[string]string{"followRedirect": "false"}, "listingMaxItems": "10000",
	"analytics":  map[string]any{"documentDistribution": map[string]string{"disableThreshold": ""}},
	"selection":  map[string]string{"selectAllEnabled": "false"},
	"user":       map[string]any{"management": map[string]any{"fetch": map[string][]string{"document": {}}}},
	"pagination": map[string]any{"nuxeoSelectOptions": map[string]string{"listingMaxItems": "1000"}}, "trustedDomains": "",
}

// configuration is the script that tells the front end its settings.
func (h *handler) configuration() []byte {
	config, err := json.Marshal(settings)
	if err != nil {
		panic(err) // texts only
	}
	repositories, err := json.Marshal([]map[string]any{{
		"name": "default", "label": "label.default.repository", "href": h.context + "/repo/default/ui/", "isDefault": true,
	}})
	if err != nil {
		panic(err)
	}
	return []byte("var Nuxeo = Nuxeo || {};\nNuxeo.UI = Nuxeo.UI || {};\nNuxeo.UI.config = " + string(config) +
		";\nNuxeo.UI.bundles = [];\nNuxeo.UI.repositories = " + string(repositories) + ";\n")
}
