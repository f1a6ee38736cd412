// Package blobtest has file names that attackers use, for tests of every place that a name passes through.
package blobtest

import "strings"

// HostileNames are names of files that lead out of folders, to devices, into other formats or nowhere.
func HostileNames() (names []string) {
	for _, to := range []string{"x.jsp", "etc/passwd", "tmp/x", "CON", "nul.txt", "x", "..", ".", "x.txt:stream", "a\x00b", "~root", "$HOME", "%2e%2e", "é\u202etxt.exe"} {
		for _, before := range []string{
			"", "../", "../../", "../../../../../../../../", "/", "//", "./", "..\\", "..\\..\\", "c:\\", "\\\\host\\share\\", "%2e%2e%2f", "..%2f", "....//",
			"..;/", "\x00/", "\uff0e\uff0e/", "\u2025/", "\xc0\xae\xc0\xae/", "file:///",
		} {
			names = append(names, before+to)
		}
	}
	return append(names, strings.Repeat("n", 5000), strings.Repeat("../", 2000))
}
