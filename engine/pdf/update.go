package pdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"strconv"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"catena/storage/fault"
)

// maxTail is how far in front of its end a PDF says where its table of objects is.
const maxTail = 1024

// lastTable returns where the table of objects begins, as the end of the file says.
func lastTable(r io.ReadSeeker, size int64) (int64, error) {
	if _, err := r.Seek(max(0, size-maxTail), io.SeekStart); err != nil {
		return 0, err
	}
	tail, err := io.ReadAll(io.LimitReader(r, maxTail))
	if err != nil {
		return 0, err
	}
	word := []byte("startxref")
	i := bytes.LastIndex(tail, word)
	if i < 0 {
		return 0, fault.Invalid.Errorf("startxref is missing at the end")
	}
	fields := bytes.Fields(tail[i+len(word):])
	if len(fields) == 0 {
		return 0, fault.Invalid.Errorf("startxref is missing at the end")
	}
	return strconv.ParseInt(string(fields[0]), 10, 64)
}

func infoWith(pdf *model.Context, texts map[string]string) (types.Dict, error) {
	info := types.NewDict()
	if pdf.Info != nil {
		d, err := pdf.DereferenceDict(*pdf.Info)
		if err != nil {
			return nil, err
		}
		maps.Copy(info, d)
	}
	for name, text := range texts {
		delete(info, name)
		if text == "" {
			continue
		}
		s, err := types.EscapedUTF16String(text)
		if err != nil {
			return nil, err
		}
		info[name] = types.StringLiteral(*s)
	}
	return info, nil
}

// updateOf writes a new object and a table for it, of the kind that the file has.
func updateOf(pdf *model.Context, size, table int64, info types.Dict) []byte {
	var out bytes.Buffer
	// A file need not end in a new line.
	out.WriteByte('\n')
	n, at := *pdf.Size, size+1
	fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", n, info.PDFString())
	here := size + int64(out.Len())
	ends := fmt.Sprintf("/Root %s /Info %d 0 R /Prev %d", pdf.Root.PDFString(), n, table)
	if len(pdf.ID) > 0 {
		ends += " /ID " + pdf.ID.PDFString()
	}
	if pdf.Read.UsingXRefStreams {
		var rows []byte
		for _, offset := range []int64{at, here} {
			rows = binary.BigEndian.AppendUint64(append(rows, 1), uint64(offset)) //nolint:gosec // an offset is not negative
		}
		// W [1 8 0]: a row is one byte for the type (1 is an object at an offset), eight for the offset, and none
		// for the generation. The two rows are those of the new object and of this stream itself.
		fmt.Fprintf(&out, "%d 0 obj\n<< /Type /XRef /Size %d /W [1 8 0] /Index [%d 2] %s /Length %d >>\nstream\n%s\nendstream\nendobj\n",
			n+1, n+2, n, ends, len(rows), rows)
	} else {
		fmt.Fprintf(&out, "xref\n%d 1\n%010d 00000 n \ntrailer\n<< /Size %d %s >>\n", n, at, n+1, ends)
	}
	fmt.Fprintf(&out, "startxref\n%d\n%%%%EOF\n", here)
	return out.Bytes()
}
