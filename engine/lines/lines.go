// Package lines reads many records from one file: JSON Lines, with an object on each line, or CSV, whose first line
// names the columns. It reads one record at a time, so that a file may be larger than memory, and its errors name the
// line. What a record means is left to the caller, except that Links tells which records of documents may depend on each other.
package lines

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"catena/storage/fault"
)

// Format is how records are written.
type Format string

// The formats.
const (
	JSON Format = "jsonl"
	CSV  Format = "csv"
)

// Types are the media types of the formats.
var Types = map[string]Format{
	"application/jsonl": JSON, "application/jsonlines": JSON, "application/ndjson": JSON,
	"application/x-jsonlines": JSON, "application/x-ndjson": JSON, "text/csv": CSV,
}

// Named returns the format of a file by the end of its name, "" if it is another.
func Named(file string) Format {
	switch file = strings.ToLower(file); {
	case strings.HasSuffix(file, ".csv"):
		return CSV
	case strings.HasSuffix(file, ".jsonl"), strings.HasSuffix(file, ".ndjson"):
		return JSON
	}
	return ""
}

// Record is an object of a file.
type Record struct {
	Line int             // where it begins, the first line being 1
	JSON json.RawMessage // valid until the next record is read
	Err  error           // why it cannot be read; the records after it can
}

// Reader reads records.
type Reader struct {
	next func() (Record, error)
	csv  *rows // nil: the format is another
	line int
	most int
}

// NewReader reads records in a format; a record of more than most bytes is an error.
func NewReader(r io.Reader, f Format, most int) (*Reader, error) {
	in := &Reader{most: most}
	switch f {
	case JSON:
		b := bufio.NewReaderSize(r, 64<<10)
		in.next = func() (Record, error) { return in.object(b) }
	case CSV:
		in.csv = newRows(r, most)
		in.next = in.csv.next
	default:
		return nil, fault.Invalid.Errorf("format %q: must be %s or %s", string(f), JSON, CSV).In("format")
	}
	return in, nil
}

// Columns are those that the first line of CSV names, once a record was asked for. A record lacks those in which its cell is empty.
func (r *Reader) Columns() []string {
	if r.csv == nil {
		return nil
	}
	return r.csv.columns
}

// Next returns the next record; io.EOF after the last one. Another error is of the file.
func (r *Reader) Next() (Record, error) { return r.next() }

var mark = []byte("\ufeff")

// object reads the next line that is not empty.
func (r *Reader) object(b *bufio.Reader) (Record, error) {
	for {
		r.line++
		text, err := r.text(b)
		if r.line == 1 {
			text = bytes.TrimPrefix(text, mark)
		}
		text = bytes.TrimSpace(text)
		var f *fault.Error
		switch {
		case errors.As(err, &f):
			return Record{Line: r.line, Err: err}, nil
		case err != nil && !errors.Is(err, io.EOF):
			return Record{}, err
		case len(text) == 0 && err != nil:
			return Record{}, io.EOF
		case len(text) == 0:
			continue
		case text[0] != '{' || !json.Valid(text) || !utf8.Valid(text):
			return Record{Line: r.line, Err: fault.Invalid.Errorf("record: must be a JSON object in one line")}, nil
		}
		return Record{Line: r.line, JSON: text}, nil
	}
}

// text reads a line. Of one that is too long it keeps nothing.
func (r *Reader) text(b *bufio.Reader) ([]byte, error) {
	text, err := b.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return text, err
	}
	whole, long := slices.Clone(text), false
	for errors.Is(err, bufio.ErrBufferFull) {
		text, err = b.ReadSlice('\n')
		if long = long || len(whole)+len(text) > r.most; long {
			whole = nil
			continue
		}
		whole = append(whole, text...)
	}
	if long && (err == nil || errors.Is(err, io.EOF)) {
		return nil, tooLong(r.most)
	}
	return whole, err
}

func tooLong(most int) error {
	return fault.Limit.Errorf("record: more than %d bytes", most)
}

// rows reads CSV. Columns whose names have a colon are properties, and so are not members of the record but of its
// properties. Empty cells are left out.
type rows struct {
	in      *bounded
	csv     *csv.Reader
	columns []string
}

// bounded refuses to read on when a record has become too long.
type bounded struct {
	r          io.Reader
	left, most int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, tooLong(b.most)
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// ahead is how many bytes csv.Reader may hold that are of later records.
const ahead = 4 << 10

func newRows(r io.Reader, most int) *rows {
	head := bufio.NewReaderSize(r, 64<<10)
	in := &bounded{r: head, most: most, left: most + ahead}
	out := csv.NewReader(in)
	out.ReuseRecord = true
	first, _ := head.Peek(64 << 10) // whatever there is
	if bytes.HasPrefix(first, mark) {
		_, _ = head.Discard(len(mark)) // they are there
	}
	out.Comma = separator(first)
	return &rows{in: in, csv: out}
}

// separator is what separates the columns of the first line: a comma, or what spreadsheets write elsewhere.
func separator(first []byte) rune {
	line, _, _ := bytes.Cut(first, []byte("\n"))
	best, most := ',', bytes.Count(line, []byte(","))
	for _, c := range []rune{';', '\t'} {
		if n := bytes.Count(line, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

func (r *rows) next() (Record, error) {
	if r.columns == nil {
		if err := r.readColumns(); err != nil {
			return Record{}, err
		}
	}
	r.in.left = r.in.most + ahead
	cells, err := r.csv.Read()
	var bad *csv.ParseError
	switch {
	case errors.As(err, &bad):
		return Record{Line: bad.StartLine, Err: fault.Invalid.Errorf("record: %w", bad.Err)}, nil
	case err != nil:
		return Record{}, err
	}
	line, _ := r.csv.FieldPos(0)
	return r.record(cells, line)
}

func (r *rows) readColumns() error {
	cells, err := r.csv.Read()
	if err != nil {
		return err
	}
	r.columns, err = Columns(cells)
	return err
}

// Columns are the names in the first row of a table, which differ.
func Columns(cells []string) (names []string, err error) {
	seen := map[string]bool{}
	for i, name := range cells {
		name = strings.TrimSpace(name)
		if name == "" || seen[name] {
			return nil, fault.Invalid.Errorf("column %d: must have a name that no other column has, not %q", i+1, name)
		}
		seen[name] = true
		names = append(names, strings.Clone(name))
	}
	return names, nil
}

func (r *rows) record(cells []string, line int) (Record, error) {
	members, props := map[string]any{}, map[string]string{}
	for i, cell := range cells {
		switch {
		case cell == "":
		case !utf8.ValidString(cell):
			return Record{Line: line, Err: fault.Invalid.Errorf("record: %s must be UTF-8", r.columns[i])}, nil
		case strings.Contains(r.columns[i], ":"):
			props[r.columns[i]] = cell
		default:
			members[r.columns[i]] = cell
		}
	}
	if len(props) > 0 {
		members["properties"] = props
	}
	raw, err := json.Marshal(members)
	return Record{Line: line, JSON: raw}, err
}
