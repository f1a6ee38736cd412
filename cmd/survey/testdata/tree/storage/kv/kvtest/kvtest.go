// Package kvtest is a sample that only tests import.
package kvtest

import _ "catena/storage/kv"
