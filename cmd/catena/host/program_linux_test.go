package host

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestUnwritten finds the mappings that can be given back among others.
func TestUnwritten(t *testing.T) {
	mapped := func(head string, rss, anonymous int) string {
		return fmt.Sprintf("%s\nSize: %d kB\nKernelPageSize: 4 kB\nRss: %d kB\nPss: 1 kB\nAnonymous: %d kB\nTHPeligible: 0\nVmFlags: rd mr mw me\n", head, rss+4, rss, anonymous)
	}
	const code = "00400000-01626000 r-xp 00000000 00:2a 1234                               /opt/catena"
	for _, test := range []struct{ name, smaps, want string }{
		{"code", mapped(code, 100, 0), "400000-1626000 102400"},
		{"constants", mapped("01626000-01627000 r--p 01226000 00:2a 1234 /opt/catena", 4, 0), "1626000-1627000 4096"},
		{"both", mapped(code, 8, 0) + mapped("01626000-01627000 r--p 01226000 00:2a 1234 /opt/catena", 4, 0), "400000-1626000 8192, 1626000-1627000 4096"},
		{"variables", mapped("01627000-01628000 rw-p 01226000 00:2a 1234 /opt/catena", 4, 0), ""},
		{"relocated", mapped("01627000-01628000 r--p 01226000 00:2a 1234 /opt/catena", 4, 4), ""},
		{"breakpoint", mapped(code, 100, 4), ""},
		{"shared", mapped("01627000-01628000 r--s 01226000 00:2a 1234 /opt/catena", 4, 0), ""},
		{"other file", mapped("7f0000000000-7f0000001000 r-xp 00000000 00:2a 99 /lib/libc.so.6", 100, 0), ""},
		{"longer name", mapped("00400000-01626000 r-xp 00000000 00:2a 1234 /old/opt/catena.old", 100, 0), ""},
		{"ends alike", mapped("00400000-01626000 r-xp 00000000 00:2a 1234 /srv/opt/catena", 100, 0), ""},
		{"no file", mapped("c000000000-c000400000 rw-p 00000000 00:00 0 ", 100, 100), ""},
		{"stack", mapped("7ffc00000000-7ffc00001000 r--p 00000000 00:00 0 [vvar]", 0, 0), ""},
		{"old kernel", code + "\nRss: 4 kB\n", ""}, // does not say whether it was written
		{"no addresses", mapped("x-y r-xp 00000000 00:2a 1234 /opt/catena", 4, 0), ""},
		{"backwards", mapped("02-01 r-xp 00000000 00:2a 1234 /opt/catena", 4, 0), ""},
		{"nothing", "", ""},
	} {
		var all []string
		for _, m := range unwritten(strings.NewReader(test.smaps), "/opt/catena") {
			all = append(all, fmt.Sprintf("%x-%x %d", m.from, m.to, m.resident))
		}
		if got := strings.Join(all, ", "); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestReleaseProgram gives the test's own program back again and again while it runs.
func TestReleaseProgram(t *testing.T) {
	if _, err := os.Stat("/proc/self/smaps"); err != nil {
		t.Skip(err)
	}
	for range 3 {
		if n := releaseProgram(); n <= 0 {
			t.Errorf("%d bytes were given back", n)
		}
		// Constants and code are read from the file again.
		if got := strings.Repeat(fmt.Sprintf("%x|", "abc"), 3); got != "616263|616263|616263|" {
			t.Errorf("got %q", got)
		}
	}
}
