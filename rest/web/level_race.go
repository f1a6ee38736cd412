//go:build race

package web

import "compress/gzip"

// Levels of compression for tests with the race detector, which would compress for a minute in every process that serves pages. At
// lower ones brotli leaves more than gzip does.
const (
	brotliLevel = 5
	gzipLevel   = gzip.BestSpeed
)
