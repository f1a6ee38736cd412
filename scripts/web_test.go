package scripts

import (
	"strings"
	"testing"

	"catena/storage/fault"
)

var webCases = []struct{ name, source, want string }{
	{
		"parts of an address", `const u = new URL("https://bob:x@Example.org:8080/a/../b?q=1&r=ä#top"); ["href","origin","protocol","username","password","host","hostname","port","pathname","search","hash"].map(p => u[p])`,
		`["https://bob:x@example.org:8080/b?q=1\u0026r=%C3%A4#top","https://example.org:8080","https:","bob","x","example.org:8080","example.org","8080","/b","?q=1\u0026r=%C3%A4","#top"]`,
	},
	{"relative address", `[new URL("../c?x", "http://h/a/b/d").href, new URL("//o/p", "https://h").href, String(new URL("http://h")), JSON.stringify({u: new URL("http://h")})]`, `["http://h/a/c?x","https://o/p","http://h/","{\"u\":\"http://h/\"}"]`},
	{"changed address", `const u = new URL("http://h/a"); u.pathname = "b c"; u.search = "x=1"; u.hash = "y"; u.port = "81"; u.protocol = "https"; u.href`, `"https://h:81/b%20c?x=1#y"`},
	{"no address", `[URL.canParse("nope"), URL.canParse("/a", "http://h"), (() => { try { new URL("nope") } catch (e) { return e instanceof TypeError && e.message } })()]`, `[false,true,"Invalid URL: \"nope\""]`},
	{"parameters of an address", `const u = new URL("http://h/?a=1&b=2"); const p = u.searchParams; p.append("c", "x y"); p.delete("a"); p.set("b", 3); const s = u.search; u.search = "z=1"; [s, p.get("z"), p.get("b"), p === u.searchParams]`, `["?b=3\u0026c=x+y","1",null,true]`},
	{"parameters of a form", `const p = new URLSearchParams("?a=1&b=%C3%A4+%zz&a=2&c"); [p.get("a"), p.getAll("a"), p.get("b"), p.get("c"), p.has("d"), p.has("a", "2"), p.size, [...p.keys()].join()]`, `["1",["1","2"],"ä %zz","",false,true,4,"a,b,a,c"]`},
	{"form of values", `[String(new URLSearchParams({a: 1, b: "x&y=z"})), String(new URLSearchParams([["k", "ü*"], ["k", ""]])), String(new URLSearchParams(new Map([["m", 1]]))), String(new URLSearchParams())]`, `["a=1\u0026b=x%26y%3Dz","k=%C3%BC*\u0026k=","m=1",""]`},
	{"parameters in order", `const p = new URLSearchParams("b=1&a=2&b=0"); p.sort(); const seen = []; p.forEach((v, n) => seen.push(n + v)); p.set("b", 5); [seen.join(), String(p)]`, `["a2,b1,b0","a=2\u0026b=5"]`},
	{"encoder", `const b = new TextEncoder().encode("aä😀"); [b instanceof Uint8Array, [...b], new TextDecoder().decode(b), new TextEncoder().encode("\ud83d").length]`, `[true,[97,195,164,240,159,152,128],"aä😀",3]`},
	{"decoder", `[new TextDecoder("latin1").decode(new Uint8Array([0xe4, 0x80])), new TextDecoder("UTF-16LE").decode(new Uint16Array([0xfeff, 0x41])), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff])), new TextDecoder("utf8").encoding]`, `["ä€","A","a�","utf-8"]`},
	{"decoder of views", `const b = new Uint8Array([1, 97, 98, 99, 2]); [new TextDecoder().decode(b.subarray(1, 3)), new TextDecoder().decode(new DataView(b.buffer, 3, 1)), new TextDecoder().decode(b.buffer.slice(1, 2))]`, `["ab","c","a"]`},
	{"decoder refuses", `const f = g => { try { return g() } catch (e) { return e.name } }; [f(() => new TextDecoder("nope")), f(() => new TextDecoder("utf-8", {fatal: true}).decode(new Uint8Array([255]))), f(() => new TextDecoder().decode("x")), f(() => new TextDecoder().decode({buffer: new ArrayBuffer(2), byteOffset: 1, byteLength: 9}))]`, `["RangeError","TypeError","TypeError","TypeError"]`},
	{"Base64", `[btoa("aé"), atob("YQ"), atob(" YWI= "), (() => { try { atob("*") } catch (e) { return e.name } })(), (() => { try { btoa("€") } catch (e) { return e.name } })()]`, `["Yek=","a","ab","InvalidCharacterError","InvalidCharacterError"]`},
	{"identifier", `const a = crypto.randomUUID(); [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(a), a !== crypto.randomUUID()]`, `[true,true]`},
	{"random values", `const b = new Uint32Array(64); [crypto.getRandomValues(b) === b, b.some(x => x !== 0), (() => { try { crypto.getRandomValues(new Uint8Array(65537)) } catch (e) { return e.name } })()]`, `[true,true,"QuotaExceededError"]`},
	{"digest", `[crypto.hash("sha256", "abc"), crypto.hash("SHA-1", new Uint8Array([97, 98, 99]), "base64"), crypto.hash("md5", ""), (() => { try { crypto.hash("crc", "") } catch (e) { return e.message } })()]`, `["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","qZk+NkcGgWq6PiVxeFDCbJzQ2J0=","d41d8cd98f00b204e9800998ecf8427e","crypto.hash: unknown algorithm crc"]`},
	{"digest awaited", `const d = new Uint8Array(await crypto.subtle.digest({name: "sha-256"}, new TextEncoder().encode("abc"))); const e = await crypto.subtle.digest("x", new Uint8Array()).catch(e => e.name); [d.length, d[0], e]`, `[32,186,"TypeError"]`},
	{"clone", `const a = {d: new Date(5), m: new Map([["k", {x: 1}]]), s: new Set([1]), r: /x/gi, l: [1, , 3], b: new Uint8Array([1, 2])}; a.self = a; const c = structuredClone(a); [c !== a, c.self === c, c.d.getTime(), c.m.get("k").x, c.m.get("k") !== a.m.get("k"), c.s.has(1), String(c.r), c.l.length, 1 in c.l, c.b[1], c.b.buffer !== a.b.buffer]`, `[true,true,5,1,true,true,"/x/gi",3,false,2,true]`},
	{"clone of an error", `const e = structuredClone(new RangeError("far", {cause: {a: 1}})); [e instanceof RangeError, e.message, e.cause.a]`, `[true,"far",1]`},
	{"clone of handles", `[structuredClone({d: input}).d === input, structuredClone(input["file:content"]) === input["file:content"]]`, `[true,true]`},
	{"clone refuses", `const f = v => { try { structuredClone(v); return "" } catch (e) { return e.name + ": " + e.message } }; [f(() => 1), f({a: Symbol("s")}), f(new WeakMap())]`, `["DataCloneError: function  could not be cloned","DataCloneError: Symbol(s) could not be cloned","DataCloneError: [object WeakMap] could not be cloned"]`},
	{"groups", `const g = Object.groupBy([1, 2, 3, 4], n => n % 2 ? "odd" : "even"); const m = Map.groupBy(["a", "bb", "cc"], s => s.length); [g.odd, g.even, Object.getPrototypeOf(g), m.get(2), [...m.keys()], Object.keys(Object.groupBy("__proto__", c => "__proto__"))]`, `[[1,3],[2,4],null,["bb","cc"],[1,2],["__proto__"]]`},
	{"own variables", `const URL = 1, atob = 2; URL + atob`, `3`},
	{"same object", `[URL === URL, new URL("http://h").searchParams.get("x"), crypto === crypto]`, `[true,null,true]`},
}

func TestWeb(t *testing.T) { playAll(t, webCases) }

// TestWebEscapes holds that what the globals are made of says nothing about the program, and cannot be returned.
func TestWebEscapes(t *testing.T) {
	for _, source := range []string{
		`try { new URL("x") } catch (e) { e.stack }`, `URL.toString()`, `crypto.hash.toString()`, `new TextEncoder().constructor.constructor("return this.process")() ?? ""`,
	} {
		v, err := inProcess(newFakeHost(), Limits{}, "t.js", source, false, nil, nil)
		if text, _ := v.(string); err != nil || strings.Contains(text, "catena/") || strings.Contains(text, ".go:") {
			t.Errorf("%s: %v %v", source, v, err)
		}
	}
	for _, source := range []string{`new Uint8Array(4)`, `new TextEncoder().encode("x").buffer`} {
		if _, err := inProcess(newFakeHost(), Limits{}, "t.js", source, false, nil, nil); fault.Of(err) != fault.Invalid {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// TestLocales holds that scripts format in locales: the formats themselves are tested where they are made.
func TestLocales(t *testing.T) {
	playAll(t, []struct{ name, source, want string }{
		{"numbers", `[(1234.5).toLocaleString("de-DE"), (1234.5).toLocaleString(), new Intl.NumberFormat("de", {style: "currency", currency: "EUR"}).format(45.9)]`, "[\"1.234,5\",\"1,234.5\",\"45,90\u00a0€\"]"},
		{"dates", `function run() { const d = new Date(0); return [d.toLocaleDateString("fr", {dateStyle: "long"}), d.toLocaleTimeString("de", {timeZone: "Europe/Berlin"})] }`, `["1 janvier 1970","01:00:00"]`},
		{"order", `["Zebra", "Öl", "Apfel"].sort((a, b) => a.localeCompare(b, "de")).join()`, `"Apfel,Öl,Zebra"`},
		{"one Intl", `"a".localeCompare("b"); Intl === Intl && typeof Intl.Collator`, `"function"`},
	})
}

// TestExtended holds that a script gets what its text names, and nothing else.
func TestExtended(t *testing.T) {
	for source, want := range map[string]int{"1": 0, `/\p{L}/u`: 1, "new RegExp('x')": 1, "Object.groupBy([], x => x)": 1, "(1).toLocaleString() + 'x'.localeCompare('y') + RegExp": 2} {
		p, err := compile("t.js", source, true, benchNames)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.extended) != want {
			t.Errorf("%s: %v", source, p.extended)
		}
	}
}
