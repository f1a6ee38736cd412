package file

import "testing"

func TestSniff(t *testing.T) {
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n": "image/png", "\xff\xd8\xff\xe0": "image/jpeg", "GIF89a": "image/gif", "RIFF\x00\x00\x00\x00WEBPVP8 ": "image/webp",
		"\x00\x00\x00\x1cftypavif": "image/avif", "<?xml version='1.0'?><svg/>": "image/svg+xml", " <SVG xmlns=''>": "image/svg+xml",
		"": "", "<html>": "", "<!doctype html><svg>": "", "RIFF\x00\x00\x00\x00WAVE": "", "%PDF-": "",
	} {
		if got := sniff(head); got != want {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for of, want := range map[string]string{
		"My photo (1).PNG": "My-photo-1.png", "../../etc/passwd": "etc-passwd.png", "": "picture.png", "Größe.png": "Gr-e.png", `a"><b.png`: "a-b.png",
	} {
		if got := name(of, ".png"); got != want {
			t.Errorf("%q: %q, want %q", of, got, want)
		}
	}
}

func TestWithKey(t *testing.T) {
	const html = `<img src="files/1/a.png"> <p style="background: url(files/2/b-c.webp)">files/3/d.png</p> ![x](files/4/e.svg) <img src='/files/5/f.png'> "files/x/g.png"`
	const want = `<img src="files/1/a.png?key=$1.x"> <p style="background: url(files/2/b-c.webp?key=$1.x)">files/3/d.png</p> ![x](files/4/e.svg?key=$1.x) <img src='/files/5/f.png'> "files/x/g.png"`
	if got := WithKey(html, "key=$1.x"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := WithKey(html, ""); got != html {
		t.Errorf("without a key: %s", got)
	}
}
