package kv

import "testing"

func TestX(t *testing.T) {}
