package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"catena/engine/mail"
	"catena/rest/resttest"
	"catena/storage/outbox"
)

// invited reads the address in the message of the last invitation.
func invited(t *testing.T, s *resttest.Server) (address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := outbox.Run(ctx, s.Repo, outbox.Handlers{
		mail.JobKind: {Do: func(_ context.Context, j outbox.Job) error {
			var m mail.Mail
			err := json.Unmarshal(j.Data, &m)
			address, _ = m.Data["path"].(string)
			cancel()
			return err
		}},
	})
	if err != nil && ctx.Err() == nil || address == "" {
		t.Fatalf("message: %v", err)
	}
	return address
}

// TestInvitation goes from the invitation to signing in, and tries keys that are not good.
func TestInvitation(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	const body = `{"input":{"entity-type":"user","properties":{"username":"leela","email":"leela@example.org","groups":["members"]}}}`
	if got := s.Do("POST", "/api/v1/automation/User.Invite", body); got.StatusCode != http.StatusOK || !strings.Contains(got.Text, `"entity-type":"string"`) {
		t.Fatalf("invite: %d %s", got.StatusCode, got.Text)
	}
	address := invited(t, s)
	form := func(values ...string) *resttest.Answer {
		f := url.Values{}
		for i := 0; i < len(values); i += 2 {
			f.Set(values[i], values[i+1])
		}
		page, _, _ := strings.Cut(address, "?")
		return s.Do("POST", page, f.Encode(), "Content-Type", "application/x-www-form-urlencoded", "as", "")
	}
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	key := at.Query().Get("key")
	if got := s.Do("GET", address, "", "as", ""); got.StatusCode != http.StatusOK || !strings.Contains(got.Text, "Welcome, leela") {
		t.Errorf("page: %d %s", got.StatusCode, got.Text)
	}
	for _, tt := range []struct {
		name   string
		values []string
		status int
	}{
		{"no key", []string{"password", "secret word", "again", "secret word"}, 404},
		{"wrong key", []string{"key", key[1:] + "x", "password", "secret word", "again", "secret word"}, 404},
		{"two passwords", []string{"key", key, "password", "secret word", "again", "other word"}, 400},
		{"no password", []string{"key", key}, 400},
		{"good", []string{"key", key, "password", resttest.Password, "again", resttest.Password}, 303},
		{"twice", []string{"key", key, "password", "secret word", "again", "secret word"}, 404},
	} {
		if got := form(tt.values...); got.StatusCode != tt.status {
			t.Errorf("%s: %d %s, want %d", tt.name, got.StatusCode, got.Text, tt.status)
		}
	}
	if got := s.Do("GET", "/api/v1/me", "", "as", "leela"); got.StatusCode != http.StatusOK || !strings.Contains(got.Text, `"email":"leela@example.org"`) || !strings.Contains(got.Text, `"groups":["members"]`) {
		t.Errorf("me: %d %s", got.StatusCode, got.Text)
	}
	if got := s.Do("GET", address, "", "as", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("page of an invitation that is used: %d", got.StatusCode)
	}
}
