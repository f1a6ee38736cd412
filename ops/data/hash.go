package data

import (
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // others ask for it
	"crypto/sha1" //nolint:gosec // others ask for it
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	stdhash "hash"
	"io"
	"strings"

	"catena/engine"
	"catena/storage"
)

var hash = engine.Op{
	Name: "Data.Hash", Label: "Hash of a text or file", Category: "Data", Effect: engine.Reads, Callers: engine.Anyone,
	Doc: "Returns the hash of a text or of a file, or with a key its message authentication code (HMAC).",
	Run: engine.Overload(
		engine.On(func(p hashParams, _ *engine.Ctx, text string) (string, error) { return p.sum(strings.NewReader(text)) }),
		engine.On(func(p hashParams, c *engine.Ctx, b *storage.Blob) (string, error) {
			r, err := b.Open()
			if err != nil {
				return "", err
			}
			defer func() { _ = r.Close() }()
			// Files may be large: reading stops when the call has ended.
			return p.sum(c.Reader(r))
		}),
	),
}

type hashParams struct {
	Algorithm string `json:"algorithm" default:"sha256" enum:"md5,sha1,sha256,sha512" doc:"The algorithm."`
	Encoding  string `json:"encoding" default:"hex" enum:"hex,base64" doc:"How the hash is written."`
	Key       string `json:"key,omitzero" secret:"true" doc:"Key of a message authentication code."`
}

// MD5 and SHA-1 are there for other systems that compare such sums; they protect nothing.
var algorithms = map[string]func() stdhash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}

func (p hashParams) sum(r io.Reader) (string, error) {
	h := algorithms[p.Algorithm]()
	if p.Key != "" {
		h = hmac.New(algorithms[p.Algorithm], []byte(p.Key))
	}
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	if p.Encoding == "base64" {
		return base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
