package slide

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTitle has what slides are called in lists.
func TestTitle(t *testing.T) {
	for html, want := range map[string]string{
		"":                                          "",
		"<h1>One</h1><h2>Two</h2>":                  "One",
		"<p>before</p><h3>One</h3>":                 "One",
		"<h1></h1><p>words</p>":                     "words",
		"<h1><img alt=x></h1><h2>Two</h2>":          "Two",
		"<h1>a <b>b</b>\n c</h1>":                   "a b c",
		"<h1>a &amp; b &lt;i&gt;</h1>":              "a & b <i>",
		"<h7>no heading</h7><p>x</p>":               "no heading x",
		"<header>x</header>":                        "x",
		"<p>a</p><p>b</p>":                          "a b",
		"<aside>note</aside>":                       "",
		"<aside><h1>note</h1></aside><p>x</p>":      "x",
		"<style>p{}</style><p>x</p>":                "x",
		"<svg><title>t</title><text>x</text></svg>": "x",
		"<h1>a<style>p{}</style>b</h1>":             "ab",
		`<script type="text/template"># A *b* <!-- c -->` + "\n</script>": "A b",
		`<script type="text/template">` + "\n\n- [x](y) `z`\n</script>":   "x z",
		`<script type="text/template">![alt](a.png)</script>`:             "alt",
		`<script type="text/template">---` + "\n# T</script>":             "T",
		`<p>words</p><script type="text/template"># T</script>`:           "words",
		"<h1>" + strings.Repeat("ü", 80) + "</h1>":                        strings.Repeat("ü", 80),
		"<h1>" + strings.Repeat("ü", 81) + "</h1>":                        strings.Repeat("ü", 79) + "…",
		"<p>" + strings.Repeat("a ", 500) + "</p>":                        strings.TrimSpace(strings.Repeat("a ", 39)) + " a…",
	} {
		s := Slide{HTML: "<section>" + html + "</section>"}
		if got := s.Title(); got != want || utf8.RuneCountInString(got) > maxTitle {
			t.Errorf("%.80s: title %q, want %q", html, got, want)
		}
	}
}

// TestReadEdges has sources in which sections are easily miscounted.
func TestReadEdges(t *testing.T) {
	for src, want := range map[string]string{
		"":                               "",
		"<p>no slide</p>":                "",
		"<section></section>":            "1.1 -",
		"<SECTION>A</SECTION>":           "1.1 A",
		"<section>A":                     "",
		"</section><section>A</section>": "1.1 A",
		"<section/>A</section>":          "1.1 A",
		"<!-- <section>A</section> --><section>B</section>":                   "1.1 B",
		"<section>A</section><!-- --><section>B</section>":                    "1.1 A, 2.1 B",
		`<section title="<section>">A</section>`:                              "1.1 A",
		`<section><script>"</section>"</script>A</section>`:                   "1.1 A",
		"<section><textarea></section></textarea>A</section>":                 "1.1 </section>",
		"<section><section>A</section><p>x</p><section>B</section></section>": "1.1 A, 1.2 B",
		"<section><section><section>A</section></section></section>":          "1.1 A",
		"<sections>A</sections>":                                              "",
		"<section>A</section>\x00<section>B</section>":                        "1.1 A, 2.1 B",
	} {
		d := Read(src)
		if got := names(src); got != want {
			t.Errorf("%q: slides %s, want %s", src, got, want)
		}
		for i, s := range d.Slides {
			if s.Number != i+1 || src[s.at.from:s.at.to] != s.HTML || !strings.HasPrefix(strings.ToLower(s.HTML), "<section") {
				t.Errorf("%q: slide %d is %+v", src, i+1, s)
			}
		}
		if got := d.with(); got != src {
			t.Errorf("%q: without an edit: %q", src, got)
		}
	}
}

// model is a deck as lists of names: its columns.
type model [][]string

func (m model) source() string {
	var b strings.Builder
	for _, column := range m {
		if len(column) > 1 {
			b.WriteString("<section>")
		}
		for _, name := range column {
			b.WriteString("<section>" + name + "</section>\n")
		}
		if len(column) > 1 {
			b.WriteString("</section>")
		}
	}
	return b.String()
}

func (m model) String() string {
	var out []string
	for c, column := range m {
		for r, name := range column {
			out = append(out, fmt.Sprintf("%d.%d %s", c+1, r+1, name))
		}
	}
	return strings.Join(out, ", ")
}

func (m model) find(name string) (column, row int) {
	for c := range m {
		if r := slices.Index(m[c], name); r >= 0 {
			return c, r
		}
	}
	return -1, -1
}

// insert puts a name behind another; "" for the beginning.
func (m model) insert(name, after string, below bool) model {
	if after == "" {
		return slices.Insert(m, 0, []string{name})
	}
	c, r := m.find(after)
	if below {
		m[c] = slices.Insert(m[c], r+1, name)
		return m
	}
	return slices.Insert(m, c+1, []string{name})
}

func (m model) remove(name string) model {
	c, r := m.find(name)
	if m[c] = slices.Delete(m[c], r, r+1); len(m[c]) == 0 {
		return slices.Delete(m, c, c+1)
	}
	return m
}

// TestEditsLikeModel makes edits at random in a deck and in lists, which must agree after each.
func TestEditsLikeModel(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := model{{"a"}, {"b", "c"}}
		src := []string{"", "\n", " \n\t"}[seed%3] + m.source()
		for step := range 20 {
			d := Read(src)
			was, name := m.String(), fmt.Sprintf("n%d", step)
			after, below := (*Slide)(nil), r.IntN(2) == 0
			if n := r.IntN(len(d.Slides) + 1); n > 0 {
				after = &d.Slides[n-1]
			}
			what, number := "insert", 0
			switch n := r.IntN(4); {
			case n > 0 && len(d.Slides) > 1:
				s := &d.Slides[r.IntN(len(d.Slides))]
				name = s.Title()
				if n == 1 {
					what, src, m = "remove", d.Remove(s), m.remove(name)
					break
				}
				if after != nil && after.Number == s.Number {
					continue
				}
				what = "move"
				var err error
				if src, number, err = d.Move(s, after, below); err != nil {
					t.Fatal(err)
				}
				m = m.remove(name).insert(name, title(after), below)
			default:
				src, number = d.Insert(after, below, "<section>"+name+"</section>")
				m = m.insert(name, title(after), below)
			}
			d = Read(src)
			if names(src) != m.String() || number > 0 && d.Slides[number-1].Title() != name {
				t.Fatalf("seed %d: %s %s after %q, below %t: slide %d\n was %s\n got %s\nwant %s\n%s", seed, what, name, title(after), below, number, was, names(src), m, src)
			}
		}
	}
}

func title(s *Slide) string {
	if s == nil {
		return ""
	}
	return s.Title()
}
