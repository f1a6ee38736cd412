package text

import (
	"bytes"
	"strings"
	"testing"
)

// TestDecode reads what programs of all kinds write.
func TestDecode(t *testing.T) {
	const latin, utf16le, utf16be = "Gr\xfc\xdfe, Zeppelin", "G\x00r\x00\xfc\x00\xdf\x00e\x00\n\x00", "\x00G\x00r\x00\xfc\x00\xdf\x00e\x00\n"
	for name, c := range map[string]struct{ data, declared, mime, want string }{
		"UTF-8":                 {"Grüße", "", "", "Grüße"},
		"with a mark":           {"\ufeffa;b", "", "", "a;b"},
		"declared wrongly":      {"Grüße", "ISO-8859-1", "", "Grüße"},
		"Latin-1":               {latin, "", "", "Grüße, Zeppelin"},
		"declared":              {"\xc7\xd0", "ISO-8859-7", "", "ΗΠ"},
		"unknown":               {"a\xff", "x-none", "", "a\uFFFD"},
		"UTF-16 with a mark":    {"\xff\xfe" + utf16le, "", "", "Grüße\n"},
		"UTF-16, other order":   {"\xfe\xff" + utf16be, "", "", "Grüße\n"},
		"UTF-16 without a mark": {utf16le, "", "", "Grüße\n"},
		"order without a mark":  {utf16be, "", "", "Grüße\n"},
		"said by HTML":          {"<meta charset=iso-8859-7>\xc7", "", "text/html", "<meta charset=iso-8859-7>Η"},
		"cut in a character":    {"Grü\xc3", "", "", "Grü"},
		"ends in Latin-1":       {"caf\xe9", "", "", "café"},
		"zeros":                 {"a\x00b", "", "", "a\x00b"},
		"empty":                 {"", "", "", ""},
	} {
		if got := Decode([]byte(c.data), c.declared, c.mime); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestReadMessages finds what is written in a message, and nothing of its marks.
func TestReadMessages(t *testing.T) {
	const head = "From: Ada <ada@example.org>\r\nTo: bob@example.org\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
	for name, c := range map[string]struct {
		src         string
		holds, lack []string
	}{
		"plain":  {head + "\r\nThe Zeppelin lands", []string{"Grüße", "Ada ada@example.org", "bob@example.org", "Zeppelin"}, []string{"Subject"}},
		"pages":  {head + "Content-Type: text/html; charset=iso-8859-1\r\n\r\n<p>H\xe4fen</p><script>x()</script>", []string{"Häfen"}, []string{"x()", "<p>"}},
		"parts":  {head + "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\nwords\r\n--a\r\nContent-Disposition: attachment; filename=plan.pdf\r\n\r\n%PDF\r\n--a--\r\n", []string{"words", "plan.pdf"}, []string{"%PDF"}},
		"no end": {head + "Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\nwords", []string{"Grüße"}, nil},
	} {
		got, err := Read(bytes.NewReader([]byte(c.src)), int64(len(c.src)), Message, "a")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, text := range c.holds {
			if !strings.Contains(got, text) {
				t.Errorf("%s: %q lacks %q", name, got, text)
			}
		}
		for _, text := range c.lack {
			if strings.Contains(got, text) {
				t.Errorf("%s: %q has %q", name, got, text)
			}
		}
	}
	if !Readable("application/octet-stream", "letter.EML") {
		t.Error("the name says nothing")
	}
}
