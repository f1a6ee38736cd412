package text

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"catena/storage/fault"
	"catena/storage/text/rfc822"
)

// Bounds of what is read of a file, in bytes.
const (
	maxRead      = 4 << 20   // of the file, or of one part of it
	maxParts     = 16 << 20  // of all parts of an archive
	maxDirectory = 1 << 20   // of the list of an archive's parts
	maxText      = 256 << 10 // of the text found
)

// Readable reports whether Read finds text in files of a type, or anyone who reads PDF files does.
func Readable(mime, name string) bool { return IsPDF(mime, name) || readerOf(mime, name) != nil }

// IsPDF reports whether a file is one that package pdf finds the text in.
func IsPDF(mime, name string) bool {
	return typeOf(mime) == "application/pdf" || path.Ext(strings.ToLower(name)) == ".pdf"
}

// typeOf is a type without its parameters.
func typeOf(mime string) string {
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	return mime
}

// Read returns the text in a file, as much of it as is looked at. mime is its type; its name counts
// where the type says little.
func Read(f io.ReadSeeker, size int64, mime, name string) (string, error) {
	read := readerOf(mime, name)
	if read == nil {
		return "", nil
	}
	s, err := read(f, size)
	return strings.ToValidUTF8(s[:min(len(s), maxText)], ""), err
}

type reader func(f io.ReadSeeker, size int64) (string, error)

func readerOf(mime, name string) reader {
	mime = typeOf(mime)
	ext := strings.ToLower(path.Ext(name))
	switch {
	case IsPDF(mime, name):
		return nil
	case mime == "text/html" || mime == "application/xhtml+xml":
		return readHTML
	case mime == Message || ext == ".eml":
		return readMessage
	case mime == Outlook || ext == ".msg":
		return readOutlook
	case strings.HasPrefix(mime, "text/"), mime == "application/json", mime == "application/x-yaml", slices.Contains(plain, ext):
		return readPlain
	case strings.HasPrefix(mime, "application/vnd.openxmlformats-officedocument."), strings.HasPrefix(mime, "application/vnd.oasis.opendocument."),
		slices.Contains(office, ext):
		return readOffice
	}
	return nil
}

// Endings of names of files with text, and of office documents.
var (
	plain  = []string{".txt", ".md", ".csv", ".json", ".xml", ".yaml", ".yml", ".log"}
	office = []string{".docx", ".pptx", ".xlsx", ".odt", ".odp", ".ods"}
)

func readPlain(f io.ReadSeeker, _ int64) (string, error) {
	b, err := io.ReadAll(io.LimitReader(f, maxText))
	return Decode(b, "", ""), err
}

// Types of messages of electronic mail: as they are sent, and as Outlook saves them.
const (
	Message = "message/rfc822"
	Outlook = "application/vnd.ms-outlook"
)

// IsMessage reports whether a type is one of messages of electronic mail.
func IsMessage(mime string) bool { return mime == Message || mime == Outlook }

// readMessage reads what somebody who opens a message sees.
func readMessage(f io.ReadSeeker, _ int64) (string, error) {
	body, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return "", err
	}
	var files []string
	m, err := rfc822.Parse(body, func(f rfc822.File) error {
		files = append(files, f.Name)
		return nil
	})
	if err != nil {
		return "", err
	}
	return message{m.Subject, m.Name + " " + m.From, slices.Concat(m.To, m.Cc), m.Text, m.HTML, files}.shown(), nil
}

// message is a message of electronic mail: about what it is, who wrote to whom, the text in either form, and the names of its files.
type message struct {
	subject, from string
	to            []string
	plain, page   string
	files         []string
}

// shown is what somebody who opens the message sees.
func (m message) shown() string {
	if strings.TrimSpace(m.plain) == "" {
		m.plain = HTML(m.page)
	}
	lines := []string{m.subject, strings.TrimSpace(m.from), strings.Join(m.to, ", "), "", strings.TrimSpace(m.plain), strings.Join(m.files, "\n")}
	return strings.Join(lines, "\n") + "\n"
}

func readHTML(f io.ReadSeeker, _ int64) (string, error) {
	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	return HTML(string(b)), err
}

// HTML returns the text of HTML without its marks, scripts and styles.
func HTML(s string) string {
	z := html.NewTokenizer(strings.NewReader(s))
	var b strings.Builder
	hidden := ""
	for b.Len() < maxText {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.StartTagToken:
			name, _ := z.TagName()
			if n := string(name); hidden == "" && (n == "script" || n == "style") {
				hidden = n
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == hidden {
				hidden = ""
			}
		case html.TextToken:
			if hidden == "" {
				b.Write(z.Text())
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}

// readOffice reads the text of the XML parts that hold what people wrote: words first, and numbers of spreadsheets as far
// as there is room.
func readOffice(f io.ReadSeeker, size int64) (string, error) {
	z, err := Archive(f, size)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	left := int64(maxParts)
	for _, kind := range officeParts {
		for _, part := range z.File {
			if left == 0 || b.Len() > maxText {
				break
			}
			if !slices.ContainsFunc(kind.names, func(pattern string) bool { ok, _ := path.Match(pattern, part.Name); return ok }) {
				continue
			}
			r, err := part.Open()
			if err != nil {
				return b.String(), err
			}
			in := &io.LimitedReader{R: r, N: min(maxRead, left)}
			left -= in.N
			err = tokens(&b, in, kind.reader(&b))
			left += in.N
			_ = r.Close()
			if err != nil && in.N > 0 { // or the part is cut short, anywhere
				return b.String(), err
			}
		}
	}
	return b.String(), nil
}

// officeParts are the parts of office documents that hold what people wrote, and what is read of each.
var officeParts = []struct {
	names  []string
	reader func(b *strings.Builder) func(xml.Token)
}{
	{[]string{"content.xml", "word/document.xml", "word/footnotes.xml", "ppt/slides/slide*.xml", "ppt/notesSlides/*.xml", "xl/sharedStrings.xml"}, characters},
	{[]string{"xl/worksheets/*.xml"}, cells},
}

// Archive opens a zip archive, such as an office document, whose list of parts is not too long.
func Archive(f io.ReadSeeker, size int64) (*zip.Reader, error) {
	directory := &bounded{readerAt(f), maxDirectory}
	z, err := zip.NewReader(directory, size)
	directory.left = math.MaxInt64
	return z, err
}

func readerAt(f io.ReadSeeker) io.ReaderAt {
	if at, ok := f.(io.ReaderAt); ok {
		return at
	}
	return seeking{f}
}

// seeking reads a file at any offset, for one reader at a time.
type seeking struct{ io.ReadSeeker }

func (s seeking) ReadAt(p []byte, at int64) (int, error) {
	if _, err := s.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// bounded reads only so many bytes: how many parts an archive has is known only once its list was read.
type bounded struct {
	io.ReaderAt
	left int64
}

func (r *bounded) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	if r.left -= int64(n); r.left < 0 {
		return 0, fault.Limit.Errorf("archive: its directory has more than %d bytes", maxDirectory)
	}
	return n, err
}

// tokens gives the tokens of XML, until the text that was made of them is long enough.
func tokens(b *strings.Builder, r io.Reader, each func(xml.Token)) error {
	d := xml.NewDecoder(r)
	for b.Len() < maxText {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		each(t)
	}
	return nil
}

// characters adds the character data of XML.
func characters(b *strings.Builder) func(xml.Token) {
	return func(t xml.Token) {
		switch t := t.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.EndElement:
			if n := t.Name.Local; n == "p" || n == "si" || n == "h" || n == "tab" || n == "br" {
				b.WriteByte(' ')
			}
		}
	}
}

// cells adds the values of the cells of a spreadsheet (XLSX). Texts that are kept apart are numbers here, and are read
// with the other words; formulas are not read, only what they gave.
func cells(b *strings.Builder) func(xml.Token) {
	kind, value := "", false
	return func(t xml.Token) {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "c":
				kind = ""
				for _, a := range t.Attr {
					if a.Name.Local == "t" {
						kind = a.Value
					}
				}
			case "v":
				value = kind == "" || kind == "n" || kind == "str" || kind == "d"
			case "t":
				value = kind == "inlineStr"
			}
		case xml.CharData:
			if value {
				b.Write(t)
			}
		case xml.EndElement:
			if value && (t.Name.Local == "v" || t.Name.Local == "t") {
				b.WriteByte(' ')
				value = false
			}
		}
	}
}
