package web

import (
	"strings"

	"github.com/dop251/goja"
	"github.com/nlnwa/whatwg-url/url"
	"golang.org/x/text/encoding/unicode"
)

var parts = map[string]func(*url.Url) string{
	"hash":     (*url.Url).Hash,
	"host":     (*url.Url).Host,
	"hostname": (*url.Url).Hostname,
	"origin":   origin,
	"password": (*url.Url).Password,
	"pathname": (*url.Url).Pathname,
	"port":     (*url.Url).Port,
	"protocol": (*url.Url).Protocol,
	"search":   (*url.Url).Search,
	"username": (*url.Url).Username,
}

var changes = map[string]func(*url.Url, string){
	"hash":     (*url.Url).SetHash,
	"host":     (*url.Url).SetHost,
	"hostname": (*url.Url).SetHostname,
	"password": (*url.Url).SetPassword,
	"pathname": (*url.Url).SetPathname,
	"port":     (*url.Url).SetPort,
	"protocol": (*url.Url).SetProtocol,
	"search":   (*url.Url).SetSearch,
	"username": (*url.Url).SetUsername,
}

// origin is opaque, written null, for schemes that have none.
func origin(u *url.Url) string {
	switch u.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return u.Protocol() + "//" + u.Host()
	}
	if u.Scheme() == "blob" { // that of the page it was made by
		if of, err := url.Parse(u.Pathname()); err == nil && (of.Scheme() == "http" || of.Scheme() == "https") {
			return origin(of)
		}
	}
	return "null"
}

// addresses are the native functions of url.js.
func (h *Host) addresses() map[string]native {
	text := func(v goja.Value) string { return v.String() }
	return map[string]native{
		"url": func(c goja.FunctionCall) goja.Value {
			return h.VM.ToValue(h.parse(text(c.Argument(0)), c.Argument(1)).Href(false))
		},
		"part": func(c goja.FunctionCall) goja.Value {
			return h.VM.ToValue(parts[text(c.Argument(1))](h.parse(text(c.Argument(0)), goja.Undefined())))
		},
		"change": func(c goja.FunctionCall) goja.Value {
			u := h.parse(text(c.Argument(0)), goja.Undefined())
			changes[text(c.Argument(1))](u, text(c.Argument(2)))
			return h.VM.ToValue(u.Href(false))
		},
		"parse": func(c goja.FunctionCall) goja.Value { return h.VM.ToValue(h.pairs(text(c.Argument(0)))) },
		"form": func(c goja.FunctionCall) goja.Value {
			var list [][]string
			if err := h.VM.ExportTo(c.Argument(0), &list); err != nil {
				h.throw("TypeError", "URLSearchParams: %v", err)
			}
			var b strings.Builder
			for i, p := range list {
				if i > 0 {
					b.WriteByte('&')
				}
				escape(&b, p[0])
				b.WriteByte('=')
				escape(&b, p[1])
			}
			return h.VM.ToValue(b.String())
		},
	}
}

func (h *Host) parse(text string, base goja.Value) *url.Url {
	var u *url.Url
	var err error
	if goja.IsUndefined(base) {
		u, err = url.Parse(text)
	} else {
		u, err = url.ParseRef(base.String(), text)
	}
	if err != nil || u == nil {
		h.throw("TypeError", "Invalid URL: %.200q", text)
	}
	return u
}

// pairs are the names and values of a form that is application/x-www-form-urlencoded.
func (h *Host) pairs(query string) goja.Value {
	list := []any{}
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		list = append(list, h.VM.NewArray(unescape(name), unescape(value)))
	}
	return h.VM.NewArray(list...)
}

// unescape reads what escape writes. What is not an escape stands for itself.
func unescape(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			b = append(b, ' ')
		case s[i] == '%' && i+2 < len(s) && hex(s[i+1]) >= 0 && hex(s[i+2]) >= 0:
			b = append(b, byte(hex(s[i+1])<<4|hex(s[i+2])))
			i += 2
		default:
			b = append(b, s[i])
		}
	}
	b, _ = unicode.UTF8.NewDecoder().Bytes(b) // replaces what is wrong, and never fails
	return string(b)
}

func hex(c byte) int { return strings.IndexByte("0123456789abcdef", lower(c)) }

func lower(c byte) byte {
	if c >= 'A' && c <= 'F' {
		return c | 0x20
	}
	return c
}

func escape(b *strings.Builder, s string) {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == ' ':
			b.WriteByte('+')
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte("*-._", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		}
	}
}
