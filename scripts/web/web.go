// Package web has the globals of browsers that scripts use and the runtime lacks: addresses, encodings, digests, random
// values and copies. Each is made when a script first names it.
//
// What is computed on many bytes is native; the objects themselves are JavaScript, so that they have nothing of the
// program in them.
package web

import (
	"embed"
	"encoding/base64"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

//go:embed *.js
var sources embed.FS

// Host is what the globals need beside the runtime.
type Host struct {
	VM *goja.Runtime
	// Handle reports whether an object stands for something of the server, of which there are no copies.
	Handle func(*goja.Object) bool
}

// Globals are the makers of the globals by name. What is made together, such as URL and URLSearchParams, is made once
// for each: one does not know objects of the other.
var Globals = map[string]func(*Host) goja.Value{
	"TextDecoder":     func(h *Host) goja.Value { return h.class("text.js", "TextDecoder", h.texts()) },
	"TextEncoder":     func(h *Host) goja.Value { return h.class("text.js", "TextEncoder", h.texts()) },
	"URL":             func(h *Host) goja.Value { return h.class("url.js", "URL", h.addresses()) },
	"URLSearchParams": func(h *Host) goja.Value { return h.class("url.js", "URLSearchParams", h.addresses()) },
	"atob":            func(h *Host) goja.Value { return h.function("atob", h.atob) },
	"btoa":            func(h *Host) goja.Value { return h.function("btoa", h.btoa) },
	"crypto":          func(h *Host) goja.Value { return h.make("crypto.js", h.digests()) },
	"structuredClone": func(h *Host) goja.Value {
		return h.make("clone.js", map[string]native{"handle": func(c goja.FunctionCall) goja.Value {
			o, ok := c.Argument(0).(*goja.Object)
			return h.VM.ToValue(ok && h.Handle(o))
		}})
	},
}

// Group gives Object and Map the function groupBy.
func Group(h *Host) { h.make("group.js", nil) }

type native = func(goja.FunctionCall) goja.Value

// programs are the compiled sources.
var programs sync.Map // of func() *goja.Program by name

func program(name string) *goja.Program {
	p, _ := programs.LoadOrStore(name, sync.OnceValue(func() *goja.Program {
		source, err := sources.ReadFile(name)
		if err != nil {
			panic(err)
		}
		return goja.MustCompile(name, string(source), true)
	}))
	return p.(func() *goja.Program)()
}

// make runs a source, which is a function of its native functions.
func (h *Host) make(name string, natives map[string]native) goja.Value {
	f, err := h.VM.RunProgram(program(name))
	if err != nil {
		panic(err)
	}
	given := h.VM.NewObject()
	for name, f := range natives {
		_ = given.Set(name, h.function(name, f))
	}
	call, _ := goja.AssertFunction(f)
	v, err := call(goja.Undefined(), given)
	if err != nil {
		panic(err)
	}
	return v
}

func (h *Host) class(source, name string, natives map[string]native) goja.Value {
	return h.make(source, natives).(*goja.Object).Get(name)
}

// function makes a native function whose name says nothing about the program.
func (h *Host) function(name string, f native) goja.Value {
	fn := h.VM.ToValue(f).(*goja.Object)
	_ = fn.DefineDataProperty("name", h.VM.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return fn
}

// throw raises a TypeError, or an error of another name. It does not return.
func (h *Host) throw(name, format string, args ...any) {
	e := h.VM.NewTypeError(append([]any{format}, args...)...)
	if name != "TypeError" {
		var err error
		if e, err = h.VM.New(h.VM.Get("Error"), e.Get("message")); err != nil {
			panic(err)
		}
		_ = e.Set("name", name)
	}
	panic(e)
}

// bytes are those of an ArrayBuffer or of a view of one: not a copy.
func (h *Host) bytes(v goja.Value) []byte {
	o, ok := v.(*goja.Object)
	if !ok {
		h.throw("TypeError", "an ArrayBuffer or a typed array is required")
	}
	if b, ok := o.Export().(goja.ArrayBuffer); ok {
		return b.Bytes()
	}
	if buffer, ok := o.Get("buffer").(*goja.Object); ok {
		if b, ok := buffer.Export().(goja.ArrayBuffer); ok {
			all := b.Bytes()
			// A script may have made the object itself, with any numbers.
			from, size := o.Get("byteOffset").ToInteger(), o.Get("byteLength").ToInteger()
			if from >= 0 && size >= 0 && from <= int64(len(all)) && size <= int64(len(all))-from {
				return all[from : from+size]
			}
		}
	}
	h.throw("TypeError", "an ArrayBuffer or a typed array is required")
	return nil
}

func (h *Host) btoa(c goja.FunctionCall) goja.Value {
	text := c.Argument(0).String()
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xFF {
			h.throw("InvalidCharacterError", "btoa: the text has characters above U+00FF")
		}
		b = append(b, byte(r))
	}
	return h.VM.ToValue(base64.StdEncoding.EncodeToString(b))
}

func (h *Host) atob(c goja.FunctionCall) goja.Value {
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\f\r", r) {
			return -1
		}
		return r
	}, c.Argument(0).String())
	if len(text)%4 == 0 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
	}
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		h.throw("InvalidCharacterError", "atob: the text is not Base64")
	}
	runes := make([]rune, len(b))
	for i, x := range b {
		runes[i] = rune(x)
	}
	return h.VM.ToValue(string(runes))
}
