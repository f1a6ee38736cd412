package web

import "testing"

// TestClones holds what is copied, what stays one object, and what is not copied at all.
func TestClones(t *testing.T) {
	plays(t, []scriptRow{
		{`[1, "a", true, null, undefined, NaN, -0, 10n].map(v => Object.is(structuredClone(v), v)).join()`, "true,true,true,true,true,true,true,true"},
		{`JSON.stringify(structuredClone({a: [1, {b: 2}], c: null, d: undefined}))`, `{"a":[1,{"b":2}],"c":null}`},
		{`(a => { const c = structuredClone([a, a]); return [c[0] === c[1], c[0] === a].join() })({})`, "true,false"},
		{`(a => { a.push(a); const c = structuredClone(a); return c[0] === c && c !== a })([])`, "true"},
		{`(m => { m.set(m, m); const c = structuredClone(m); return c.get(c) === c && c !== m })(new Map())`, "true"},
		{`(c => [c.length, 0 in c, c.x].join())(structuredClone(Object.assign([, 2], {x: 3})))`, "2,false,3"},
		{`(c => [c.source, c.flags, c.lastIndex].join())(structuredClone(Object.assign(/a.b/gi, {lastIndex: 3})))`, "a.b,gi,0"},
		{`(c => [c instanceof Date, c.getTime(), isNaN(structuredClone(new Date(NaN)))].join())(structuredClone(new Date(7)))`, "true,7,true"},
		{`(c => [typeof c, c.valueOf(), typeof structuredClone(new Boolean(false))].join())(structuredClone(new String("x")))`, "object,x,object"},
		{`(b => { const c = structuredClone([b.subarray(1), b]); c[1][1] = 9; return [c[0][0], b[1], c[0].buffer === c[1].buffer].join() })(new Uint8Array([1, 2]))`, "9,2,true"},
		{`(c => [c.constructor.name, c.length, c[0]].join())(structuredClone(new Float64Array([1.5])))`, "Float64Array,1,1.5"},
		{`structuredClone(new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1)).getUint8(0)`, "2"},
		{`(c => [c instanceof TypeError, c.name, c.message].join())(structuredClone(new TypeError("m")))`, "true,TypeError,m"},
		{`(c => [c.constructor === Error, c.name].join())(structuredClone(Object.assign(new Error("m"), {name: "Own"})))`, "true,Error"},
		{`(c => [c.constructor === Object, c.x, c.f].join())(structuredClone(new (class A { x = 1; get f() { return 2 } })()))`, "true,1,"},
		{`Object.keys(structuredClone(Object.create({inherited: 1}, {own: {value: 1, enumerable: true}, hidden: {value: 2}}))).join()`, "own"},
		{`structuredClone({get x() { return 4 }}).x`, "4"},
		{`Object.getPrototypeOf(structuredClone(JSON.parse('{"__proto__": {"a": 1}}'))) === Object.prototype`, "true"},
		{`(h => structuredClone([h])[0] === h)({handle: true})`, "true"},
		{`structuredClone()`, "TypeError: structuredClone: a value is missing"},
		{`structuredClone(Symbol("s"))`, "DataCloneError: Symbol(s) could not be cloned"},
		{`structuredClone({f() {}})`, "DataCloneError: function f could not be cloned"},
		{`structuredClone(new WeakSet())`, "DataCloneError: [object WeakSet] could not be cloned"},
		{`structuredClone(Promise.resolve())`, "DataCloneError: [object Promise] could not be cloned"},
		{`structuredClone(new Set([new Set([() => 1])]))`, "DataCloneError: function  could not be cloned"},
	})
}

// TestGroups holds how items are grouped by texts and by values.
func TestGroups(t *testing.T) {
	plays(t, []scriptRow{
		{`JSON.stringify(Object.groupBy([1, 2, 3], n => n % 2 ? "odd" : "even"))`, `{"odd":[1,3],"even":[2]}`},
		{`Object.getPrototypeOf(Object.groupBy([], x => x))`, "null"},
		{`JSON.stringify(Object.groupBy("hello", c => c))`, `{"h":["h"],"e":["e"],"l":["l","l"],"o":["o"]}`},
		{`Object.keys(Object.groupBy([1, null, undefined], x => x)).join()`, "1,null,undefined"},
		{`Object.groupBy(["a", "b"], (x, i) => i)[1].join()`, "b"},
		{`Object.groupBy([1], x => "__proto__")["__proto__"].join()`, "1"},
		{`[...Map.groupBy([1, "1", 1], x => x).keys()].map(k => typeof k).join()`, "number,string"},
		{`Map.groupBy([NaN, NaN], x => x).get(NaN).length`, "2"},
		{`[...Map.groupBy(new Set([3, 1, 2]), x => x > 1)].map(([k, v]) => k + ":" + v).join("|")`, "true:3,2|false:1"},
		{`Object.is([...Map.groupBy([-0], x => x).keys()][0], 0)`, "true"},
		{`(s => Object.groupBy([1], () => s)[s].length)(Symbol())`, "1"},
		{`Object.groupBy([1], () => { throw new RangeError("r") })`, "RangeError: r"},
		{`Object.keys(Object).join() + Object.groupBy.name + Map.groupBy.length`, "groupBy2"},
	})
}
