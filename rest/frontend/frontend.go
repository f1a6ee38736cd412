// Package frontend serves a build of the platform's own browser front end, a folder or archive of static files, with
// the page and the configuration that its own server would add. Everything else that it asks for is the REST
// interface.
package frontend

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"catena/storage/fault"
)

// mainFile is what a build is recognised by.
const mainFile = "main.bundle.js"

// pageFile is the name of the page that starts the front end.
const pageFile = "index.html"

// Bounds of a build.
const (
	maxFile  = 64 << 20 // bytes of one file
	maxDepth = 6        // folders above mainFile
)

// Build is an opened build. Close it when it is no longer served.
type Build struct {
	files    fs.FS
	closer   io.Closer
	settings settings
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
	if err == nil {
		b.settings, err = readSettings(b.files)
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

// Handler serves the build at the folder ui of the context path, and below repo for one of the repositories.
func (b *Build) Handler(context string, repositories []string) http.Handler {
	return &handler{Build: b, context: context, repositories: repositories, tags: map[string]string{}}
}

type handler struct {
	*Build
	context      string
	repositories []string // the one that is used unless an address names another comes first

	mu   sync.Mutex
	tags map[string]string // of the files served so far, by name
}

// split finds the repository that an address is for, the folder that the front end is in there, and the name of the
// file. The folder is "" if there is no such repository.
func (h *handler) split(address string) (repository, base, name string) {
	repository, base = h.repositories[0], h.context+"/ui/"
	if rest, ok := strings.CutPrefix(address, h.context+"/repo/"); ok {
		repository, _, _ = strings.Cut(rest, "/")
		if base = h.context + "/repo/" + repository + "/ui/"; !slices.Contains(h.repositories, repository) {
			return "", "", ""
		}
	}
	name, _ = strings.CutPrefix(address, base)
	return repository, base, name
}

// ServeHTTP sends a file of the build, or what stands for the pages of the platform's server.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	repository, base, name := h.split(r.URL.Path)
	switch {
	case base == "" || name == r.URL.Path && name+"/" != base:
		http.NotFound(w, r)
	case name == r.URL.Path:
		http.Redirect(w, r, base, http.StatusFound)
	case name == "" || name == "index.jsp" || name == pageFile:
		h.send(w, r, pageFile, h.page(repository, base))
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

// tag returns the version of a file. A build that is served does not change, but the page differs between repositories.
func (h *handler) tag(name string, body []byte) string {
	if name == pageFile {
		return tagOf(body)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	tag, ok := h.tags[name]
	if !ok {
		tag = tagOf(body)
		h.tags[name] = tag
	}
	return tag
}

func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
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
