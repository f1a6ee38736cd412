package main

import (
	"catena/rest"
	"catena/rest/frontend"
	"catena/storage/fault"
)

// uiAddress is where the platform's own front end is served; "" if it is not.
func (s *serve) uiAddress() string {
	if s.ui == "" {
		return ""
	}
	return s.contextPath + "/ui"
}

// checkUI tells what is wrong with the build of the front end and its place.
func (s *serve) checkUI() error {
	_, end, err := s.frontEnd()
	if err == nil {
		end()
	}
	return err
}

// frontEnd opens the build of the front end, if one is to be served. What it returns is called once it no longer is.
func (s *serve) frontEnd() (mounts []rest.Mount, end func(), err error) {
	if s.ui == "" {
		return nil, func() {}, nil
	}
	if s.contextPath == "" {
		return nil, nil, fault.Invalid.Errorf("ui: requires a context path, because the console is at /ui")
	}
	b, err := frontend.Open(s.ui)
	if err != nil {
		return nil, nil, fault.Wrap(err, "ui")
	}
	return []rest.Mount{{Path: s.uiAddress(), Handler: b.Handler(s.contextPath), Open: true}}, func() { _ = b.Close() }, nil
}
