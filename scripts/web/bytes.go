package web

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	hexadecimal "encoding/hex"
	"hash"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/google/uuid"
	"golang.org/x/text/encoding/htmlindex"
)

// maxRandom is how many bytes getRandomValues fills at once, as in browsers.
const maxRandom = 65536

// texts are the native functions of text.js.
func (h *Host) texts() map[string]native {
	return map[string]native{
		"encode": func(c goja.FunctionCall) goja.Value {
			return h.VM.ToValue(h.VM.NewArrayBuffer([]byte(c.Argument(0).String())))
		},
		"label": func(c goja.FunctionCall) goja.Value {
			e, err := htmlindex.Get(strings.TrimSpace(c.Argument(0).String()))
			if err == nil {
				var name string
				if name, err = htmlindex.Name(e); err == nil {
					return h.VM.ToValue(name)
				}
			}
			e2, err2 := h.VM.New(h.VM.Get("RangeError"), h.VM.ToValue("TextDecoder: unknown encoding "+c.Argument(0).String()))
			if err2 != nil {
				panic(err2)
			}
			panic(e2)
		},
		"decode": func(c goja.FunctionCall) goja.Value {
			return h.VM.ToValue(h.decode(h.bytes(c.Argument(0)), c.Argument(1).String(), c.Argument(2).ToBoolean(), c.Argument(3).ToBoolean()))
		},
	}
}

func (h *Host) decode(b []byte, label string, fatal, keepMark bool) string {
	e, err := htmlindex.Get(label)
	if err != nil {
		h.throw("TypeError", "TextDecoder: %v", err)
	}
	out, err := e.NewDecoder().Bytes(b)
	if err != nil || fatal && !valid(label, b, out) {
		h.throw("TypeError", "TextDecoder: the bytes are not %s", label)
	}
	if text := string(out); keepMark || !strings.HasPrefix(label, "utf-") {
		return text
	}
	return strings.TrimPrefix(string(out), "\uFEFF")
}

// valid reports whether bytes are what their encoding allows, given what they were decoded to. U+FFFD itself is allowed.
func valid(label string, b, decoded []byte) bool {
	var order binary.ByteOrder = binary.LittleEndian
	switch label {
	case "utf-8":
		return utf8.Valid(b)
	case "utf-16be":
		order = binary.BigEndian
	case "utf-16le":
	default:
		return !bytes.ContainsRune(decoded, utf8.RuneError)
	}
	written := 0
	for i := 0; i+1 < len(b); i += 2 {
		if order.Uint16(b[i:]) == utf8.RuneError {
			written++
		}
	}
	return len(b)%2 == 0 && bytes.Count(decoded, []byte("\uFFFD")) == written
}

// algorithms are the digests. Those that are broken are there for what others have written with them.
var algorithms = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
}

// digests are the native functions of crypto.js.
func (h *Host) digests() map[string]native {
	return map[string]native{
		"digest": func(c goja.FunctionCall) goja.Value {
			return h.VM.ToValue(h.VM.NewArrayBuffer(h.sum("crypto.subtle.digest", c.Argument(0).String(), h.bytes(c.Argument(1)))))
		},
		"hash": func(c goja.FunctionCall) goja.Value {
			data := c.Argument(1)
			var b []byte
			if _, object := data.(*goja.Object); object {
				b = h.bytes(data)
			} else {
				b = []byte(data.String())
			}
			sum := h.sum("crypto.hash", c.Argument(0).String(), b)
			switch encoding := c.Argument(2).String(); encoding {
			case "hex":
				return h.VM.ToValue(hexadecimal.EncodeToString(sum))
			case "base64":
				return h.VM.ToValue(base64.StdEncoding.EncodeToString(sum))
			case "base64url":
				return h.VM.ToValue(base64.RawURLEncoding.EncodeToString(sum))
			default:
				h.throw("TypeError", "crypto.hash: unknown encoding %s, must be hex, base64 or base64url", encoding)
			}
			return nil
		},
		"random": func(c goja.FunctionCall) goja.Value {
			b := h.bytes(c.Argument(0))
			if len(b) > maxRandom {
				h.throw("QuotaExceededError", "crypto.getRandomValues: at most %d bytes at once", maxRandom)
			}
			_, _ = rand.Read(b) // never fails
			return goja.Undefined()
		},
		"uuid": func(goja.FunctionCall) goja.Value { return h.VM.ToValue(uuid.NewString()) },
	}
}

func (h *Host) sum(of, algorithm string, b []byte) []byte {
	f, ok := algorithms[algorithm]
	if !ok {
		h.throw("TypeError", "%s: unknown algorithm %.40s", of, algorithm)
	}
	d := f()
	_, _ = d.Write(b) // never fails
	return d.Sum(nil)
}
