package deck

import (
	"encoding/json"
	"net/http"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// downloadExport sends the file of an export to anyone who has its address.
func (s *service) downloadExport(x *rest.Request) error {
	p, err := s.placed(x, nil)
	if err != nil {
		return err
	}
	for _, name := range [...]string{"expires", "key", "signature"} {
		p = p.Text(name, x.Query().Get(name))
	}
	return sendFile(x, engine.Call{Op: s.Op, RawParams: p.Close(), As: &engine.Principal{Name: "Guest", ReadOnly: true}}, false)
}

// sendFile sends the file that a call returns.
func sendFile(x *rest.Request, call engine.Call, inline bool) error {
	v, err := x.DeckValue(call)
	if err != nil {
		return err
	}
	b, ok := v.(*engine.Blob)
	if !ok {
		return fault.Internal.Errorf("%s: %T is not a file", call.Op, v)
	}
	x.Write(&rest.Answer{Status: http.StatusOK, File: &rest.File{Blob: b, Inline: inline}})
	return nil
}

// exportEvents streams the states of an export until the last one.
func (s *service) exportEvents(x *rest.Request) error {
	if err := x.Rate(); err != nil {
		return err
	}
	p, err := s.placed(x, nil)
	if err != nil {
		return err
	}
	call := engine.Call{Op: s.Op, RawParams: p.Text("base", x.Host()).Close()}
	return x.Stream("export", func() (rest.Progress, error) { return exportState(x, call) })
}

// exportState reads an export as its caller.
func exportState(x *rest.Request, call engine.Call) (rest.Progress, error) {
	v, err := x.DeckValue(call)
	if err != nil {
		return rest.Progress{}, err
	}
	m, _ := v.(map[string]any)
	data, _ := m["data"].(map[string]any)
	state, _ := data["status"].(string)
	body, err := json.Marshal(struct {
		Data any `json:"data"`
		Meta any `json:"meta,omitempty"`
	}{data, m["meta"]})
	return rest.Progress{Mark: state, Body: body, Over: state != "pending"}, err
}
