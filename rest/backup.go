package rest

import (
	"net/http"
	"time"

	"catena/storage/fault"
)

// backup sends a copy of everything while it is made, so it has no length. One that is cut short ends without
// the last chunk of HTTP, and without the last entry of the copy, which restore misses.
func backup(x *exchange) error {
	w := &started{x: x, name: "catena-" + time.Now().UTC().Format("20060102T150405Z") + ".tar"}
	err := x.engine.Repo().Backup(x.r.Context(), x.as, w)
	if fault.CodeOf(err) == fault.CodeContentDamaged { // the copy is whole otherwise, and lists it
		x.report(http.StatusInternalServerError, "backup without damaged content", err)
		err = nil
	}
	if x.status == 0 {
		return err
	}
	if err != nil && x.r.Method != http.MethodHead {
		if !gone(x.r.Context(), err) {
			x.report(http.StatusInternalServerError, "backup broke off", err)
		}
		x.abort()
	}
	return nil
}

// started begins a download with the first bytes that there are of it.
type started struct {
	x    *exchange
	name string
}

// Write sends bytes; those of an answer to HEAD are refused.
func (s *started) Write(b []byte) (int, error) {
	if s.x.status == 0 {
		h := s.x.w.Header()
		h["Cache-Control"] = noCache
		h.Set("Content-Type", "application/x-tar")
		h.Set("Content-Disposition", disposition(s.name, false))
		s.x.status = http.StatusOK
		s.x.w.WriteHeader(s.x.status)
	}
	if s.x.r.Method == http.MethodHead {
		return 0, fault.Invalid.Errorf("method HEAD: no body")
	}
	return s.x.w.Write(b)
}
