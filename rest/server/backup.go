package server

import (
	"net/http"
	"time"

	"catena/rest"
	"catena/storage/fault"
)

// backup sends a copy of everything while it is made, so it has no length. One that is cut short ends without
// the last chunk of HTTP, and without the last entry of the copy, which restore misses.
func backup(x *rest.Request) error {
	w := &started{x: x, name: "catena-" + time.Now().UTC().Format("20060102T150405Z") + ".tar"}
	err := x.Engine.Backup(x.HTTP.Context(), x.As, w)
	if fault.CodeOf(err) == fault.CodeContentDamaged { // the copy is whole otherwise, and lists it
		x.Report(http.StatusInternalServerError, "backup without damaged content", err)
		err = nil
	}
	if x.Status == 0 {
		return err
	}
	if err != nil && x.HTTP.Method != http.MethodHead {
		if !rest.Gone(x.HTTP.Context(), err) {
			x.Report(http.StatusInternalServerError, "backup was interrupted", err)
		}
		x.Abort()
	}
	return nil
}

// started begins a download with the first bytes that there are of it.
type started struct {
	x    *rest.Request
	name string
}

// Write sends bytes; those of an answer to HEAD are refused.
func (s *started) Write(b []byte) (int, error) {
	if s.x.Status == 0 {
		h := s.x.Writer.Header()
		h["Cache-Control"] = rest.NoCache
		h.Set("Content-Type", "application/x-tar")
		h.Set("Content-Disposition", rest.Disposition(s.name, false))
		s.x.Status = http.StatusOK
		s.x.Writer.WriteHeader(s.x.Status)
	}
	if s.x.HTTP.Method == http.MethodHead {
		return 0, fault.Invalid.Errorf("method HEAD: no body")
	}
	return s.x.Writer.Write(b)
}
