package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// entry is a stream of a compound file: its name, behind that of its folder if it is in one, and what is in it.
type entry struct {
	name    string
	content []byte
}

// fillers are streams that nobody looks for.
func fillers(n int) (out []entry) {
	for i := range n {
		out = append(out, entry{fmt.Sprint("other", i), nil})
	}
	return out
}

// Numbers with a meaning in the tables of a compound file.
const (
	endOfChain = 0xfffffffe
	noEntry    = 0xffffffff
	fatSector  = 0xfffffffd
	sectorSize = 512
)

// compoundFile writes a compound file of version 3 ([MS-CFB]): a header, the streams in sectors of their own, the directory and the
// table of what sector follows which. Streams have at least the size above which they are not in the stream for small ones.
func compoundFile(entries ...entry) []byte {
	var sectors []byte
	var next []uint32
	add := func(content []byte) uint32 {
		first := uint32(len(next))
		for len(content) > 0 {
			n := min(len(content), sectorSize)
			sectors = append(sectors, append(slices.Clone(content[:n]), make([]byte, sectorSize-n)...)...)
			next = append(next, uint32(len(next))+1)
			content = content[n:]
		}
		next[len(next)-1] = endOfChain
		return first
	}
	le := binary.LittleEndian
	directory := []byte{}
	describe := func(name string, kind byte, start, size uint32) int {
		e := make([]byte, 128)
		units := utf16.Encode([]rune(name))
		for i, u := range units {
			le.PutUint16(e[2*i:], u)
		}
		le.PutUint16(e[64:], uint16(2*len(units)+2))
		e[66], e[67] = kind, 1
		for _, at := range []int{68, 72, 76} {
			le.PutUint32(e[at:], noEntry)
		}
		le.PutUint32(e[116:], start)
		le.PutUint32(e[120:], size)
		directory = append(directory, e...)
		return len(directory)/128 - 1
	}
	last := map[int]int{} // of a folder: the entry in it that was described last
	within := func(folder, i int) {
		at := folder*128 + 76
		if before, ok := last[folder]; ok {
			at = before*128 + 72
		}
		le.PutUint32(directory[at:], uint32(i))
		last[folder] = i
	}
	root := describe("Root Entry", 5, endOfChain, 0)
	folders := map[string]int{}
	for _, e := range entries {
		in := root
		folder, name, inner := strings.Cut(e.name, "/")
		if !inner {
			name = folder
		} else {
			if _, ok := folders[folder]; !ok {
				folders[folder] = describe(folder, 1, 0, 0)
				within(root, folders[folder])
			}
			in = folders[folder]
		}
		content := append(slices.Clone(e.content), make([]byte, max(0, 4096-len(e.content)))...)
		within(in, describe(name, 2, add(content), uint32(len(content))))
	}
	start := add(append(directory, make([]byte, (sectorSize-len(directory)%sectorSize)%sectorSize)...))
	table := uint32(len(next))
	sectorsOfTable := (len(next)*4 + sectorSize) / sectorSize
	for range sectorsOfTable {
		next = append(next, fatSector)
	}
	for len(next)*4%sectorSize != 0 {
		next = append(next, noEntry)
	}
	head := make([]byte, sectorSize)
	copy(head, compoundMark)
	for at, v := range map[int]uint16{24: 0x3e, 26: 3, 28: 0xfffe, 30: 9, 32: 6} {
		le.PutUint16(head[at:], v)
	}
	for at, v := range map[int]uint32{44: uint32(sectorsOfTable), 48: start, 56: 4096, 60: endOfChain, 68: endOfChain} {
		le.PutUint32(head[at:], v)
	}
	for i := range 109 {
		v := uint32(noEntry)
		if i < sectorsOfTable {
			v = table + uint32(i)
		}
		le.PutUint32(head[76+4*i:], v)
	}
	out := append(head, sectors...)
	for _, n := range next {
		out = le.AppendUint32(out, n)
	}
	return out
}

// wide is a text as UTF-16.
func wide(s string) (out []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

func TestReadOutlook(t *testing.T) {
	for _, c := range []struct {
		name string
		of   []entry
		want string
	}{
		{"text", []entry{
			{"__properties_version1.0", make([]byte, 64)},
			{"__nameid_version1.0/__substg1.0_00030102", []byte("names of properties")},
			{"__substg1.0_0037001F", wide("Übersicht")},
			{"__substg1.0_0C1A001F", wide("Ada Lovelace")},
			{"__substg1.0_0C1F001F", wide("/O=ORG/CN=ADA")},
			{"__substg1.0_5D01001F", wide("ada@example.org")},
			{"__substg1.0_0E04001F", wide("Bob; Carol")},
			{"__substg1.0_0E03001F", wide("Dan")},
			{"__substg1.0_1000001F", wide("Der Plan für 2027 liegt bei.")},
			{"__recip_version1.0_#00000000/__substg1.0_3001001F", wide("nobody sees this")},
			{"__attach_version1.0_#00000000/__substg1.0_3704001F", wide("BUDGET~1.XLS")},
			{"__attach_version1.0_#00000000/__substg1.0_3707001F", wide("Budget 2027.xlsx")},
			{"__attach_version1.0_#00000001/__substg1.0_3704001F", wide("A.TXT")},
		}, "Übersicht\nAda Lovelace ada@example.org\nBob; Carol, Dan\n\nDer Plan für 2027 liegt bei.\nBudget 2027.xlsx\nA.TXT\n"},
		{"HTML in bytes", []entry{
			{"__substg1.0_0037001E", []byte("caf\xe9")},
			{"__substg1.0_0c1f001e", []byte("ada@example.org")},
			{"__substg1.0_10130102", []byte("<html><style>p{}</style><p>Hello <b>all</b></p>")},
		}, "café\nada@example.org\n\n\nHello  all\n\n"},
		{"nothing", nil, "\n\n\n\n\n\n"},
	} {
		file := compoundFile(c.of...)
		got, err := Read(bytes.NewReader(file), int64(len(file)), Outlook, "a.msg")
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	if !Readable("application/octet-stream", "a.MSG") || !Readable(Outlook, "") {
		t.Error("messages of Outlook are not readable")
	}
	if got, err := Read(strings.NewReader("no message"), 10, Outlook, ""); err == nil {
		t.Errorf("what is none: %q", got)
	}
}

func FuzzReadOutlook(f *testing.F) {
	f.Add(compoundFile(entry{"__substg1.0_0037001F", wide("subject")}, entry{"__substg1.0_1000001F", wide("text")}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, _ := Read(bytes.NewReader(data), int64(len(data)), Outlook, ""); len(s) > maxText {
			t.Errorf("%d bytes of text", len(s))
		}
	})
}
