//go:build !race

package web

import "github.com/andybalholm/brotli"

// brotliLevel is the highest level, which takes a second for the largest file, once. Browsers accept it over TLS and on their own machine.
const brotliLevel = brotli.BestCompression
