package pdf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

var extractInfo = engine.Op{
	Name:     "PDF.ExtractInfo",
	Label:    "PDF: Extract Info",
	Category: "Document",
	Doc: "Copies metadata of a document's PDF file to properties and returns the document. The parameter properties maps each property to a value: " +
		"dc:source=PDF producer. The values are File name, File size, PDF version, Page count, Page size, Page width, Page height, Page layout, Title, Author, Subject, " +
		"PDF producer, Content creator, Creation date, Modification date, Encrypted, Keywords, Media box width, Media box height, Crop box width, Crop box height, Can Print, " +
		"Can Modify, Can Extract, Can Modify Annotations, Can Fill Forms, Can Extract for Accessibility, Can Assemble and Can Print Degraded; sizes are those of the first " +
		"page, in points. Without a PDF file, the properties are cleared.",
	Callers: engine.Anyone,
	Run:     engine.Each(extractInfoParams.run),
}

type extractInfoParams struct {
	Properties storage.Props `json:"properties,omitzero" doc:"Values by xpath of the property, for example dc:title=Title."`
	Save       bool          `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
	Xpath      string        `json:"xpath" default:"file:content" values:"file:content" names:"xpath" doc:"Xpath of the file."`
}

func (p extractInfoParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	b, err := d.Blob(p.Xpath)
	if err != nil {
		return nil, err
	}
	// A document whose file is missing or is no PDF gets its properties cleared instead of an
	// error, as the text of the operation promises: values of an earlier file would otherwise pass
	// for those of the present one.
	told := empty
	if pdf.Check(b) == nil {
		info, err := c.PDF().About(c, b)
		if err != nil {
			return nil, fault.Wrap(err, "property %s", p.Xpath).In("xpath")
		}
		told = labelled(b, info)
	}
	for _, xpath := range slices.Sorted(maps.Keys(p.Properties)) {
		// The map goes from property to label, the reverse of what one expects: several properties
		// may get the same value.
		label := fmt.Sprint(p.Properties[xpath])
		text, known := told[label]
		if !known {
			return nil, fault.Invalid.Errorf("properties: unknown value %q%s", label, fault.Perhaps(label, maps.Keys(told))).In("properties")
		}
		var v any
		if text != "" {
			v = text
		}
		if err := d.Set(xpath, v); err != nil {
			return nil, err
		}
	}
	if !p.Save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}

// empty is what there is to say of no file. It is made from labelled so that both always have the same
// labels, which are what a call may name.
var empty = func() map[string]string {
	m := labelled(&storage.Blob{}, &pdf.Info{})
	for label := range m {
		m[label] = ""
	}
	return m
}()

// labelled is what a file says about itself, by the labels that clients know. The labels are fixed:
// chains of the platform name them, spaces and capitals included. Lengths are in points, 1/72 inch.
func labelled(b *storage.Blob, i *pdf.Info) map[string]string {
	points := func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
	may := func(right pdf.May) string { return strconv.FormatBool(i.May&right == right) }
	return map[string]string{
		"File name": b.Name, "File size": strconv.FormatInt(b.Size, 10), "PDF version": i.Version, "Page count": strconv.Itoa(i.Pages),
		"Page size": points(i.Width) + " x " + points(i.Height) + " points", "Page width": points(i.Width), "Page height": points(i.Height),
		"Page layout": i.Layout, "Title": i.Title, "Author": i.Author, "Subject": i.Subject, "PDF producer": i.Producer,
		"Content creator": i.Creator, "Creation date": date(i.Created), "Modification date": date(i.Modified),
		"Encrypted": strconv.FormatBool(i.Protected), "Keywords": i.Keywords,
		"Media box width": points(i.Width), "Media box height": points(i.Height),
		"Crop box width": points(i.CropWidth), "Crop box height": points(i.CropHeight),
		"Can Print": may(pdf.MayPrintWell), "Can Modify": may(pdf.MayModify), "Can Extract": may(pdf.MayCopy),
		"Can Modify Annotations": may(pdf.MayAnnotate), "Can Fill Forms": may(pdf.MayFill),
		"Can Extract for Accessibility": may(pdf.MayReadAloud), "Can Assemble": may(pdf.MayAssemble), "Can Print Degraded": may(pdf.MayPrint),
	}
}

// date is empty for an instant that is not known. It is a form that properties of both dates and texts take.
func date(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339)
}
