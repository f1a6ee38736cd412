package scripts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"catena/engine"
)

// Types writes catena.d.ts: every operation of the set typed and documented, and the
// globals of scripts. The same set gives the same text.
func Types(s *engine.Set) ([]byte, error) {
	t := &typings{set: s}
	t.b.WriteString(typesHead)
	var all []string
	for _, name := range s.Names() {
		all = append(all, name)
		if d, ok := s.Op(name); ok {
			all = append(all, d.Aliases...)
		}
	}
	t.space(newNames(all).root, "", 0)
	return []byte(t.b.String()), nil
}

type typings struct {
	set *engine.Set
	b   strings.Builder
}

func (t *typings) line(depth int, format string, args ...any) {
	t.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&t.b, format+"\n", args...)
}

// space writes what is in one space, by name.
func (t *typings) space(s *space, path string, depth int) {
	keys := make([]string, 0, len(s.kids))
	for k := range s.kids {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, key := range keys {
		kid := s.kids[key]
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
		in, out := tsType(sig[i], true), tsType(sig[i+1], false)
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

const typesHead = `// The API for scripts, generated from the operations of this server. Do not edit.
//
// A script may await outside functions. An editor allows that in modules only; these compiler
// options make every script one: "module": "esnext", "moduleDetection": "force",
// "target": "es2022".

/** A document. Setting a property changes it in memory; Document.Save stores it. */
interface Doc {
  readonly id: string;
  readonly uid: string;
  readonly name: string;
  readonly path: string;
  readonly title: string;
  readonly type: string;
  /** State in the life cycle. */
  readonly state: string;
  readonly facets: string[];
  readonly schemas: string[];
  readonly parentId: string;
  readonly versionLabel: string;
  readonly changeToken: string;
  readonly repository: string;
  readonly isFolder: boolean;
  readonly isVersion: boolean;
  readonly isProxy: boolean;
  readonly isTrashed: boolean;
  readonly isCheckedOut: boolean;
  readonly isLocked: boolean;
  readonly lockOwner: string | null;
  readonly lockCreated: Date | null;
  getProperty(xpath: string): any;
  setProperty(xpath: string, value: any): void;
  hasFacet(name: string): boolean;
  hasSchema(name: string): boolean;
  toJSON(): { [name: string]: any };
  /** A property, for example doc["dc:title"]. */
  [xpath: ` + "`${string}:${string}`" + `]: any;
}

/** A list of documents: an array that also counts with size() and reads with get(i). */
interface DocList extends Array<Doc> {
  size(): number;
  get(i: number): Doc;
}

/** A file. */
interface Blob {
  readonly name: string;
  readonly type: string;
  readonly mimeType: string;
  readonly length: number;
  readonly size: number;
  readonly encoding: string;
  readonly digest: string;
  /** The content as text, up to the limit of a value. */
  text(): string;
}

/** Property values by xpath. */
interface Properties {
  [xpath: string]: any;
}

/** An error of an operation, as catch sees it. */
interface OperationError extends Error {
  readonly kind: "internal" | "invalid" | "denied" | "notfound" | "exists" | "conflict" | "limit" | "unavailable";
  readonly code?: string;
  readonly field?: string;
  readonly operation?: string;
}

/** An instant that can be shifted and shown; as text it is a literal of the query language. */
interface When {
  readonly time: number;
  readonly date: Date;
  readonly year: number;
  /** From 0. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly week: number;
  years(n: number): When;
  months(n: number): When;
  weeks(n: number): When;
  days(n: number): When;
  seconds(n: number): When;
  format(pattern: string): string;
}

interface ScriptConsole {
  debug(...values: any[]): void;
  error(...values: any[]): void;
  info(...values: any[]): void;
  log(...values: any[]): void;
  trace(...values: any[]): void;
  warn(...values: any[]): void;
}

interface ScriptUser {
  readonly name: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly email: string | null;
  readonly company: string | null;
  readonly groups: string[];
  readonly allGroups: string[];
  readonly actingUser: string;
  readonly originatingUser: string;
  readonly administrator: boolean;
}

/** What the script was called with. */
declare const input: any;
declare const params: { [name: string]: any };
/** The context's variables, read and written in place. */
declare const ctx: { [name: string]: any };
declare const CurrentUser: ScriptUser;
declare const currentUser: ScriptUser;
declare const CurrentDate: When;
declare const Env: {};
declare const Console: ScriptConsole;
declare const console: ScriptConsole;

declare const Session: {
  getDocument(ref: string): Doc;
  getRootDocument(): Doc;
  query(query: string, params?: any[], pageSize?: number): DocList;
  getChildren(doc: Doc): DocList;
  getParent(doc: Doc): Doc;
  removeDocument(doc: Doc): Doc;
  save(doc: Doc): Doc;
  saveDocument(doc: Doc): Doc;
};

declare const Fn: {
  calendar(value: any): any;
  concatenateIntoList(list: any[], ...values: any[]): any[];
  concatenateValuesAsNewList(...values: any[]): any[];
  date(value: any): any;
  documentExists(session: any, ref: string): boolean;
  escapeHtml(text: string): string;
  getEmail(user: string): string;
  getEmails(users: string[], prefixed?: boolean): string[];
  getEmailsFromGroup(group: string, ignoreGroups?: boolean): string[];
  getNextId(key: string): number;
  getPrincipal(user: string): { name: string; firstName: string; lastName: string; email: string; company: string; groups: string[] };
  getPrincipalEmails(users: string[]): string[];
  getPrincipalsFromGroup(group: string, ignoreGroups?: boolean): any[];
  getVocabularyLabel(vocabulary: string, key: string): string;
  htmlEscape(text: string): string;
  jsonPath(value: any, query: string): any[];
  nxqlEscape(text: string): string;
};
`
