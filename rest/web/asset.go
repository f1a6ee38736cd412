package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"catena/decks/theme"
	"catena/storage/fault"
)

//go:embed static
var static embed.FS

// built holds the editor of scripts, which make bundles from npm packages. A program compiled without them has a plain field.
//
//go:embed all:dist
var built embed.FS

// version changes when any built-in file does.
var version = sync.OnceValue(func() string {
	sum := sha256.New()
	sum.Write([]byte(theme.Version()))
	for _, files := range []embed.FS{static, built} {
		_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error { // memory: no errors
			if err == nil && !d.IsDir() {
				text, _ := files.ReadFile(name)
				sum.Write([]byte(name))
				sum.Write(text)
			}
			return nil
		})
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})

// Asset is a built-in file.
type Asset struct {
	Mime    string
	Tag     string // of the content
	Body    []byte
	Encoded []Encoded // the same compressed, the shortest first; none where it does not pay
}

// Encoded is the content of a file in a content coding of HTTP.
type Encoded struct {
	Coding string
	Body   []byte
}

// types are the kinds of built-in file.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
}

// assets make the files asked for so far, each once: pages ask for one in several places at the same time, and to compress it takes long.
// There is a fixed number of them.
var assets sync.Map // name: func() *Asset

// AssetOf returns a built-in file by what follows Assets() in its address.
func AssetOf(name string) (*Asset, error) {
	if made, ok := assets.Load(name); ok {
		return made.(func() *Asset)(), nil
	}
	typ := types[path.Ext(name)]
	if typ == "" || !fs.ValidPath(name) {
		return nil, fault.NotFound.Errorf("file %.100q: does not exist", name)
	}
	body, err := source(name)
	if err != nil {
		return nil, err
	}
	made, _ := assets.LoadOrStore(name, sync.OnceValue(func() *Asset {
		sum := sha256.Sum256(body)
		a := &Asset{Mime: typ, Tag: hex.EncodeToString(sum[:8]), Body: body}
		if path.Ext(name) != ".woff2" {
			a.Encoded = compress(body)
		}
		return a
	}))
	return made.(func() *Asset)(), nil
}

func source(name string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(name, "theme/"); ok {
		color, font, _ := strings.Cut(strings.TrimSuffix(rest, ".css"), ".")
		if ThemeFile(color, font) != name {
			return nil, fault.NotFound.Errorf("theme %.100q: does not exist", rest)
		}
		return []byte(theme.CSS(color, font, "../")), nil
	}
	switch name {
	case "looks.css":
		return []byte(looksCSS()), nil
	case theme.ScriptName:
		return theme.Script, nil
	}
	if body, err := static.ReadFile("static/" + name); err == nil {
		return body, nil
	}
	if body, err := built.ReadFile("dist/" + name); err == nil {
		return body, nil
	}
	files, err := theme.Files()
	if err != nil {
		return nil, err
	}
	body, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fault.NotFound.Errorf("file %.100q: does not exist", name)
	}
	return body, nil
}

// compress makes the codings of a content that are shorter than it.
func compress(body []byte) (all []Encoded) {
	for _, c := range []struct {
		coding string
		open   func(io.Writer) (io.WriteCloser, error)
	}{
		{"br", func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, brotliLevel), nil }},
		{"gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzipLevel) }},
	} {
		var b bytes.Buffer
		z, err := c.open(&b)
		if err != nil {
			continue
		}
		if _, err := z.Write(body); err == nil && z.Close() == nil && b.Len() < len(body) {
			all = append(all, Encoded{c.coding, b.Bytes()})
		}
	}
	return all
}
