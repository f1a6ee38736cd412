// Command catena is a sample.
package main

import "catena/storage"

var topics = []topic{
	{"Network", []string{"addr", "base-url"}},
	{"Data", []string{"relaxed"}},
}

type topic struct {
	title string
	names []string
}

func init() {}

func main() { storage.Open(1, 2, 3, 4, 5, 6) }
