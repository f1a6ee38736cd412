package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	href = regexp.MustCompile(`href="([^"]*)"`)
	ids  = regexp.MustCompile(` id="([^"]*)"`)
)

// TestPages reads every page: each file is listed, has a title, a summary and distinct anchors.
func TestPages(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".md"); !e.IsDir() && !slices.Contains(order[:], name) {
			t.Errorf("%s is not in the reading order", e.Name())
		}
	}
	for _, p := range Pages() {
		if p.Title == "" || p.Summary == "" || len(p.Contents) == 0 {
			t.Errorf("%s: title %q, summary %q, %d headings", p.Name, p.Title, p.Summary, len(p.Contents))
		}
		seen := map[string]bool{}
		for _, id := range ids.FindAllStringSubmatch(p.HTML(""), -1) {
			if seen[id[1]] {
				t.Errorf("%s: two anchors #%s", p.Name, id[1])
			}
			seen[id[1]] = true
		}
		if html := p.HTML(""); strings.Contains(html, "<script") || strings.Contains(html, "style=") || strings.Contains(html, " align=") {
			t.Errorf("%s: contains what the policy of pages refuses", p.Name)
		}
	}
}

// TestPictures looks for the drawings of a page in the page itself.
func TestPictures(t *testing.T) {
	if html := Find("nodes").HTML("/below"); strings.Count(html, `<img src="data:image/svg+xml;base64,`) != strings.Count(html, "<img") || !strings.Contains(html, "<img") {
		t.Error("a picture is not in its page")
	}
}

// TestLinks follows the links between pages, and those of the files at the top of the tree to files.
func TestLinks(t *testing.T) {
	anchors := map[string]bool{}
	for _, p := range Pages() {
		anchors[p.Path()] = true
		for _, id := range ids.FindAllStringSubmatch(p.HTML(""), -1) {
			anchors[p.Path()+"#"+id[1]] = true
		}
	}
	for _, p := range Pages() {
		for _, l := range href.FindAllStringSubmatch(p.HTML(""), -1) {
			to := l[1]
			if strings.HasPrefix(to, "#") {
				to = p.Path() + to
			}
			elsewhere := strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "/ui/") || to == "/docs/operations" || to == "/docs/problems"
			if !elsewhere && !anchors[to] {
				t.Errorf("%s: dead link %s", p.Name, l[1])
			}
		}
	}
	top := filepath.Join("..", "..", "..")
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range link.FindAllStringSubmatch(string(text), -1) {
			file, _, _ := strings.Cut(l[1], "#")
			if strings.Contains(file, "://") || file == "" {
				continue
			}
			if _, err := os.Stat(filepath.Join(top, file)); err != nil {
				t.Errorf("%s: dead link %s", name, l[1])
			}
		}
	}
}

// TestNamedPaths: every path of a folder or Go file that CONTRIBUTING.md names exists, except those of its example.
func TestNamedPaths(t *testing.T) {
	top := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(top, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	example := []string{"ops/document/set_title.go", "ops/document/testdata/set_title.txtar"}
	found := 0
	for _, m := range regexp.MustCompile("`((?:cmd|chains|decks|engine|ops|rest|scripts|storage)/[a-z_/]+(?:\\.go|\\.txtar)?)`").FindAllStringSubmatch(string(text), -1) {
		found++
		if _, err := os.Stat(filepath.Join(top, m[1])); err != nil && !slices.Contains(example, m[1]) {
			t.Errorf("%s does not exist", m[1])
		}
	}
	if found < 20 {
		t.Errorf("%d paths found", found)
	}
}

func TestSearch(t *testing.T) {
	for _, tt := range []struct{ query, first string }{
		{"backups", "/docs/operate#backups"},
		{"dry run", "/docs/compose#dry-runs"},
		{"listener condition", "/docs/administer#listeners"},
		{"limit-script-memory", "/docs/settings#limits"},
		{"trusted proxy", "/docs/operate#encryption-and-proxies"},
		{"Idempotency-Key", "/docs/integrate#requests-and-responses"},
	} {
		found := Search(tt.query)
		if len(found) == 0 || found[0].Path() != tt.first || !strings.Contains(found[0].Excerpt, "<em>") {
			for _, r := range found[:min(3, len(found))] {
				t.Logf("%.2f %s %s", r.score, r.Path(), r.Excerpt)
			}
			t.Errorf("%q does not find %s first", tt.query, tt.first)
		}
	}
	if found := Search("<script>alert(1)</script> & xyzzy"); slices.ContainsFunc(found, func(r Result) bool { return strings.Contains(r.Excerpt, "<script>") }) {
		t.Error("an excerpt is not escaped")
	}
	if found := Search("xyzzyplugh"); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	if found := Search(strings.Repeat("data ", 10_000)); len(found) == 0 || len(found) > mostResults {
		t.Errorf("%d results", len(found))
	}
}

func TestPrefix(t *testing.T) {
	if got := Find("start").HTML("/behind"); !strings.Contains(got, `href="/behind/docs/compose"`) || strings.Contains(got, here) {
		t.Error("links do not have the prefix")
	}
}
