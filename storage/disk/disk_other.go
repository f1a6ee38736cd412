//go:build !linux

package disk

import "errors"

func space(string) (Space, error) { return Space{}, errors.ErrUnsupported }
