package drive_test

import (
	"os"
	"testing"

	"catena/storage/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
