package charclass

import (
	"strings"
	"testing"
	"unicode"
)

// properties are properties in each of their forms, with some characters that have them and some that have not.
var properties = []struct{ name, has, lacks string }{
	{"L", "aäß日ª", "1 _-"},
	{"Letter", "aЖ", "5"},
	{"gc=L", "aЖ", "5"},
	{"General_Category=Letter", "aЖ", "5"},
	{"Lu", "AÄ", "aäǅ"},
	{"Uppercase_Letter", "AÄ", "a"},
	{"Ll", "aß", "Aª"},
	{"Lt", "ǅ", "ǄǆA"},
	{"LC", "aAǅ", "ª日"},
	{"Cased_Letter", "aA", "日"},
	{"Nd", "0٣", "½Ⅷ"},
	{"N", "0½Ⅷ", "a"},
	{"Nl", "Ⅷ", "8"},
	{"No", "½", "1"},
	{"digit", "7", "½"},
	{"P", "!_-«", "+$a"},
	{"punct", "!", "a"},
	{"Pc", "_", "-"},
	{"Pd", "-–", "_"},
	{"Ps", "([", ")]"},
	{"Sc", "$€", "+"},
	{"Sm", "+<", "$"},
	{"Zs", " \u00a0", "\u2028\t"},
	{"Z", " \u2028", "\n"},
	{"Cc", "\x00\n", "\u200d"},
	{"cntrl", "\n", "a"},
	{"Cf", "\u200d\u00ad", "a"},
	{"Co", "\ue000", "a"},
	{"Cn", "\u0378", "a"},
	{"Unassigned", "\u0378", "a"},
	{"Assigned", "a\n", "\u0378"},
	{"M", "\u0301", "a"},
	{"Combining_Mark", "\u0301", "a"},
	{"Script=Latin", "aÄ", "αж"},
	{"sc=Latn", "aÄ", "α"},
	{"Script=Grek", "αΩ", "a"},
	{"sc=Cyrillic", "жЯ", "a"},
	{"Script=Han", "日", "あ"},
	{"sc=Hira", "あ", "ア"},
	{"Any", "a\u0378", ""},
	{"ASCII", "\x00~", "\u0080ä"},
	{"Alphabetic", "aⅧ", "1"},
	{"Alpha", "aЖ", "!"},
	{"Lower", "aª", "A"},
	{"Uppercase", "AⅧ", "a"},
	{"White_Space", " \t\u2028", "a\u200b"},
	{"space", " ", "a"},
	{"Hex_Digit", "aF9", "g"},
	{"AHex", "aF9", "\uff21"},
	{"Math", "+∑", "a"},
	{"Dash", "-–", "_"},
	{"ID_Start", "aªⅧ", "1_$"},
	{"ID_Continue", "a1_\u0301", "$-"},
	{"IDS", "a", "1"},
	{"Ideographic", "日", "a"},
	{"Cased", "aAª", "日"},
	{"Emoji", "😀#1©", "a"},
	{"Emoji_Presentation", "😀", "©1"},
	{"EPres", "😀", "©"},
	{"Extended_Pictographic", "😀©", "1"},
	{"Emoji_Modifier", "🏽", "😀"},
	{"EMod", "🏿", "a"},
	{"RI", "🇩", "D"},
	{"Regional_Indicator", "🇩", "D"},
	{"VS", "\ufe0f", "a"},
	{"DI", "\u00ad\ufe0f", "a"},
	{"Gr_Ext", "\u0301", "a"},
	{"Join_C", "\u200d", "a"},
}

// TestProperties holds which characters have a property.
func TestProperties(t *testing.T) {
	for _, tt := range properties {
		s, err := characters(tt.name)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, c := range tt.has {
			if !s.has(c) {
				t.Errorf("%s lacks %U", tt.name, c)
			}
		}
		for _, c := range tt.lacks {
			if s.has(c) {
				t.Errorf("%s has %U", tt.name, c)
			}
		}
	}
}

// TestUnknownProperties holds that names count letter by letter, and that what is not supported is never a wrong answer.
func TestUnknownProperties(t *testing.T) {
	for _, name := range []string{
		"", "l", "LETTER", "letter", " L", "L ", "Latin", "Script=latin", "Script=", "script=Latin", "Script=Nope", "gc=", "gc=Latin", "General_Category=Greek",
		"scx=Latn", "Script_Extensions=Greek", "Any=Y", "Alphabetic=Yes", "RGI_Emoji", "L=", "=L", "Lu|Ll", "^L", "Emoji=Y", "Block=Arrows", "InArrows", "IsGreek",
	} {
		if s, err := characters(name); err == nil {
			t.Errorf("%q has %d ranges", name, len(s))
		}
	}
}

// TestNamesAgree holds that the short and the long name of a property stand for the same characters.
func TestNamesAgree(t *testing.T) {
	for _, pair := range []string{
		"L Letter", "Lu Uppercase_Letter", "Nd Decimal_Number", "P Punctuation", "S Symbol", "Zs Space_Separator", "C Other", "M Mark", "Cn Unassigned", "LC Cased_Letter",
		"Alpha Alphabetic", "Lower Lowercase", "Upper Uppercase", "IDS ID_Start", "IDC ID_Continue", "DI Default_Ignorable_Code_Point", "sc=Latn Script=Latin", "space White_Space",
		"EBase Emoji_Modifier_Base", "EComp Emoji_Component", "EMod Emoji_Modifier", "EPres Emoji_Presentation", "ExtPict Extended_Pictographic", "gc=Lu Lu", "Gr_Base Grapheme_Base",
	} {
		a, b, _ := strings.Cut(pair, " ")
		one, err := characters(a)
		two, err2 := characters(b)
		if err != nil || err2 != nil || len(one) == 0 || one.text() != two.text() {
			t.Errorf("%s: %v %v, %d and %d ranges", pair, err, err2, len(one), len(two))
		}
	}
}

// TestCategoriesAreWhole holds that every character is in one of the large categories and in no two of them.
func TestCategoriesAreWhole(t *testing.T) {
	var all set
	size := 0
	count := func(s set) (n int) {
		for _, r := range s {
			n += int(r.hi-r.lo) + 1
		}
		return n
	}
	for _, name := range []string{"L", "M", "N", "P", "S", "Z", "C"} {
		s, err := characters(name)
		if err != nil {
			t.Fatal(err)
		}
		all, size = union(all, s), size+count(s)
	}
	if len(all) != 1 || all[0] != (span{0, unicode.MaxRune}) || size != unicode.MaxRune+1 {
		t.Errorf("%d ranges, %d characters", len(all), size)
	}
}
