package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"sync"

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
	Mime string
	Tag  string // of the content
	Body []byte
	Gzip []byte // the same compressed; nil where it does not pay
}

// types are the kinds of built-in file.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
}

// assets are the files asked for so far: there is a fixed number of them.
var assets sync.Map // name: *Asset

// AssetOf returns a built-in file by what follows Assets() in its address.
func AssetOf(name string) (*Asset, error) {
	if a, ok := assets.Load(name); ok {
		return a.(*Asset), nil
	}
	typ := types[path.Ext(name)]
	if typ == "" || !fs.ValidPath(name) {
		return nil, fault.NotFound.Errorf("file %.100q: does not exist", name)
	}
	body, err := source(name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	a := &Asset{Mime: typ, Tag: hex.EncodeToString(sum[:8]), Body: body}
	if path.Ext(name) != ".woff2" {
		a.Gzip = compress(body)
	}
	assets.Store(name, a)
	return a, nil
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

func compress(body []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := z.Write(body); err != nil || z.Close() != nil || b.Len() >= len(body) {
		return nil
	}
	return b.Bytes()
}
