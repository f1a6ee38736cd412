package convert

import (
	"slices"

	"catena/engine/program"
	fulltext "catena/storage/text"
)

// PDF is the type of PDF files.
const PDF = "application/pdf"

// Beginnings of the types of office documents.
const (
	ooxml = "application/vnd.openxmlformats-officedocument."
	odf   = "application/vnd.oasis.opendocument."
)

// Types that hold text people can read, also in messages, office documents that their text can be taken out of, and pictures that can be decoded.
var (
	texts    = []string{"text/*", "application/json", "application/xml", "application/yaml", "application/xhtml+xml", "image/svg+xml"}
	readable = slices.Concat(texts, []string{fulltext.Message, fulltext.Outlook})
	office   = []string{ooxml + "*", odf + "*"}
	pictures = []string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/tiff"}
)

// Types that programs read.
var (
	oldOffice = []string{
		"application/msword", "application/vnd.ms-excel", "application/vnd.ms-excel.*", "application/vnd.ms-powerpoint", "application/vnd.ms-powerpoint.*",
		"application/vnd.ms-word.*", "application/rtf", "text/rtf", "application/vnd.sun.xml.*", "application/vnd.visio", "application/vnd.ms-works",
		"application/vnd.wordperfect", "application/vnd.apple.*",
	}
	documents     = slices.Concat(office, oldOffice)
	otherPictures = []string{
		"image/vnd.adobe.photoshop", "image/x-psd", "image/heic", "image/heif", "image/heic-sequence", "image/avif", "image/jp2", "image/x-icon",
		"image/vnd.microsoft.icon", "image/x-tga", "image/x-xcf", "image/x-portable-pixmap", "image/x-portable-graymap", "image/x-portable-bitmap",
	}
	pdfs   = []string{"application/pdf"}
	videos = []string{"video/*", "application/mxf"}
	sounds = []string{"audio/*"}
)

// Converters are what there is, in the order in which a type is looked for.
// Find takes the first that fits, so the general converters (any2…) stand before the special ones,
// which are there for clients that name one. The names are those of the platform.
var Converters = []*Converter{
	{Name: "any2html", To: "text/html", Ways: []Way{byOffice(documents), {From: readable, run: toHTML}, {From: pdfs, By: program.PDFToHTML, run: pageHTML}}},
	{Name: "any2text", To: "text/plain", Ways: []Way{{From: office, run: toText}, {From: oldOffice, By: program.LibreOffice, run: oldText}, {From: readable, run: toText}, {From: pdfs, run: pdfText}}},
	{Name: "any2pdf", To: "application/pdf", Ways: []Way{byOffice(documents), {From: slices.Concat(readable, pictures), run: toPDF}, {From: otherPictures, By: program.ImageMagick, run: otherPDF}}},
	{Name: "any2odt", To: odf + "text", Ways: []Way{byOffice(slices.Concat(documents, pdfs, texts))}},
	{Name: "any2ods", To: odf + "spreadsheet", Ways: []Way{byOffice(documents), byOffice([]string{"text/csv"})}},
	{Name: "any2odp", To: odf + "presentation", Ways: []Way{byOffice(documents)}},
	{Name: "any2docx", To: ooxml + "wordprocessingml.document", Ways: []Way{byOffice(slices.Concat(documents, pdfs, texts))}},
	{Name: "any2xlsx", To: ooxml + "spreadsheetml.sheet", Ways: []Way{byOffice(documents), byOffice([]string{"text/csv"})}},
	{Name: "any2pptx", To: ooxml + "presentationml.presentation", Ways: []Way{byOffice(documents)}},
	{Name: "html2text", To: "text/plain", Ways: []Way{{From: []string{"text/html", "application/xhtml+xml"}, run: toText}}},
	{Name: "md2html", To: "text/html", Ways: []Way{{From: []string{"text/markdown", "text/plain"}, run: toHTML}}},
	{Name: "office2html", To: "text/html", Ways: []Way{byOffice(documents), {From: texts, run: toHTML}}},
	{Name: "office2text", To: "text/plain", Ways: []Way{{From: office, run: toText}, {From: oldOffice, By: program.LibreOffice, run: oldText}}},
	{Name: "pdf2html", To: "text/html", Ways: []Way{{From: pdfs, By: program.PDFToHTML, run: pageHTML}}},
	{Name: "pdf2image", To: "image/jpeg", Ways: []Way{{From: pdfs, By: program.PDFToPPM, run: pagePicture}}},
	{Name: "pdf2text", To: "text/plain", Ways: []Way{{From: pdfs, run: pdfText}}},
	{Name: "pictureConvertToPDF", To: "application/pdf", Ways: []Way{{From: pictures, run: toPDF}, {From: otherPictures, By: program.ImageMagick, run: otherPDF}}},
	{Name: "pictureResize", Ways: resizing()},
	{Name: "pictureToJPEG", To: "image/jpeg", Ways: slices.Concat(resizing(), stills())},
	{Name: "pictureToPNG", To: "image/png", Ways: slices.Concat(resizing(), stills())},
	{Name: "convertToMP4", Aliases: []string{"toVideoMP4"}, To: "video/mp4", Ways: []Way{{From: videos, By: program.FFmpeg, file: transcode}}},
	{Name: "convertToOgg", Aliases: []string{"toVideoOgg"}, To: "video/ogg", Ways: []Way{{From: videos, By: program.FFmpeg, file: transcode}}},
	{Name: "convertToWebM", Aliases: []string{"toVideoWebM"}, To: "video/webm", Ways: []Way{{From: videos, By: program.FFmpeg, file: transcode}}},
	{Name: "convertToMP3", To: "audio/mpeg", Ways: []Way{{From: slices.Concat(sounds, videos), By: program.FFmpeg, file: transcode}}},
	{Name: Thumbnailer, Ways: thumbnails()},
	{Name: "videoScreenshot", To: "image/jpeg", Ways: []Way{{From: videos, By: program.FFmpeg, run: frame}}},
}

// Unshown reports whether a type is one of pictures that browsers do not show.
func Unshown(typ string) bool { return typ == "image/tiff" || slices.Contains(otherPictures, typ) }

func byOffice(from []string) Way { return Way{From: from, By: program.LibreOffice, run: byLibreOffice} }

// resizing are the ways to a smaller picture.
func resizing() []Way {
	return []Way{{From: pictures, run: resize}, {From: otherPictures, By: program.ImageMagick, run: otherResize}}
}

// stills are the ways to a picture of what is not one.
func stills() []Way {
	return []Way{{From: pdfs, By: program.PDFToPPM, run: pagePicture}, {From: videos, By: program.FFmpeg, run: frame}}
}
