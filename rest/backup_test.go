package rest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/kv"
	"catena/storage/maintenance"
	"catena/storage/memory"
)

// TestBackup restores what the address of backups sends. Nobody but administrators gets a byte.
func TestBackup(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	a := s.Do("GET", api+"/backup", "")
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "application/x-tar" || !strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment; filename=catena-") {
		t.Fatalf("%s %v", a.Status, a.Header)
	}
	blobs, err := blob.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	db := kv.New(memory.New(), kv.Options{})
	if err := maintenance.Restore(context.Background(), db, blobs, strings.NewReader(a.Text)); err != nil {
		t.Error(err)
	}
	if a := s.Do("HEAD", api+"/backup", ""); a.StatusCode != http.StatusOK || a.Text != "" {
		t.Errorf("HEAD: %s %d bytes", a.Status, len(a.Text))
	}
	for as, want := range map[string]int{"bob": http.StatusForbidden, "": http.StatusUnauthorized} {
		if a := s.Do("GET", api+"/backup", "", "as", as); a.StatusCode != want || !strings.HasPrefix(a.Text, "{") {
			t.Errorf("as %q: %s %.100s", as, a.Status, a.Text)
		}
	}
	if err := maintenance.Backup(context.Background(), s.Repo, storage.Guest(), io.Discard); err == nil {
		t.Error("a guest gets a backup")
	}
}
