package property

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"catena/engine/metadata"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/storagetest"
)

// shop is a repository whose declarations map the metadata of pictures.
type shop struct {
	*storage.Repo
	t   *testing.T
	log bytes.Buffer
}

const shopTypes = `
schemas:
  shot:
    fields:
      maker: string
      width: integer
      taken: date
types:
  Photo: {parent: File, schemas: [shot]}
  Portrait: {parent: Photo}
metadata:
  shots:
    processor: exifTool
    properties:
      dc:description: exif:ImageDescription
      shot:maker: exif:Software
      shot:width: image:width
      dc:rights: exif:Copyright
    apply: {types: [Photo], files: ["image/*"]}
  dates: # what a picture says that no date can hold is left out
    properties: {shot:taken: "exif:Artist"}
    apply: {types: [Photo], order: 1, writeBack: false}
  by-hand:
    properties: {dc:title: exif:Artist}
`

func newShop(t *testing.T) *shop {
	t.Helper()
	types, err := schema.Load(schema.Defaults(), fstest.MapFS{"shop.yaml": {Data: []byte(shopTypes)}})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{t: t}
	s.Repo = storagetest.Open(t, func(c *storage.Config) { c.Types = types })
	(&Mappings{Log: slog.New(slog.NewTextHandler(&s.log, nil))}).Watch(s.Repo)
	return s
}

// picture is a JPEG file with metadata; another colour makes it another file.
func (s *shop) picture(color byte, texts map[string]string) *storage.Blob {
	s.t.Helper()
	var out bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, 8, 4))
	for i := range img.Pix {
		img.Pix[i] = color
	}
	s.must(jpeg.Encode(&out, img, nil))
	b := blob.FromBytes("a.jpg", "image/jpeg", out.Bytes())
	if len(texts) > 0 {
		var err error
		s.do(func(tx *storage.Tx) error {
			b, err = metadata.Write(s.t.Context(), metadata.Tools{NewBlob: tx.NewBlob}, b, texts)
			return err
		})
	}
	return b
}

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) do(fn func(tx *storage.Tx) error) {
	s.t.Helper()
	s.must(s.Update(s.t.Context(), s.System(), fn))
}

func (s *shop) make(typ string, p storage.Props) (d *storage.Doc) {
	s.t.Helper()
	s.do(func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err == nil {
			d, err = tx.Create(root, typ, "a", p)
		}
		return err
	})
	return d
}

// change sets properties of a document.
func (s *shop) change(d *storage.Doc, p storage.Props) {
	s.t.Helper()
	s.do(func(tx *storage.Tx) error {
		now, err := tx.Doc(storage.Ref(d.ID()))
		if err != nil {
			return err
		}
		for xpath, v := range p {
			if err := now.Set(xpath, v); err != nil {
				return err
			}
		}
		_, err = tx.Save(now, storage.SaveOptions{})
		return err
	})
}

// see returns properties of a document and what its file says, separated by bars.
func (s *shop) see(d *storage.Doc, xpaths ...string) string {
	s.t.Helper()
	var out []string
	s.do(func(tx *storage.Tx) error {
		now, err := tx.Doc(storage.Ref(d.ID()))
		if err != nil {
			return err
		}
		for _, xpath := range xpaths {
			name, ofFile := strings.CutPrefix(xpath, "file ")
			if !ofFile {
				v, err := now.Get(xpath)
				if err != nil {
					return err
				}
				out = append(out, textOf(v))
				continue
			}
			b, err := now.BlobAt("file:content")
			if err != nil {
				return err
			}
			found, err := metadata.Read(tx.Context(), metadata.Tools{}, b)
			if err != nil {
				return err
			}
			out = append(out, textOf(named(found, name)))
		}
		return nil
	})
	return strings.Join(out, "|")
}

func (s *shop) want(d *storage.Doc, want string, xpaths ...string) {
	s.t.Helper()
	if got := s.see(d, xpaths...); got != want {
		s.t.Errorf("%v: %q, want %q", xpaths, got, want)
	}
}

func TestMappingsFill(t *testing.T) {
	s := newShop(t)
	sea := s.picture(1, map[string]string{"exif:ImageDescription": "The sea", "exif:Software": "Leica", "exif:Artist": "Ada"})
	d := s.make("Photo", storage.Props{"file:content": sea, "dc:title": "Mine", "dc:description": "mine", "dc:rights": "all"})
	// The file's metadata win when a document is created; what the file does not have stays, and so does what no rule maps.
	s.want(d, "Mine|The sea|Leica|8|all|", "dc:title", "dc:description", "shot:maker", "shot:width", "dc:rights", "shot:taken")
	if got := s.log.String(); !strings.Contains(got, "mapping=dates") {
		t.Errorf("what the property cannot hold is not logged: %q", got)
	}
	// Another file fills them again.
	hill := s.picture(2, map[string]string{"exif:ImageDescription": "A hill"})
	s.change(d, storage.Props{"file:content": hill})
	s.want(d, "A hill|Leica|A hill", "dc:description", "shot:maker", "file exif:ImageDescription")
	// Types that extend the rule's are meant, others are not, nor are other files.
	s.want(s.make("Portrait", storage.Props{"file:content": sea}), "The sea", "dc:description")
	s.want(s.make("File", storage.Props{"file:content": sea}), "", "dc:description")
	note := blob.FromBytes("a.txt", "text/plain", []byte("words"))
	s.want(s.make("Photo", storage.Props{"file:content": note, "dc:description": "mine"}), "mine", "dc:description")
	s.want(s.make("Photo", nil), "", "dc:description")
	// A file that is damaged is stored all the same.
	broken := blob.FromBytes("a.jpg", "image/jpeg", []byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00II*\x00"))
	s.want(s.make("Photo", storage.Props{"file:content": broken, "dc:description": "mine"}), "mine", "dc:description")
}

func TestMappingsWriteBack(t *testing.T) {
	s := newShop(t)
	sea := s.picture(1, map[string]string{"exif:ImageDescription": "The sea"})
	d := s.make("Photo", storage.Props{"file:content": sea})
	digest := func() string { return s.see(d, "file file:digest") }
	before := digest()
	// What is mapped and changes goes into the file, and the event says that the file has changed.
	var told []string
	s.OnEvent(func(_ *storage.Tx, e storage.Event) error {
		if e.Name == "documentModified" {
			told = e.Changed
		}
		return nil
	})
	s.change(d, storage.Props{"dc:description": "Low tide"})
	s.want(d, "Low tide|Low tide", "dc:description", "file exif:ImageDescription")
	if digest() == before || strings.Join(told, " ") != "dc:description file:content" {
		t.Errorf("the file is the same: %v; told %v", digest() == before, told)
	}
	// What no rule maps, what the file cannot hold, and what is as it was leave the file alone.
	before = digest()
	for _, p := range []storage.Props{{"dc:title": "T"}, {"shot:width": int64(99)}, {"dc:description": "Low tide"}, {"shot:taken": "2026-01-02"}} {
		if s.change(d, p); digest() != before {
			t.Errorf("%v: the file has changed", p)
		}
	}
	s.want(d, "99", "shot:width")
	// An empty one is taken out of the file.
	s.change(d, storage.Props{"dc:description": nil})
	s.want(d, "|", "dc:description", "file exif:ImageDescription")
	// A new file and a changed property at once: the property counts, and all that are mapped go into the file.
	s.change(d, storage.Props{"file:content": s.picture(3, map[string]string{"exif:ImageDescription": "A hill", "exif:Software": "Zeiss"}), "dc:description": "Mine", "shot:maker": "Nikon"})
	s.want(d, "Mine|Nikon|Mine|Nikon", "dc:description", "shot:maker", "file exif:ImageDescription", "file exif:Software")
	// A quiet save and a version change nothing.
	before = digest()
	s.do(func(tx *storage.Tx) error {
		now, err := tx.Doc(storage.Ref(d.ID()))
		if err != nil {
			return err
		}
		if err := now.Set("dc:description", "quiet"); err != nil {
			return err
		}
		_, err = tx.Save(now, storage.SaveOptions{Quiet: true})
		return err
	})
	if digest() != before {
		t.Error("a quiet save has changed the file")
	}
	// What fails takes the change of the file with it.
	err := s.Update(t.Context(), s.System(), func(tx *storage.Tx) error {
		now, err := tx.Doc(storage.Ref(d.ID()))
		if err != nil {
			return err
		}
		if err := now.Set("dc:description", "lost"); err != nil {
			return err
		}
		if _, err := tx.Save(now, storage.SaveOptions{}); err != nil {
			return err
		}
		return fault.Conflict.Errorf("no")
	})
	if !fault.Is(err, fault.Conflict) || digest() != before {
		t.Errorf("after a failure: %v", err)
	}
}

// TestMappingsOutside: files are read and written while no transaction is open, once although the transaction loses a race, and
// properties and files are as if they had been at once, of more files as well than a transaction begins again for.
func TestMappingsOutside(t *testing.T) {
	s := newShop(t)
	root := func(tx *storage.Tx) *storage.Doc {
		d, err := tx.Root()
		s.must(err)
		return d
	}
	for _, files := range []int{1, 3, 40} {
		open, outside, lost := false, map[string]int{}, false
		var made []*storage.Doc
		pictures := make([]*storage.Blob, files)
		for i := range pictures {
			p := s.picture(byte(files+i), map[string]string{"exif:ImageDescription": fmt.Sprint("picture ", i)})
			data, err := p.Bytes(0)
			s.must(err)
			pictures[i] = blob.Elsewhere(*p, func() ([]byte, error) {
				if !open {
					outside[p.Digest]++
				}
				return data, nil
			})
		}
		s.do(func(tx *storage.Tx) error {
			open, made = true, nil
			defer func() { open = false }()
			folder := root(tx)
			if _, err := folder.Get("dc:title"); err != nil {
				return err
			}
			for i, p := range pictures {
				d, err := tx.Create(folder, "Photo", fmt.Sprintf("f%d-%d", files, i), storage.Props{"file:content": p})
				if err != nil {
					return err
				}
				if err := d.Set("shot:maker", fmt.Sprint("maker ", i)); err != nil {
					return err
				}
				if d, err = tx.Save(d, storage.SaveOptions{}); err != nil {
					return err
				}
				made = append(made, d)
			}
			if lost {
				return nil
			}
			lost = true
			done := make(chan error)
			go func() {
				done <- s.Update(context.Background(), s.System(), func(tx *storage.Tx) error {
					d := root(tx)
					if err := d.Set("dc:title", fmt.Sprint("changed ", files)); err != nil {
						return err
					}
					_, err := tx.Save(d, storage.SaveOptions{})
					return err
				})
			}()
			return <-done
		})
		for i, p := range pictures {
			s.want(made[i], fmt.Sprintf("picture %d|maker %d|picture %[1]d|maker %[1]d", i, i), "dc:description", "shot:maker", "file exif:ImageDescription", "file exif:Software")
			if n := outside[p.Digest]; i < 10 && n == 0 || n > 3 { // reading opens a picture once, writing twice
				t.Errorf("%d files: %d was opened %d times", files, i, n)
			}
		}
	}
}
