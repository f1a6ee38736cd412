package pdf

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// glyphs are characters by the names that fonts have for them, without letters and letters
// with accents.
var glyphs = map[string]string{
	"AE": "Æ", "Dcroat": "Đ", "Eth": "Ð", "Euro": "€", "Lslash": "Ł", "OE": "Œ", "Oslash": "Ø", "Thorn": "Þ", "ae": "æ", "ampersand": "&",
	"asciicircum": "^", "asciitilde": "~", "asterisk": "*", "at": "@", "backslash": "\\", "bar": "|", "braceleft": "{", "braceright": "}",
	"bracketleft": "[", "bracketright": "]", "brokenbar": "¦", "bullet": "•", "cent": "¢", "colon": ":", "comma": ",", "copyright": "©",
	"currency": "¤", "dagger": "†", "daggerdbl": "‡", "dcroat": "đ", "degree": "°", "divide": "÷", "dollar": "$", "dotlessi": "ı",
	"eight": "8", "ellipsis": "…", "emdash": "—", "endash": "–", "equal": "=", "eth": "ð", "exclam": "!", "exclamdown": "¡", "ff": "ff",
	"ffi": "ffi", "ffl": "ffl", "fi": "fi", "five": "5", "fl": "fl", "florin": "ƒ", "four": "4", "fraction": "⁄", "germandbls": "ß",
	"grave": "`", "greater": ">", "guillemotleft": "«", "guillemotright": "»", "guilsinglleft": "‹", "guilsinglright": "›", "hyphen": "-",
	"less": "<", "logicalnot": "¬", "lslash": "ł", "minus": "−", "mu": "µ", "multiply": "×", "nbspace": " ", "nine": "9", "numbersign": "#",
	"oe": "œ", "one": "1", "onehalf": "½", "onequarter": "¼", "onesuperior": "¹", "ordfeminine": "ª", "ordmasculine": "º", "oslash": "ø",
	"paragraph": "¶", "parenleft": "(", "parenright": ")", "percent": "%", "period": ".", "periodcentered": "·", "perthousand": "‰",
	"plus": "+", "plusminus": "±", "question": "?", "questiondown": "¿", "quotedbl": "\"", "quotedblbase": "„", "quotedblleft": "“",
	"quotedblright": "”", "quoteleft": "‘", "quoteright": "’", "quotesinglbase": "‚", "quotesingle": "'", "registered": "®", "section": "§",
	"semicolon": ";", "seven": "7", "sfthyphen": "-", "six": "6", "slash": "/", "space": " ", "sterling": "£", "thorn": "þ", "three": "3",
	"threequarters": "¾", "threesuperior": "³", "trademark": "™", "two": "2", "twosuperior": "²", "underscore": "_", "yen": "¥", "zero": "0",
}

// accents are the ends of the names of letters with accents.
var accents = map[string]string{
	"acute": "\u0301", "breve": "\u0306", "caron": "\u030c", "cedilla": "\u0327", "circumflex": "\u0302", "commaaccent": "\u0326",
	"dieresis": "\u0308", "dotaccent": "\u0307", "grave": "\u0300", "hungarumlaut": "\u030b", "macron": "\u0304", "ogonek": "\u0328",
	"ring": "\u030a", "tilde": "\u0303",
}

// glyphText is what the name of a glyph stands for.
func glyphText(name string) (string, bool) {
	name, _, _ = strings.Cut(name, ".") // what follows says which form of the character
	if s, ok := glyphs[name]; ok {
		return s, true
	}
	if len(name) > 0 && (name[0]|' ' >= 'a' && name[0]|' ' <= 'z') {
		if len(name) == 1 {
			return name, true
		}
		if accent, ok := accents[name[1:]]; ok {
			return norm.NFC.String(name[:1] + accent), true
		}
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "afii")); err == nil && strings.HasPrefix(name, "afii") {
		return cyrillic(n)
	}
	digits, ok := strings.CutPrefix(name, "uni")
	if !ok {
		digits, ok = strings.CutPrefix(name, "u")
	}
	if ok && len(digits) >= 4 && len(digits) <= 6 {
		if n, err := strconv.ParseUint(digits, 16, 32); err == nil {
			return string(rune(n)), true
		}
	}
	return "", false
}

// cyrillic is the letter of a number that fonts have for it.
func cyrillic(n int) (string, bool) {
	for _, row := range [...]struct{ first, last, letter int }{
		{10017, 10022, 'А'},
		{10023, 10023, 'Ё'},
		{10024, 10049, 'Ж'},
		{10065, 10070, 'а'},
		{10071, 10071, 'ё'},
		{10072, 10097, 'ж'},
	} {
		if n >= row.first && n <= row.last {
			return string(rune(row.letter + n - row.first)), true
		}
	}
	return "", false
}
