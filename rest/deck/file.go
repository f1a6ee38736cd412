package deck

import (
	"fmt"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

const opFile = "Deck.OpenFile"

// openFile sends a picture of a deck to its owner.
func (s *service) openFile(x *rest.Request) error {
	if err := x.Rate(); err != nil {
		return err
	}
	p, err := s.placed(x, nil)
	if err != nil {
		return err
	}
	return sendFile(x, engine.Call{Op: opFile, RawParams: p.Close()}, true)
}

// sendPictureFile sends the picture that number and name stand for.
func sendPictureFile(x *rest.Request, p rest.Values) error {
	p["address"] = fmt.Sprintf("files/%s/%s", p["number"], p["name"])
	delete(p, "number")
	delete(p, "name")
	return sendFile(x, engine.Call{Op: opFile, Params: p}, true)
}

// addFile keeps the picture that the body is, or the one file in a body of several parts,
// with a deck.
func (s *service) addFile(x *rest.Request) error {
	p, err := s.begin(x)
	if err != nil {
		return err
	}
	b, err := picture(x)
	if err != nil {
		return err
	}
	return s.run(x, engine.Call{Op: s.Op, Input: b, RawParams: p.Close()}, b)
}

// picture takes the body in as a file.
func picture(x *rest.Request) (*engine.Blob, error) {
	typ, ps, err := x.Media()
	switch {
	case err != nil:
		return nil, err
	case typ == "multipart/form-data":
		_, files, err := x.ReadParts(ps["boundary"], false)
		if err != nil {
			return nil, err
		}
		if len(files) != 1 {
			return nil, fault.Invalid.Errorf("body: must contain one file, not %d", len(files)).WithCode(fault.CodeNoPicture)
		}
		return files[0], nil
	case x.HTTP.ContentLength > x.BlobLimit():
		return nil, rest.TooLarge("file", x.BlobLimit())
	}
	name := x.Query().Get("name")
	if name == "" {
		name = "picture"
	}
	b, err := x.SpoolFrom(name, typ, x.Moving())
	if err == nil {
		x.BodyRead()
	}
	return b, err
}
