package rest_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"catena/decks/export"
	"catena/storage"
	"catena/storage/credential"
)

// TestDownloadEnds has addresses of an export's file end with everything they rest on, and gives
// nothing to anyone who changes one: of 200 altered addresses none opens.
func TestDownloadEnds(t *testing.T) {
	s := describe(t, func(c *storage.Config) { c.Bounds = c.Bounds.With(export.Limits{Time: 15 * time.Minute}) })
	s.data("lead", "POST", "/v1/decks", `{"title":"Talk","data":"<section>x</section>"}`)
	s.data("lead", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)
	s.work(&export.Worker{}, 1, 1)
	address := func(headers ...string) string {
		t.Helper()
		data := s.Do("GET", "/v1/decks/1/exports/1", "", headers...).JSON(t)["data"].(map[string]any)
		return strings.TrimPrefix(fmt.Sprint(data["download_url"]), s.URL)
	}
	update := func(f func(tx *storage.Tx) error) {
		t.Helper()
		if err := s.Repo.Update(context.Background(), s.Repo.System(), f); err != nil {
			t.Fatal(err)
		}
	}
	gives := func(what, path, want string) {
		t.Helper()
		got := s.Do("GET", path, "", "as", "")
		if status(got) != want || (want == "200") != strings.HasPrefix(got.Text, "PK") {
			t.Errorf("%s: %s, %d bytes, want %s", what, status(got), len(got.Text), want)
		}
		h := got.Header
		if want == "200" && (h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || h.Get("Referrer-Policy") != "no-referrer") {
			t.Errorf("%s: headers %v", what, h)
		}
	}
	read, write := s.Key("lead", "read_only"), s.Key("lead", "read_write")
	plain, byRead, byWrite := address("as", "lead"), address(bearer(read)...), address(bearer(write)...)
	gives("by password", plain, "200")
	gives("by a key", byRead, "200")
	gives("without the key's number", regexp.MustCompile(`&key=\d+`).ReplaceAllString(byRead, ""), "403 invalid_signature")
	gives("with another's number", strings.Replace(plain, "?", "?key=1&", 1), "403 invalid_signature")
	query := strings.IndexByte(byRead, '?')
	for i := range 200 {
		p := query + 1 + i%(len(byRead)-query-1)
		at := byRead[:p] + string("A9_x"[i%4]) + byRead[p+1:]
		if got := s.Do("GET", at, "", "as", ""); at != byRead && (got.StatusCode < 400 || strings.HasPrefix(got.Text, "PK")) {
			t.Errorf("%s: %s", at, got.Status)
		}
	}
	update(func(tx *storage.Tx) error {
		keys, err := credential.Keys(tx, "lead")
		for _, k := range keys {
			if err == nil && k.Scope == "read_only" && strings.Contains(read, fmt.Sprintf("cat_%d_", k.ID)) {
				err = credential.RevokeKey(tx, k.ID)
			}
		}
		return err
	})
	gives("of a revoked key", byRead, "410 link_expired")
	gives("of another key", byWrite, "200")
	acl := func(aces ...storage.ACE) func(tx *storage.Tx) error {
		return func(tx *storage.Tx) error {
			d, err := tx.Doc("/decks/lead/talk")
			if err == nil {
				_, err = tx.SetACL(d, "local", aces)
			}
			return err
		}
	}
	update(acl(storage.ACE{User: "Everyone", Permission: "Everything"}))
	gives("of what its owner may no longer see", plain, "404 notfound")
	update(acl())
	gives("of what its owner may see again", plain, "200")
	s.must(s.ask("lead", "POST", "/v1/decks/1/trash", ""))
	gives("in the trash", plain, "404 notfound")
	s.must(s.ask("lead", "POST", "/v1/decks/1/recover", ""))
	s.skip.Store(int64(15 * time.Minute))
	for _, at := range []string{plain, byWrite} {
		gives("too late", at, "410 link_expired")
	}
}
