package web

import (
	"testing"

	"github.com/dop251/goja"
)

// vm is a runtime with all the globals. Objects that are frozen stand for handles.
func vm(t *testing.T) *goja.Runtime {
	t.Helper()
	h := &Host{VM: goja.New(), Handle: func(o *goja.Object) bool { v := o.Get("handle"); return v != nil && v.ToBoolean() }}
	Group(h)
	for name, global := range Globals {
		if err := h.VM.Set(name, global(h)); err != nil {
			t.Fatal(err)
		}
	}
	return h.VM
}

// scriptRow is an expression and what it gives as a text; what it throws is written as its name and its message.
type scriptRow struct{ source, want string }

func plays(t *testing.T, rows []scriptRow) {
	t.Helper()
	m := vm(t)
	for _, tt := range rows {
		v, err := m.RunString(`(() => { try { return String(` + tt.source + `) } catch (e) { return e.name + ": " + e.message } })()`)
		if err != nil || v.String() != tt.want {
			t.Errorf("%s:\ngot  %v %v\nwant %s", tt.source, v, err, tt.want)
		}
	}
}

// TestURLVectors plays vectors of the tests that browsers share, for addresses and their parts.
func TestURLVectors(t *testing.T) {
	plays(t, []scriptRow{
		{`new URL("HTTP://EXAMPLE.com:80/%7Efoo/../a%2fb?x#y").href`, "http://example.com/a%2fb?x#y"},
		{`new URL("https://h:443/")`, "https://h/"},
		{`new URL("http://h:00081/").port`, "81"},
		{`new URL("http://user:p%40ss@h/").password`, "p%40ss"},
		{`new URL("http://0x7f.1/").hostname`, "127.0.0.1"},
		{`new URL("http://2130706433/").host`, "127.0.0.1"},
		{`new URL("http://[2001:0DB8::0:1]:8080/").host`, "[2001:db8::1]:8080"},
		{`new URL("http://münchen.de/ä?ö#ü")`, "http://xn--mnchen-3ya.de/%C3%A4?%C3%B6#%C3%BC"},
		{`new URL("  http://h/a\tb\n ").pathname`, "/ab"},
		{`new URL("http:\\\\h\\a").href`, "http://h/a"},
		{`new URL("file:///C|/a/../b").href`, "file:///C:/b"},
		{`new URL("mailto:a@b.org").pathname + new URL("mailto:a@b.org").origin`, "a@b.orgnull"},
		{`new URL("blob:https://h:8443/x").origin`, "https://h:8443"},
		{`new URL("blob:mailto:x").origin + new URL("data:text/plain,x").origin`, "nullnull"},
		{`new URL("ws://h:80/a").origin`, "ws://h"},
		{`new URL("?q", "http://h/a/b?p#f")`, "http://h/a/b?q"},
		{`new URL("#f", "http://h/a?p")`, "http://h/a?p#f"},
		{`new URL("", "http://h/a?p#f")`, "http://h/a?p"},
		{`new URL("/../../x", "http://h/a/b")`, "http://h/x"},
		{`new URL("./", "http://h/a/b/c")`, "http://h/a/b/"},
		{`new URL("http://h/a b\"<>` + "`" + `{}")`, "http://h/a%20b%22%3C%3E%60%7B%7D"},
		{`new URL("http://h?a'b").search`, "?a%27b"},
		{`new URL("http://h/?").search + "|" + new URL("http://h/#").hash`, "|"},
		{`URL.canParse("http://h:99999")`, "false"},
		{`URL.canParse("http://a b/")`, "false"},
		{`URL.canParse("x", "http://h")`, "true"},
		{`URL.canParse("//x", "nope")`, "false"},
		{`new URL("http://")`, `TypeError: Invalid URL: "http://"`},
		{`new URL("http://[::1")`, `TypeError: Invalid URL: "http://[::1"`},
		{`new URL("a", "b")`, `TypeError: Invalid URL: "a"`},
		{`Object.prototype.toString.call(new URL("http://h"))`, "[object URL]"},
	})
}

// TestURLChanges holds what setting a part does, and that what cannot be set is left as it is.
func TestURLChanges(t *testing.T) {
	change := func(from, body string) string {
		return `(() => { const u = new URL("` + from + `"); ` + body + `; return u.href })()`
	}
	plays(t, []scriptRow{
		{change("http://h/", `u.port = "443"`), "http://h:443/"},
		{change("http://h:81/", `u.port = ""`), "http://h/"},
		{change("http://h/", `u.port = "x"`), "http://h/"},
		{change("http://h/", `u.protocol = "mailto"`), "http://h/"},
		{change("http://h:8080/", `u.hostname = "o.org"`), "http://o.org:8080/"},
		{change("http://h:8080/", `u.host = "o.org:1"`), "http://o.org:1/"},
		{change("http://h/a", `u.pathname = ""`), "http://h/"},
		{change("http://h/a", `u.pathname = "x?y#z"`), "http://h/x%3Fy%23z"},
		{change("http://h/a?b", `u.search = "c d"`), "http://h/a?c%20d"},
		{change("http://h/a?b", `u.search = ""`), "http://h/a"},
		{change("http://h/a#b", `u.hash = ""`), "http://h/a"},
		{change("http://h/", `u.username = "a:b"; u.password = "@"`), "http://a%3Ab:%40@h/"},
		{change("http://h/?a=1", `u.searchParams.append("b", "ü &")`), "http://h/?a=1&b=%C3%BC+%26"},
		{change("http://h/?a=1#f", `u.searchParams.delete("a")`), "http://h/#f"},
		{change("http://h/?b=2&a=1", `u.searchParams.sort()`), "http://h/?a=1&b=2"},
		{change("http://h/?a=1", `const p = u.searchParams; u.href = "http://o/?z=9"; p.append("y", "8")`), "http://o/?z=9&y=8"},
		{change("http://h/", `try { u.href = "nope" } catch {}`), "http://h/"},
		{change("mailto:a@b", `u.pathname = "/x"`), "mailto:a@b"},
	})
}

// TestFormVectors plays vectors for parameters: reading, writing, and the methods of the list.
func TestFormVectors(t *testing.T) {
	plays(t, []scriptRow{
		{`[...new URLSearchParams("a=b&&c&=d&e=f=g")].join("|")`, "a,b|c,|,d|e,f=g"},
		{`new URLSearchParams("a=b+c&d=%2B%20%zz%4").toString()`, "a=b+c&d=%2B+%25zz%254"},
		{`new URLSearchParams("??a=1").get("?a")`, "1"},
		{`new URLSearchParams("a=%00%F0%9F%92%A9").get("a").length`, "3"},
		{`escape(new URLSearchParams("a=%FF%FE").get("a"))`, "%uFFFD%uFFFD"},
		{`escape(new URLSearchParams("a=%E2%82x%F0%9F%98").get("a"))`, "%uFFFDx%uFFFD"},
		{`escape(new URLSearchParams("a=%ED%A0%80%C0%80").get("a"))`, "%uFFFD%uFFFD%uFFFD%uFFFD%uFFFD"},
		{`escape(new URLSearchParams("%EF%BB%BFa=1").toString())`, "%25EF%25BB%25BFa%3D1"},
		{`new URLSearchParams({a: "-._*~!'()", "b c": "@[{"}).toString()`, "a=-._*%7E%21%27%28%29&b+c=%40%5B%7B"},
		{`new URLSearchParams([["a", 1], ["a", 2]]).getAll("a").join()`, "1,2"},
		{`new URLSearchParams([["a"]])`, "TypeError: URLSearchParams: each item must be a pair of a name and a value"},
		{`new URLSearchParams([["a", "b", "c"]])`, "TypeError: URLSearchParams: each item must be a pair of a name and a value"},
		{`new URLSearchParams(new URLSearchParams("a=1&a=2")).toString()`, "a=1&a=2"},
		{`new URLSearchParams(null).size + new URLSearchParams("").size + new URLSearchParams("?").size`, "0"},
		{`(p => { p.set("a", "9"); p.set("z", ""); return p })(new URLSearchParams("a=1&b=2&a=3"))`, "a=9&b=2&z="},
		{`(p => { p.delete("a", "1"); return p })(new URLSearchParams("a=1&a=2&b=1"))`, "a=2&b=1"},
		{`(p => [p.has("a"), p.has("a", "2"), p.has("a", "3"), p.get("c")].join())(new URLSearchParams("a=1&a=2"))`, "true,true,false,"},
		{`(p => { p.sort(); return p })(new URLSearchParams("z=1&a=2&z=0&a=1&Z=3"))`, "Z=3&a=2&a=1&z=1&z=0"},
		{`(p => { const s = []; p.forEach(function (v, k, q) { s.push(k + v + (q === p) + this.x) }, {x: 7}); return s })(new URLSearchParams("a=1"))`, "a1true7"},
		{`(p => { const s = []; for (const [k] of p) { s.push(k); if (k === "a") p.append("c", "") } return s })(new URLSearchParams("a=1&b=2"))`, "a,b,c"},
		{`[...new URLSearchParams("a=1&b=2").keys()].join() + [...new URLSearchParams("a=1&b=2").values()].join()`, "a,b1,2"},
	})
}

// TestEncodingVectors plays vectors of texts and bytes, among them the longest parts of wrong UTF-8 that count as one mistake.
func TestEncodingVectors(t *testing.T) {
	decoded := func(label, bytes string) string {
		return `escape(new TextDecoder("` + label + `").decode(new Uint8Array([` + bytes + `])))`
	}
	fatal := func(label, bytes string) string {
		return `escape(new TextDecoder("` + label + `", {fatal: true}).decode(new Uint8Array([` + bytes + `])))`
	}
	plays(t, []scriptRow{
		{`new TextEncoder().encode("\u20ac\ud83d\ude00\u0000")`, "226,130,172,240,159,152,128,0"},
		{`new TextEncoder().encode("a\udc00b")`, "97,239,191,189,98"},
		{`new TextEncoder().encode().length + new TextEncoder().encode(undefined).length`, "0"},
		{`new TextEncoder().encode(null) + new TextEncoder().encoding`, "110,117,108,108utf-8"},
		{decoded("utf-8", "0xe2, 0x82, 0xac"), "%u20AC"},
		{decoded("utf-8", "0xe2, 0x82, 0x61"), "%uFFFDa"},
		{decoded("utf-8", "0xf0, 0x9f, 0x98"), "%uFFFD"},
		{decoded("utf-8", "0xc0, 0x80"), "%uFFFD%uFFFD"},
		{decoded("utf-8", "0xed, 0xa0, 0x80"), "%uFFFD%uFFFD%uFFFD"},
		{decoded("utf-8", "0xf4, 0x90, 0x80, 0x80"), "%uFFFD%uFFFD%uFFFD%uFFFD"},
		{decoded("utf-8", "0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x61"), "%uFEFFa"},
		{decoded("utf-16le", "0x3d, 0xd8, 0x00, 0xde"), "%uD83D%uDE00"},
		{decoded("utf-16be", "0x20, 0xac"), "%u20AC"},
		{decoded("utf-16le", "0x00, 0xd8"), "%uFFFD"},
		{decoded("latin1", "0xe9, 0x80, 0x9f"), "%E9%u20AC%u0178"},
		{decoded("iso-8859-15", "0xa4"), "%u20AC"},
		{decoded("shift_jis", "0x93, 0xfa"), "%u65E5"},
		{decoded("gbk", "0xc4, 0xe3"), "%u4F60"},
		{decoded("koi8-r", "0xc1"), "%u0430"},
		{fatal("utf-8", "0xef, 0xbf, 0xbd"), "%uFFFD"},
		{fatal("utf-8", "0xff"), "TypeError: TextDecoder: the bytes are not utf-8"},
		{fatal("utf-16le", "0xfd, 0xff"), "%uFFFD"}, // a replacement that was written is no mistake
		{fatal("utf-16le", "0x00, 0xd8"), "TypeError: TextDecoder: the bytes are not utf-16le"},
		{fatal("utf-16le", "0x61"), "TypeError: TextDecoder: the bytes are not utf-16le"},
		{fatal("shift_jis", "0x93"), "TypeError: TextDecoder: the bytes are not shift_jis"},
		{`new TextDecoder(" UTF8 ").encoding + new TextDecoder("ascii").encoding + new TextDecoder("utf-16").encoding`, "utf-8windows-1252utf-16le"},
		{`new TextDecoder("utf-7")`, "RangeError: TextDecoder: unknown encoding utf-7"},
		{`escape(new TextDecoder("utf-8", {ignoreBOM: true}).decode(new Uint8Array([0xef, 0xbb, 0xbf])))`, "%uFEFF"},
		{`new TextDecoder().decode() + new TextDecoder().decode(new ArrayBuffer(0)) + "."`, "."},
		{`new TextDecoder().decode("a")`, "TypeError: an ArrayBuffer or a typed array is required"},
		{`new TextDecoder().decode({buffer: new ArrayBuffer(2), byteOffset: 1, byteLength: 9})`, "TypeError: an ArrayBuffer or a typed array is required"},
		{`new TextDecoder().decode(new Uint8Array(1), {stream: true})`, "TypeError: TextDecoder: streams are not supported"},
	})
}

// TestBase64Vectors plays those of RFC 4648, and what atob forgives.
func TestBase64Vectors(t *testing.T) {
	const wrong = "InvalidCharacterError: atob: the text is not Base64"
	plays(t, []scriptRow{
		{`["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(btoa).join("|")`, "|Zg==|Zm8=|Zm9v|Zm9vYg==|Zm9vYmE=|Zm9vYmFy"},
		{`["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"].map(atob).join("|")`, "|f|fo|foo|foob|fooba|foobar"},
		{`atob("Zg") + atob(" Z g = = ") + atob("Zm\n9\tv")`, "fffoo"},
		{`escape(atob("////")) + escape(atob("+/+/"))`, "%FF%FF%FF%FB%FF%BF"},
		{`atob("ab=")`, wrong},
		{`atob("a")`, wrong},
		{`atob("====")`, wrong},
		{`atob("Zg==Zg==")`, wrong},
		{`atob("-_-_")`, wrong},
		{`atob("Zm9vé")`, wrong},
		{`atob("Zh==")`, "f"}, // bits that are left over do not count
		{`btoa("\u00ff\u0000") + btoa(null) + btoa(12)`, "/wA=bnVsbA==MTI="},
		{`btoa("\u0100")`, "InvalidCharacterError: btoa: the text has characters above U+00FF"},
		{`btoa("\ud800")`, "InvalidCharacterError: btoa: the text has characters above U+00FF"},
	})
}

// TestDigestVectors plays vectors of FIPS 180 and RFC 1321.
func TestDigestVectors(t *testing.T) {
	plays(t, []scriptRow{
		{`crypto.hash("MD5", "message digest")`, "f96b697d7cb7938d525a2f31aaf161d0"},
		{`crypto.hash("SHA-1", "abc")`, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{`crypto.hash("sha256", "")`, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{`crypto.hash("SHA-384", "abc").slice(0, 32)`, "cb00753f45a35e8bb5a03d699ac65007"},
		{`crypto.hash("sha512", "abc").slice(-32)`, "454d4423643ce80e2a9ac94fa54ca49f"},
		{`crypto.hash("md5", "abc", "base64") + crypto.hash("md5", "abc", "base64url")`, "kAFQmDzST7DWlj99KOF/cg==kAFQmDzST7DWlj99KOF_cg"},
		{`crypto.hash("sha1", new TextEncoder().encode("xabcx").subarray(1, 4)) === crypto.hash("sha1", "abc")`, "true"},
		{`crypto.hash("md5", "é") === crypto.hash("md5", new Uint8Array([0xc3, 0xa9]))`, "true"},
		{`crypto.hash("sha3", "")`, "TypeError: crypto.hash: unknown algorithm sha3"},
		{`crypto.hash("md5", "", "binary")`, "TypeError: crypto.hash: unknown encoding binary, must be hex, base64 or base64url"},
		{`crypto.hash("md5", {})`, "TypeError: an ArrayBuffer or a typed array is required"},
		{`crypto.getRandomValues(new Uint8Array(65536)).length`, "65536"},
		{`crypto.getRandomValues(new Uint8Array(65537))`, "QuotaExceededError: crypto.getRandomValues: at most 65536 bytes at once"},
	})
	m := vm(t)
	if _, err := m.RunString(`let out, e;
		crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")).then(b => { out = [...new Uint8Array(b)].slice(0, 4).join() });
		crypto.subtle.digest("md5", new Uint8Array()).catch(x => { e = x.name + x.message })`); err != nil {
		t.Fatal(err)
	}
	if v, err := m.RunString(`out + e`); err != nil || v.String() != "186,120,22,191TypeErrorcrypto.subtle.digest: unknown algorithm MD5" {
		t.Errorf("digest: %v %v", v, err)
	}
}
