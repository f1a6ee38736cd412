package ops_test

import (
	"encoding/json"
	"strings"
	"testing"

	"catena/engine"
	"catena/rest/resttest"
)

// TestPasswordsOfPDFs fails calls with passwords, which neither traces nor failed runs keep.
func TestPasswordsOfPDFs(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Single: true}) // what one server keeps
	s.Engine.Traces().SetRecording(true)
	for op, params := range map[string]string{
		"PDF.AddPageNumbers":   `{"password":"canary"}`,
		"PDF.Encrypt":          `{"originalOwnerPwd":"canary","ownerPwd":"canary","userPwd":"canary"}`,
		"PDF.EncryptReadOnly":  `{"originalOwnerPwd":"canary","ownerPwd":"canary","userPwd":"canary"}`,
		"PDF.ExtractPages":     `{"startPage":1,"endPage":1,"password":"canary"}`,
		"PDF.RemoveEncryption": `{"ownerPwd":"canary"}`,
	} {
		body := `{"input":{"entity-type":"blob","name":"a.txt","mime-type":"text/plain","data":"text"},"params":` + params + `}`
		if a := s.Do("POST", "/api/v1/automation/"+op, body); a.StatusCode < 400 {
			t.Errorf("%s: %d %s", op, a.StatusCode, a.Text)
		}
		runs, _, err := s.Engine.EndedRuns(t.Context(), s.Engine.System(), engine.EndedFilter{State: engine.RunFailed, Limit: 1})
		if err != nil || len(runs) != 1 || runs[0].Op != op {
			t.Fatalf("%s: %v, %v", op, runs, err)
		}
		run, details, err := s.Engine.EndedRun(t.Context(), s.Engine.System(), runs[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := json.Marshal([]any{run, details, s.Engine.Traces().Recent()})
		if err != nil || strings.Contains(string(kept), "canary") {
			t.Errorf("%s: %s, %v", op, kept, err)
		}
	}
}
