package scripts

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"time"

	"catena/storage/fault"
)

// The server and its workers speak in frames: four bytes of length, one of kind, then
// fields in a fixed order. A value starts with a byte that says what it is. The server
// believes nothing a worker sends: lengths, depths and handles are checked.

// Kinds of frames.
const (
	frameStart  = 's' // server: run this
	frameAnswer = 'a' // server: result of a call
	frameAhead  = 'f' // server: result of a call that the worker has announced
	frameNoMore = 'n' // server: what else it has announced is not to come
	frameCall   = 'c' // worker: call an operation
	frameSend   = 'p' // worker: call an operation, whose result is not wanted
	frameAsk    = 'q' // worker: anything else that has an answer
	frameLog    = 'l' // worker: a line of the console, no answer
	frameDone   = 'd' // worker: the run has ended
)

// Kinds of values.
const (
	tagNil = iota
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagString
	tagTime
	tagArray
	tagList
	tagMap
	tagDocument
	tagFile
	tagAbsent
)

// maxFrame bounds a frame in bytes, in both directions. What one run may send is less: four times
// Limits.Output and 1 MiB.
const maxFrame = 64 << 20

var errWire = fault.Internal.Errorf("script worker: malformed message").WithCode(fault.CodeScriptCrash)

// writer builds one frame in a buffer that is used again for the next; one of more than 1 MiB is given back
// after it was sent.
type writer struct {
	b       []byte
	handles interface{ write(w *writer, v any) error }
}

func (w *writer) start(kind byte) { w.b = append(w.b[:0], 0, 0, 0, 0, kind) }

// end writes the length of the frame.
func (w *writer) end() { binary.LittleEndian.PutUint32(w.b, uint32(len(w.b)-4)) }

// send writes the frame in one call.
func (w *writer) send(out io.Writer) error {
	if len(w.b) > maxFrame {
		return breach(fault.CodeScriptOutput, "script: a message of more than %s", bytesText(maxFrame))
	}
	w.end()
	_, err := out.Write(w.b)
	if cap(w.b) > 1<<20 {
		w.b = nil
	}
	return err
}

func (w *writer) uint(n uint64)   { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) int(n int64)     { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) string(s string) { w.uint(uint64(len(s))); w.b = append(w.b, s...) }
func (w *writer) bytes(s []byte)  { w.uint(uint64(len(s))); w.b = append(w.b, s...) }
func (w *writer) byte(b byte)     { w.b = append(w.b, b) }
func (w *writer) float(f float64) { w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(f)) }

func (w *writer) strings(s []string) {
	w.uint(uint64(len(s)))
	for _, x := range s {
		w.string(x)
	}
}

// stack writes the calls of a script that go on, innermost first, and their size before them.
func (w *writer) stack(stack []Frame) {
	at := w.hold()
	w.frames(stack)
	w.fill(at)
}

// hold leaves room for a size, which fill writes when what it is of has been written.
func (w *writer) hold() int {
	w.b = append(w.b, 0, 0, 0, 0)
	return len(w.b)
}

func (w *writer) fill(at int) { binary.LittleEndian.PutUint32(w.b[at-4:], uint32(len(w.b)-at)) }

func (w *writer) frames(stack []Frame) {
	w.uint(uint64(len(stack)))
	for _, f := range stack {
		w.string(clip(f.Function, 200))
		w.int(int64(f.Line))
		w.int(int64(f.Column))
		w.string(f.File)
	}
}

func (w *writer) bool(b bool) {
	if b {
		w.byte(1)
	} else {
		w.byte(0)
	}
}

func (w *writer) items(tag byte, items []any, depth int) error {
	w.byte(tag)
	w.uint(uint64(len(items)))
	for _, x := range items {
		if err := w.nested(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) value(v any) error { return w.nested(v, 0) }

// nested writes a value with a tag for its type. Documents and files stay in the server and are written as
// handles. The depth is bounded, which also ends a value that contains itself.
func (w *writer) nested(v any, depth int) error {
	if depth > maxDepth+2 {
		return breach(fault.CodeScriptOutput, "script: a value nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case nil:
		w.byte(tagNil)
	case bool:
		w.truth(v)
	case int64:
		w.byte(tagInt)
		w.int(v)
	case float64:
		w.byte(tagFloat)
		w.float(v)
	case string:
		w.text(v)
	case time.Time:
		w.byte(tagTime)
		w.int(v.UnixMilli())
	case list:
		return w.items(tagList, v, depth)
	case []any:
		return w.items(tagArray, v, depth)
	case []string:
		w.texts(v)
	case map[string]any:
		return w.fieldsOf(v, depth)
	case absent:
		w.byte(tagAbsent)
	default:
		return w.handles.write(w, v)
	}
	return nil
}

func (w *writer) texts(texts []string) {
	w.byte(tagArray)
	w.uint(uint64(len(texts)))
	for _, s := range texts {
		w.text(s)
	}
}

// text writes a text as a value.
func (w *writer) text(s string) {
	w.byte(tagString)
	w.string(s)
}

// truth writes a bool as a value.
func (w *writer) truth(b bool) {
	if b {
		w.byte(tagTrue)
	} else {
		w.byte(tagFalse)
	}
}

func (w *writer) fieldsOf(m map[string]any, depth int) error {
	w.byte(tagMap)
	w.uint(uint64(len(m)))
	for k, x := range m {
		w.string(k)
		if err := w.nested(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// reader takes one frame apart. The first mistake empties it, so that callers check err once.
type reader struct {
	b       []byte
	err     error
	total   int               // items of lists and maps read
	keys    map[string]string // names of members that came before; nil: they are not remembered
	handles interface {
		readDocument(r *reader) any
		readFile(r *reader) any
	}
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errWire
	}
	r.b = nil
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count reads a number of things, each of at least one byte. A number that is larger than what is left of the
// frame is a mistake: nothing is allocated for it.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(n)
}

// bytes is valid until the next frame is read.
func (r *reader) bytes() []byte {
	n := r.count()
	s := r.b[:n]
	r.b = r.b[n:]
	return s
}

// sized is bytes after their number as four bytes.
func (r *reader) sized() []byte {
	if len(r.b) < 4 || uint64(binary.LittleEndian.Uint32(r.b)) > uint64(len(r.b)-4) {
		r.fail()
		return nil
	}
	n := 4 + int(binary.LittleEndian.Uint32(r.b))
	s := r.b[4:n]
	r.b = r.b[n:]
	return s
}

func (r *reader) string() string { return string(r.bytes()) }

func (r *reader) strings() []string {
	out := make([]string, r.count())
	for i := range out {
		out[i] = r.string()
	}
	return out
}

func (r *reader) frames(file string) []Frame {
	stack := make([]Frame, r.count())
	for i := range stack {
		stack[i] = Frame{Function: r.string(), Line: int(r.int()), Column: int(r.int()), File: cmp.Or(r.string(), file)}
	}
	return stack
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) bool() bool { return r.byte() == 1 }

func (r *reader) float() float64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(r.b))
	r.b = r.b[8:]
	return f
}

func (r *reader) value() any { return r.nested(0) }

func (r *reader) items(depth int) []any {
	out := make([]any, r.some())
	for i := range out {
		out[i] = r.nested(depth + 1)
	}
	return out
}

// some reads the number of items of a list or map, bounded over the whole frame.
func (r *reader) some() int {
	n := r.count()
	if r.total += n; r.total > 4*maxItems {
		r.fail()
		return 0
	}
	return n
}

func (r *reader) nested(depth int) any {
	if depth > maxDepth+2 {
		r.fail()
		return nil
	}
	switch tag := r.byte(); tag {
	case tagArray:
		return r.items(depth)
	case tagList:
		return list(r.items(depth))
	case tagMap:
		n := r.some()
		out := make(map[string]any, n)
		r.fill(out, n, depth)
		return out
	case tagDocument:
		return r.handles.readDocument(r)
	case tagFile:
		return r.handles.readFile(r)
	default:
		return r.scalar(tag)
	}
}

// fill reads n members of a map.
func (r *reader) fill(into map[string]any, n, depth int) {
	for range n {
		k := r.key()
		into[k] = r.nested(depth + 1)
	}
}

// Names of parameters and members that are remembered: most of them come again and again.
const (
	mostKeys   = 1000
	longestKey = 64
)

// key reads the name of a member.
func (r *reader) key() string {
	b := r.bytes()
	if k, known := r.keys[string(b)]; known {
		return k
	}
	k := string(b)
	if r.keys != nil && len(k) <= longestKey && len(r.keys) < mostKeys {
		r.keys[k] = k
	}
	return k
}

// scalar reads a value that contains no others.
func (r *reader) scalar(tag byte) any {
	switch tag {
	case tagNil:
		return nil
	case tagFalse, tagTrue:
		return tag == tagTrue
	case tagInt:
		return r.int()
	case tagFloat:
		return r.float()
	case tagString:
		return r.string()
	case tagTime:
		return time.UnixMilli(r.int()).UTC()
	case tagAbsent:
		return absent{}
	}
	r.fail()
	return nil
}

// skip passes over a value that holds no handles.
func (r *reader) skip() {
	switch r.byte() {
	case tagNil, tagFalse, tagTrue, tagAbsent:
	case tagInt, tagTime:
		r.int()
	case tagFloat:
		r.float()
	case tagString:
		r.bytes()
	case tagArray:
		for range r.count() {
			r.skip()
		}
	default:
		r.fail()
	}
}

// frames reads whole frames from a stream into one buffer. A frame that was returned is overwritten by the
// next one.
type frames struct {
	in         io.Reader
	buf        []byte
	start, end int
	max        int
}

// next returns the next frame, valid until the one after it.
func (f *frames) next() ([]byte, error) {
	if err := f.fill(4); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(f.buf[f.start:]))
	if n < 1 || n > f.max {
		return nil, errWire
	}
	f.start += 4
	if err := f.fill(n); err != nil {
		return nil, err
	}
	frame := f.buf[f.start : f.start+n]
	f.start += n
	return frame, nil
}

// buffered reports whether there is more than has been read.
func (f *frames) buffered() bool { return f.end > f.start }

// fill makes sure that n bytes are buffered, reading as much as there is room for: several frames that the
// other side sent together take one system call.
func (f *frames) fill(n int) error {
	if f.start == f.end {
		f.start, f.end = 0, 0
		if len(f.buf) > 1<<20 {
			f.buf = nil
		}
	}
	if f.start+n > len(f.buf) {
		grown := f.buf
		if n > len(f.buf) {
			grown = make([]byte, max(n, 64<<10))
		}
		f.end = copy(grown, f.buf[f.start:f.end])
		f.start, f.buf = 0, grown
	}
	for f.end-f.start < n {
		k, err := f.in.Read(f.buf[f.end:])
		f.end += k
		if err != nil && f.end-f.start < n {
			if err == io.EOF && f.end > f.start {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}
