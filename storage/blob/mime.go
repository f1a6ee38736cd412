package blob

import (
	"mime"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// Unknown is the type of content that nothing is known about.
const Unknown = "application/octet-stream"

// extensions gives the types that a name tells better than the content, and the regular
// form of types sent as an extension. It is our own so that every machine answers in the same way.
var extensions = map[string]string{
	"7z": "application/x-7z-compressed", "aac": "audio/aac", "avi": "video/x-msvideo", "bin": Unknown, "bmp": "image/bmp",
	"css": "text/css", "csv": "text/csv", "doc": "application/msword",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"eml":  "message/rfc822", "epub": "application/epub+zip", "gif": "image/gif", "gz": "application/gzip",
	"htm": "text/html", "html": "text/html", "ico": "image/x-icon", "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg",
	"js": "text/javascript", "json": "application/json", "log": "text/plain", "markdown": "text/markdown", "md": "text/markdown",
	"mjs": "text/javascript", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
	"msg": "application/vnd.ms-outlook",
	"odg": "application/vnd.oasis.opendocument.graphics", "odp": "application/vnd.oasis.opendocument.presentation",
	"ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
	"ogg": "audio/ogg", "pdf": "application/pdf", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"rtf":  "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "text": "text/plain", "tif": "image/tiff", "tiff": "image/tiff",
	"tsv": "text/tab-separated-values", "txt": "text/plain", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
	"xls":  "application/vnd.ms-excel",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"xml":  "application/xml", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
}

// regular gives the usual form of types that are spelled in an unusual way.
var regular = map[string]string{
	"application/javascript": "text/javascript", "application/x-gzip": "application/gzip", "application/x-javascript": "text/javascript",
	"application/x-pdf": "application/pdf", "application/x-yaml": "application/yaml", "application/x-zip": "application/zip",
	"application/x-zip-compressed": "application/zip", "audio/mp3": "audio/mpeg", "audio/x-wav": "audio/wav",
	"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png", "text/json": "application/json",
	"text/x-markdown": "text/markdown", "text/yaml": "application/yaml", "text/x-web-markdown": "text/markdown",
}

// TypeOf completes the type of a blob from its name and the start of its content. A good
// type stays, in its regular form and without parameters; the charset is returned as the
// encoding. Content that only looks like text tells nothing: it is what its name says.
func TypeOf(name, typ string, head []byte) (mimeType, encoding string) {
	media, params, err := mime.ParseMediaType(typ)
	if err != nil || !strings.Contains(media, "/") {
		short := strings.ToLower(strings.Trim(typ, ". "))
		media = extensions[short]
	}
	if better, ok := regular[media]; ok {
		media = better
	}
	if media == "" || media == Unknown {
		return detect(name, head), params["charset"]
	}
	return media, params["charset"]
}

func detect(name string, head []byte) string {
	byName := extensions[strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))]
	if len(head) == 0 {
		if byName == "" {
			return Unknown
		}
		return byName
	}
	found := mimetype.Detect(head)
	media, _, _ := mime.ParseMediaType(found.String())
	if better, ok := regular[media]; ok {
		media = better
	}
	if byName == "" || byName == media {
		return media
	}
	switch container := found.Is("application/zip") || found.Is("application/x-ole-storage"); {
	case media == Unknown, container, isText(media):
		return byName
	}
	return media
}

// isText reports whether content of the type looks like text, of which sniffing cannot tell
// for sure what it is.
func isText(media string) bool {
	if strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+json") {
		return true
	}
	switch media {
	case "application/json", "application/xml", "application/yaml", "message/rfc822":
		return true
	}
	return false
}
