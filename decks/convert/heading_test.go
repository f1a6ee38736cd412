package convert

import (
	"fmt"
	"strings"
	"testing"
)

func TestFirstHeading(t *testing.T) {
	tests := []struct{ src, want string }{
		{"", ""},
		{"text", ""},
		{"# Title", "Title"},
		{"text\n\n## Second", "Second"},
		{"###### Six", "Six"},
		{"####### Seven", ""},
		{"#Tag", ""},
		{"#\tTab", "Tab"},
		{"   # Indented", "Indented"},
		{"    # Code", ""},
		{"\t# Code", ""},
		{"#  Spaces  ", "Spaces"},
		{"# Closed #", "Closed"},
		{"# Closed ####  ", "Closed"},
		{"# C#", "C#"},
		{"# Learn F# now", "Learn F# now"},
		{"# **Bold** title", "Bold title"},
		{"# snake_case *and* `a_b`", "snake_case and a_b"},
		{"# [Link](https://example.org) & more", "Link & more"},
		{"# &lt;b&gt; \\*", "<b> *"},
		{"# &amp;lt;", "&lt;"},
		{"# A <b>bold</b> one", "A bold one"},
		{"# ![picture](a.png)\n## Text", "Text"},
		{"# *All of it*", "All of it"},
		{"# `code`", "code"},
		{"#\n# Next", "Next"},
		{"# #\n# Next", "Next"},
		{"#  \n## Below", "Below"},
		{"```sh\n# a comment\n```\n# Title", "Title"},
		{"~~~\n# a comment\n~~~\n# Title", "Title"},
		{"````\n```\n# a comment\n````\n# Title", "Title"},
		{"```\n# never closed", ""},
		{"# Größe 日本 😀", "Größe 日本 😀"},
		{"Title\n=====\n", ""}, // as deeper forms of headings, left to the author
	}
	for _, test := range tests {
		if got, err := firstHeading(t.Context(), test.src); err != nil || got != test.want {
			t.Errorf("%q: got %q, %v, want %q", test.src, got, err, test.want)
		}
	}
}

// TestTitleOfMarkdown: a comment in code at the top is not the title of a deck.
func TestTitleOfMarkdown(t *testing.T) {
	tests := []struct{ src, want string }{
		{"```sh\n# install it\nmake\n```\n\n---\n\n# How to install\n", "How to install"},
		{"---\ntitle: Given\n---\n\n# First\n", "Given"},
		{"---\ntitle: ''\n---\n\n# First\n", "First"},
		{"---\ntitle: 42\n---\n\n# First\n", "42"},
		{"# C# in depth\n", "C# in depth"},
	}
	for _, test := range tests {
		d, err := Read(t.Context(), Markdown, "", test.src)
		if err != nil || d.Title != test.want {
			t.Errorf("%q: got %+v, %v; want the title %q", test.src, d, err, test.want)
		}
	}
}

// TestCells: cells are written as they are in the definition.
func TestCells(t *testing.T) {
	tests := []struct{ cell, want string }{
		{`"text"`, "text"},
		{`""`, ""},
		{`"<b>&amp;"`, "&lt;b&gt;&amp;amp;"},
		{`null`, ""},
		{`true`, "true"},
		{`0`, "0"},
		{`-0.5`, "-0.5"},
		{`1000000`, "1000000"},
		{`123456789`, "123456789"},
		{`1e3`, "1000"},
		{`0.000001`, "0.000001"},
		{`1e21`, "1000000000000000000000"},
		{`["a", 1]`, `[&#34;a&#34;,1]`},
		{`{"a": null}`, `{&#34;a&#34;:null}`},
	}
	for _, test := range tests {
		d, err := Read(t.Context(), Define, "", fmt.Sprintf(`{"slides": [{"blocks": [{"type": "table", "data": [[%s, "next"]]}]}]}`, test.cell))
		if err != nil {
			t.Errorf("%s: %v", test.cell, err)
			continue
		}
		if want := "<table><tbody><tr><td>" + test.want + "</td><td>next</td></tr></tbody></table>"; !strings.Contains(d.HTML, want) {
			t.Errorf("%s: got %s, want %s", test.cell, d.HTML, want)
		}
	}
}

// TestMeasures: places of blocks are measures and nothing else, since they go into a style attribute.
func TestMeasures(t *testing.T) {
	tests := []struct{ value, want string }{
		{`10`, "left: 10px; "},
		{`-1.5`, "left: -1.5px; "},
		{`0`, "left: 0px; "},
		{`1000000`, "left: 1000000px; "},
		{`"50%"`, "left: 50%; "},
		{`"12px"`, "left: 12px; "},
		{`"12em"`, ""},
		{`"calc(1px)"`, ""},
		{`"1px; color: red"`, ""},
		{`""`, ""},
		{`null`, ""},
		{`true`, ""},
		{`[1]`, ""},
	}
	for _, test := range tests {
		d, err := Read(t.Context(), Define, "", fmt.Sprintf(`{"slides": [{"blocks": [{"value": "v", "x": %s}]}]}`, test.value))
		if err != nil {
			t.Errorf("%s: %v", test.value, err)
			continue
		}
		want := `style="` + strings.TrimSpace("position: absolute; "+test.want) + `"`
		if !strings.Contains(d.HTML, want) {
			t.Errorf("%s: got %s, want %s", test.value, d.HTML, want)
		}
	}
}
