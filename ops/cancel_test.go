package ops_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/engine"
	"catena/engine/entity"
	"catena/engine/scenario"
)

// Bounds of TestCancel. A call is canceled after it has run for cancelAfter, and must return within cancelBound.
const (
	cancelAfter = 20 * time.Millisecond
	cancelBound = time.Second
)

// TestCancel calls every operation with the largest values that a request can carry, for each of its parameters and
// inputs, cancels the call, and expects it to return within a second. Where and with what else an operation is called
// comes from its scenarios, what its parameters take from its own declaration.
func TestCancel(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	files := scenarios(t)
	seen := &stressed{done: map[string]bool{}, files: filesOf(t, files)}
	for _, file := range files {
		t.Run(nameOf(file), func(t *testing.T) {
			t.Parallel()
			script, err := scenario.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			s, clock := server(t)
			d := &stress{t: t, EntryPoint: scenario.Engine(s.Engine), e: s.Engine, seen: seen, file: file}
			w := scenario.World{
				EntryPoint: d, Spare: d, Tick: clock.Tick,
				User: func(name string, groups ...string) error { s.User(name, groups...); return nil },
			}
			_ = scenario.Play(t.Context(), script, w, false) // identifiers differ from what the scenario expects
		})
	}
	t.Cleanup(func() {
		t.Logf("%d calls", seen.calls)
	})
}

// stressed is what was called already.
type stressed struct {
	files map[string]uint32 // how many scenarios call an operation
	mu    sync.Mutex
	done  map[string]bool
	calls int
}

// filesOf counts the scenarios that each operation is called in, by its name.
func filesOf(t *testing.T, files []string) map[string]uint32 {
	t.Helper()
	out := map[string]uint32{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(string(text))
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			out[word]++
		}
	}
	return out
}

// share is how many of the large values of a parameter there are for each that is tried, where not everything is. With the race detector
// it is more, since it makes calls many times as long; the suite also runs without it.
const share = 4 * min(slower, 4)

// first reports whether a large value is to be tried in a scenario. Everything is tried once, in whatever scenario comes
// first. Otherwise the names decide, so that runs are the same: each value is tried with a part of all parameters, and each
// parameter with a part of all values.
func (s *stressed) first(file, op, what string) bool {
	key := op + " " + what
	if !everything {
		key = nameOf(file) + " " + key
		h := fnv.New32a()
		_, _ = h.Write([]byte(key))
		if h.Sum32()%(share*max(1, s.files[op])) != 0 {
			return false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done[key] {
		return false
	}
	s.done[key] = true
	s.calls++
	return true
}

// stress is an entry point that calls each operation with large values before it carries out a command.
type stress struct {
	scenario.EntryPoint
	t    *testing.T
	e    *engine.Engine
	seen *stressed
	file string
}

func (d *stress) Run(ctx context.Context, user string, c scenario.Command) scenario.Outcome {
	if def, ok := d.e.Set().Op(c.Op); ok && !d.t.Failed() {
		d.stress(ctx, user, def, c)
	}
	return d.EntryPoint.Run(ctx, user, c)
}

func (d *stress) stress(ctx context.Context, user string, def *engine.Def, c scenario.Command) {
	dry := c
	dry.DryRun = true
	if out := d.EntryPoint.Run(ctx, user, dry); out.Failure != nil {
		return // the scenario shows how it fails
	}
	params := map[string]json.RawMessage{}
	if len(c.Params) > 0 {
		if err := json.Unmarshal(c.Params, &params); err != nil {
			d.t.Error(err)
			return
		}
	}
	for _, p := range def.Params() {
		for name, value := range payloads(p.Type) {
			if !d.seen.first(d.file, def.Name, p.Name+" "+name) {
				continue
			}
			call := dry
			call.Params = with(params, p.Name, value)
			d.call(ctx, user, call, nil, p.Name+": "+name)
		}
	}
	for name, input := range inputs(c) {
		if d.seen.first(d.file, def.Name, "input "+name) {
			d.call(ctx, user, dry, input(), "input: "+name)
		}
	}
}

// with is the JSON of parameters, one of them with another value. The value is not encoded again, which would take longer
// than many calls.
func with(params map[string]json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	others := maps.Clone(params)
	delete(others, name)
	out := slices.Concat([]byte("{"), marshal(name), []byte(":"), value)
	for other, v := range others {
		out = slices.Concat(out, []byte(","), marshal(other), []byte(":"), v)
	}
	return append(out, '}')
}

// call makes a call that is canceled, up to three times if it takes too long: the machine may have been busy.
func (d *stress) call(ctx context.Context, user string, c scenario.Command, input any, what string) {
	for try := 1; ; try++ {
		took, stack := d.canceled(ctx, user, c, input)
		if took <= cancelBound*time.Duration(slower) {
			return
		}
		if try == 3 || took > 10*cancelBound*time.Duration(slower) {
			d.t.Errorf("%s, %s: returned %s after it was canceled\n%s", c.Op, what, took.Round(time.Millisecond), stack)
			return
		}
	}
}

// canceled makes a call, cancels it, and returns how long it went on, with where it was when that was too long.
func (d *stress) canceled(ctx context.Context, user string, c scenario.Command, input any) (took time.Duration, stack string) {
	as, err := d.e.PrincipalOf(ctx, user)
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	call := engine.Call{Op: c.Op, RawParams: c.Params, As: as, EntryPoint: engine.REST, DryRun: true, Encode: func(c *engine.Ctx, v any) ([]byte, error) {
		switch v.(type) {
		case nil, *engine.Blob, engine.Blobs:
			return nil, nil
		}
		return entity.Append(nil, c, v, &entity.Options{Properties: []string{"*"}})
	}}
	if call.Input = input; input == nil {
		call.Input = scenario.Input(c)
	}
	done, thread := make(chan struct{}), make(chan int, 1)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread <- threadID()
		_, _ = d.e.Run(ctx, call)
	}()
	id := <-thread
	select {
	case <-done:
		return 0, ""
	case <-time.After(cancelAfter):
	}
	cancel()
	begun, idle := time.Now(), waited(id)
	elapsed := func() time.Duration { return time.Since(begun) - (waited(id) - idle) }
	for look := time.NewTicker(10 * time.Millisecond); ; {
		select {
		case <-done:
			look.Stop()
			return took, stack
		case <-look.C:
		}
		if took = elapsed(); took > cancelBound*time.Duration(slower) && stack == "" {
			stack = stackOf("engine.(*running)")
		}
		if took > 30*cancelBound {
			return took, "still runs\n" + stack
		}
	}
}

// waited is how long a thread was ready to run while other work of the machine ran, which does not count.
func waited(thread int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", thread))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[1], 10, 64)
	return time.Duration(n)
}

// stackOf returns the stacks of the goroutines in which a function runs.
func stackOf(function string) string {
	buf := make([]byte, 1<<20)
	var out []string
	for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, function) {
			out = append(out, g[:min(len(g), 3000)])
		}
	}
	return strings.Join(out, "\n\n")
}

// everything has all texts tried at about the largest size that a request can have, less what escapes in JSON add: it
// takes an hour. Otherwise a few texts are tried, which are long enough for work that grows with the square of their
// length to take several seconds.
var everything = os.Getenv("CATENA_CORPUS") == "all"

// payloadSize is that of a large value.
var payloadSize = sync.OnceValue(func() int {
	switch {
	case everything:
		return 4 << 20
	case slower > 1:
		return 64 << 10
	}
	return 256 << 10
})

// usual are the names of the texts that are tried where not everything is.
var usual = []string{"accents", "brackets", "commas", "continued", "expression", "interpolations", "json object", "emphasis", "lines", "links", "open elements", "quoted fields", "selectors", "words"}

func repeat(s string) string { return strings.Repeat(s, max(1, payloadSize()/len(s))) }

// texts are large texts of what any reader of texts may have trouble with.
var texts = sync.OnceValue(func() map[string]string {
	distinct := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < payloadSize(); i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	all := map[string]string{
		"one word": repeat("a"), "words": distinct("w%d "), "lines": distinct("k%d=v\n"), "continued": "a=b" + repeat("\\\n"),
		"blanks": repeat(" "), "empty lines": "a" + repeat("\n"), "commas": repeat("a,"), "slashes": repeat("/a"), "accents": repeat("e\u0301\u0327"),
		"digits": repeat("9"), "percents": repeat("%"), "backslashes": repeat(`\`), "dots": repeat(".."), "dashes": repeat("--"),
		"brackets": repeat("["), "braces": repeat("{"), "parentheses": repeat("("), "tags": repeat("<"), "quotes": repeat(`"`), "single quotes": repeat("'"),
		"quoted fields": repeat(`"a""b",`), "json list": "[" + strings.TrimSuffix(repeat("1,"), ",") + "]", "deep json": strings.Repeat("[", 100) + strings.Repeat("]", 100),
		"json object": "{" + strings.TrimSuffix(distinct(`"k%d":1,`), ",") + "}",
		"elements":    repeat("<b>a</b>"), "open elements": repeat("<b><i>"), "attributes": "<a" + distinct(" a%d=1") + ">", "sections": "<section>" + repeat("<p>a</p>") + "</section>",
		"crossed elements": "<section>" + repeat("<b><p>") + "</section>", "comments": repeat("<!-- a -->"), "entities": repeat("&amp;"), "ampersands": repeat("&"),
		"html": "<html><body>" + repeat("<table><tr><td>a") + "</body></html>", "cdata": repeat("<![CDATA["), "xml": "<a>" + repeat("<b/>") + "</a>", "doctype": "<!DOCTYPE a [" + repeat("<!ENTITY a 'b'>"),
		"emphasis": repeat("*a_"), "links": repeat("[a]("), "references": distinct("[a%d]: b\n"), "quotations": repeat("> "), "items": repeat("- a\n"), "nested items": repeat("- "), "backticks": repeat("`a``"),
		"table": "a|b\n-|-\n" + repeat("a|b\n"), "headings": repeat("# a\n"), "fences": repeat("~~~\n"),
		"rules": repeat("a{color:red}"), "open rules": repeat("a{"), "selectors": repeat("a,") + "{color:red}", "css comments": repeat("/*"), "at-rules": repeat("@media a{"), "urls": "a{b:" + repeat("url(") + "}",
		"yaml": distinct("k%d: v\n"), "yaml items": repeat("- "), "yaml anchors": distinct("a%d: &a%[1]d b\n"), "yaml flow": repeat("{a: "), "chain": "operations:\n" + repeat("- Document.Fetch\n"),
		"script": repeat("a();"), "script nest": repeat("(()=>"), "expression": repeat("a+"), "interpolations": repeat("${a}"), "template": repeat("<#if a>"), "marks": distinct("@{a%d}"), "addresses": distinct("a%d@example.org,"),
		"query":     "SELECT * FROM Document WHERE " + strings.Repeat("dc:title LIKE '%a_b%' OR ", 2600)[:62000] + " ecm:isTrashed = 0",
		"rich text": "From: a@example.org\nContent-Type: multipart/mixed; boundary=a\n\n" + repeat("--a\n\n"),
	}
	return all
})

// tried are the texts that are tried.
func tried() map[string]string {
	if everything {
		return texts()
	}
	out := map[string]string{}
	for _, name := range usual {
		out[name] = texts()[name]
	}
	return out
}

// payloads are large values, as JSON, for a parameter of a type.
func payloads(word string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	switch word {
	case "boolean", "date", "int", "integer", "long", "float", "double":
		out["digits"] = encoded("digits")
		return out
	}
	for name := range tried() {
		out[name] = encoded(name)
	}
	switch word {
	case "string", "document", "resource", "validationmethod":
		return out
	}
	for name := range structures() {
		out[name] = structures()[name]
	}
	return out
}

var encodedTexts sync.Map

// marshal writes JSON as clients do, who leave < and > as they are.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// encoded is a large text as JSON.
func encoded(name string) json.RawMessage {
	if raw, ok := encodedTexts.Load(name); ok {
		return raw.(json.RawMessage)
	}
	raw := marshal(texts()[name])
	encodedTexts.Store(name, raw)
	return raw
}

// structures are large lists and objects, as JSON.
var structures = sync.OnceValue(func() map[string]json.RawMessage {
	list := func(item string) json.RawMessage {
		return json.RawMessage("[" + strings.TrimSuffix(repeat(item+","), ",") + "]")
	}
	object := func(format string) json.RawMessage {
		var b strings.Builder
		b.WriteByte('{')
		for i := 0; b.Len() < payloadSize() && i < 90_000; i++ {
			fmt.Fprintf(&b, format+",", i)
		}
		return json.RawMessage(strings.TrimSuffix(b.String(), ",") + "}")
	}
	var distinct strings.Builder
	for i := 0; distinct.Len() < payloadSize(); i++ {
		fmt.Fprintf(&distinct, `,"a%d"`, i)
	}
	file := func(typ, name, text string) json.RawMessage {
		return marshal(map[string]any{"name": name, "mime-type": typ, "data": texts()[text]})
	}
	big := string(encoded("words"))
	return map[string]json.RawMessage{
		"list of one text": list(`"a"`), "list of texts": json.RawMessage("[" + distinct.String()[1:] + "]"), "list of paths": list(`"/"`), "list of lists": list("[[]]"), "list of objects": list(`{"a":1}`),
		"deep list": json.RawMessage(strings.Repeat("[", 100) + strings.Repeat("]", 100)), "object": object(`"k%d":"v"`), "object of xpaths": object(`"dc:k%d":"v"`),
		"object of subjects": json.RawMessage(`{"dc:subjects":[` + distinct.String()[1:] + `],"dc:contributors":[` + distinct.String()[1:] + `]}`),
		"object of texts":    json.RawMessage(`{"dc:title":"a","dc:description":` + big + `,"note:note":` + big + `,"name":` + big + `,"text":` + big + `}`),
		"csv file":           file("text/csv", "a.csv", "quoted fields"), "html file": file("text/html", "a.html", "open elements"), "json file": file("application/json", "a.json", "json list"),
		"markdown file": file("text/markdown", "a.md", "emphasis"), "zip file": file("application/zip", "a.zip", "words"), "pdf file": file("application/pdf", "a.pdf", "words"),
	}
})

// files are large files of the types that operations read.
var files = map[string][]string{
	"a.txt": {"words", "one word", "lines"}, "a.csv": {"quoted fields", "commas", "quotes", "lines"}, "a.html": {"open elements", "crossed elements", "html", "attributes", "sections"},
	"a.json": {"json list", "json object", "brackets"}, "a.md": {"lines", "items", "headings", "emphasis", "links", "nested items", "quotations", "table"},
	"a.xml": {"xml", "open elements", "doctype", "attributes"}, "a.zip": {"words"}, "a.pdf": {"words"}, "a.yaml": {"yaml", "yaml items"}, "a.eml": {"rich text"},
}

// inputs make large values in place of the input of a command, by their names. Few of them are tried of each command.
func inputs(c scenario.Command) map[string]func() any {
	out := map[string]func() any{}
	for name, text := range tried() {
		out["text "+name] = func() any { return text }
	}
	decoded := func(value json.RawMessage) any {
		return engine.Lazy(func(c *engine.Ctx) (any, error) { return entity.Decode(c, value) })
	}
	for name, value := range structures() {
		out[name] = func() any { return decoded(value) }
	}
	for name, kinds := range files {
		for _, kind := range kinds {
			file := func(most int) *engine.Blob {
				f := scenario.NewFile(name, []byte(texts()[kind]))
				return engine.NewBlob(name, f.Type, f.Data[:min(most, len(f.Data))])
			}
			out[name+" "+kind] = func() any { return file(math.MaxInt) }
			out["files "+name+" "+kind] = func() any { return engine.Blobs(slices.Repeat([]*engine.Blob{file(1000)}, 1000)) }
		}
	}
	if len(c.Input) == 0 {
		return out
	}
	out["many of them"] = func() any {
		return decoded(json.RawMessage("[" + strings.TrimSuffix(strings.Repeat(string(c.Input)+",", 2000), ",") + "]"))
	}
	for name, text := range tried() {
		out["with "+name] = func() any {
			return engine.Lazy(func(ctx *engine.Ctx) (any, error) { return enlarged(ctx, c.Input, text) })
		}
	}
	return out
}

// enlarged is the documents of an input with large properties.
func enlarged(c *engine.Ctx, input json.RawMessage, text string) (any, error) {
	v, err := entity.Decode(c, input)
	docs := engine.Docs{}
	switch v := v.(type) {
	case *engine.Doc:
		docs = append(docs, v)
	case engine.Docs:
		docs = v
	}
	for _, doc := range docs {
		err = errors.Join(err, enlarge(doc, text))
	}
	return v, err
}

// enlarge gives a document large properties, as far as it has them.
func enlarge(d *engine.Doc, text string) error {
	for _, xpath := range []string{"dc:description", "note:note", "dc:source"} {
		if _, err := d.Get(xpath); err == nil {
			_ = d.Set(xpath, text)
		}
	}
	if _, err := d.Get("file:content"); err == nil {
		_ = d.Set("file:content", engine.NewBlob("a.html", "text/html", []byte(text)))
	}
	return nil
}
