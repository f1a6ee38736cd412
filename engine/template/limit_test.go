package template

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"catena/storage/fault"
)

// TestExactLimits holds that as much as is allowed goes through, and one more does not: of output, nesting and steps.
func TestExactLimits(t *testing.T) {
	for _, tt := range []struct {
		source string
		limit  func(l *Limits) *int // the limit that the row is about
		enough int
		words  string
	}{
		{"abc", func(l *Limits) *int { return &l.Output }, 3, "produces more than 2 bytes"},
		{"${'ä'}b", func(l *Limits) *int { return &l.Output }, 3, "produces more than 2 bytes"},
		{"<#list 1..5 as x>ab</#list>", func(l *Limits) *int { return &l.Output }, 5 * itemSize, "produces more than 79 bytes"},
		{"<#assign c>abcd</#assign>", func(l *Limits) *int { return &l.Output }, 4, "produces more than 3 bytes"},
		{"${'abc' + 'de'}", func(l *Limits) *int { return &l.Output }, 5, "produces more than 4 bytes"},
		{"${'a'?left_pad(3)}", func(l *Limits) *int { return &l.Output }, 9, "produces more than 8 bytes"},
		{"${'aa'?replace('a', 'bcd')}", func(l *Limits) *int { return &l.Output }, 6, "produces more than 5 bytes"},
		{"${'<<'?html}", func(l *Limits) *int { return &l.Output }, 8, "produces more than 7 bytes"},
		{"${['a', 'b']?join('---')}", func(l *Limits) *int { return &l.Output }, 5, "produces more than 4 bytes"},
		{"<#if true><#if true>x</#if></#if>", func(l *Limits) *int { return &l.Depth }, 3, "is nested more than 2 deep"},
		{"<#macro m n><#if n gt 0><@m n - 1/></#if></#macro><@m 4/>", func(l *Limits) *int { return &l.Depth }, 5, "is nested more than 4 deep"},
		{"${((1))}", func(l *Limits) *int { return &l.Depth }, 4, "is nested more than 3 deep"},
		{"abc", func(l *Limits) *int { return &l.Steps }, 1, "takes more than 0 steps"},
		{"a${'b'}", func(l *Limits) *int { return &l.Steps }, 3, "takes more than 2 steps"},
		{"a", func(l *Limits) *int { return &l.Source }, 1, "longer than 0 bytes"},
	} {
		for _, less := range []int{0, 1} {
			l := testLimits
			*tt.limit(&l) = tt.enough - less
			p, err := Parse("ftl", "t", tt.source, l)
			if err == nil {
				_, err = p.Render(model(), l, endless)
			}
			if less == 0 && err != nil {
				t.Errorf("%s with %d: %v", tt.source, tt.enough, err)
			}
			if less == 1 && (fault.Of(err) != fault.Limit || !strings.Contains(err.Error(), tt.words)) {
				t.Errorf("%s with %d: got %v, want %s", tt.source, tt.enough-1, err, tt.words)
			}
		}
	}
}

// TestDeadline holds that a rendering asks again and again whether it may go on, and tells how far it is.
func TestDeadline(t *testing.T) {
	ended := errors.New("the call has ended")
	for name, source := range map[string]string{
		"loop":     "<#list 1..3000 as x>${x}</#list>",
		"function": "<#function f n><#return n></#function><#list 1..3000 as x><#assign y = f(x)></#list>",
		"map":      "${(1..3000)?map(x -> x * 2)?size}",
		"macro":    "<#macro m><#nested></#macro><#list 1..3000 as x><@m>a</@m></#list>",
		"default":  "<#list 1..3000 as x>${(none.x)!'a'}</#list>",
	} {
		p, err := Parse("ftl", "t", source, testLimits)
		if err != nil {
			t.Fatal(err)
		}
		var asked []int
		out, err := p.Render(nil, testLimits, func(steps int) error {
			if asked = append(asked, steps); len(asked) == 3 {
				return ended
			}
			return nil
		})
		if !errors.Is(err, ended) || out != "" || len(asked) != 3 || asked[0] < 1024 || asked[1] <= asked[0] || asked[2] <= asked[1] {
			t.Errorf("%s: %q %v, asked at %v", name, out, err, asked)
		}
	}
}

// TestPlaces holds that errors say the line and the column of what is wrong, counted in characters, also within macros.
func TestPlaces(t *testing.T) {
	refuses(t, []row{
		{"äöü ${none}", "1:7: none is missing: give it a default with !, or test it with ??"},
		{"\r\n\r\n  ${none}", "3:5: none is missing: give it a default with !, or test it with ??"},
		{"a\n<#macro m>\n\n${none}\n</#macro>\n<@m/>", "4:3: none is missing: give it a default with !, or test it with ??"},
		{"<#if true>\n<#list list as x>\n\t${x.y}\n</#list></#if>", "3:5: x is a text, which has no y"},
		{"${\n1 +\n'a' * 2}", "3:5: expected numbers around *, not a text"},
		{"x\n\n<#if yes>", "3:10: </#if> is missing at the end of the template"},
		{"x\n ${'a}", "2:4: the text is not closed"},
		{"a\n<#-- b", "2:1: the comment is not closed"},
		{"${Document.a.b.c}", "1:3: Document.a is missing: give it a default with !, or test it with ??"},
		{"${Document['x y']}", "1:3: Document['x y'] is missing: give it a default with !, or test it with ??"},
		{"${list[7]}", "1:3: list[7] is missing: give it a default with !, or test it with ??"},
		{"${(none)}", "1:3: none is missing: give it a default with !, or test it with ??"},
		{"${none?upper_case}", "1:3: none is missing: give it a default with !, or test it with ??"},
		{"${Fn.nope(1)}", "1:3: Fn.nope is missing: give it a default with !, or test it with ??"},
		{"${\"a${none}\"}", "1:3: none is missing: give it a default with !, or test it with ??"},
		{"<#stop>", "1:1: stopped"},
		{"a\n<#stop 'no ' + name>", "2:1: no ann lee"},
	})
	_, err := Parse("ftl", "folder/mail", "a\n${", testLimits)
	if err == nil || !strings.HasPrefix(err.Error(), "template folder/mail:2:") {
		t.Errorf("the name of the template: %v", err)
	}
}

// TestDefaults holds what ! and ?? do with what is missing, and where the value in its place ends.
func TestDefaults(t *testing.T) {
	plays(t, []row{
		{"${none!}|${none!''}|${none!'a'}|${empty!'a'}|${(none!)?length}", "||a||0"},
		{"${none!1 + 2} ${n!1 + 2}", "3 1,234,567"}, // the value is all of 1 + 2
		{"${(none!1) + 2} ${none!none!'c'} ${(none)!Document.title}", "3 c A <b>"},
		{"${(none.a.b)!'d'} ${Document.nope!'d'} ${(Document.nope.a)!'d'} ${(none.a)???c} ${none???c} ${n???c}", "d d d false false true"},
		{"<#if none?? && none.a == 1>a<#else>b</#if><#if !none??>c</#if><#if (none.a.b)??>d<#elseif n??>e</#if>", "bce"},
		{"${none?has_content?c} ${(none.a)?has_content?c} ${' '?has_content?c} ${[]?has_content?then(1, 2)}", "false false true 2"},
		{"<#list (none.items)![] as x>x<#else>-</#list> ${(none![])?size} ${(none!{})?size} ${(none!'x')?length}", "- 0 0 1"},
		{"<#assign x = none!'d'>${x} <#assign h = {'a': 1}>${h.b!'-'} ${h['b']!h.a} ${(h.b.c)!'-'}", "d - 1 -"},
		{"${list[0]!'d'}${list[3]!'d'}${(list[9].x)!'d'}", "cdd"},
		{"${none?if_exists}${none?default('a')}${none?default(none!'b')}${empty?default('c')}.", "ab."},
		{"${true?then(name, none.x)} ${false?then(none, 'b')} ${2?switch(1, none, 2, 'two')}", "ann lee b two"},
	})
}

// TestRenderTwice holds that a template may be rendered at once with several values, of which none sees another's.
func TestRenderTwice(t *testing.T) {
	const source = "<#macro m a><#local b = a>${b}<#nested></#macro><#assign s = ''><#list 1..50 as i><#assign s = s + v></#list>" +
		"<@m v>${v}</@m>${s?length}${s?replace(v, '')?length}"
	p, err := Parse("ftl", "t", source, testLimits)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for k := range 8 {
		wait.Go(func() {
			given := map[string]any{"v": fmt.Sprint(k)}
			if got, err := p.Render(given, testLimits, endless); err != nil || got != fmt.Sprintf("%d%d500", k, k) || len(given) != 1 {
				t.Errorf("%d: got %q %v, and %v", k, got, err, given)
			}
		})
	}
	wait.Wait()
}

// TestReads holds which variables a template is said to read: those that it does not make itself may be among them.
func TestReads(t *testing.T) {
	for source, want := range map[string]string{
		"${a} ${b.c} ${a}": "a b", "<#list xs as x>${y}</#list>": "xs y", "<#if p && !q>${r!s}</#if>": "p q r s", "${\"in ${t}\"}": "t", "text": "",
	} {
		p, err := Parse("ftl", "t", source, testLimits)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(want) {
			if !strings.Contains(" "+strings.Join(p.Reads.Names, " ")+" ", " "+name+" ") {
				t.Errorf("%s reads %v, and not %s", source, p.Reads.Names, name)
			}
		}
		if want == "" && len(p.Reads.Names) > 0 {
			t.Errorf("%s reads %v", source, p.Reads.Names)
		}
	}
}
