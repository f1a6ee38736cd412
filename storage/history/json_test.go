package history

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"catena/storage"
)

// TestAppendJSON writes runs as encoding/json reads them, each field set and not set.
func TestAppendJSON(t *testing.T) {
	full := Run{
		ID: "0-1", Owned: storage.Owned{Owner: "ann \"<é>\"", OwnerID: 7}, Repository: "default", Op: "Ten", Version: 3, EntryPoint: "rest",
		Request: "r", Remote: netip.MustParseAddr("fe80::1%eth0"), Repeats: "0-0", Began: "0-2", Start: time.Date(2026, 1, 2, 3, 4, 5, 678, time.FixedZone("", 3600)), Duration: 99,
		Internal: true, Code: "internal", Error: "disk\n/dev\u2028", StoppedBy: "bob", Expires: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	runs := []Run{{}, full}
	for i := range reflect.TypeFor[Run]().NumField() {
		one := full
		reflect.ValueOf(&one).Elem().Field(i).SetZero()
		runs = append(runs, one)
	}
	for _, r := range runs {
		raw, err := r.appendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got, want map[string]any
		slow, err := json.Marshal(&r)
		if err != nil || json.Unmarshal(slow, &want) != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v\n%s\n%s", err, raw, slow)
		}
	}
	p, got := packed{Z: []byte{0, 1, 2, 250}}, packed{}
	if err := json.Unmarshal(p.appendJSON(nil), &got); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%v %v", got, err)
	}
	late := Run{Start: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if raw, err := late.appendJSON(nil); err == nil {
		t.Errorf("%s", raw)
	}
}
