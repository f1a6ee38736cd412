package conversion

import (
	"bytes"
	"encoding/binary"
	"testing"

	"catena/engine"
	"catena/engine/convert"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/blob"
)

// wav is a sound of some seconds of silence.
func wav(seconds int) *storage.Blob {
	var b bytes.Buffer
	b.WriteString("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	_ = binary.Write(&b, binary.LittleEndian, []uint32{1000, 1000}) // a buffer takes everything
	b.WriteString("\x01\x00\x08\x00data")
	_ = binary.Write(&b, binary.LittleEndian, uint32(seconds*1000))
	b.Write(make([]byte, seconds*1000))
	return blob.FromBytes("a.wav", "audio/x-wav", b.Bytes())
}

// TestFill fills the properties of films and sounds when they get a file, and leaves them alone otherwise.
func TestFill(t *testing.T) {
	w := opstest.New(t)
	Watch(w.Repo, convert.Tools{})
	w.Do("Administrator", func(c *engine.Ctx) error {
		w.Make(c, "/", "Audio", "song", storage.Props{"file:content": wav(7)})
		w.Make(c, "/", "Video", "film", storage.Props{"file:content": wav(3)})
		w.Make(c, "/", "Video", "damaged", storage.Props{"file:content": blob.FromBytes("a.mp4", "video/mp4", []byte("x")), "vid:info": map[string]any{"width": int64(5)}})
		w.Make(c, "/", "Audio", "empty", nil)
		w.Make(c, "/", "File", "file", storage.Props{"file:content": wav(3)})
		return nil
	})
	duration := func(c *engine.Ctx, path, xpath string) any {
		v, err := w.Doc(c, storage.Ref(path)).Get(xpath)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	w.Do("Administrator", func(c *engine.Ctx) error {
		if v := duration(c, "/song", "aud:duration"); v != int64(7) {
			t.Errorf("song: %v", v)
		}
		if v := duration(c, "/film", "vid:info/duration"); v != 3.0 {
			t.Errorf("film: %v", v)
		}
		if v := duration(c, "/film", "vid:info/streams/0/codec"); v != "pcm" {
			t.Errorf("codec: %v", v)
		}
		if v := duration(c, "/damaged", "vid:info/width"); v != int64(5) {
			t.Errorf("damaged: %v", v)
		}
		if v := duration(c, "/empty", "aud:duration"); v != nil {
			t.Errorf("empty: %v", v)
		}
		// A value that somebody sets afterwards stays until there is another file.
		d := w.Doc(c, "/song")
		if err := d.Set("aud:duration", 99); err != nil {
			return err
		}
		_, err := c.Tx.Save(d, storage.SaveOptions{})
		return err
	})
	w.Do("Administrator", func(c *engine.Ctx) error {
		if v := duration(c, "/song", "aud:duration"); v != int64(99) {
			t.Errorf("set: %v", v)
		}
		d := w.Doc(c, "/song")
		if err := d.Set("file:content", wav(11)); err != nil {
			return err
		}
		_, err := c.Tx.Save(d, storage.SaveOptions{})
		return err
	})
	w.Do("Administrator", func(c *engine.Ctx) error {
		if v := duration(c, "/song", "aud:duration"); v != int64(11) {
			t.Errorf("another file: %v", v)
		}
		return nil
	})
}
