package scripts

import (
	_ "embed" // globals.d.ts
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"catena/engine"
	"catena/engine/openapi"
)

//go:embed globals.d.ts
var typesHead string

// Types writes catena.d.ts: every operation of the set typed and documented, and the
// globals of scripts. The same set gives the same text.
func Types(s *engine.Set) ([]byte, error) {
	t := &typings{set: s, forms: openapi.Forms(), defined: map[string]any{}, results: map[string]string{}}
	t.b.WriteString(typesHead)
	var all []string
	for _, name := range s.Names() {
		all = append(all, name)
		if d, ok := s.Op(name); ok {
			all = append(all, d.Aliases...)
		}
	}
	t.space(newNames(all).root, "", 0)
	t.writeResults()
	return []byte(t.b.String()), nil
}

type typings struct {
	set     *engine.Set
	b       strings.Builder
	forms   map[string]any    // of openapi
	defined map[string]any    // by Go types
	results map[string]string // types that were referred to, by name
}

func (t *typings) line(depth int, format string, args ...any) {
	t.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&t.b, format+"\n", args...)
}

// Config is jsconfig.json, with which editors check scripts by catena.d.ts in the same folder.
const Config = `{
  "compilerOptions": {
    "checkJs": true,
    "noEmit": true,
    "target": "es2022",
    "lib": ["es2022"],
    "types": [],
    "module": "esnext",
    "moduleResolution": "bundler",
    "moduleDetection": "force"
  },
  "include": ["**/*.js", "**/*.d.ts"]
}
`

// space writes what is in one space, by name.
func (t *typings) space(s *space, path string, depth int) {
	keys := make([]string, 0, len(s.kids))
	for k := range s.kids {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, key := range keys {
		kid := s.kids[key]
		if depth == 0 && isGlobal(key) {
			t.shadowed(kid, key)
			continue
		}
		if kid.op != "" {
			t.operation(kid.op, key, depth)
		}
		if len(kid.kids) == 0 {
			continue
		}
		t.b.WriteString("\n")
		t.line(depth, "%snamespace %s {", declare(depth), identifier(key))
		t.space(kid, path+key+".", depth+1)
		t.line(depth, "}")
	}
}

// shadowed declares the operations of a space that has the name of a global of the language, such as Proxy: they are members
// of that one.
func (t *typings) shadowed(s *space, name string) {
	t.b.WriteString("\n")
	t.line(0, "declare namespace %s_ {", name)
	t.space(s, name+".", 1)
	t.line(0, "}")
	of := name + "Constructor"
	if name == "JSON" || name == "Math" {
		of = name
	}
	t.b.WriteString("\n")
	t.line(0, "interface %s {", of)
	for _, key := range slices.Sorted(maps.Keys(s.kids)) {
		t.line(1, "%s: typeof %s_.%s;", key, name, identifier(key))
	}
	t.line(0, "}")
}

func declare(depth int) string {
	if depth == 0 {
		return "declare "
	}
	return ""
}

// identifier makes a name one that a declaration may have; reserved words get a line below.
func identifier(name string) string {
	if slices.Contains(reserved, name) {
		return name + "_"
	}
	return name
}

var reserved = []string{
	"break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum", "export",
	"extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new", "null", "return", "super", "switch",
	"this", "throw", "true", "try", "typeof", "var", "void", "while", "with",
}

// operation writes the overloads of one operation.
func (t *typings) operation(op, name string, depth int) {
	d, ok := t.set.Op(op)
	if !ok {
		return
	}
	params := d.Params()
	t.b.WriteString("\n")
	t.comment(depth, d, op, params)
	object, optional := paramsType(params)
	id, prefix := identifier(name), declare(depth)
	given := "?" // a parameter that is required cannot follow one that is not
	if optional == "" {
		given = ""
	}
	sig := d.Signature()
	for i := 0; i+1 < len(sig); i += 2 {
		in, out := tsType(sig[i], true), t.resultType(d, sig[i+1])
		// An operation without output passes its input on, so its type is that of the input.
		passes := sig[i+1] == "void" || sig[i+1] == ""
		switch {
		case sig[i] == "void" && passes:
			t.line(depth, "%sfunction %s<T>(input%s: T, params%s: %s): T;", prefix, id, given, optional, object)
		case sig[i] == "void":
			t.line(depth, "%sfunction %s(input%s: any, params%s: %s): %s;", prefix, id, given, optional, object, out)
		default:
			t.line(depth, "%sfunction %s(input: %s, params%s: %s): %s;", prefix, id, in, optional, object, out)
		}
	}
	if id != name && depth > 0 {
		t.line(depth, "export { %s as %s };", id, name)
	}
}

func (t *typings) comment(depth int, d *engine.Def, op string, params []engine.Param) {
	t.line(depth, "/**")
	t.line(depth, " * %s", commentText(d.Doc))
	if d.Name != op {
		t.line(depth, " * Alias of %s.", commentText(d.Name))
	}
	for _, p := range params {
		text := commentText(p.Doc)
		if p.Default != nil {
			text += fmt.Sprintf(" Default: %s.", commentText(fmt.Sprint(p.Default)))
		}
		if p.Secret {
			text += " A secret: neither shown nor stored."
		}
		t.line(depth, " * @param params.%s %s", p.Name, text)
	}
	if _, deprecated := d.Deprecated.Day(); deprecated {
		t.line(depth, " * @deprecated %s", commentText(instead(d.Deprecated)))
	}
	if d.Since != "" {
		t.line(depth, " * @since %s", commentText(d.Since))
	}
	t.line(depth, " */")
}

func instead(d engine.Deprecation) string {
	if d.Instead == "" {
		return "Since " + d.Since + "."
	}
	return "Since " + d.Since + ". Use " + d.Instead + "."
}

// commentText is one line that cannot end the comment it stands in.
func commentText(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "*/", "* /")
}

// paramsType is the object of an operation's parameters, and "?" when none is required.
func paramsType(params []engine.Param) (object, optional string) {
	if len(params) == 0 {
		return "{}", "?"
	}
	optional = "?"
	parts := make([]string, len(params))
	for i, p := range params {
		mark := "?"
		if p.Required {
			mark, optional = "", ""
		}
		parts[i] = propertyName(p.Name) + mark + ": " + paramType(p)
	}
	return "{ " + strings.Join(parts, "; ") + " }", optional
}

func paramType(p engine.Param) string {
	if len(p.Values) == 0 || p.Type != "string" {
		return tsType(p.Type, true)
	}
	quoted := make([]string, len(p.Values))
	for i, v := range p.Values {
		quoted[i] = strconv.Quote(v)
	}
	if !p.Enum {
		// Other strings are accepted too; written in this way, editors still offer the values.
		quoted = append(quoted, "(string & {})")
	}
	return strings.Join(quoted, " | ")
}

func propertyName(name string) string {
	for i, r := range name {
		if r != '_' && r != '$' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return strconv.Quote(name)
		}
	}
	return name
}

// A tsPair is how TypeScript declares a type: as the input or a parameter of an operation, and as its output. Operations
// accept more than they return.
type tsPair struct{ in, out string }

var tsTypes = map[string]tsPair{
	"":                 {"any", "null"},
	"blob":             {"Blob", "Blob"},
	"bloblist":         {"Blob[]", "Blob[]"},
	"blobs":            {"Blob[]", "Blob[]"},
	"boolean":          {"boolean", "boolean"},
	"date":             {"Date | string", "Date"},
	"document":         {"Doc | string", "Doc"},
	"documents":        {"Doc[] | string[]", "DocList"},
	"double":           {"number", "number"},
	"float":            {"number", "number"},
	"int":              {"number", "number"},
	"integer":          {"number", "number"},
	"list":             {"any[]", "any[]"},
	"long":             {"number", "number"},
	"map":              {"{ [name: string]: any }", "{ [name: string]: any }"},
	"properties":       {"Properties | string", "{ [name: string]: any }"},
	"recordset":        {"{ [column: string]: any }[]", "{ [column: string]: any }[]"},
	"resource":         {"string", "string"},
	"string":           {"string", "string"},
	"stringlist":       {"string[] | string", "string[]"},
	"validationmethod": {"string", "string"},
	"void":             {"any", "null"},
}

// tsType is the TypeScript type of a type word of the registry.
func tsType(word string, in bool) string {
	pair, ok := tsTypes[word]
	switch {
	case !ok:
		return "any"
	case in:
		return pair.in
	}
	return pair.out
}
