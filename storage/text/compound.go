package text

import (
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/richardlehane/mscfb"
	"golang.org/x/text/encoding/unicode"
)

// compoundMark begins a compound file: Office formats before 2007, later ones with a password, and messages of Outlook. Each is a
// file system of its own, with what the program keeps in streams.
var compoundMark = []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")

// openCompound opens a compound file whose directory is not too long.
func openCompound(f io.ReadSeeker) (*mscfb.Reader, error) {
	directory := &bounded{readerAt(f), maxDirectory}
	c, err := mscfb.New(directory)
	directory.left = math.MaxInt64
	return c, err
}

// beginning returns up to n bytes of a stream; of a damaged one, what can be read.
func beginning(stream io.Reader, n int) []byte {
	b := make([]byte, n)
	n, _ = io.ReadFull(stream, b)
	return b[:n]
}

// The streams of a message in which Outlook keeps properties, and the folders in it, one for each file.
const (
	outlookProperty = "__substg1.0_"
	outlookFile     = "__attach_version1.0_"
)

// Properties by their numbers in [MS-OXPROPS], and how many bytes of each are looked at.
const (
	pidSubject     = "0037"
	pidSenderName  = "0C1A"
	pidSender      = "0C1F"
	pidSenderSMTP  = "5D01"
	pidTo          = "0E04"
	pidCc          = "0E03"
	pidBody        = "1000"
	pidHTML        = "1013"
	pidFile        = "3704" // its name in the form of DOS
	pidFileLong    = "3707"
	maxOutlookLine = 64 << 10
	maxOutlookFile = 1 << 10
)

var outlookSizes = map[string]int{
	pidSubject: maxOutlookLine, pidSenderName: maxOutlookLine, pidSender: maxOutlookLine, pidSenderSMTP: maxOutlookLine,
	pidTo: maxOutlookLine, pidCc: maxOutlookLine, pidBody: maxRead, pidHTML: maxRead,
}

// readOutlook reads what somebody who opens a message of Outlook sees ([MS-OXMSG]).
func readOutlook(f io.ReadSeeker, _ int64) (string, error) {
	c, err := openCompound(f)
	if err != nil {
		return "", err
	}
	of, files := map[string]string{}, map[string]string{}
	for _, stream := range c.File {
		name, ok := strings.CutPrefix(stream.Name, outlookProperty)
		if !ok || len(name) != 8 {
			continue
		}
		number, form := strings.ToUpper(name[:4]), name[4:]
		switch {
		case len(stream.Path) == 0 && outlookSizes[number] > 0:
			of[number] = outlookText(stream, number, form)
		case len(stream.Path) == 1 && (number == pidFileLong || number == pidFile && files[stream.Path[0]] == ""):
			files[stream.Path[0]] = outlookText(stream, number, form)
		}
	}
	m := message{
		subject: of[pidSubject], plain: of[pidBody], page: of[pidHTML],
		from: of[pidSenderName] + " " + cmp.Or(of[pidSenderSMTP], of[pidSender]), // without one of SMTP, an address within Exchange
		to:   slices.DeleteFunc([]string{of[pidTo], of[pidCc]}, func(s string) bool { return s == "" }),
	}
	for _, folder := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(folder, outlookFile) {
			m.files = append(m.files, files[folder])
		}
	}
	return m.shown(), nil
}

// outlookText is the text of a property of a form: UTF-16, or bytes in the encoding of the computer or of the HTML.
func outlookText(stream *mscfb.File, number, form string) string {
	b := beginning(stream, int(min(int64(cmp.Or(outlookSizes[number], maxOutlookFile)), stream.Size)))
	if strings.EqualFold(form, "001F") {
		if wide, err := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Bytes(b); err == nil {
			b = wide
		}
		return strings.TrimRight(string(b), "\x00")
	}
	mime := ""
	if number == pidHTML {
		mime = "text/html"
	}
	return strings.TrimRight(Decode(b, "", mime), "\x00")
}
