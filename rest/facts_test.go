package rest_test

import (
	"context"
	"crypto/md5" //nolint:gosec // what portals send
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"catena/engine"
	"catena/ops/bulk"
	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/directory"
	"catena/storage/outbox"
	"catena/storage/schema"
)

// TestWire plays the files of testdata/wire: what clients of the platform rely on, fact by
// fact, each file on a server of its own that is fresh. A file is lines:
//
//	jobs                         from here on bulk commands are carried out
//	told {uid} rootRegistered    waits until the feed tells of this event of a document, and so of all that was done before
//	# a fact: what follows is one, and its name is shown when it does not hold
//	GET /path/default-domain     a request; /nuxeo/api/v1 stands in front unless /nuxeo does
//	> name: value                its headers; "as" names the user, "as:" nobody
//	| {"entity-type":            lines of its body, joined by CRLF; a body may also follow the address
//	= 200                        the status
//	until 303                    the status; until it is that the request is sent again
//	until .state COMPLETED       the same for a text in the answer
//	< ETag: "…"                  a header of the answer; "-" for none
//	.entries.0.uid "…"           a part of the JSON answer; # counts, % names the members, - is not there
//	~ text                       a text in the body; ~! text that is not
//	== text                      the whole body; == for none
//	name = .uid                  keeps a part for {name} in later lines; name = <Location keeps a header,
//	                             name = <Location ?code a parameter in one, name = <Location /last one without
//	                             its end, name = == the whole body
//
// In what is expected … stands for anything, {base} for the server's address. {jwt} is a token signed for
// Administrator, {ts} the time and {portal} what a portal says of bob then.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	types, err := schema.Load(schema.Defaults(), os.DirFS("testdata/wire"))
	if err != nil {
		t.Fatal(err)
	}
	directories, err := directory.Load(types, directory.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			s := resttest.Start(t, resttest.Config{
				Ops:      append(slices.Clip(testOps), link),
				Deployed: deployed,
				Siblings: []string{"other"},
				Storage: func(c *storage.Config) {
					c.Types, c.Beside, c.Clock = types, directories, ticking()
				},
				Rest: func(c *rest.Config) { c.JWTSecret, c.Portal = secret, secret },
			})
			p := &player{t: t, s: s, file: f, vars: signatures(t)}
			p.vars["base"] = s.URL + "/nuxeo"
			for line := range strings.SplitSeq(string(text), "\n") {
				p.line++
				p.play(line)
			}
			p.answer()
		})
	}
}

// workThrough does the bulk commands of a server until the test ends.
func workThrough(t *testing.T, s *resttest.Server) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- outbox.Run(ctx, s.Repo, outbox.Handlers{bulk.JobKind: {Do: bulk.Job(s.Engine)}, bulk.CSVJobKind: {Do: bulk.CSVJob(s.Engine)}})
	}()
	t.Cleanup(func() { stop(); <-done })
}

// link returns an object with an address.
var link = engine.Op{
	Name: "Test.Link", Doc: "Returns an address.", Effect: engine.Pure,
	Callers: engine.Anyone,
	Run: engine.On(func(p text, _ *engine.Ctx, _ engine.Void) (map[string]any, error) {
		return map[string]any{"url": p.Value, "more": "x"}, nil
	}),
}

// ticking is a clock on which no two moments are one.
func ticking() func() time.Time {
	var last atomic.Int64
	return func() time.Time {
		for {
			was := last.Load()
			if now := max(time.Now().UnixMilli(), was+1); last.CompareAndSwap(was, now) {
				return time.UnixMilli(now)
			}
		}
	}
}

// secret is shared with a portal and with anyone who signs JSON web tokens.
const secret = "shared with others"

// signatures are what others sign for the files.
func signatures(t *testing.T) map[string]string {
	t.Helper()
	now := time.Now()
	claims := jwt.MapClaims{"iss": "nuxeo", "sub": "Administrator", "exp": now.Add(time.Hour).Unix()}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS512, claims).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	ts := strconv.FormatInt(now.UnixMilli(), 10)
	sum := md5.Sum([]byte(ts + ":random:" + secret + ":bob")) //nolint:gosec // what portals send
	return map[string]string{"jwt": token, "ts": ts, "portal": base64.StdEncoding.EncodeToString(sum[:])}
}

// player plays a file.
type player struct {
	t    *testing.T
	s    *resttest.Server
	file string
	line int
	fact string
	vars map[string]string

	method, path string
	body         []string
	headers      []string
	got          *resttest.Answer // of the request, once it is sent
	json         any
	shown        bool // since something about it does not hold
}

var (
	isRequest = regexp.MustCompile(`^(GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS) (\S+) ?(.*)$`)
	isKeep    = regexp.MustCompile(`^(\w+) = ([.<].*|==)$`)
	isVar     = regexp.MustCompile(`\{\w+\}`)
)

func (p *player) play(line string) {
	switch {
	case line == "" || strings.HasPrefix(line, "//"):
		return
	case strings.HasPrefix(line, "# "):
		p.answer()
		p.fact = line[2:]
		return
	case line == "jobs":
		workThrough(p.t, p.s)
		return
	case strings.HasPrefix(line, "user "):
		words := strings.Fields(line)
		p.s.User(words[1], words[2:]...)
		return
	}
	line = isVar.ReplaceAllStringFunc(line, func(name string) string {
		if v, ok := p.vars[name[1:len(name)-1]]; ok {
			return v
		}
		return name
	})
	if of, ok := strings.CutPrefix(line, "told "); ok {
		p.answer()
		id, event, _ := strings.Cut(of, " ")
		told(p.t, p.s, id, event)
		return
	}
	if m := isRequest.FindStringSubmatch(line); m != nil {
		p.answer()
		p.got, p.method, p.path, p.body, p.headers, p.shown = nil, m[1], m[2], nil, nil, false
		if m[3] != "" {
			p.body = []string{m[3]}
		}
		return
	}
	if p.method == "" {
		p.fail("no request")
		return
	}
	switch {
	case strings.HasPrefix(line, "| "), line == "|":
		p.body = append(p.body, strings.TrimPrefix(line[1:], " "))
	case strings.HasPrefix(line, "> "):
		name, value, _ := strings.Cut(line[2:], ":")
		p.headers = append(p.headers, name, strings.TrimSpace(value))
	default:
		p.answer()
		p.expect(line)
	}
}

// answer sends the request, unless that was done.
func (p *player) answer() {
	if p.method != "" && p.got == nil {
		p.send()
	}
}

func (p *player) send() {
	p.t.Helper()
	path := strings.TrimPrefix(p.path, p.s.URL)
	if !strings.HasPrefix(path, "/nuxeo/") {
		path = "/nuxeo/api/v1" + path
	}
	p.got = p.s.Do(p.method, path, strings.Join(p.body, "\r\n"), p.headers...)
	p.json = nil
	_ = json.Unmarshal([]byte(p.got.Text), &p.json) // what is no JSON has no parts
}

// fail reports a line that does not hold, and with the first of a request its answer.
func (p *player) fail(format string, args ...any) {
	p.t.Helper()
	text := ""
	if p.got != nil && !p.shown {
		text, p.shown = fmt.Sprintf("\n  %s %s: %s %.700s", p.method, p.path, p.got.Status, p.got.Text), true
	}
	p.t.Errorf("%s:%d: %s: %s%s", filepath.Base(p.file), p.line, p.fact, fmt.Sprintf(format, args...), text)
}

func (p *player) expect(line string) {
	p.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "=":
		if strconv.Itoa(p.got.StatusCode) != rest {
			p.fail("status, want %s", rest)
		}
	case word == "until":
		for began := time.Now(); !p.holds(rest); p.send() {
			if time.Since(began) > time.Minute {
				p.fail("want %s", rest)
				return
			}
		}
	case word == "==":
		if !like(rest, p.got.Text) {
			p.fail("body, want %s", rest)
		}
	case word == "~":
		if !strings.Contains(p.got.Text, rest) {
			p.fail("does not hold %s", rest)
		}
	case word == "~!":
		if strings.Contains(p.got.Text, rest) {
			p.fail("holds %s", rest)
		}
	case word == "<":
		name, want, _ := strings.Cut(rest, ":")
		want = strings.TrimSpace(want)
		if got := p.got.Header.Values(name); want == "-" && len(got) > 0 || want != "-" && !like(want, strings.Join(got, "|")) {
			p.fail("header %s is %v, want %s", name, got, want)
		}
	case isKeep.MatchString(line):
		m := isKeep.FindStringSubmatch(line)
		p.keep(m[1], m[2])
	case word[0] == '.':
		p.part(word[1:], rest)
	default:
		p.fail("line is nothing: %s", line)
	}
}

// holds tells whether the answer has a status or, as ".state COMPLETED", a text in a part.
func (p *player) holds(want string) bool {
	path, text, ok := strings.Cut(want, " ")
	if !ok {
		return strconv.Itoa(p.got.StatusCode) == want
	}
	v, _ := at(p.json, path[1:])
	return v == text
}

func (p *player) keep(name, from string) {
	p.t.Helper()
	if from == "==" {
		p.vars[name] = p.got.Text
		return
	}
	if from[0] == '<' {
		header, end, _ := strings.Cut(from[1:], " /")
		header, param, one := strings.Cut(header, " ?")
		p.vars[name] = strings.TrimSuffix(p.got.Header.Get(header), "/"+end)
		if u, err := url.Parse(p.vars[name]); one && err == nil {
			p.vars[name] = u.Query().Get(param)
		}
		return
	}
	v, ok := at(p.json, from[1:])
	if !ok {
		p.fail("no %s", from)
	}
	p.vars[name] = strings.TrimPrefix(fmt.Sprint(v), p.vars["base"][:len(p.vars["base"])-len("/nuxeo")])
}

// part compares a part of the answer with JSON.
func (p *player) part(path, want string) {
	p.t.Helper()
	v, ok := at(p.json, path)
	if want == "-" || !ok {
		if ok || want != "-" {
			p.fail("%s is there: %t", path, ok)
		}
		return
	}
	var should any
	if err := json.Unmarshal([]byte(want), &should); err != nil {
		p.fail("%v: %s", err, want)
		return
	}
	if !reflect.DeepEqual(v, should) && !like(canonical(should), canonical(v)) {
		p.fail("%s is\n  %s, want\n  %s", path, canonical(v), canonical(should))
	}
}

func canonical(v any) string {
	b := &strings.Builder{}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSpace(b.String())
}

// like reports whether a text is as wanted, where … stands for anything.
func like(want, got string) bool {
	if !strings.Contains(want, "…") {
		return want == got
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", "(?s:.*)")
	return regexp.MustCompile("^" + pattern + "$").MatchString(got)
}

// at finds a part of a value: members and places joined by dots.
func at(v any, path string) (any, bool) {
	if path == "" {
		return v, v != nil
	}
	word, rest, _ := strings.Cut(path, ".")
	switch c := v.(type) {
	case map[string]any:
		if word == "%" {
			var names []string
			for name := range c {
				names = append(names, name)
			}
			slices.Sort(names)
			return strings.Join(names, " "), true
		}
		for name, m := range c {
			if name == word {
				if rest == "" {
					return m, true
				}
				return at(m, rest)
			}
		}
	case []any:
		if word == "#" {
			return float64(len(c)), true
		}
		if word == "*" {
			all := []any{}
			for _, e := range c {
				m, _ := at(e, rest)
				all = append(all, m)
			}
			return all, true
		}
		if i, err := strconv.Atoi(word); err == nil && i < len(c) {
			if rest == "" {
				return c[i], true
			}
			return at(c[i], rest)
		}
	}
	return nil, false
}
