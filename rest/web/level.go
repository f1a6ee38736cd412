//go:build !race

package web

import (
	"compress/gzip"

	"github.com/andybalholm/brotli"
)

// The highest levels of compression, which take a second for the largest file, once. Browsers accept brotli over TLS and on their own machine.
const (
	brotliLevel = brotli.BestCompression
	gzipLevel   = gzip.BestCompression
)
