package rest_test

import (
	"crypto/md5" //nolint:gosec // what portals send
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"catena/rest"
	"catena/rest/resttest"
)

// TestDeviceTokens checks the tokens of programs on devices.
func TestDeviceTokens(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	const at = "/nuxeo/authentication/token?applicationName=Drive&deviceId=41&permission=ReadWrite&deviceDescription=Box"
	first := s.Do("GET", at, "", "as", "bob")
	if first.StatusCode != http.StatusCreated || len(first.Text) < 32 || strings.ContainsAny(first.Text, "\n\"") || !strings.HasPrefix(first.Header.Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %q", first.StatusCode, first.Text)
	}
	if again := s.Do("GET", at, "", "as", "bob"); again.Text != first.Text {
		t.Errorf("another token for the same device: %s", again.Text)
	}
	other := s.Do("GET", strings.Replace(at, "41", "42", 1), "", "as", "bob").Text
	reader := s.Do("POST", "/api/v1/token?application=Reader&deviceId=1&permission=Read", "", "as", "bob")
	if reader.StatusCode != http.StatusCreated || other == first.Text {
		t.Fatalf("%d %s", reader.StatusCode, reader.Text)
	}
	for _, x := range []struct {
		method, path string
		status       int
		want         string
		headers      []string
	}{
		{"GET", "/api/v1/me", 200, `"id":"bob"`, []string{"as", "", "X-Authentication-Token", first.Text}},
		{"GET", "/api/v1/me?token=" + first.Text, 200, `"id":"bob"`, []string{"as", ""}},
		{"GET", "/api/v1/me", 401, "", []string{"as", "", "X-Authentication-Token", "wrong"}},
		{"GET", "/v1/decks?token=" + first.Text, 401, "", []string{"as", ""}},
		{"POST", "/api/v1/token?application=New&deviceId=1&permission=Read", 403, "", []string{"as", "", "X-Authentication-Token", reader.Text}},
		{"GET", "/api/v1/token?application=Drive", 200, `"deviceId":"42"`, []string{"as", "bob"}},
		{"GET", "/api/v1/token", 200, `"entries":[]`, nil},
		{"DELETE", "/api/v1/token/" + other, 204, "", []string{"as", "bob"}},
		{"DELETE", "/api/v1/token/" + other, 404, "", []string{"as", "bob"}},
		{"GET", "/authentication/token?applicationName=Drive", 400, "", nil},
		{"GET", at, 401, "", []string{"as", ""}},
		{"GET", at + "&revoke=true", 202, "", []string{"as", "bob"}},
		{"GET", at + "&revoke=true", 400, "", []string{"as", "bob"}},
		{"GET", "/api/v1/me", 401, "", []string{"as", "", "X-Authentication-Token", first.Text}},
		{"DELETE", "/api/v1/user/bob", 204, "", nil},
		{"GET", "/api/v1/me", 401, "", []string{"as", "", "X-Authentication-Token", reader.Text}},
	} {
		a := s.Do(x.method, x.path, "", x.headers...)
		if a.StatusCode != x.status || !strings.Contains(a.Text, x.want) {
			t.Errorf("%s %s: %d %s, want %d %s", x.method, x.path, a.StatusCode, a.Text, x.status, x.want)
		}
	}
}

// oauth is a client of the OAuth 2 addresses.
type oauth struct {
	*testing.T
	s *resttest.Server
}

func (o oauth) form(path string, v url.Values, headers ...string) *resttest.Answer {
	return o.s.Do("POST", path, v.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
}

// code has a user let the client in.
func (o oauth) code(v url.Values, as string) string {
	o.Helper()
	a := o.form("/nuxeo/oauth2/authorize_submit", v, "as", as)
	to, err := url.Parse(a.Header.Get("Location"))
	if err != nil || a.StatusCode != http.StatusFound || to.Query().Get("code") == "" {
		o.Fatalf("%d %s %s", a.StatusCode, a.Header.Get("Location"), a.Text)
	}
	return to.Query().Get("code")
}

func (o oauth) token(v url.Values) (access, refresh string) {
	o.Helper()
	a := o.form("/oauth2/token", v, "as", "")
	m := a.JSON(o)
	if a.StatusCode != http.StatusOK || len(m) != 4 || m["token_type"] != "bearer" || m["expires_in"].(float64) < 3590 {
		o.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	return m["access_token"].(string), m["refresh_token"].(string)
}

// TestOAuth walks through signing in by OAuth 2.
func TestOAuth(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("bob")
	o := oauth{t, s}
	for _, c := range []string{
		`{"properties":{"name":"Test","clientId":"test","redirectURIs":"http://localhost:8080/nuxeo/home.html, my://back"}}`,
		`{"properties":{"name":"Secret","clientId":"kept","clientSecret":"hush","redirectURIs":"https://example.org/x","autoGrant":true}}`,
		`{"properties":{"name":"Evil","clientId":"evil","redirectURIs":"http://localhost.example.org/,javascript:alert(1)"}}`,
		`{"properties":{"name":"Off","clientId":"off","redirectURIs":"my://back","enabled":false}}`,
	} {
		if a := s.Do("POST", "/api/v1/directory/oauth2Clients", c); a.StatusCode != http.StatusCreated {
			t.Fatal(a.Text)
		}
	}
	ask := url.Values{"client_id": {"test"}, "response_type": {"code"}, "state": {"xyz"}, "grant_access": {"1"}}
	me := func(token string) int {
		return s.Do("GET", "/api/v1/me", "", "as", "", "Authorization", "Bearer "+token).StatusCode
	}

	code := o.code(ask, "bob")
	grant := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {"test"}}
	access, refresh := o.token(grant)
	if status := me(access); status != http.StatusOK {
		t.Errorf("with a token: %d", status)
	}
	if a := s.Do("GET", "/api/v1/me?access_token="+access, "", "as", ""); !strings.Contains(a.Text, `"id":"bob"`) {
		t.Errorf("in the address: %s", a.Text)
	}
	if again, _ := o.token(url.Values{"grant_type": {"authorization_code"}, "code": {o.code(ask, "bob")}, "client_id": {"test"}}); again != access {
		t.Error("another token while one holds")
	}
	if a := s.Do("GET", "/oauth2/authorize?client_id=test&response_type=code", "", "as", "bob"); a.StatusCode != http.StatusFound {
		t.Errorf("asked again: %d", a.StatusCode)
	}
	newer, _ := o.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "client_id": {"test"}})
	if me(access) != http.StatusUnauthorized || me(newer) != http.StatusOK {
		t.Errorf("after a refresh: %d %d", me(access), me(newer))
	}
	if a := s.Do("PUT", "/api/v1/directory/oauth2Tokens/1", `{"id":"1","properties":{"creationDate":"2011-10-23T12:00:00.00Z"}}`); a.StatusCode != http.StatusOK || !strings.Contains(a.Text, newer) {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if status := me(newer); status != http.StatusUnauthorized {
		t.Errorf("with an expired token: %d", status)
	}

	// proof of who asked
	sum := sha256.Sum256([]byte("the verifier"))
	proof := url.Values{
		"client_id": {"test"}, "response_type": {"code"}, "redirect_uri": {"my://back"}, "grant_access": {"1"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	grant = url.Values{"grant_type": {"authorization_code"}, "code": {o.code(proof, "bob")}, "client_id": {"test"}, "redirect_uri": {"my://back"}}
	for _, x := range []struct {
		change, value, want string
	}{
		{"code", code, "invalid_grant"},
		{"code", "", "invalid_request"},
		{"client_id", "kept", "invalid_client"},
		{"client_id", "off", "invalid_client"},
		{"client_id", "", "invalid_request"},
		{"redirect_uri", "", "invalid_grant"},
		{"code_verifier", "wrong", "invalid_grant"},
		{"grant_type", "password", "unsupported_grant_type"},
		{"grant_type", "", "invalid_request"},
		{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer", "invalid_grant"},
		{"grant_type", "refresh_token", "invalid_request"},
	} {
		v := url.Values{"code_verifier": {"the verifier"}}
		for name := range grant {
			v.Set(name, grant.Get(name))
		}
		v.Set(x.change, x.value)
		if a := o.form("/oauth2/token", v, "as", ""); a.StatusCode != http.StatusBadRequest || a.JSON(t)["error"] != x.want {
			t.Errorf("%s %q: %d %s, want %s", x.change, x.value, a.StatusCode, a.Text, x.want)
		}
	}
	grant.Set("code_verifier", "the verifier")
	o.token(grant)

	kept := url.Values{"client_id": {"kept"}, "response_type": {"code"}, "grant_access": {"1"}}
	o.token(url.Values{"grant_type": {"authorization_code"}, "code": {o.code(kept, "bob")}, "client_id": {"kept"}, "client_secret": {"hush"}})

	refused := ask
	refused.Del("grant_access")
	if a := o.form("/oauth2/authorize_submit", refused, "as", "bob"); a.Header.Get("Location") != "http://localhost:8080/nuxeo/home.html?error=access_denied&state=xyz" {
		t.Errorf("refused: %s", a.Header.Get("Location"))
	}
	for path, status := range map[string]int{
		"/oauth2/token":            405,
		"/oauth2/authorize_submit": 405,
		"/oauth2/authorize?client_id=evil&response_type=code":                                  400,
		"/oauth2/authorize?client_id=evil&response_type=code&redirect_uri=javascript:alert(1)": 400,
		"/oauth2/authorize?client_id=test&response_type=code&redirect_uri=https://example.org": 400,
		"/oauth2/authorize?client_id=test&response_type=token":                                 400,
		"/oauth2/authorize?client_id=nobody&response_type=code":                                400,
		"/oauth2/authorize?client_id=test&response_type=code&code_challenge_method=x":          400,
		"/oauth2/authorize?client_id=test&response_type=code&state=%22%3E%3Cscript%3E":         200,
		"/oauth2/authorize?client_id=kept&response_type=code":                                  302,
	} {
		if a := s.Do("GET", path, ""); a.StatusCode != status || strings.Contains(a.Text, "<script>\"") {
			t.Errorf("%s: %d %s, want %d", path, a.StatusCode, a.Text, status)
		}
	}
	if a := s.Do("GET", "/oauth2/authorize?client_id=test&response_type=code", "", "as", ""); a.StatusCode != http.StatusSeeOther {
		t.Errorf("a guest: %d", a.StatusCode)
	}
	if a := o.form("/oauth2/authorize_submit", ask, "as", ""); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("a guest grants: %d", a.StatusCode)
	}
}

// TestSignedTokens checks JSON web tokens and what a portal says.
func TestSignedTokens(t *testing.T) {
	s := resttest.Start(t, resttest.Config{
		Rest: func(c *rest.Config) { c.JWTSecret, c.Portal = "shared", "portal" },
	})
	s.User("bob")
	sign := func(method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
		text, err := jwt.NewWithClaims(method, claims).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + text
	}
	later, past := time.Now().Add(time.Hour).Unix(), time.Now().Add(-time.Hour).Unix()
	for _, x := range []struct {
		auth   string
		status int
	}{
		{sign(jwt.SigningMethodHS512, []byte("shared"), jwt.MapClaims{"iss": "nuxeo", "sub": "bob", "exp": later}), 200},
		{sign(jwt.SigningMethodHS512, []byte("shared"), jwt.MapClaims{"iss": "nuxeo", "sub": "bob", "exp": past}), 401},
		{sign(jwt.SigningMethodHS512, []byte("shared"), jwt.MapClaims{"iss": "other", "sub": "bob"}), 401},
		{sign(jwt.SigningMethodHS512, []byte("shared"), jwt.MapClaims{"iss": "nuxeo", "sub": "nobody"}), 401},
		{sign(jwt.SigningMethodHS512, []byte("wrong"), jwt.MapClaims{"iss": "nuxeo", "sub": "bob"}), 401},
		{sign(jwt.SigningMethodHS256, []byte("shared"), jwt.MapClaims{"iss": "nuxeo", "sub": "bob"}), 401},
		{sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, jwt.MapClaims{"iss": "nuxeo", "sub": "bob"}), 401},
	} {
		if a := s.Do("GET", "/api/v1/me", "", "as", "", "Authorization", x.auth); a.StatusCode != x.status {
			t.Errorf("%s: %d, want %d", x.auth, a.StatusCode, x.status)
		}
	}
	for _, x := range []struct {
		secret string
		at     time.Time
		status int
	}{{"portal", time.Now(), 200}, {"wrong", time.Now(), 401}, {"portal", time.Now().Add(-time.Hour), 401}} {
		ts := strconv.FormatInt(x.at.UnixMilli(), 10)
		sum := md5.Sum([]byte(ts + ":abc:" + x.secret + ":bob")) //nolint:gosec // as above
		a := s.Do("GET", "/api/v1/me", "", "as", "", "NX_USER", "bob", "NX_TS", ts, "NX_RD", "abc", "NX_TOKEN", base64.StdEncoding.EncodeToString(sum[:]))
		if a.StatusCode != x.status {
			t.Errorf("portal %s: %d, want %d", x.secret, a.StatusCode, x.status)
		}
	}
}
