package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// goodChains are saved before the hostile ones, which make circles of them.
var goodChains = []string{
	"name: Test.One\nsteps:\n  - op: Context.SetVar\n    params: {name: x}\n",
	"name: Test.Two\nsteps:\n  - op: Test.One\n",
	"name: Test.Self\ninput: document\nvariables: [next]\nsteps:\n  - op: Document.Create\n    params: {type: Folder, name: left}\n  - op: RunOperation\n    params: {id: \"@{next}\"}\n",
}

func hostileChains() []hostile {
	save := func(name, source string, line, column int, message string) hostile {
		b, _ := json.Marshal(source)
		return hostile{
			name: name, op: "Chain.Save", body: `{"params":{"source":` + string(b) + `}}`, status: 400, code: "source",
			message: "Failed to invoke operation: Chain.Save, Failed to invoke operation Chain.Save, " + message, line: line, column: column,
		}
	}
	aliases := "name: Test.Bomb\nsteps:\n  - op: Context.SetVar\n    params:\n      name: x\n      value:\n        a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 8 {
		c := string(rune('a' + i))
		n := string(rune('b' + i))
		aliases += fmt.Sprintf("        %s: &%s [%s*%s]\n", n, n, strings.Repeat("*"+c+",", 9), c)
	}
	return []hostile{
		save("alias bomb", aliases, 8, 16, "chain:8:16: aliases are not allowed\n…"),
		save("300 KB", "name: Test.Big\ndescription: "+strings.Repeat("x", 300<<10)+"\nsteps: []\n", 1, 1, "chain:1:1: the text is longer than 262144 bytes"),
		save("a circle of one", "name: Test.Circle\nsteps:\n  - op: Test.Circle\n", 3, 5, "chain:3:5: step 1: Test.Circle: unknown operation"),
		save("a circle through another operation", "name: Test.Loop\nsteps:\n  - op: RunOperation\n    params: {id: Test.Loop}\n", 1, 1, "chain:1:1: the chain calls itself: Test.Loop → Test.Loop"),
		save("a circle of two", "name: Test.One\nsteps:\n  - op: Test.Two\n", 1, 1, "chain:1:1: the chain calls itself: Test.One → Test.Two → Test.One"),
		save("no YAML", "name: [\n", 1, 1, "chain:1:1: did not find expected node content"),
		save("a tab", "name: x\n\tsteps: []\n", 2, 1, "chain:2:1: found a tab character that violates indentation"),
		save("a list", "- a\n- b\n", 1, 1, "chain:1:1: a chain is not a map\nchain:1:1: a chain must have a name"),
		save("two documents", "name: a\nsteps: []\n---\nname: b\nsteps: []\n", 3, 1, "chain:3:1: only one chain per file is allowed: a second document follows"),
		save("a name twice", "name: a\nname: b\nsteps: []\n", 2, 1, `chain:2:1: a chain has "name" more than once`),
		save("nesting", "name: Test.Deep\nsteps:\n  - op: Context.SetVar\n    params: {name: x, value: "+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"}\n", 4, 63, "chain:4:63: nested deeper than 32"),
		save("2,000 steps", "name: Test.Long\nsteps:\n"+strings.Repeat("  - op: Context.FetchDocument\n", 2000), 1003, 5, "chain:1003:5: more than 1000 steps"),
		save("unknown operation", "name: Test.Unknown\nsteps:\n  - op: Document.Creat\n", 3, 5, "chain:3:5: step 1: Document.Creat: unknown operation, perhaps Document.Create"),
		save("expression without end", "name: Test.Expr\ninput: document\nsteps:\n  - op: Document.SetProperty\n    params: {xpath: dc:title, value: \"@{"+strings.Repeat("(", 10_000)+"\"}\n", 5, 31,
			`chain:5:31: step 1: Document.SetProperty: parameter "value": expression: …`),
		{
			name: "a name that is taken", op: "Chain.Save", body: `{"params":{"source":"name: Document.Create\nsteps: []\n"}}`, status: 409, code: "exists",
			message: "Failed to invoke operation: Chain.Save, Failed to invoke operation Chain.Save, chain Document.Create: an operation is already named Document.Create",
		},
		{name: "a circle at run time", op: "Test.Self", body: `{"input":"` + abuseFolder + `","context":{"next":"Test.Self"}}`, status: 422, code: "depth", message: "Failed to invoke operation: Test.Self, …depth: more than 32 calls within calls"},
		{name: "no source", op: "Chain.Save", body: `{"params":{}}`, status: 400, code: "missing_parameter", message: `Failed to invoke operation: Chain.Save, parameter "source" is missing`, pointer: "#/source"},
		{name: "no such chain", op: "Chain.Read", body: `{"params":{"name":"Test.Nothing"}}`, status: 404, code: "notfound", message: "Failed to invoke operation: Chain.Read, Failed to invoke operation Chain.Read, chain Test.Nothing"},
	}
}
