package history

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// TestDetails: details are written as encoding/json writes them, and come back as they were.
func TestDetails(t *testing.T) {
	raw := []json.RawMessage{nil, json.RawMessage(`{}`), json.RawMessage(`{"a":[1,"x"]}`)}
	for i := range 3 * 3 * 3 * 3 * 2 * 2 {
		d := Details{Input: raw[i%3], Params: raw[i/3%3], Context: raw[i/9%3], Trace: raw[i/27%3]}
		if i/81%2 == 1 {
			d.Left = []string{"input", `params/"x"`}
		}
		if i/162 == 1 {
			d.Expires = time.Date(2026, 11, 26, 12, 0, 0, 5, time.UTC)
		}
		want, err := json.Marshal(&d)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.appendJSON(nil); err != nil || string(got) != string(want) {
			t.Fatalf("%v: got %s, want %s", err, got, want)
		}
		var p packed
		if _, err := p.pack(&d, nil); err != nil {
			t.Fatal(err)
		}
		var back Details
		if err := p.unpack(&back); err != nil || !reflect.DeepEqual(back, d) {
			t.Errorf("got %+v, want %+v (%v)", back, d, err)
		}
	}
}
