package automation

import (
	"net/url"
	"testing"

	"catena/storage/fault"
)

// TestFit: a member that nobody asks for may have any value, one that is asked for has to be the same.
func TestFit(t *testing.T) {
	members := map[string]string{"operation": "A.B", "user": "ann", "requestId": ""}
	for query, want := range map[string]bool{
		"": true, "operation=A.B": true, "operation=A.B&user=ann": true, "operation=": true, "other=x": true, "operation=A.B&operation=C.D": true,
		"operation=a.b": false, "operation=A": false, "operation=A.B&user=bob": false, "requestId=x": false, "user=ann%20": false,
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := fit(q, members); got != want {
			t.Errorf("%s: %t", query, got)
		}
	}
}

// TestLimitOf has how many entries a list may be asked for.
func TestLimitOf(t *testing.T) {
	for text, want := range map[string]int{
		"": 100, "1": 1, "100": 100, "+5": 5, "0": 0, "-1": 0, "x": 0, "1.5": 0, " 1": 0, "99999999999999999999": 0,
	} {
		got, err := limitOf(url.Values{"limit": {text}}, 100)
		if want == 0 {
			if e, ok := err.(*fault.Error); !ok || e.Kind != fault.Invalid || e.Field != "limit" { //nolint:errorlint // the error itself
				t.Errorf("%q: %d, %v", text, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
