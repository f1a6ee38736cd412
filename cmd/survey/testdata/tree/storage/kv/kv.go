// Package kv is a sample.
package kv
