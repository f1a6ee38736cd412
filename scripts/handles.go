package scripts

import "catena/storage/fault"

// Documents and files cross by number. The worker names only what it has been given.

func (s *supervisor) handle(r *reader) any {
	n := r.uint()
	// A number that was never given out is a lie of the worker, or of what runs in it.
	if n >= uint64(len(s.handles)) {
		r.fail()
		return nil
	}
	return s.handles[n]
}

func (s *supervisor) readDocument(r *reader) any {
	d, ok := s.handle(r).(served)
	if !ok {
		r.fail()
		return nil
	}
	return d
}

func (s *supervisor) readFile(r *reader) any {
	f, ok := s.handle(r).(file)
	if !ok {
		r.fail()
		return nil
	}
	return f
}

// number returns the number of a handle, a new one for a new handle.
func (s *supervisor) number(key, v any) (uint64, error) {
	n, ok := s.numbers[key]
	if !ok {
		if n = len(s.handles); n >= maxHandles {
			return 0, breach(fault.CodeScriptMemory, "script: more than %d documents and files", maxHandles)
		}
		s.numbers[key] = n
		s.handles = append(s.handles, v)
	}
	return uint64(n), nil
}

// write sends a document with its fields and, when they are few, its properties; a
// file with what is said about it.
func (s *supervisor) write(w *writer, v any) error {
	switch v := v.(type) {
	case served:
		n, err := s.number(v.key(), v)
		if err != nil {
			return err
		}
		w.byte(tagDocument)
		w.uint(n)
		at := w.hold()
		if err := v.fields(w); err != nil {
			return err
		}
		w.fill(at)
		var raw []byte
		// Properties are a convenience: what would make the frame large is asked for when it is read.
		if len(w.b) < eagerFrame {
			if raw, err = v.json(s.p.room.properties[:0]); err != nil || len(raw) > eagerDocument {
				raw = nil
			} else {
				s.p.room.properties = raw
			}
		}
		w.bytes(raw)
		return nil
	case file:
		n, err := s.number(v.key(), v)
		if err != nil {
			return err
		}
		i := v.info()
		w.byte(tagFile)
		w.uint(n)
		w.string(i.name)
		w.string(i.typ)
		w.string(i.encoding)
		w.string(i.digest)
		w.int(i.size)
		return nil
	}
	return fault.Internal.Errorf("script: a %T cannot be passed to a script", v)
}
