package rfc822

import (
	"io"
	"strings"
	"testing"

	"catena/storage/fault"
)

// TestParse reads messages as programs write them, and as they should not.
func TestParse(t *testing.T) {
	for name, test := range map[string]struct{ src, want, files string }{
		"plain":    {"From: =?utf-8?q?Zo=C3=AB?= <zoe@example.org>\nTo: a@example.org, B <b@example.org>\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?=\nDate: Thu, 26 Nov 2026 10:00:00 +0100\nMessage-Id: <1@example.org>\n\nHello\n", "zoe@example.org|Zoë|a@example.org b@example.org|Grüße|1@example.org|Hello\n|", ""},
		"charset":  {"Subject: x\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe", "|||x||Grüße|", ""},
		"parts":    {"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\nt\n--b\nContent-Type: text/html\n\n<p>t\n--b--\n--a\nContent-Type: application/pdf; name=\"../r.pdf\"\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=\"../r.pdf\"\n\nJVBERg==\n--a\nContent-Type: text/plain\nContent-Disposition: inline; filename=notes.txt\n\nn\n--a--\n", "|||x||t|<p>t", "r.pdf:application/pdf:%PDF notes.txt:text/plain:n"},
		"cut":      {"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/plain\n\nt", "|||x||t|", ""},
		"no head":  {"\nonly text", "|||||only text|", ""},
		"no parts": {"Content-Type: multipart/mixed; boundary=a\n\nnothing", "||||||", ""},
	} {
		var files []string
		m, err := Parse([]byte(strings.ReplaceAll(test.src, "\n", "\r\n")), func(f File) error {
			b, err := io.ReadAll(f.Body)
			files = append(files, f.Name+":"+f.Type+":"+strings.TrimSpace(string(b)))
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := strings.Join([]string{m.From, m.Name, strings.Join(m.To, " "), m.Subject, m.ID, m.Text, m.HTML}, "|")
		if strings.ReplaceAll(got, "\r", "") != test.want || strings.Join(files, " ") != test.files {
			t.Errorf("%s: %q %q", name, got, files)
		}
	}
	many := "Content-Type: multipart/mixed; boundary=a\r\n\r\n" + strings.Repeat("--a\r\nContent-Type: image/png\r\n\r\nx\r\n", maxFiles+1) + "--a--\r\n"
	if _, err := Parse([]byte(many), func(File) error { return nil }); !fault.Is(err, fault.Limit) {
		t.Error(err)
	}
}

// FuzzParse reads anything.
func FuzzParse(f *testing.F) {
	f.Add("Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\nx\r\n--a--\r\n")
	f.Add("Subject: =?x?q?=FF?=\r\nContent-Transfer-Encoding: base64\r\n\r\n!")
	f.Fuzz(func(t *testing.T, src string) {
		_, _ = Parse([]byte(src), func(f File) error {
			_, _ = io.Copy(io.Discard, f.Body)
			return nil
		})
	})
}

// TestFileNames: a part that says that it is a file is one, and its name leads nowhere.
func TestFileNames(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		{"Content-Disposition: attachment; filename=a.txt", "a.txt"},
		{"Content-Disposition: attachment", "attachment"},
		{"Content-Disposition: attachment; filename=\"\"", "attachment"},
		{"Content-Disposition: attachment; filename=\"x/\"", "attachment"},
		{"Content-Disposition: inline; filename=\"x\\\\\"", "attachment"},
		{"Content-Type: text/plain; name=\"../../a\"", "a"},
		{"Content-Disposition: attachment; filename=\"=?utf-8?q?=C3=A4.txt?=\"", "ä.txt"},
		{"Content-Disposition: attachment; filename*=UTF-8''%C3%A4%2Fb.txt", "b.txt"},
		{"Content-Disposition: attachment; filename*=UTF-8''%FF.txt", "\uFFFD.txt"},
		{"Content-Type: text/plain; name=\"=?x-unknown?q?=FF?=\"", "=?x-unknown?q?=FF?="},
		{"Content-Type: text/plain", ""},
		{"Content-Disposition: inline", ""},
	} {
		name, found := "", false
		m, err := Parse([]byte("Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n"+c.head+"\r\n\r\nbody\r\n--a--\r\n"), func(f File) error {
			name, found = f.Name, true
			return nil
		})
		if err != nil || found != (c.want != "") || name != c.want || (m.Text == "") != found {
			t.Errorf("%s: %q, %v, text %q, %v", c.head, name, found, m.Text, err)
		}
	}
}

// TestTextLimit: the texts of a message are bounded together, and what a handler of files returns ends the reading.
func TestTextLimit(t *testing.T) {
	text := func(sizes ...int) error {
		src := "Content-Type: multipart/mixed; boundary=a\r\n\r\n"
		for _, n := range sizes {
			src += "--a\r\n\r\n" + strings.Repeat("x", n) + "\r\n"
		}
		_, err := Parse([]byte(src+"--a--\r\n"), func(File) error { return nil })
		return err
	}
	for _, c := range []struct {
		sizes []int
		limit bool
	}{{[]int{maxText}, false}, {[]int{maxText + 1}, true}, {[]int{maxText / 2, maxText / 2}, false}, {[]int{maxText / 2, maxText/2 + 1}, true}} {
		if err := text(c.sizes...); c.limit != fault.Is(err, fault.Limit) || !c.limit && err != nil {
			t.Errorf("%v: %v", c.sizes, err)
		}
	}
	meant := fault.Denied.Errorf("meant")
	_, err := Parse([]byte("Content-Disposition: attachment\r\n\r\nx"), func(File) error { return meant })
	if !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
}
