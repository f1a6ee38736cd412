package jsontext

import (
	"encoding/json"
	"testing"
)

// call is a call of an operation as clients send it.
var call = []byte(`{"params":{"type":"File","name":"report-2026-03","properties":{"dc:title":"Report of March","dc:description":"What was sold, to whom, and what is to be done about the rest of it","dc:subjects":["sciences/astronomy","human/history"],"dc:issued":"2026-03-01T12:00:00.000Z","file:content":{"upload-batch":"batch-7f3a","upload-fileId":"0"},"custom:amount":1234.5,"custom:count":42,"custom:approved":true,"custom:note":"caf\u00e9 \"noir\"\nand a line"},"save":true,"onConflict":null},"context":{"currentUser":"alice","step":3,"answers":[{"to":"legal","ok":true},{"to":"sales","ok":false,"why":"too late"}]},"input":"/default-domain/workspaces/reports/2026"}`)

// BenchmarkReaders compares ways to read a call.
func BenchmarkReaders(b *testing.B) {
	for _, bench := range []struct {
		name string
		read func() error
	}{
		{"Skip", func() error { s := Scanner{Data: call, Pairs: true}; _, err := s.Skip(0); return err }},
		{"Value", func() error { s := Scanner{Data: call}; _, err := s.Value(0); return err }},
		{"encoding_json", func() error { var v any; return json.Unmarshal(call, &v) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(call)))
			for b.Loop() {
				if err := bench.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
