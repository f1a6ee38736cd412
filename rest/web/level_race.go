//go:build race

package web

// brotliLevel is a lower one for tests with the race detector, which would compress for a minute in every process that serves pages.
const brotliLevel = 9
