package charclass

import (
	_ "embed" // scripts.txt
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"catena/storage/fault"
)

// maxClasses bounds the classes that are kept, about 5 kB each.
const maxClasses = 200

type classKey struct {
	property  string
	not, fold bool
}

var classes = struct {
	sync.Mutex
	of map[classKey]string
}{of: map[classKey]string{}}

// classOf is the inside of the class of the characters that have a property, or do not have it.
func classOf(property string, not, fold bool) (string, error) {
	key := classKey{property, not, fold}
	classes.Lock()
	defer classes.Unlock()
	if text, ok := classes.of[key]; ok {
		return text, nil
	}
	s, err := characters(property)
	if err != nil {
		return "", err
	}
	if not {
		s = s.complement()
	}
	if fold {
		s = s.folded()
	}
	if len(classes.of) >= maxClasses {
		clear(classes.of)
	}
	text := s.text()
	classes.of[key] = text
	return text, nil
}

// characters are those that have a property: a general category, a script or a binary property, by one of its names.
func characters(property string) (set, error) {
	name, value, valued := strings.Cut(property, "=")
	if !valued {
		if s, ok := category(property); ok {
			return s, nil
		}
		if f, ok := binary()[property]; ok {
			return f(), nil
		}
		return nil, unknown("unknown property", property, slices.Concat(categoryNames(), slices.Collect(maps.Keys(binary()))))
	}
	switch name {
	case "General_Category", "gc":
		if s, ok := category(value); ok {
			return s, nil
		}
		return nil, unknown("unknown general category", value, categoryNames())
	case "Script", "sc":
		if long, ok := scriptCodes()[value]; ok {
			value = long
		}
		if t, ok := unicode.Scripts[value]; ok {
			return of(t), nil
		}
		return nil, unknown("unknown script", value, slices.Collect(maps.Keys(unicode.Scripts)))
	case "Script_Extensions", "scx":
		return nil, errors.New("Script_Extensions is not supported, use Script")
	}
	return nil, unknown("unknown property", name, []string{"General_Category", "Script"})
}

func unknown(what, name string, known []string) error {
	return fmt.Errorf("%s %.40q%s", what, name, fault.Perhaps(name, slices.Values(known)))
}

// category is a general category by its short or long name.
func category(name string) (set, bool) {
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	t, ok := unicode.Categories[name]
	if !ok {
		return nil, false
	}
	return of(t), true
}

func categoryNames() []string {
	return slices.AppendSeq(slices.Collect(maps.Keys(unicode.Categories)), maps.Keys(unicode.CategoryAliases))
}

//go:embed scripts.txt
var scriptLines string

// scriptCodes are the short names of scripts in PropertyValueAliases.txt of Unicode, for the scripts that package unicode
// has.
var scriptCodes = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(scriptLines) {
		short, long, _ := strings.Cut(strings.TrimSpace(line), " ")
		m[short] = long
	}
	return m
})

// tables are the properties that package unicode has, and their short names.
var tables = map[string]string{
	"ASCII_Hex_Digit": "AHex", "Bidi_Control": "Bidi_C", "Dash": "Dash", "Deprecated": "Dep", "Diacritic": "Dia", "Extender": "Ext",
	"Hex_Digit": "Hex", "IDS_Binary_Operator": "IDSB", "IDS_Trinary_Operator": "IDST", "Ideographic": "Ideo", "Join_Control": "Join_C",
	"Logical_Order_Exception": "LOE", "Noncharacter_Code_Point": "NChar", "Pattern_Syntax": "Pat_Syn", "Pattern_White_Space": "Pat_WS",
	"Quotation_Mark": "QMark", "Radical": "Radical", "Regional_Indicator": "RI", "Sentence_Terminal": "STerm", "Soft_Dotted": "SD",
	"Terminal_Punctuation": "Term", "Unified_Ideograph": "UIdeo", "Variation_Selector": "VS", "White_Space": "space",
}

// shortEmoji are the short names of the properties of emoji.
var shortEmoji = map[string]string{
	"EBase": "Emoji_Modifier_Base", "EComp": "Emoji_Component", "EMod": "Emoji_Modifier", "EPres": "Emoji_Presentation", "ExtPict": "Extended_Pictographic",
}

// binary are the properties that a character has or has not. Those that are derived follow DerivedCoreProperties.txt.
var binary = sync.OnceValue(func() map[string]func() set {
	m := map[string]func() set{}
	put := func(f func() set, names ...string) {
		for _, n := range names {
			m[n] = f
		}
	}
	for long, short := range tables {
		put(func() set { return of(unicode.Properties[long]) }, long, short)
	}
	for long, s := range emoji {
		put(func() set { return s }, long)
	}
	for short, long := range shortEmoji {
		put(m[long], short)
	}
	put(func() set { return set{{0, unicode.MaxRune}} }, "Any")
	put(func() set { return set{{0, unicode.MaxASCII}} }, "ASCII")
	put(func() set { return of(unicode.Categories["Cn"]).complement() }, "Assigned")
	put(func() set { return of(unicode.L, unicode.Nl, unicode.Other_Alphabetic) }, "Alphabetic", "Alpha")
	put(func() set { return of(unicode.Ll, unicode.Other_Lowercase) }, "Lowercase", "Lower")
	put(func() set { return of(unicode.Lu, unicode.Other_Uppercase) }, "Uppercase", "Upper")
	put(func() set {
		return of(unicode.Ll, unicode.Lu, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
	}, "Cased")
	put(func() set { return of(unicode.Sm, unicode.Other_Math) }, "Math")
	put(graphemeExtend, "Grapheme_Extend", "Gr_Ext")
	put(func() set {
		return union(of(unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co, unicode.Categories["Cn"], unicode.Zl, unicode.Zp), graphemeExtend()).complement()
	}, "Grapheme_Base", "Gr_Base")
	put(identifierStart, "ID_Start", "IDS")
	put(func() set {
		return union(identifierStart(), of(unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue).minus(patterns()))
	}, "ID_Continue", "IDC")
	put(ignorable, "Default_Ignorable_Code_Point", "DI")
	return m
})

func graphemeExtend() set { return of(unicode.Me, unicode.Mn, unicode.Other_Grapheme_Extend) }

func patterns() set { return of(unicode.Pattern_Syntax, unicode.Pattern_White_Space) }

func identifierStart() set {
	return of(unicode.L, unicode.Nl, unicode.Other_ID_Start).minus(patterns())
}

// ignorable are the characters that are not shown by default. Annotations and Egyptian joiners are shown though they
// are format characters.
func ignorable() set {
	shown := set{{0xFFF9, 0xFFFB}, {0x13430, 0x1343F}}
	return of(unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector).
		minus(of(unicode.White_Space, unicode.Prepended_Concatenation_Mark), shown)
}
