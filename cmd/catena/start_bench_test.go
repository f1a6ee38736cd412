package main

import (
	"testing"

	"catena/rest"
)

// BenchmarkStart opens a data directory as serve does, up to the handler that answers the first request.
func BenchmarkStart(b *testing.B) {
	g := &global{data: b.TempDir(), logLevel: "error", logFormat: "text"}
	open := func() *app {
		a, err := g.openWith(b.Context(), openOptions{adminPassword: adminPassword})
		if err != nil {
			b.Fatal(err)
		}
		return a
	}
	if err := open().close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		a := open()
		a.handler(rest.Config{})
		b.StopTimer()
		if err := a.close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
